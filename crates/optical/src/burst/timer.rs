//! Burst assembly by timer.
//!
//! # Model
//! The first packet in an empty assembler starts a timer. When it expires, the burst leaves with all packets that have
//! arrived.
//!
//! # References
//! The obs paper, section I: the method of its simulations.
//!
//! # Limitations
//! A packet that arrives exactly when the timer expires belongs to the next burst.

use optcp_units::{Duration, Time};

use super::History;

/// Assembly by timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Time from the first packet of a burst to its departure.
    pub period: Duration,
}

impl Timer {
    pub(super) fn deadline(self, opened: Time, _: History) -> Option<Time> {
        Some(opened + self.period)
    }

    pub(super) fn is_full(self, _: u64) -> bool {
        false
    }
}
