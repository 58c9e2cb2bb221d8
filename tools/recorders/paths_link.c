/* Real-time links between pairs of TUN devices, for mptcp_runs.py and policer_runs.py.
 *
 * Each link goes from a device of the sender to a device of the receiver (both given as file descriptors): a drop-tail
 * queue with a service rate, a policer, and a delay. In the reverse direction: the delay. An outage loses the packets that
 * are between queue and receiver at some time from FROM to TO, in both directions. Times are counted from the first SYN
 * on any link. The policer is a token bucket of BURST bytes, filled at RATE; 0 for none.
 *
 *   paths_link (link SENDER RECEIVER RATE QUEUE DELAY POLICED BURST FROM TO)...
 *
 * in bit/s, packets, bytes and nanoseconds. When standard input ends, it writes:
 *
 *   origin NS                                      time of the first SYN, on the monotonic clock
 *   syn LINK SENT                                  SYN from the sender
 *   data LINK SENT SEQ BYTES FATE                  SEQ relative to the SYN; fate: 0 forwarded, 1 policed, 2 queue full,
 *                                                  3 outage
 *   late PACKETS MEAN MAXIMUM                      lateness of forwarded packets
 */
#define PROGRAM "paths_link"
enum { LINKS = 2, WORDS = 10, UNDER_WAY = 1 << 16, EVENTS = 1 << 18 };

#include "tun_link.h"

typedef struct { ns at; int link, fate, bytes; uint32_t seq; } event;
typedef struct {
    int device[2];
    ns rate, delay, policed, from, to, leaving[UNDER_WAY], filled;
    double burst, tokens;
    unsigned queue, first, end;
    uint32_t initial;
} link_state;

static link_state links[LINKS];
static event *events;
static lateness late;
static int count, happened;
static ns origin;

static void note(ns at, int link, int fate, int bytes, uint32_t seq)
{
    if (happened == EVENTS) fail("events");
    events[happened++] = (event){at, link, fate, bytes, seq};
}

/* Returns whether the outage meets a packet that is on the link from `leaves` until `due`. */
static int cut(const link_state *one, ns leaves, ns due)
{
    return origin && leaves - origin < one->to && due - origin > one->from;
}

/* Returns whether the policer drops a packet. */
static int exceeds(link_state *one, ns time, int bytes)
{
    if (!one->policed) return 0;
    one->tokens += (double)(time - one->filled) * (double)one->policed / 8e9;
    if (one->tokens > one->burst) one->tokens = one->burst;
    one->filled = time;
    if (one->tokens < bytes) return 1;
    one->tokens -= bytes;
    return 0;
}

static int forward(int number, ns time, const unsigned char *data, int bytes, ns *due)
{
    link_state *one = &links[number];
    const unsigned char *tcp = data + (data[0] & 15) * 4;
    int payload = bytes - (int)(tcp - data) - (tcp[12] >> 4) * 4, fate = 0;
    if (tcp[13] & 2) {
        if (!origin) origin = time;
        one->initial = word(tcp + 4) + 1;
        note(time, number, -1, 0, 0);
    }
    while (one->first != one->end && one->leaving[one->first % UNDER_WAY] <= time) one->first++;
    if (one->end - one->first >= one->queue) fate = 2;
    else {
        ns free_at = one->first != one->end ? one->leaving[(one->end - 1) % UNDER_WAY] : time;
        ns leaves = free_at + bytes * 8000000000LL / one->rate;
        one->leaving[one->end++ % UNDER_WAY] = leaves;
        *due = leaves + one->delay;
        if (exceeds(one, leaves, bytes)) fate = 1;
        else if (cut(one, leaves, *due)) fate = 3;
    }
    if (payload > 0) note(time, number, fate, payload, word(tcp + 4) - one->initial);
    return !fate;
}

static void tell(void)
{
    printf("origin %lld\n", (long long)origin);
    for (const event *one = events; one < events + happened; one++) {
        long long at = one->at - origin;
        if (one->fate < 0) printf("syn %d %lld\n", one->link, at);
        else printf("data %d %lld %u %d %d\n", one->link, at, one->seq, one->bytes, one->fate);
    }
    printf("late ");
    tell_lateness(&late);
}

int main(int words, char **word_at)
{
    for (int at = 1; at + WORDS <= words; at += WORDS) {
        ns number[WORDS];
        for (int i = 1; i < WORDS; i++) number[i] = atoll(word_at[at + i]);
        if (count == LINKS) fail("links");
        link_state *one = &links[count++];
        one->device[0] = (int)number[1], one->device[1] = (int)number[2];
        one->rate = number[3], one->queue = (unsigned)number[4], one->delay = number[5];
        one->policed = number[6], one->burst = one->tokens = (double)number[7], one->filled = now();
        one->from = number[8], one->to = number[9];
    }
    if (!count) fail("what it is used for stands in its first lines");
    events = malloc(sizeof(event) * EVENTS);
    hurry();
    struct pollfd ready[2 * LINKS + 1] = {{STDIN_FILENO, POLLIN, 0}};
    for (int i = 0; i < 2 * count; i++) ready[1 + i] = (struct pollfd){links[i / 2].device[i % 2], POLLIN, 0};
    unsigned char *data = malloc(PACKET);
    for (;;) {
        int idle = !deliver();
        for (int from = 0; from < 2 * count; from++) {
            link_state *one = &links[from / 2];
            int bytes = (int)read(one->device[from % 2], data, PACKET);
            if (bytes <= 0) continue;
            idle = 0;
            ns time = now(), due = time + one->delay;
            if (data[0] >> 4 != 4 || data[9] != IPPROTO_TCP) continue;
            if (!(from % 2 ? !cut(one, time, due) : forward(from / 2, time, data, bytes, &due))) continue;
            put((packet){due, one->device[1 - from % 2], bytes, data, &late});
            data = malloc(PACKET);
        }
        if (!idle) continue;
        ready[0].revents = 0;
        pause_until(ready, 1 + 2 * (nfds_t)count, SPIN_NS);
        if (ready[0].revents) break;
    }
    tell();
    return 0;
}
