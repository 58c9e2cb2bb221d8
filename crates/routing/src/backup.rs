//! What a backup is, and what may be chosen about backups.

use optcp_units::registry;

use crate::DirectedLink;

registry! {
    /// How routers find backups.
    pub enum Mechanism ("fast-reroute") {
        "none" => None: "no backups: packets are lost until routers have converged", "RFC 2328";
        "lfa" => Lfa: "a neighbour that does not send the packets back", "RFC 5286";
        "remote-lfa" => RemoteLfa: "such a neighbour, or else a tunnel to a router further away that does not", "RFC 7490";
        "ti-lfa" => TiLfa: "a tunnel along the path that packets will take after convergence", "RFC 9855";
    }
}

registry! {
    /// What backups avoid.
    pub enum Protect ("fast-reroute-protection") {
        "link" => Link: "the link to the next router", "RFC 5286, section 3.2";
        "node" => Node: "the next router where that is possible, else the link to it", "RFC 5286, section 3.2";
    }
}

registry! {
    /// What tunnels do to the time to live.
    pub enum TunnelTtl ("tunnel-ttl") {
        "uniform" => Uniform: "every router on the way takes one", "RFC 3443, section 3.1";
        "pipe" => Pipe: "only the routers at the ends take one: the tunnel is one hop", "RFC 3443, section 3.2";
    }
}

/// An instruction in the header of a tunnelled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Go to this node by the shortest path.
    Node(usize),
    /// Go over this link.
    Adjacency(DirectedLink),
}

/// A backup of one router for one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// How it was found.
    pub mechanism: Mechanism,
    /// The hops from the router to where ordinary forwarding takes over; more than one is a tunnel.
    pub hops: Vec<DirectedLink>,
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
