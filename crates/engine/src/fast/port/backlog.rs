//! Queue contents of a port, kept where the end of the busy period is not sufficient.

use super::hot::{Hot, ServiceMode};
use super::sizes::SizeQueue;

/// Packet sizes and tallies of a port, in one cache line each.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Backlog {
    pub(super) queue: SizeQueue,
    pub(super) bytes: u64,
    /// Sum of bytes times queueing time in picoseconds, over all accepted packets until their departure.
    pub(super) byte_time: u128,
    pub(super) longest_wait: u64,
}

impl Backlog {
    /// Adds a packet that arrives at `now` and will have been sent at `sent`. `port` must not include it yet.
    #[inline(always)]
    pub(super) fn accept(&mut self, port: &Hot, size: u16, now: u64, sent: u64) {
        if port.keeps_queue {
            if port.free_at <= now {
                self.queue.clear();
            } else if self.queue.is_full() && port.service_mode == ServiceMode::AnySize {
                self.queue.remove_sent(now, |size| u64::from(port.per_byte) * u64::from(size));
            }
            self.queue.push(size, sent);
        }
        if port.tallied {
            let wait = sent - now;
            self.bytes += u64::from(size);
            self.byte_time += u128::from(size) * u128::from(wait);
            self.longest_wait = self.longest_wait.max(wait);
        }
    }
}
