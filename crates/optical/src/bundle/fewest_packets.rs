//! Selection of the queue with the fewest packets, regardless of their sizes.
//!
//! # Model
//! A switch that counts packets instead of bytes. A long packet counts like a short one, so packets
//! may start in another order than they arrived.
//!
//! # References
//! The usual meaning of "shortest queue" in queueing theory, in contrast to `anycast.rs`.
//!
//! # Limitations
//! Ties select the first lightpath.

use super::{Candidates, Lightpaths, minimum_by};

#[inline]
pub(super) fn place(candidates: &Candidates<'_>, paths: &mut impl Lightpaths) -> usize {
    minimum_by(candidates.ports, |port| paths.packets(port))
}
