//! What a transmitter does while its link is out of service and nobody has told it.
//!
//! # Models
//! A node learns of a failure some time after it. Until then its transmitter goes on as before: what waits,
//! and what still comes, is sent one after the other, into the dark. Each of these packets is lost, but they
//! still stand in a queue, and who looks for the shortest one sees that.
//! # Source
//! A switch that joins the shortest queue (Pavon-Marino and Izquierdo-Zaragoza, section 1) compares what waits, not
//! what arrives at the far end.
//! # Parameters
//! None.
//! # Limits
//! The node never learns of it from its own receiver before the bundle's detection time is over.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use crate::{NEVER_SENT, QueueLimit};

/// The queue of a transmitter whose packets are all lost.
#[derive(Clone, Debug)]
pub struct FailedLinkQueue {
    /// When the last bit of each has left, and its size.
    queue: VecDeque<(Time, u16)>,
    bytes: u64,
    busy_until: Time,
}

impl FailedLinkQueue {
    /// With packets of these sizes in the queue, the first of which will have been sent at `first_end`, and
    /// everything, if anything ever came, at `busy_until`.
    #[must_use]
    pub fn new(
        (first_end, busy_until): (Time, Time),
        sizes: impl Iterator<Item = u16>,
        transmission: impl Fn(u16) -> Duration,
    ) -> Self {
        let mut dark = FailedLinkQueue { queue: VecDeque::new(), bytes: 0, busy_until };
        for size in sizes {
            let before = dark.queue.back().map(|&(end, _)| end);
            let end = before.map_or(first_end, |end| (end + transmission(size)).min(NEVER_SENT));
            dark.queue.push_back((end, size));
            dark.bytes += u64::from(size);
        }
        dark
    }

    /// A packet comes at `now`, which takes `transmission` to send. Where it has no place it is lost before it
    /// is sent.
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

    /// When everything in the queue will have been sent.
    #[must_use]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Packets in the queue at `now`, the one in transmission included.
    #[must_use]
    pub fn packets(&self, now: Time) -> usize {
        self.queue.len() - self.queue.partition_point(|&(end, _)| end <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Mb/s: a microsecond a byte.
    fn transmission(size: u16) -> Duration {
        Duration::from_us(u64::from(size))
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// Two packets of 100 and 50 B have 70 us left: the first is sent at 20 us. At 30 us the second is in
    /// transmission; one of 10 B comes and leaves at 80 us. One that comes at 200 us finds the queue empty.
    #[test]
    fn what_waits_is_sent_and_what_comes_waits_behind_it() {
        let mut dark = FailedLinkQueue::new((at(20), at(70)), [100, 50].into_iter(), transmission);
        assert_eq!((dark.packets(at(19)), dark.packets(at(20)), dark.packets(at(70))), (2, 1, 0));
        dark.take(at(30), 10, transmission(10), QueueLimit::Unlimited);
        assert_eq!((dark.busy_until(), dark.packets(at(30)), dark.packets(at(75))), (at(80), 2, 1));
        dark.take(at(200), 10, transmission(10), QueueLimit::Unlimited);
        assert_eq!((dark.busy_until(), dark.packets(at(200))), (at(210), 1));
    }

    /// A queue of two packets, or of 150 B, is full with these two.
    #[test]
    fn a_full_queue_takes_nothing() {
        for limit in [QueueLimit::Packets(2), QueueLimit::Bytes(150)] {
            let mut dark =
                FailedLinkQueue::new((at(20), at(70)), [100, 50].into_iter(), transmission);
            dark.take(at(19), 10, transmission(10), limit);
            assert_eq!((dark.busy_until(), dark.packets(at(19))), (at(70), 2));
            dark.take(at(20), 10, transmission(10), limit);
            assert_eq!((dark.busy_until(), dark.packets(at(20))), (at(80), 2));
        }
    }
}
