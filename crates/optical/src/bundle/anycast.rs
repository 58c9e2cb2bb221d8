//! Anycast switching: join the shortest queue.
//!
//! # Models
//! An output-buffered switch that puts every packet where the least unfinished work is before it, so where
//! it can start first; among idle lightpaths the one that has been idle longest. Packets start in the
//! order in which they come, so those of one size and flow keep their order on lightpaths of one length and rate.
//! # Source
//! Pavon-Marino and Izquierdo-Zaragoza, section 1: packets keep their order if the switch emulates output
//! buffering and joins the shortest queue.
//! # Parameters
//! None.
//! # Limits
//! A packet that is shorter than the one before it may overtake it.

use super::{Candidates, Lightpaths, least};

/// The instant up to which a lightpath is busy says both how much is before the packet and, where it is
/// past, for how long the lightpath has been idle.
#[inline]
pub(super) fn place(candidates: &Candidates<'_>, paths: &mut impl Lightpaths) -> usize {
    least(candidates.ports, |port| paths.busy_until(port))
}
