//! The world of a run and the two kernels that drive it.
//!
//! A [`Blueprint`] says what there is; a [`Simulation`] is one run of it. The whole simulation is
//! plain data and can be cloned at any instant: the branches of a study share one warm-up.

mod alarms;
mod blueprint;
mod controls;
mod copies;
mod counts;
mod cuts;
mod datagrams;
mod departures;
mod fast;
mod flow;
mod helpers;
mod kept;
mod kernel;
mod model;
pub mod observe;
mod planned;
mod reference;
mod simulation;
mod stepping;
mod timers;

pub use blueprint::{Blueprint, DatagramSpec, FlowSpec, QueueSpec};
pub use counts::{Conservation, Counts};
pub use cuts::{Cut, cuts};
pub use kernel::Kernel;
pub use simulation::Simulation;

/// The families of names that are registered here, as `optcp list` has them.
pub const FAMILIES: &[optcp_units::registry::Family] = &[observe::ObserveKind::FAMILY];
