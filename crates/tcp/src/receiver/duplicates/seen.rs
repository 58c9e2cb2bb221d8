//! Properties of a segment that the receiver uses.

use optcp_units::Time;

use crate::acknowledgment::Timestamp;
use crate::seq::Seq;

/// Data segment from the receiver's perspective.
#[derive(Clone, Copy, Debug)]
pub(in crate::receiver) struct Seen {
    pub(in crate::receiver) at: Time,
    pub(in crate::receiver) seq: Seq,
    /// Remaining time to live.
    pub(in crate::receiver) ttl: u8,
    /// Timestamp; undefined without timestamps.
    pub(in crate::receiver) stamp: Timestamp,
}
