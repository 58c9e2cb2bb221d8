//! U-turn alternates.
//!
//! # Model
//! A router S without a loop-free alternate for D sends packets to a neighbour N whose next hop for D is S
//! itself. N recognises them, since packets for D otherwise never arrive from its own next hop. Instead of
//! returning them, N sends them to its own alternate R, which must be loop-free and node-protecting. With D(x, y)
//! the cost of the shortest path:
//!
//! * D(R, D) < D(R, S) + D(S, D): no shortest path from R touches S.
//!
//! Routers after R forward as usual. Packets are neither marked nor encapsulated.
//!
//! # References
//! A. Atlas, draft-atlas-ip-local-protect-uturn-03, 2006.
//!
//! # Parameters
//! `Protect`: whether alternates are preferred that avoid the next hop, or all links that share a risk with the
//! link to it. N selects its own alternate independently, always for the protection of S.
//!
//! # Limitations
//! With equal-cost next hops, N qualifies if S is the first of them. Every router can break U-turns.

use crate::lfa::{alternates, choose};
use crate::{Adjacency, Cost, Protect, Routes, Topology};

/// U-turn alternate of a router for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UTurn {
    /// Adjacency to the neighbour N.
    pub neighbour: Adjacency,
    /// Adjacency from N to its alternate R.
    pub alternate: Adjacency,
    /// Cost of the whole path to the destination.
    pub cost: Cost,
}

/// Returns the U-turn alternates of `router` for `destination`.
#[must_use]
pub fn u_turns(
    topology: &Topology,
    routes: &Routes,
    router: usize,
    destination: usize,
) -> Vec<UTurn> {
    let Some(primary) = routes.next(router, destination) else { return Vec::new() };
    let next = |node: usize| topology.adjacency(routes.next(node, destination)?);
    let over = |&neighbour: &Adjacency| {
        let returns = next(neighbour.to).is_some_and(|back| back.to == router);
        if neighbour.hop == primary || !returns {
            return None;
        }
        let found = alternates(topology, routes, neighbour.to, destination);
        let own = choose(&found, Protect::Node).filter(|own| own.node_protecting)?;
        let cost = Cost::from(neighbour.cost) + own.cost;
        Some(UTurn { neighbour, alternate: own.adjacency, cost })
    };
    topology.adjacencies(router).iter().filter_map(over).collect()
}
