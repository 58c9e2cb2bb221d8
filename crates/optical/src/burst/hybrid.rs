//! Burst assembly by timer and size.
//!
//! # Model
//! A burst leaves when its timer expires, or with the packet that reaches a threshold in bytes, whichever is first.
//!
//! # References
//! The obs paper, section I: hybrid approaches, a timer and a size threshold together.
//!
//! # Limitations
//! The limitations of [`Timer`] apply.

use optcp_units::Time;

use super::{History, Size, Timer};

/// Assembly by timer and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hybrid {
    /// Timer.
    pub timer: Timer,
    /// Size threshold.
    pub size: Size,
}

impl Hybrid {
    pub(super) fn deadline(self, opened: Time, history: History) -> Option<Time> {
        self.timer.deadline(opened, history)
    }

    pub(super) fn is_full(self, bytes: u64) -> bool {
        self.size.is_full(bytes)
    }
}
