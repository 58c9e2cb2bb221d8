//! Remote loop-free alternates.
//!
//! # Model
//! A router S without a loop-free alternate tunnels packets to another router. S reaches that
//! router without the failed link S-E, and that router reaches E without it. The former routers are
//! S's P-space and the P-spaces of its neighbours (together the extended P-space), the latter E's
//! Q-space. A router in both is a PQ node. With D(x, y) the cost of the shortest path and c the
//! cost of S-E:
//!
//! * P is in the P-space of S: D(S, P) < c + D(E, P);
//! * P is in the extended P-space: or D(N, P) < D(N, S) + D(S, P) for a neighbour N over another link;
//! * Q is in the Q-space of E: D(Q, E) < D(Q, S) + c.
//!
//! Of several PQ nodes, the one with the cheapest tunnel is selected, then the lowest index.
//!
//! # References
//! RFC 7490 sections 5.2 and 5.3; the inequality for neighbours as in RFC 8102 section 2.2.6.
//!
//! # Limitations
//! PQ nodes are selected for link protection; node protection (RFC 8102) is only reported if it results. The
//! inequality for neighbours excludes paths through S itself, which are in S's own P-space if they are valid.

use crate::{Adjacency, Cost, DirectedLink, Routes, Topology};

/// PQ node with its tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PqNode {
    /// Node.
    pub node: usize,
    /// Cost of the tunnel.
    pub cost: Cost,
    /// Hops of the tunnel.
    pub hops: Vec<DirectedLink>,
}

/// Returns whether `node` is in the P-space of `router` with regard to one of its adjacencies.
#[must_use]
pub fn p_space(routes: &Routes, router: usize, protected: Adjacency, node: usize) -> bool {
    routes.cost(router, node) < Cost::from(protected.cost) + routes.cost(protected.to, node)
}

/// Returns the cost of the tunnel to `node` if it is in the extended P-space. It also returns the
/// neighbour that the tunnel uses if the router's own path is not suitable. Otherwise returns
/// `None`.
#[must_use]
pub fn extended_p_space(
    topology: &Topology,
    routes: &Routes,
    router: usize,
    protected: Adjacency,
    node: usize,
) -> Option<(Cost, Option<Adjacency>)> {
    if p_space(routes, router, protected, node) {
        return Some((routes.cost(router, node), None));
    }
    let over = |adjacency: &&Adjacency| {
        let around = routes.cost(adjacency.to, router) + routes.cost(router, node);
        adjacency.hop.0 != protected.hop.0 && routes.cost(adjacency.to, node) < around
    };
    let cost = |adjacency: &Adjacency| Cost::from(adjacency.cost) + routes.cost(adjacency.to, node);
    let best = topology.adjacencies(router).iter().filter(over).min_by_key(|a| (cost(a), **a));
    best.map(|adjacency| (cost(adjacency), Some(*adjacency)))
}

/// Returns whether `node` is in the Q-space of the far end of `protected`, an adjacency of `router`.
#[must_use]
pub fn q_space(routes: &Routes, router: usize, protected: Adjacency, node: usize) -> bool {
    let avoiding = routes.cost(node, protected.to);
    avoiding < routes.cost(node, router) + Cost::from(protected.cost)
}

/// Returns the PQ node that repairs an adjacency of `router`.
#[must_use]
pub fn pq_node(
    topology: &Topology,
    routes: &Routes,
    router: usize,
    protected: Adjacency,
) -> Option<PqNode> {
    let candidate = |node: usize| {
        let inside = node != router && q_space(routes, router, protected, node);
        let (cost, over) =
            extended_p_space(topology, routes, router, protected, node).filter(|_| inside)?;
        Some((cost, node, over))
    };
    let candidates = (0..topology.nodes()).filter_map(candidate);
    let (cost, node, over) = candidates.min_by_key(|&(cost, node, _)| (cost, node))?;
    let from = over.map_or(router, |adjacency| adjacency.to);
    let mut hops: Vec<DirectedLink> = over.map(|adjacency| adjacency.hop).into_iter().collect();
    hops.extend(routes.to(node).path(topology, from));
    Some(PqNode { node, cost, hops })
}
