//! Topology-independent loop-free alternates.
//!
//! # Models
//! A router sends packets along the path that they will take once all routers have converged, in a
//! tunnel up to the first node of it from which the shortest path avoids what failed (a node of the
//! Q-space of the destination). The segment list names the last node of the path that is reached by
//! shortest paths that avoid it (of the P-space), then link by link what is left up to the Q-space.
//! # Source
//! RFC 9855 sections 5 and 6.
//! # Parameters
//! `Protect`: whether the path avoids the link or the node behind it.
//! # Limits
//! The P-space is that of the first node of the path, which the packet is always handed to. Where no
//! path avoids the node, one is taken that avoids the link. No shared-risk groups.

use crate::backup::{Protect, Segment};
use crate::{Adjacency, Cost, DirectedLink, Removed, Routes, Topology};

/// A repair along the post-convergence path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairPath {
    /// The hops up to the node from which shortest paths do.
    pub hops: Vec<DirectedLink>,
    /// That node.
    pub end: usize,
    /// What stands in the header beside the destination.
    pub segments: Vec<Segment>,
}

/// What a repair path must not touch.
#[derive(Clone, Copy)]
enum Avoided {
    /// The link between these two, and its cost from the first to the second and back.
    Link { ends: [usize; 2], costs: [Cost; 2] },
    /// A node.
    Node(usize),
}

impl Avoided {
    /// Whether every shortest path from a node to another avoids it.
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

/// The repair of `router` for `destination` along the post-convergence path; `None` if there is none.
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

/// The repair along a path that avoids what failed.
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
