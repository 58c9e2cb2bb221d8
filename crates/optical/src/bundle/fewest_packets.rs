//! Join the queue with the fewest packets, whatever their sizes.
//!
//! # Models
//! A switch that counts packets and not bytes: a long packet before a short one looks like any other, so
//! packets may start in another order than they came.
//! # Source
//! The usual reading of "shortest queue" in queueing theory, beside the one in `anycast.rs`.
//! # Parameters
//! None.
//! # Limits
//! Among several the first lightpath is taken.

use super::{Candidates, Lightpaths, least};

#[inline]
pub(super) fn place(candidates: &Candidates<'_>, paths: &mut impl Lightpaths) -> usize {
    least(candidates.ports, |port| paths.packets(port))
}
