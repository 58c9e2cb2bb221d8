//! Loop-free alternates (LFA).
//!
//! # Model
//! If the next hop of router S to D fails, S sends packets to another neighbour N that does not return them.
//! With D(x, y) the cost of the shortest path from x to y, and E the primary neighbour:
//!
//! 1. D(N, D) < D(N, S) + D(S, D): N is loop-free;
//! 2. D(N, D) < D(S, D): N is downstream, and loop-free even if others repair at the same time;
//! 3. D(N, D) < D(N, E) + D(E, D): N avoids the node E, not only the link to it.
//!
//! # References
//! RFC 5286: the inequalities of sections 3.1 and 3.2, the selection after section 3.6.
//!
//! # Parameters
//! `Protect`: whether alternates are preferred that avoid E, or all links that share a risk with S-E.
//!
//! # Limitations
//! Point-to-point links only, for which a loop-free alternate always avoids the failed link: inequality 4,
//! for broadcast links, is omitted. Overloaded routers, links of maximum cost, equal-cost primaries and anycast
//! destinations are not supported.

use crate::{Adjacency, Cost, Protect, Routes, Topology};

/// Loop-free alternate of a router for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternate {
    /// Adjacency to the neighbour.
    pub adjacency: Adjacency,
    /// Cost of the whole path to the destination.
    pub cost: Cost,
    /// `true`: inequality 2 holds.
    pub downstream: bool,
    /// `true`: inequality 3 holds.
    pub node_protecting: bool,
    /// `true`: all shortest paths over it avoid the links that share a risk with the primary one.
    pub risk_protecting: bool,
}

/// Returns the loop-free alternates of `router` for `destination`: neighbours for which inequality 1 holds.
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
    let at_risk = topology.at_risk_with(&primary.hop.0);
    let alternate = |&adjacency: &Adjacency| {
        let neighbour = adjacency.to;
        let onwards = cost(neighbour, destination);
        let loop_free = onwards < cost(neighbour, router) + cost(router, destination);
        (adjacency.hop.0 != primary.hop.0 && loop_free).then(|| Alternate {
            adjacency,
            cost: Cost::from(adjacency.cost) + onwards,
            downstream: onwards < cost(router, destination),
            node_protecting: onwards < cost(neighbour, primary.to) + cost(primary.to, destination),
            risk_protecting: routes.avoid_links(
                topology,
                at_risk,
                &[adjacency.hop],
                neighbour,
                destination,
            ),
        })
    };
    topology.adjacencies(router).iter().filter_map(alternate).collect()
}

/// Selects an alternate. One that avoids the node or the shared risks has precedence if required, then minimum cost, then
/// the lowest neighbour and link.
#[must_use]
pub fn choose(alternates: &[Alternate], protect: Protect) -> Option<Alternate> {
    let rank = |alternate: &&Alternate| {
        let falls_short = match protect {
            Protect::Link => false,
            Protect::Node => !alternate.node_protecting,
            Protect::Risk => !alternate.risk_protecting,
        };
        (falls_short, alternate.cost, alternate.adjacency)
    };
    alternates.iter().min_by_key(rank).copied()
}
