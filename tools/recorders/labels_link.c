/* Link between two TUN devices that fails by IPv6 flow label, for labels_runs.py.
 *
 * From the sender's device to the receiver's (both given as file descriptors), each flow has its own drop-tail queue with
 * a service rate, and a delay. In the reverse direction: the delay. An outage loses the packets that are between queue and
 * receiver at some time from FROM to TO, counted from the first SYN of the flow, if they have one of the flow's first DATA
 * labels (to the receiver) or ACKS labels (to the sender). Flow k has the receiver's port FIRST_PORT + k.
 *
 *   labels_link SENDER RECEIVER (flow RATE QUEUE DELAY FROM TO DATA ACKS)...
 *
 * in bit/s, packets and nanoseconds. When standard input ends, it writes, with the number of the label in its direction:
 *
 *   data FLOW SENT DUE LABEL FATE SEGMENT TRANSMISSION    segment -1: SYN; -2: no data. fate: 0 forwarded, 1 queue full,
 *                                                         2 outage
 *   ack FLOW SENT LABEL FATE ACKNOWLEDGED                 segments
 *   late FLOW PACKETS MEAN MAXIMUM                        lateness of forwarded packets
 */
#define PROGRAM "labels_link"
enum { FLOWS = 64, FIRST_PORT = 9000, MSS = 1428, WORDS = 8, HEADER = 40, LABELS = 64, QUEUE = 1 << 12 };
enum { UNDER_WAY = 1 << 16, SEGMENTS = 1 << 12, EVENTS = 1 << 18 };

#include "tun_link.h"

enum { SYN = -1, BARE = -2 };
typedef struct { ns at, due; int is_ack, flow, label, fate, segment, transmission; } event;
typedef struct {
    ns rate, delay, from, to, origin, leaving[QUEUE];
    unsigned queue, first, end, failed[2], labels[2];
    uint32_t initial, label[2][LABELS];
    unsigned char sent[SEGMENTS];
    lateness late;
} flow_state;

static flow_state flows[FLOWS];
static event *events;
static int count, happened;

/* Returns the number of a packet's flow label in its direction. */
static int numbered(flow_state *one, int direction, const unsigned char *data)
{
    uint32_t label = word(data) & 0xfffff;
    unsigned at = 0;
    while (at < one->labels[direction] && one->label[direction][at] != label) at++;
    if (at == LABELS) fail("labels");
    if (at == one->labels[direction]) one->label[direction][one->labels[direction]++] = label;
    return (int)at;
}

/* Returns whether the outage meets a packet that is on the link from `leaves` until `due`. */
static int cut(const flow_state *one, int direction, int label, ns leaves, ns due)
{
    return label < (int)one->failed[direction] && leaves - one->origin < one->to && due - one->origin > one->from;
}

static int forward(int flow, ns time, const unsigned char *data, int bytes, ns *due)
{
    const unsigned char *tcp = data + HEADER;
    int payload = bytes - HEADER - (tcp[12] >> 4) * 4, segment = BARE, fate = 0;
    flow_state *one = &flows[flow];
    if (tcp[13] & 2) {
        if (!one->origin) one->origin = time;
        one->initial = word(tcp + 4) + 1;
        segment = SYN;
    } else if (payload > 0) segment = (int)((word(tcp + 4) - one->initial) / MSS);
    if (segment >= SEGMENTS - 1) fail("segments");
    int label = numbered(one, 0, data), transmission = segment == BARE ? 0 : ++one->sent[segment + 1];
    while (one->first != one->end && one->leaving[one->first % QUEUE] <= time) one->first++;
    if (one->end - one->first >= one->queue) fate = 1;
    else {
        ns free_at = one->first != one->end ? one->leaving[(one->end - 1) % QUEUE] : time;
        ns leaves = free_at + bytes * 8000000000LL / one->rate;
        one->leaving[one->end++ % QUEUE] = leaves;
        *due = leaves + one->delay;
        if (cut(one, 0, label, leaves, *due)) fate = 2;
    }
    if (happened == EVENTS) fail("events");
    events[happened++] = (event){time, *due, 0, flow, label, fate, segment, transmission};
    return !fate;
}

static int back(int flow, ns time, const unsigned char *data, ns *due)
{
    const unsigned char *tcp = data + HEADER;
    flow_state *one = &flows[flow];
    *due = time + one->delay;
    int label = numbered(one, 1, data), fate = cut(one, 1, label, time, *due) ? 2 : 0;
    int acked = tcp[13] & 2 ? SYN : (int)(word(tcp + 8) - one->initial) / MSS;
    if (happened == EVENTS) fail("events");
    events[happened++] = (event){time, *due, 1, flow, label, fate, acked, 0};
    return !fate;
}

static void tell(void)
{
    for (const event *one = events; one < events + happened; one++) {
        long long at = one->at - flows[one->flow].origin, due = one->due - flows[one->flow].origin;
        if (one->is_ack) printf("ack %d %lld %d %d %d\n", one->flow, at, one->label, one->fate, one->segment);
        else
            printf("data %d %lld %lld %d %d %d %d\n", one->flow, at, due, one->label, one->fate, one->segment,
                   one->transmission);
    }
    for (int flow = 0; flow < count; flow++) {
        printf("late %d ", flow);
        tell_lateness(&flows[flow].late);
    }
}

int main(int words, char **word_at)
{
    if (words < 3 + WORDS) fail("what it is used for stands in its first lines");
    int device[2] = {atoi(word_at[1]), atoi(word_at[2])};
    for (int at = 3; at + WORDS <= words; at += WORDS) {
        ns number[WORDS];
        for (int i = 1; i < WORDS; i++) number[i] = atoll(word_at[at + i]);
        if (count == FLOWS || number[2] >= QUEUE) fail("flows");
        flow_state *one = &flows[count++];
        one->rate = number[1], one->queue = (unsigned)number[2], one->delay = number[3];
        one->from = number[4], one->to = number[5];
        one->failed[0] = (unsigned)number[6], one->failed[1] = (unsigned)number[7];
    }
    events = malloc(sizeof(event) * EVENTS);
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
            ns time = now(), due = time;
            if (data[0] >> 4 != 6 || data[6] != IPPROTO_TCP) continue;
            int flow = half(data + HEADER + (from == 0 ? 2 : 0)) - FIRST_PORT;
            if (flow < 0 || flow >= count) continue;
            if (!(from == 0 ? forward(flow, time, data, bytes, &due) : back(flow, time, data, &due))) continue;
            put((packet){due, device[1 - from], bytes, data, &flows[flow].late});
            data = malloc(PACKET);
        }
        if (!idle) continue;
        ready[2].revents = 0;
        pause_until(ready, 3, SPIN_NS);
        if (ready[2].revents) break;
    }
    tell();
    return 0;
}
