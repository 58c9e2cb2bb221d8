//! Packets at even distances.
//!
//! # Models
//! A constant bit rate: voice without silence suppression, a test sender.
//! # Source
//! Its own definition; ns-2's `CBR` without its random option.
//! # Parameters
//! The rate.
//! # Limits
//! Each instant is the exact one rounded down to a picosecond, so nothing drifts. The first packet comes
//! at once.

use optcp_units::Duration;

use crate::PacketRate;

/// See the text of the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    rate: PacketRate,
    sent: u64,
}

impl Constant {
    /// Packets at `rate`.
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
