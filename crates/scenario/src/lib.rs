//! Scenario files: parsing, error messages, and the expanded plan of a simulation.
//!
//! A file is processed in steps, each in its own module. TOML becomes a tree with source positions (`tree`).
//! Overrides are applied (`overrides`), and parameters are replaced (`expression`). Serde reads the entries
//! (`schema`, `de`). Finally names become indices and impossible scenarios are rejected (`check`), which
//! results in a [`plan::Plan`].

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
pub use library::{
    FibreRow, FlowColumns, FlowList, Graph, GraphFibre, GraphFibres, GraphLink, Library, LinkRisks,
    LinkValues, Matrix, Reference, ReferenceResolver, Rows, Values,
};
pub use optcp_routing::Coverage;
pub use optcp_tcp::congestion::external;
pub use plan::Plan;
pub use problem::Diagnostic;
pub use profiles::{ProfileChoice, ProfileEntry, profiles};
pub use protected::Spare;
pub use routed::Backup;
pub use scenario::{Scenario, Summary};
pub use warnings::{Warning, WarningKind};
