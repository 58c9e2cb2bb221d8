//! Simulated network and the engines that execute a run.
//!
//! A [`Blueprint`] describes a run; a [`Simulation`] executes it. A simulation is plain data and can be cloned at any
//! time, so the branches of a study share one warm-up.

mod blueprint;
mod controls;
mod copies;
mod counts;
mod crossbars;
mod current_path;
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
mod resequencer;
mod schedule_state;
mod simulation;
mod state;
mod stepping;
mod timers;
mod workers;

pub use blueprint::{Blueprint, DatagramSpec, FlowSpec, QueueSpec, ResequencerSpec};
pub use counts::{Conservation, Counts};
pub use engine::Engine;
pub use path_outages::{PathOutage, path_outages};
pub use resequencer::BufferUse;
pub use simulation::Simulation;
pub use state::{FlowState, PortState};

/// Families of names registered in this crate, as printed by `optcp list`.
pub const FAMILIES: &[optcp_units::registry::Family] = &[observe::ObserveKind::FAMILY];
