//! Drop-tail: first in, first out, up to a limit.

use super::{Backlog, Link, OnArrival, Verdict};
use crate::Packet;

/// Drop-tail: drops packets that arrive at a full queue.
///
/// # Model
/// One queue for all packets, which leave in order of arrival.
///
/// # References
/// The limit counts the packet in transmission, as in ns-2's drop-tail.
///
/// # Limitations
/// With a limit in bytes, a long packet may be dropped and the short one after it accepted.
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
