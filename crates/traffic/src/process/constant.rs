//! Packets at constant intervals.
//!
//! # Model
//! A constant bit rate: voice without silence suppression, or a test sender.
//!
//! # References
//! ns-2's `CBR` without its random option.
//!
//! # Limitations
//! Each arrival time is the exact one rounded down to a picosecond, without drift. The first packet is sent
//! immediately.

use optcp_units::Duration;

use crate::PacketRate;

/// Process with constant intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    rate: PacketRate,
    sent: u64,
}

impl Constant {
    /// Creates a process with the given rate.
    #[must_use]
    pub fn new(rate: PacketRate) -> Self {
        Constant { rate, sent: 0 }
    }

    pub(super) fn next_arrival(&mut self) -> Duration {
        let at = self.rate.instant_ps(self.sent);
        self.sent += 1;
        Duration::from_ps(at)
    }
}
