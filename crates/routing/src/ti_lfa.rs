//! Topology-independent loop-free alternates (TI-LFA).
//!
//! # Model
//! A router sends packets along their path after convergence. A tunnel leads to its first node from
//! which the shortest path avoids the failure (a node of the Q-space of the destination). The
//! segment list names the last node of the path that shortest paths reach without the failure
//! (P-space), then each link up to the Q-space.
//!
//! # References
//! RFC 9855 sections 5 and 6.
//!
//! # Parameters
//! `Protect`: whether the path avoids the link, the node behind it, or all links that share a risk with the link.
//!
//! # Limitations
//! The P-space is computed from the first node of the path, to which the packet is always sent. If no path
//! avoids the node or the shared risks, one that avoids the link is used.

use crate::backup::{Protect, Segment};
use crate::{Adjacency, DirectedLink, Removed, Routes, Topology};

/// Repair along the path after convergence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairPath {
    /// Hops up to the node from which shortest paths avoid the failure.
    pub hops: Vec<DirectedLink>,
    /// That node.
    pub end: usize,
    /// Segment list in the header, in addition to the destination.
    pub segments: Vec<Segment>,
}

/// Elements that a repair path must avoid.
#[derive(Clone, Copy)]
enum Avoided<'a> {
    /// Links.
    Links(&'a [usize]),
    /// Node.
    Node(usize),
}

impl Avoided<'_> {
    /// Returns whether every shortest path between two nodes avoids the elements.
    fn by(self, topology: &Topology, routes: &Routes, from: usize, to: usize) -> bool {
        match self {
            Avoided::Node(node) => {
                routes.cost(from, to) < routes.cost(from, node) + routes.cost(node, to)
            }
            Avoided::Links(links) => routes.avoid_links(topology, links, &[], from, to),
        }
    }
}

/// Returns the repair of `router` for `destination` along the path after convergence; `None`
/// without such a path.
#[must_use]
pub fn post_convergence(
    topology: &Topology,
    routes: &Routes,
    protect: Protect,
    router: usize,
    destination: usize,
) -> Option<RepairPath> {
    let tree = routes.to(destination);
    let primary = topology.adjacency(tree.next(router)?)?;
    let around = |links: &[usize]| {
        let path = tree.detour(topology, Removed::Links(links), router);
        along(topology, routes, Avoided::Links(links), &path)
    };
    let first = match protect {
        Protect::Link => None,
        Protect::Node if primary.to == destination => None,
        Protect::Node => {
            let path = tree.detour(topology, Removed::Node(primary.to), router);
            along(topology, routes, Avoided::Node(primary.to), &path)
        }
        Protect::Risk => around(topology.at_risk_with(&primary.hop.0)),
    };
    first.or_else(|| around(&[primary.hop.0]))
}

/// Returns the repair along a path that avoids the failure.
fn along(
    topology: &Topology,
    routes: &Routes,
    avoided: Avoided<'_>,
    path: &[Adjacency],
) -> Option<RepairPath> {
    let (first, destination) = (path.first()?.to, path.last()?.to);
    let avoids = |from, to| avoided.by(topology, routes, from, to);
    let q = path.iter().position(|step| avoids(step.to, destination))?;
    let in_p = |step: &Adjacency| step.to == first || avoids(first, step.to);
    let p = path[..=q].iter().take_while(|step| in_p(step)).count() - 1;
    let mut segments = Vec::new();
    if p > 0 {
        segments.push(Segment::Node(path[p].to));
    }
    segments.extend(path[p + 1..=q].iter().map(|step| Segment::Adjacency(step.hop)));
    let hops = path[..=q].iter().map(|step| step.hop).collect();
    Some(RepairPath { hops, end: path[q].to, segments })
}
