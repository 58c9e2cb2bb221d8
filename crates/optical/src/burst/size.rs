//! Burst assembly by size.
//!
//! # Model
//! A burst leaves with the packet that reaches a threshold in bytes.
//!
//! # References
//! The obs paper, section I: packets are aggregated until the burst reaches a size threshold.
//!
//! # Limitations
//! There is no timeout: the last packets wait until more arrive.

use optcp_units::{Bytes, Time};

use super::History;

/// Assembly by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Size in bytes at which a burst leaves.
    pub threshold: Bytes,
}

impl Size {
    pub(super) fn deadline(self, _: Time, _: History) -> Option<Time> {
        None
    }

    pub(super) fn is_full(self, bytes: u64) -> bool {
        bytes >= self.threshold.count()
    }
}
