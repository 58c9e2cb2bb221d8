//! Transmit queue of a failed link whose failure the node has not detected.
//!
//! # Model
//! A node detects a failure with a delay. Until then its transmitter continues to serve the queue at the link rate. All
//! of these packets are lost, but queued packets count for schedulers that choose the shortest queue.
//!
//! # References
//! Pavon-Marino and Izquierdo-Zaragoza, section 1: a join-the-shortest-queue switch compares queue lengths, not
//! arrivals at the far end.
//!
//! # Limitations
//! A node's own receiver never detects the failure before the detection time of the bundle.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use crate::{NEVER_SENT, QueueLimit};

/// Transmit queue whose packets are all lost.
#[derive(Clone, Debug)]
pub struct FailedLinkQueue {
    /// End of transmission and size of each packet.
    queue: VecDeque<(Time, u16)>,
    bytes: u64,
    busy_until: Time,
}

impl FailedLinkQueue {
    /// Creates a queue with packets of these sizes. The first transmission ends at `first_end`, the last at
    /// `busy_until`.
    #[must_use]
    pub fn new(
        (first_end, busy_until): (Time, Time),
        sizes: impl Iterator<Item = u16>,
        transmission: impl Fn(u16) -> Duration,
    ) -> Self {
        let mut result = FailedLinkQueue { queue: VecDeque::new(), bytes: 0, busy_until };
        for size in sizes {
            let before = result.queue.back().map(|&(end, _)| end);
            let end = before.map_or(first_end, |end| (end + transmission(size)).min(NEVER_SENT));
            result.queue.push_back((end, size));
            result.bytes += u64::from(size);
        }
        result
    }

    /// Handles a packet that arrives at `now` and takes `transmission` to send. It is dropped if the queue is full.
    pub fn take(&mut self, now: Time, size: u16, transmission: Duration, limit: QueueLimit) {
        while let Some(&(end, sent)) = self.queue.front()
            && end <= now
        {
            self.queue.pop_front();
            self.bytes -= u64::from(sent);
        }
        if limit.has_room(self.queue.len(), self.bytes, size) {
            self.busy_until = (self.busy_until.max(now) + transmission).min(NEVER_SENT);
            self.queue.push_back((self.busy_until, size));
            self.bytes += u64::from(size);
        }
    }

    /// Returns the end of the last transmission.
    #[must_use]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Returns the number of packets in the queue at `now`, including the one in transmission.
    #[must_use]
    pub fn packets(&self, now: Time) -> usize {
        self.queue.len() - self.queue.partition_point(|&(end, _)| end <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the transmission time at 8 Mb/s: 1 µs per byte.
    fn transmission(size: u16) -> Duration {
        Duration::from_us(u64::from(size))
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// Packets of 100 and 50 B have 70 us left, so the first is sent at 20 us. At 30 us, during the second
    /// transmission, a packet of 10 B arrives; it is sent at 80 us. A packet that arrives at 200 us finds the queue
    /// empty.
    #[test]
    fn queue_is_served_in_order_during_failure() {
        let mut result =
            FailedLinkQueue::new((at(20), at(70)), [100, 50].into_iter(), transmission);
        assert_eq!(
            (result.packets(at(19)), result.packets(at(20)), result.packets(at(70))),
            (2, 1, 0)
        );
        result.take(at(30), 10, transmission(10), QueueLimit::Unlimited);
        assert_eq!(
            (result.busy_until(), result.packets(at(30)), result.packets(at(75))),
            (at(80), 2, 1)
        );
        result.take(at(200), 10, transmission(10), QueueLimit::Unlimited);
        assert_eq!((result.busy_until(), result.packets(at(200))), (at(210), 1));
    }

    /// A queue limit of two packets, or of 150 B, is reached with these two.
    #[test]
    fn packet_is_dropped_when_queue_is_full() {
        for limit in [QueueLimit::Packets(2), QueueLimit::Bytes(150)] {
            let mut result =
                FailedLinkQueue::new((at(20), at(70)), [100, 50].into_iter(), transmission);
            result.take(at(19), 10, transmission(10), limit);
            assert_eq!((result.busy_until(), result.packets(at(19))), (at(70), 2));
            result.take(at(20), 10, transmission(10), limit);
            assert_eq!((result.busy_until(), result.packets(at(20))), (at(80), 2));
        }
    }
}
