//! What a port keeps of its packets where the time up to which it is busy is not enough.

use optcp_net::{PortConfig, QueueLimit};

use super::port::{Lane, Port};
use super::queue::Queue;

/// What packets need where several sizes share a queue, or where more is counted.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Store {
    pub(super) queue: Queue,
    pub(super) limit_bytes: u64,
    pub(super) limit_packets: usize,
    /// Whether the queue is kept.
    pub(super) keeps: bool,
    pub(super) bytes: u64,
    pub(super) dropped_bytes: u64,
    /// Bytes times picoseconds, of all packets accepted, up to when each will have been sent.
    pub(super) byte_time: u128,
    pub(super) longest_wait: u64,
}

impl Store {
    pub(super) fn new(config: &PortConfig) -> Self {
        let (limit_bytes, limit_packets) = match config.limit {
            QueueLimit::Unlimited => (u64::MAX, usize::MAX),
            QueueLimit::Packets(limit) => (u64::MAX, limit as usize),
            QueueLimit::Bytes(limit) => (limit, usize::MAX),
        };
        Store {
            queue: Queue::default(),
            limit_bytes,
            limit_packets,
            keeps: false,
            bytes: 0,
            dropped_bytes: 0,
            byte_time: 0,
            longest_wait: 0,
        }
    }

    /// Whether there is a place for a packet beside those in `queue`, of which some may have been sent.
    #[inline]
    pub(super) fn fits(&self, size: u16) -> bool {
        self.queue.bytes() + u64::from(size) <= self.limit_bytes
            && self.queue.len() < self.limit_packets
    }

    /// A packet that came at `now` will have been sent at `sent`. The port does not know of it yet.
    #[inline(always)]
    pub(super) fn accept(&mut self, port: &Port, size: u16, now: u64, sent: u64) {
        if self.keeps {
            if port.free_at <= now {
                self.queue.clear();
            } else if self.queue.is_full() && port.lane == Lane::Any {
                self.queue.forget_sent(now, |size| u64::from(port.per_byte) * u64::from(size));
            }
            self.queue.push(size, sent);
        }
        let wait = sent - now;
        self.bytes += u64::from(size);
        self.byte_time += u128::from(size) * u128::from(wait);
        self.longest_wait = self.longest_wait.max(wait);
    }
}
