/* Real-time link between two TUN devices, for kernel_runs.py.
 *
 * From the sender's device to the receiver's (both given as file descriptors): scripted losses, a drop-tail queue
 * with a service rate, and a delay. In the reverse direction: a delay. Delays change at given times, counted from the
 * first SYN, for packets that leave the queue from then on; packets may overtake. An outage loses the packets that are
 * between queue and receiver at some time from FROM to TO (DIRECTION: 1 forward, 2 reverse, 3 both). An ECN-capable packet
 * that finds more than PACKETS in the queue, with the one in transmission, is marked CE. Ports distinguish flows.
 *
 *   kernel_link SENDER RECEIVER RATE QUEUE
 *       (delay AT FORWARD BACK | lost FLOW SEGMENT TRANSMISSION | outage FROM TO DIRECTION |
 *        mark PACKETS 0 0)...
 *
 * in bit/s, packets and nanoseconds; segment -1 is the SYN. When standard input ends, it writes the carried packets:
 *
 *   data FLOW SENT SEGMENT TRANSMISSION FATE      fate: 0 forwarded, 1 scripted loss, 2 queue full, 3 outage,
 *                                                 4 marked
 *   ack FLOW ARRIVES ACKNOWLEDGED [FROM-TO]...    in bytes; SACK blocks
 *   late PACKETS MEAN MAXIMUM                     lateness of forwarded packets
 */
#define PROGRAM "kernel_link"
enum { FLOWS = 4, FIRST_PORT = 9000, MSS = 1448 };
enum { UNDER_WAY = 1 << 17, SEGMENTS = 1 << 17, EVENTS = 1 << 18, LISTED = 1024, RANGES = 3 };

#include "tun_link.h"

typedef struct { ns at, forward, back; } path;
typedef struct { int flow, segment, transmission; } loss;
typedef struct { ns from, to; int direction; } outage;
typedef struct { ns at; int kind, flow, a, b, fate, ranges; uint32_t range[2 * RANGES]; } event;

static ns leaving[UNDER_WAY], origin;
static unsigned first_leaving, end_leaving;
static path paths[LISTED];
static loss losses[LISTED];
static outage outages[LISTED];
static event *events;
static lateness late;
static uint32_t initial[FLOWS];
static unsigned char *sent[FLOWS];
static int listed_paths, listed_losses, listed_outages, happened;
static unsigned marks_above = UNDER_WAY;

static const path *path_at(ns time)
{
    int last = 0;
    while (origin && last + 1 < listed_paths && paths[last + 1].at <= time - origin) last++;
    return &paths[last];
}

static event *note(ns at, int kind, int flow, int a, int b, int fate)
{
    if (happened == EVENTS) fail("events");
    event *one = &events[happened++];
    *one = (event){at, kind, flow, a, b, fate, 0, {0}};
    return one;
}

/* Returns whether a packet is a scripted loss. */
static int named(int flow, int segment, int transmission)
{
    for (int i = 0; i < listed_losses; i++)
        if (losses[i].flow == flow && losses[i].segment == segment && losses[i].transmission == transmission) return 1;
    return 0;
}

/* Returns whether an outage meets a packet that is on the link from `leaves` until `due`. */
static int cut(ns leaves, ns due, int direction)
{
    for (int i = 0; i < listed_outages; i++)
        if (outages[i].direction & direction && leaves - origin < outages[i].to && due - origin > outages[i].from) return 1;
    return 0;
}

/* Sets CE, and updates the checksum of the IP header (RFC 1624). */
static void mark(unsigned char *data)
{
    uint32_t sum = (uint32_t)(~half(data + 10) & 0xffff) + (uint32_t)(~half(data) & 0xffff);
    data[1] |= 3;
    sum += (uint32_t)half(data);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16));
    data[10] = (unsigned char)(sum >> 8), data[11] = (unsigned char)sum;
}

static int forward(ns time, unsigned char *data, int bytes, ns rate, unsigned queue, ns *due)
{
    const unsigned char *tcp = data + (data[0] & 15) * 4;
    int flow = half(tcp + 2) - FIRST_PORT, payload = bytes - (int)(tcp - data) - (tcp[12] >> 4) * 4, syn = tcp[13] & 2;
    int segment = -1, transmission = 0, fate = 0;
    if (flow < 0 || flow >= FLOWS) return 0;
    if (syn) {
        if (!origin) origin = time;
        initial[flow] = word(tcp + 4) + 1;
    } else if (payload > 0) {
        segment = (int)((word(tcp + 4) - initial[flow]) / MSS);
        if (segment >= SEGMENTS - 1) fail("segments");
    }
    if (syn || payload > 0) {
        transmission = ++sent[flow][segment + 1];
        fate = named(flow, segment, transmission);
    }
    while (first_leaving != end_leaving && leaving[first_leaving % UNDER_WAY] <= time) first_leaving++;
    if (!fate && end_leaving - first_leaving >= queue) fate = 2;
    event *one = syn || payload > 0 ? note(time, 0, flow, segment, transmission, fate) : 0;
    if (fate) return 0;
    if (data[1] & 3 && end_leaving - first_leaving > marks_above) {
        mark(data);
        if (one) one->fate = 4;
    }
    ns free_at = first_leaving != end_leaving ? leaving[(end_leaving - 1) % UNDER_WAY] : time;
    ns leaves = free_at + bytes * 8000000000LL / rate;
    leaving[end_leaving++ % UNDER_WAY] = leaves;
    *due = leaves + path_at(leaves)->forward;
    if (!cut(leaves, *due, 1)) return 1;
    if (one) one->fate = 3;
    return 0;
}

static int back(ns time, const unsigned char *data, ns *due)
{
    const unsigned char *tcp = data + (data[0] & 15) * 4, *end = tcp + (tcp[12] >> 4) * 4;
    int flow = half(tcp) - FIRST_PORT;
    if (flow < 0 || flow >= FLOWS) return 0;
    *due = time + path_at(time)->back;
    if (cut(time, *due, 2)) return 0;
    if (tcp[13] & 2) return 1;
    event *one = note(*due, 1, flow, (int)(word(tcp + 8) - initial[flow]), 0, 0);
    for (const unsigned char *option = tcp + 20; option < end && *option; option += *option == 1 ? 1 : option[1]) {
        if (*option != 5) continue;
        for (int at = 2; at < option[1] && one->ranges < RANGES; at += 8, one->ranges++) {
            one->range[2 * one->ranges] = word(option + at) - initial[flow];
            one->range[2 * one->ranges + 1] = word(option + at + 4) - initial[flow];
        }
    }
    return 1;
}

static void tell(void)
{
    for (const event *one = events; one < events + happened; one++) {
        if (one->kind == 0) {
            printf("data %d %lld %d %d %d\n", one->flow, (long long)(one->at - origin), one->a, one->b, one->fate);
            continue;
        }
        printf("ack %d %lld %d", one->flow, (long long)(one->at - origin), one->a);
        for (int i = 0; i < one->ranges; i++) printf(" %u-%u", one->range[2 * i], one->range[2 * i + 1]);
        putchar('\n');
    }
    printf("late ");
    tell_lateness(&late);
}

int main(int words, char **word_at)
{
    if (words < 5) fail("what it is used for stands in its first lines");
    int device[2] = {atoi(word_at[1]), atoi(word_at[2])};
    ns rate = atoll(word_at[3]);
    unsigned queue = (unsigned)atoi(word_at[4]);
    for (int at = 5; at + 3 < words; at += 4) {
        ns number[3];
        for (int i = 0; i < 3; i++) number[i] = atoll(word_at[at + 1 + i]);
        if (listed_paths == LISTED || listed_losses == LISTED || listed_outages == LISTED) fail("words");
        if (word_at[at][0] == 'd') paths[listed_paths++] = (path){number[0], number[1], number[2]};
        else if (word_at[at][0] == 'm') marks_above = (unsigned)number[0];
        else if (word_at[at][0] == 'o') outages[listed_outages++] = (outage){number[0], number[1], (int)number[2]};
        else losses[listed_losses++] = (loss){(int)number[0], (int)number[1], (int)number[2]};
    }
    ns spin = 1500 * 8000000000LL / rate / 4;
    if (spin > SPIN_NS) spin = SPIN_NS;
    events = malloc(sizeof(event) * EVENTS);
    for (int i = 0; i < FLOWS; i++) sent[i] = calloc(SEGMENTS, 1);
    hurry();
    struct pollfd ready[3] = {{device[0], POLLIN, 0}, {device[1], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    unsigned char *data = malloc(PACKET);
    for (;;) {
        int idle = !deliver();
        for (int from = 0; from < 2; from++) {
            if (!SPIN_NS && !ready[from].revents) continue;
            int bytes = (int)read(device[from], data, PACKET);
            if (bytes <= 0) ready[from].revents = 0;
            if (bytes <= 0) continue;
            idle = 0;
            ns time = now(), due;
            if (data[0] >> 4 != 4 || data[9] != IPPROTO_TCP) continue;
            if (!(from == 0 ? forward(time, data, bytes, rate, queue, &due) : back(time, data, &due))) continue;
            put((packet){due, device[1 - from], bytes, data, &late});
            data = malloc(PACKET);
        }
        if (!idle) continue;
        ready[2].revents = 0;
        pause_until(ready, 3, spin);
        if (ready[2].revents) break;
    }
    tell();
    return 0;
}
