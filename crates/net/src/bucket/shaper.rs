//! Shaper: packets wait for tokens.

use optcp_units::{Bytes, Rate, Time};

use super::tokens::Tokens;

/// Token bucket shaper between the queue and the transmitter.
///
/// # Model
/// The free transmitter takes a packet out of the queue. It sends the first bit as soon as each bucket holds tokens for
/// all bytes of the packet. With a peak rate there are two buckets. The link keeps its queue limit and discipline.
///
/// # References
/// Linux's queue discipline `tbf`, which also takes a packet out of its inner queue before it waits for tokens
/// (`qdisc_peek_dequeued`).
///
/// # Limitations
/// A packet that waits for tokens counts as in transmission: no other packet overtakes it, and no discipline drops it.
/// If a failure discards it, its tokens are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shaper {
    buckets: Vec<Tokens>,
}

impl Shaper {
    /// Creates a shaper with a rate and burst, and optionally a peak rate and burst.
    #[must_use]
    pub fn new(bucket: (Rate, Bytes), peak: Option<(Rate, Bytes)>) -> Self {
        let all = std::iter::once(bucket).chain(peak);
        Shaper { buckets: all.map(|(rate, burst)| Tokens::new(rate, burst)).collect() }
    }

    /// Returns the first time from `now` on at which tokens for `bytes` bytes have arrived.
    pub(super) fn ready(&self, now: Time, bytes: u64) -> Time {
        self.buckets.iter().map(|bucket| bucket.ready(now, bytes)).fold(now, Time::max)
    }

    /// Takes the tokens of a packet whose first bit is sent at `at`.
    pub(super) fn take(&mut self, at: Time, size: u16) {
        self.buckets.iter_mut().for_each(|bucket| bucket.take(at, size));
    }
}
