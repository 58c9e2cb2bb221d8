//! Round-robin selection, packet by packet.
//!
//! # Model
//! Per-packet balancing without state information: packets of a flow overtake each other if queues differ.
//!
//! # References
//! The per-packet balancing with which the paper compares anycast switching (section 1).
//!
//! # Limitations
//! Packets are counted, not bytes.

use super::{Candidates, Lightpaths, modulo};

#[inline]
pub(super) fn place(candidates: &Candidates<'_>, _: &mut impl Lightpaths) -> usize {
    modulo(candidates.ports, candidates.before)
}
