//! First in, first out, up to a limit.

use super::{Backlog, Link, OnArrival, Verdict};
use crate::Packet;

/// Loses a packet that comes where there is no place left.
///
/// # Models
/// One queue for all packets. They leave in the order in which they came.
/// # Source
/// The limit counts the packet in transmission, as ns-2's drop-tail does.
/// # Parameters
/// The limit.
/// # Limits
/// A limit in bytes may turn a long packet away and take the short one behind it.
#[derive(Clone, Debug)]
pub struct DropTail;

impl OnArrival for DropTail {
    type Parameters = ();

    fn new(_: &(), _: &Link) -> Self {
        DropTail
    }

    #[inline]
    fn decide(&mut self, _: &Backlog, _: Packet) -> Verdict {
        Verdict::Take
    }
}
