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
//! `Protect`: whether the path avoids the link or the node behind it.
//!
//! # Limitations
//! The P-space is computed from the first node of the path, to which the packet is always sent. If no path
//! avoids the node, one that avoids the link is used. Shared-risk groups are ignored.

use crate::backup::{Protect, Segment};
use crate::{Adjacency, Cost, DirectedLink, Removed, Routes, Topology};

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

/// Element that a repair path must avoid.
#[derive(Clone, Copy)]
enum Avoided {
    /// Link between two nodes, with its cost per direction.
    Link { ends: [usize; 2], costs: [Cost; 2] },
    /// Node.
    Node(usize),
}

impl Avoided {
    /// Returns whether every shortest path between two nodes avoids the element.
    fn by(self, routes: &Routes, from: usize, to: usize) -> bool {
        let direct = routes.cost(from, to);
        match self {
            Avoided::Node(node) => direct < routes.cost(from, node) + routes.cost(node, to),
            Avoided::Link { ends: [a, b], costs } => {
                direct < routes.cost(from, a) + costs[0] + routes.cost(b, to)
                    && direct < routes.cost(from, b) + costs[1] + routes.cost(a, to)
            }
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
    let link = || {
        let back = topology.adjacency((primary.hop.0, 1 - primary.hop.1))?;
        let costs = [primary.cost, back.cost].map(Cost::from);
        let avoided = Avoided::Link { ends: [router, primary.to], costs };
        along(routes, avoided, &tree.detour(topology, Removed::LinkBehind(router), router))
    };
    if protect == Protect::Link || primary.to == destination {
        return link();
    }
    let around = tree.detour(topology, Removed::Node(primary.to), router);
    along(routes, Avoided::Node(primary.to), &around).or_else(link)
}

/// Returns the repair along a path that avoids the failure.
fn along(routes: &Routes, avoided: Avoided, path: &[Adjacency]) -> Option<RepairPath> {
    let (first, destination) = (path.first()?.to, path.last()?.to);
    let q = path.iter().position(|step| avoided.by(routes, step.to, destination))?;
    let in_p = |step: &Adjacency| step.to == first || avoided.by(routes, first, step.to);
    let p = path[..=q].iter().take_while(|step| in_p(step)).count() - 1;
    let mut segments = Vec::new();
    if p > 0 {
        segments.push(Segment::Node(path[p].to));
    }
    segments.extend(path[p + 1..=q].iter().map(|step| Segment::Adjacency(step.hop)));
    let hops = path[..=q].iter().map(|step| step.hop).collect();
    Some(RepairPath { hops, end: path[q].to, segments })
}
