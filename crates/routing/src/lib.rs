//! Routing computations: shortest paths, repair paths of fast reroute, and FIB changes after link failures.
//! The crate uses graphs and times; it does not depend on packets or engines.

mod backup;
mod blocks;
mod convergence;
mod coverage;
mod detour;
mod disjoint;
mod fifr;
mod hold;
mod k_shortest;
mod lfa;
mod mrc;
mod not_via;
mod remote_lfa;
mod repair;
mod shortest;
mod ti_lfa;
mod timeline;
mod topology;
mod u_turn;

pub use backup::{Mechanism, Protect, Repair, Segment, TunnelTtl};
pub use blocks::blocks;
pub use convergence::{
    Announcement, Failure, LinkDetection, Timing, announcements, link_detections,
};
pub use coverage::{Coverage, coverage};
pub use detour::Removed;
pub use disjoint::{Bridged, Disjointness, bridges, disjoint_pair};
pub use fifr::KeyLinks;
pub use k_shortest::k_shortest;
pub use lfa::{Alternate, alternates, choose};
pub use mrc::{Block, Configuration, Weight, configured, marked};
pub use not_via::{NotVia, not_via};
pub use remote_lfa::{PqNode, extended_p_space, p_space, pq_node, q_space};
pub use repair::Repairs;
pub use shortest::{Cost, Distance, Routes, Tree};
pub use ti_lfa::{RepairPath, post_convergence};
pub use timeline::{Cause, Change, Converge, Entry, Forwarding, Timeline, timeline};
pub use topology::{Adjacency, DirectedLink, Link, Topology};
pub use u_turn::{UTurn, u_turns};

/// Families of names registered in this crate, for `optcp list`.
pub const FAMILIES: &[optcp_units::registry::Family] =
    &[Mechanism::FAMILY, Protect::FAMILY, Converge::FAMILY, TunnelTtl::FAMILY];
