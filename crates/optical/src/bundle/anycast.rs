//! Anycast switching: join the shortest queue.
//!
//! # Model
//! An output-buffered switch that sends every packet to the lightpath with the least unfinished work, where it can
//! start first. Among idle lightpaths the longest idle one is chosen. Packets start in order of arrival. Packets of one
//! size and flow therefore keep their order on lightpaths of equal length and rate.
//!
//! # References
//! Pavon-Marino and Izquierdo-Zaragoza, section 1: packets keep their order if the switch emulates output buffering and
//! joins the shortest queue.
//!
//! # Limitations
//! A packet that is shorter than the one before it may overtake it.

use super::{Candidates, Lightpaths, minimum_by};

/// Returns the lightpath whose queue ends first. For idle lightpaths this time tells how long they have been idle.
#[inline]
pub(super) fn place(candidates: &Candidates<'_>, paths: &mut impl Lightpaths) -> usize {
    minimum_by(candidates.ports, |port| paths.busy_until(port))
}
