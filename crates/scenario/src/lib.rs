//! Scenario files: what may be written in them, what is wrong with one, and the world that it stands for.
//!
//! A text goes through steps, each in a module of its own. TOML becomes a tree that knows where
//! everything was written (`tree`), overrides are put into it (`overrides`), parameters are replaced
//! (`expression`), and entries are read by serde (`schema`, `de`). Names then become indices and
//! impossible worlds are refused (`check`), which leaves a [`plan::Plan`].
//!
//! [`conformance`] runs single-flow cases that other stacks have run too, [`packetdrill`] scripts that
//! test real ones.

mod build;
mod catalogue;
mod check;
pub mod conformance;
mod de;
mod expression;
mod library;
mod nearest;
mod overrides;
pub mod packetdrill;
mod parquet;
pub mod pcapng;
pub mod plan;
mod problem;
mod profiles;
mod protected;
mod resolved;
mod routed;
mod run;
mod scenario;
mod schema;
mod series;
mod sweep;
mod tallies;
mod tree;
pub mod workload;

pub use build::{Arrived, Rerouted, RoutingRecord, Switched};
pub use catalogue::{CatalogueEntry, catalogue, json_schema};
pub use library::{Graph, GraphLink, Library, Reference};
pub use optcp_engine::Kernel;
pub use optcp_routing::Coverage;
pub use optcp_traffic::hurst;
pub use parquet::{Data, ParquetError, Table, Texts};
pub use plan::Plan;
pub use problem::Diagnostic;
pub use profiles::{ProfileChoice, ProfileEntry, profiles};
pub use protected::Spare;
pub use routed::Backup;
pub use run::{Cancel, Cancelled, Run, RunOptions, run_branches};
pub use scenario::{Scenario, Summary};
pub use series::{Column, Series, Values};
