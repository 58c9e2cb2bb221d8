/* What the links between TUN devices share: time, and packets in flight by their time of arrival. */
#ifndef TUN_LINK_H
#define TUN_LINK_H

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKET = 2048 };
/* A sleeping process wakes up about ten microseconds late, so busy-wait for the last ones. Do not busy-wait all the
 * time, because the system preempts a process that never sleeps. Without busy-waiting (simulated time), read only
 * devices that have something. */
#ifndef SPIN_NS
#define SPIN_NS 60000
#endif

typedef int64_t ns;
typedef struct { ns packets, sum, latest; } lateness;
typedef struct { ns due; int to, bytes; unsigned char *data; lateness *late; } packet;

static packet heap[UNDER_WAY];
static int waiting;

static ns now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, PROGRAM ": %s: %s\n", what, errno ? strerror(errno) : "too many");
    exit(1);
}

static void put(packet one)
{
    if (waiting == UNDER_WAY) fail("packets under way");
    int at = waiting++;
    for (int up; at && heap[up = (at - 1) / 2].due > one.due; at = up) heap[at] = heap[up];
    heap[at] = one;
}

static packet take(void)
{
    packet first = heap[0], last = heap[--waiting];
    int at = 0;
    for (int down; (down = 2 * at + 1) < waiting; at = down) {
        if (down + 1 < waiting && heap[down + 1].due < heap[down].due) down++;
        if (heap[down].due >= last.due) break;
        heap[at] = heap[down];
    }
    heap[at] = last;
    return first;
}

static uint32_t word(const unsigned char *data) { uint32_t value; memcpy(&value, data, 4); return ntohl(value); }
static inline int half(const unsigned char *data) { return data[0] << 8 | data[1]; }

/* Writes each packet that is due to its device. Returns whether there was one. */
static int deliver(void)
{
    int any = 0;
    for (; waiting && heap[0].due <= now(); any = 1) {
        packet one = take();
        ns behind = now() - one.due;
        if (write(one.to, one.data, (size_t)one.bytes) < 0) fail("TUN device");
        free(one.data);
        one.late->packets++, one.late->sum += behind;
        if (behind > one.late->latest) one.late->latest = behind;
    }
    return any;
}

/* Waits for a device, or until shortly before the next packet is due. */
static void pause_until(struct pollfd *ready, nfds_t count, ns spin)
{
    ns wait = waiting ? heap[0].due - now() - spin : 1000000000LL;
    if (wait > 0) ppoll(ready, count, &(struct timespec){wait / 1000000000LL, wait % 1000000000LL}, 0);
}

static void hurry(void)
{
    prctl(PR_SET_TIMERSLACK, 1);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){50});
}

static void tell_lateness(const lateness *late)
{
    ns mean = late->packets ? late->sum / late->packets : 0;
    printf("%lld %lld %lld\n", (long long)late->packets, (long long)mean, (long long)late->latest);
}

#endif
