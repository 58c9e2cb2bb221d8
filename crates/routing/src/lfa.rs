//! Loop-free alternates.
//!
//! # Models
//! A router S whose next hop to D fails hands packets to another neighbour N that gets them to D without
//! coming back. With D(x, y) the cost of the shortest path from x to y and E the primary neighbour:
//!
//! 1. D(N, D) < D(N, S) + D(S, D): N is loop-free;
//! 2. D(N, D) < D(S, D): N is downstream, and loop-free even when others repair at the same time;
//! 3. D(N, D) < D(N, E) + D(E, D): N avoids the node E, not only the link to it.
//! # Source
//! RFC 5286: the inequalities of sections 3.1 and 3.2, the choice after section 3.6.
//! # Parameters
//! `Protect`: whether alternates that avoid E come before those that do not.
//! # Limits
//! Point-to-point links only, where a loop-free alternate always avoids the failed link: inequality 4,
//! for broadcast links, is left out. So are overloaded routers, links of the greatest cost, shared-risk
//! groups, equal-cost primaries and destinations that several routers announce.

use crate::{Adjacency, Cost, Protect, Routes, Topology};

/// A loop-free alternate of a router for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternate {
    /// The adjacency to the neighbour.
    pub adjacency: Adjacency,
    /// What the whole way to the destination costs.
    pub cost: Cost,
    /// Whether inequality 2 holds.
    pub downstream: bool,
    /// Whether inequality 3 holds.
    pub node_protecting: bool,
}

/// The loop-free alternates of `router` for `destination`: neighbours for which inequality 1 holds.
#[must_use]
pub fn alternates(
    topology: &Topology,
    routes: &Routes,
    router: usize,
    destination: usize,
) -> Vec<Alternate> {
    let primary = routes.next(router, destination).and_then(|hop| topology.adjacency(hop));
    let Some(primary) = primary else { return Vec::new() };
    let cost = |from, to| routes.cost(from, to);
    let alternate = |&adjacency: &Adjacency| {
        let neighbour = adjacency.to;
        let onwards = cost(neighbour, destination);
        let loop_free = onwards < cost(neighbour, router) + cost(router, destination);
        (adjacency.hop.0 != primary.hop.0 && loop_free).then(|| Alternate {
            adjacency,
            cost: Cost::from(adjacency.cost) + onwards,
            downstream: onwards < cost(router, destination),
            node_protecting: onwards < cost(neighbour, primary.to) + cost(primary.to, destination),
        })
    };
    topology.adjacencies(router).iter().filter_map(alternate).collect()
}

/// The one to use: one that avoids the node if that is wanted and possible, then that of the least
/// cost, then of the lowest neighbour and link.
#[must_use]
pub fn choose(alternates: &[Alternate], protect: Protect) -> Option<Alternate> {
    let rank = |alternate: &&Alternate| {
        let falls_short = protect == Protect::Node && !alternate.node_protecting;
        (falls_short, alternate.cost, alternate.adjacency)
    };
    alternates.iter().min_by_key(rank).copied()
}
