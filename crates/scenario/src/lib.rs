//! Scenario files: what may be written in them, what is wrong with one, and the plan of the world that it
//! stands for.
//!
//! A text goes through steps, each in a module of its own. TOML becomes a tree that knows where
//! everything was written (`tree`), overrides are put into it (`overrides`), parameters are replaced
//! (`expression`), and entries are read by serde (`schema`, `de`). Names then become indices and
//! impossible worlds are refused (`check`), which leaves a [`plan::Plan`].

mod catalogue;
mod check;
mod de;
pub mod ecmp_paths;
mod every;
mod expression;
mod library;
mod overrides;
pub mod plan;
mod problem;
mod profiles;
pub mod protected;
mod queue_time;
mod quotes;
mod resolved;
pub mod routed;
mod scenario;
mod schema;
mod sweep;
mod traffic_footprint;
mod tree;
mod warnings;
mod written;

pub use catalogue::{CatalogueEntry, catalogue, json_schema};
pub use check::{TcpChoices, great_circle_km, pick};
pub use library::{Graph, GraphLink, Library, Matrix, Reference, ReferenceResolver, Rows, Values};
pub use optcp_routing::Coverage;
pub use plan::Plan;
pub use problem::Diagnostic;
pub use profiles::{ProfileChoice, ProfileEntry, profiles};
pub use protected::Spare;
pub use routed::Backup;
pub use scenario::{Scenario, Summary};
pub use warnings::{Warning, WarningKind};
