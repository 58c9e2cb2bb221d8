//! Assembly by a timer.
//!
//! # Models
//! The packet that comes to an empty assembler starts a timer; when it expires the burst leaves with
//! everything that has come.
//! # Source
//! The obs paper, section I: the method of its simulations.
//! # Parameters
//! The time that the timer runs.
//! # Limits
//! A packet that comes at the very instant of the expiry goes with the next burst.

use optcp_units::{Duration, Time};

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// From the packet that opens a burst until the burst leaves.
    pub period: Duration,
}

impl Timer {
    pub(super) fn deadline(self, opened: Time) -> Option<Time> {
        Some(opened + self.period)
    }

    pub(super) fn is_full(self, _: u64) -> bool {
        false
    }
}
