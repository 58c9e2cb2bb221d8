//! Static selection by destination: without anycast switching.
//!
//! # Models
//! Core routers that see each lightpath as a link of its own and send what goes to the i-th subnetwork,
//! counted from 1, through lightpath j = 1 + ((i - 1) modulo b_D).
//! # Source
//! Pavon-Marino and Izquierdo-Zaragoza, section 2, last paragraph.
//! # Parameters
//! None.
//! # Limits
//! When a lightpath fails b_D is the number of those left: other subnetworks change their lightpath, too.

use super::{Candidates, Lightpaths, modulo};

#[inline]
pub(super) fn place(candidates: &Candidates<'_>, _: &mut impl Lightpaths) -> usize {
    modulo(candidates.ports, u64::from(candidates.destination))
}
