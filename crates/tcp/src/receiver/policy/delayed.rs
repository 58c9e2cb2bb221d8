//! Delayed ACKs with a timer for each segment that waits.
//!
//! # Models
//! An ACK that waits is sent with the second in-order segment, or when its own timer expires.
//! # Source
//! RFC 5681 section 4.2; RFC 9293 section 3.8.6.3 (500 ms at most).
//! # Parameters
//! `ack_delay`.
//! # Limits
//! The delay is fixed; it does not follow the rate of arrivals.

use optcp_units::{Duration, Time};

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct Delayed {
    pub(super) delay: Duration,
}

impl Delayed {
    pub(super) fn deadline(self, now: Time) -> Time {
        now + self.delay
    }
}
