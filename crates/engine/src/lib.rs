//! Simulated network and the engines that execute a run.
//!
//! A [`Blueprint`] describes a run; a [`Simulation`] executes it. A simulation is plain data and can be cloned at any
//! time, so the branches of a study share one warm-up.

mod applications;
mod blueprint;
mod connection;
mod controls;
mod copies;
mod counts;
mod crossbars;
mod current_path;
mod datagrams;
mod departures;
mod endpoints;
mod engine;
mod event_handler;
mod external;
mod fast;
mod flow;
mod in_flight;
mod messages;
mod model;
mod multipath;
pub mod observe;
mod path_outages;
mod reference;
mod resequencer;
mod schedule_state;
mod simulation;
mod state;
mod stepping;
mod timers;
mod transfers;
mod workers;

pub use applications::ApplicationsSpec;
pub use blueprint::{
    Blueprint, ConnectionSpec, DatagramSpec, FlowSpec, QueueSpec, ResequencerSpec,
};
pub use counts::{Conservation, Counts};
pub use engine::Engine;
pub use external::{Delivery, External, ExternalSpec};
pub use path_outages::{PathOutage, path_outages};
pub use resequencer::BufferUse;
pub use simulation::Simulation;
pub use state::{FlowState, PortState};
pub use transfers::{OperationTimes, Transfer};

/// Families of names registered in this crate, as printed by `optcp list`.
pub const FAMILIES: &[optcp_units::registry::Family] = &[observe::ObserveKind::FAMILY];
