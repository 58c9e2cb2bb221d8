//! What a receiver sees of a segment.

use optcp_units::Time;

use crate::acknowledgment::Timestamp;
use crate::seq::Seq;

/// A data segment as the receiver sees it.
#[derive(Clone, Copy, Debug)]
pub(in crate::receiver) struct Seen {
    pub(in crate::receiver) at: Time,
    pub(in crate::receiver) seq: Seq,
    /// The time to live that is left of it.
    pub(in crate::receiver) ttl: u8,
    /// Its timestamp; without meaning unless timestamps are in use.
    pub(in crate::receiver) stamp: Timestamp,
}
