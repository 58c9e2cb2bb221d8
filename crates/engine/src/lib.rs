//! The world of a run and the two engines that drive it.
//!
//! A [`Blueprint`] says what there is; a [`Simulation`] is one run of it. The whole simulation is
//! plain data and can be cloned at any instant: the branches of a study share one warm-up.

mod blueprint;
mod controls;
mod copies;
mod counts;
mod datagrams;
mod departures;
mod engine;
mod event_handler;
mod fast;
mod flow;
mod in_flight;
mod model;
pub mod observe;
mod path_outages;
mod reference;
mod schedule_state;
mod simulation;
mod stepping;
mod timers;
mod workers;

pub use blueprint::{Blueprint, DatagramSpec, FlowSpec, QueueSpec};
pub use counts::{Conservation, Counts};
pub use engine::Engine;
pub use path_outages::{PathOutage, path_outages};
pub use simulation::Simulation;

/// The families of names that are registered here, as `optcp list` has them.
pub const FAMILIES: &[optcp_units::registry::Family] = &[observe::ObserveKind::FAMILY];
