//! Assembly by a timer and by size.
//!
//! # Models
//! A burst leaves when its timer expires, or with the packet that brings it to a threshold of bytes,
//! whichever comes first.
//! # Source
//! The obs paper, section I: hybrid approaches, a timer and a size threshold together.
//! # Parameters
//! Those of [`Timer`] and [`Size`].
//! # Limits
//! Those of [`Timer`].

use optcp_units::Time;

use super::{Size, Timer};

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hybrid {
    /// When it leaves at the latest.
    pub timer: Timer,
    /// When it is full.
    pub size: Size,
}

impl Hybrid {
    pub(super) fn deadline(self, opened: Time) -> Option<Time> {
        self.timer.deadline(opened)
    }

    pub(super) fn is_full(self, bytes: u64) -> bool {
        self.size.is_full(bytes)
    }
}
