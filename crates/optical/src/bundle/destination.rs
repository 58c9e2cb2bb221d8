//! Static selection by destination, without anycast switching.
//!
//! # Model
//! Core routers use each lightpath as a separate link. They send packets to the i-th subnetwork, counted from 1, over
//! lightpath j = 1 + ((i - 1) modulo b_D).
//!
//! # References
//! Pavon-Marino and Izquierdo-Zaragoza, section 2, last paragraph.
//!
//! # Limitations
//! After the failure of a lightpath, b_D is the number of remaining ones; other subnetworks change their lightpath,
//! too.

use super::{Candidates, Lightpaths, modulo};

#[inline]
pub(super) fn place(candidates: &Candidates<'_>, _: &mut impl Lightpaths) -> usize {
    modulo(candidates.ports, u64::from(candidates.destination))
}
