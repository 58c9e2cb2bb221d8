//! The world of a run and the kernel that drives it.
//!
//! A [`Blueprint`] says what there is; a [`Simulation`] is one run of it. The whole simulation is
//! plain data and can be cloned at any instant: the branches of a study share one warm-up.

mod blueprint;
pub mod observe;
mod reference;
mod simulation;

pub use blueprint::{Blueprint, FlowSpec};
pub use simulation::{Conservation, Counts, Simulation};
