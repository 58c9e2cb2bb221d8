//! Assembly by size.
//!
//! # Models
//! A burst leaves with the packet that brings it to a threshold of bytes.
//! # Source
//! The obs paper, section I: packets are aggregated until the burst reaches a size threshold.
//! # Parameters
//! The threshold.
//! # Limits
//! Nothing else makes a burst leave: what comes last stays, until something follows it.

use optcp_units::{Bytes, Time};

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// A burst that has so many bytes leaves.
    pub threshold: Bytes,
}

impl Size {
    pub(super) fn deadline(self, _: Time) -> Option<Time> {
        None
    }

    pub(super) fn is_full(self, bytes: u64) -> bool {
        bytes >= self.threshold.count()
    }
}
