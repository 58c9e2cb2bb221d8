//! What a port keeps of its packets where the time up to which it is busy is not enough.

use super::hot::{Hot, ServiceMode};
use super::sizes::SizeQueue;

/// What packets need where several sizes share a queue, in one cache line, and where more is counted, in another one.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Backlog {
    pub(super) queue: SizeQueue,
    pub(super) bytes: u64,
    /// Bytes times picoseconds, of all packets accepted, up to when each will have been sent.
    pub(super) byte_time: u128,
    pub(super) longest_wait: u64,
}

impl Backlog {
    /// A packet that came at `now` will have been sent at `sent`. The port does not know of it yet.
    #[inline(always)]
    pub(super) fn accept(&mut self, port: &Hot, size: u16, now: u64, sent: u64) {
        if port.keeps {
            if port.free_at <= now {
                self.queue.clear();
            } else if self.queue.is_full() && port.service_mode == ServiceMode::AnySize {
                self.queue.forget_sent(now, |size| u64::from(port.per_byte) * u64::from(size));
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
