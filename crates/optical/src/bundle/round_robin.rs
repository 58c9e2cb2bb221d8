//! One lightpath after the other, packet by packet.
//!
//! # Models
//! Per-packet balancing that looks at nothing: packets of a flow overtake each other where queues differ.
//! # Source
//! The per-packet balancing that the paper sets anycast switching against (section 1).
//! # Parameters
//! None.
//! # Limits
//! Counts packets, not bytes.

use super::{Candidates, Lightpaths, modulo};

#[inline]
pub(super) fn place(candidates: &Candidates<'_>, _: &mut impl Lightpaths) -> usize {
    modulo(candidates.ports, candidates.before)
}
