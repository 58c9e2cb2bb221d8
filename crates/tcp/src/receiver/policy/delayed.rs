//! Delayed ACKs with one timer per delayed segment.
//!
//! # Model
//! A delayed ACK is sent with the second in-order segment, or when its timer fires.
//!
//! # References
//! RFC 5681 section 4.2; RFC 9293 section 3.8.6.3 (at most 500 ms).
//!
//! # Parameters
//! `ack_delay`.
//!
//! # Limitations
//! The delay is fixed and does not adapt to the arrival rate.

use optcp_units::{Duration, Time};

/// Delayed ACKs with one timer per segment.
#[derive(Clone, Copy, Debug)]
pub struct Delayed {
    pub(super) delay: Duration,
}

impl Delayed {
    pub(super) fn deadline(self, now: Time) -> Time {
        now + self.delay
    }
}
