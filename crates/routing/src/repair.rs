//! The backup that a router keeps for a destination.

use crate::lfa::{alternates, choose};
use crate::remote_lfa::pq_node;
use crate::ti_lfa::post_convergence;
use crate::{Hop, Routes, Topology};

/// How backups are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Another neighbour.
    Lfa,
    /// Another neighbour, or a tunnel to a PQ node where none will do.
    RemoteLfa,
    /// A tunnel along the post-convergence path.
    TiLfa,
}

/// What backups should avoid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protect {
    /// The link to the next hop.
    Link,
    /// The next hop itself where that is possible, else the link.
    Node,
}

/// An instruction in the header of a tunnelled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Go to this node by the shortest path.
    Node(usize),
    /// Go over this link.
    Adjacency(Hop),
}

/// A backup of one router for one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// How it was found.
    pub mechanism: Mechanism,
    /// The hops from the router to where ordinary forwarding takes over; more than one is a tunnel.
    pub hops: Vec<Hop>,
    /// The node where it does.
    pub end: usize,
    /// What stands in the header beside the destination.
    pub segments: Vec<Segment>,
    /// Whether the next hop may fail too.
    pub node_protecting: bool,
}

impl Repair {
    /// Whether packets travel in a tunnel: the way is not one hop to a neighbour.
    #[must_use]
    pub fn tunnel(&self) -> bool {
        self.hops.len() > 1
    }
}

/// The backup of `router` for `destination`; `None` if the mechanism finds none.
#[must_use]
pub fn repair(
    topology: &Topology,
    routes: &Routes,
    mechanism: Mechanism,
    protect: Protect,
    router: usize,
    destination: usize,
) -> Option<Repair> {
    let primary = topology.adjacency(routes.next(router, destination)?)?;
    // The way does not touch the next hop, nor does any shortest path from its end: inequality 3 of
    // RFC 5286 where the end is a neighbour.
    let node_protecting = |hops: &[Hop], end: usize| {
        let beyond = routes.cost(end, primary.to) + routes.cost(primary.to, destination);
        let touches = |&hop: &Hop| topology.adjacency(hop).is_some_and(|a| a.to == primary.to);
        routes.cost(end, destination) < beyond && !hops.iter().any(touches)
    };
    if mechanism == Mechanism::TiLfa {
        let path = post_convergence(topology, routes, protect, router, destination)?;
        return Some(Repair {
            mechanism,
            node_protecting: node_protecting(&path.hops, path.end),
            hops: path.hops,
            end: path.end,
            segments: path.segments,
        });
    }
    let found = alternates(topology, routes, router, destination);
    if let Some(alternate) = choose(&found, protect) {
        return Some(Repair {
            mechanism: Mechanism::Lfa,
            hops: vec![alternate.adjacency.hop],
            end: alternate.adjacency.to,
            segments: Vec::new(),
            node_protecting: alternate.node_protecting,
        });
    }
    if mechanism == Mechanism::Lfa {
        return None;
    }
    let pq = pq_node(topology, routes, router, primary)?;
    Some(Repair {
        mechanism: Mechanism::RemoteLfa,
        end: pq.node,
        segments: vec![Segment::Node(pq.node)],
        node_protecting: node_protecting(&pq.hops, pq.node),
        hops: pq.hops,
    })
}
