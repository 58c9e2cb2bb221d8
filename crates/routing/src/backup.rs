//! Repair paths of fast reroute, and their options.

use optcp_units::registry;

use crate::DirectedLink;

registry! {
    /// Fast-reroute mechanism.
    pub enum Mechanism ("fast-reroute") {
        "none" => None: "no fast reroute: packets are lost until routers have converged", "RFC 2328";
        "lfa" => Lfa: "a neighbour that does not send the packets back (loop-free alternate)", "RFC 5286";
        "remote-lfa" => RemoteLfa: "a loop-free alternate, else a tunnel to a more distant router that does not send the packets back", "RFC 7490";
        "ti-lfa" => TiLfa: "a tunnel along the path after convergence", "RFC 9855";
        "u-turn" => UTurn: "a loop-free alternate, else a neighbour that would send the packets back, but recognises them and uses its own alternate", "draft-atlas-ip-local-protect-uturn-03";
        "not-via" => NotVia: "a tunnel to an address beyond the failure that is routed without the failed component", "RFC 6981";
        "mrc" => Mrc: "the paths of a routing configuration that isolates the failed element", "Kvalbein et al., INFOCOM 2006";
        "fifr" => Fifr: "routers infer the failed link from the interface at which a packet arrives", "Zhong et al., INFOCOM 2005";
    }
}

registry! {
    /// Element that repair paths avoid.
    pub enum Protect ("fast-reroute-protection") {
        "link" => Link: "the link to the next router", "RFC 5286, section 3.2";
        "node" => Node: "the next router if possible, else the link to it", "RFC 5286, section 3.2";
        "risk" => Risk: "all links that share a risk with the link to the next router if possible, else that link", "RFC 9855, local SRLG";
    }
}

registry! {
    /// Handling of the time to live by tunnels.
    pub enum TunnelTtl ("tunnel-ttl") {
        "uniform" => Uniform: "every router on the path decrements it", "RFC 3443, section 3.1";
        "pipe" => Pipe: "only the routers at the ends decrement it: the tunnel counts as one hop", "RFC 3443, section 3.2";
    }
}

/// Segment in the header of a tunnelled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Forward to this node along the shortest path.
    Node(usize),
    /// Forward over this link.
    Adjacency(DirectedLink),
}

/// Repair path of a router for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Mechanism that found it.
    pub mechanism: Mechanism,
    /// Hops from the router to the node where ordinary forwarding continues.
    pub hops: Vec<DirectedLink>,
    /// `true`: packets are encapsulated on these hops.
    pub encapsulated: bool,
    /// Node where ordinary forwarding continues.
    pub end: usize,
    /// Segment list in the header, in addition to the destination.
    pub segments: Vec<Segment>,
    /// `true`: it also avoids the next hop.
    pub node_protecting: bool,
    /// `true`: it also avoids all links that share a risk with the link to the next hop.
    pub risk_protecting: bool,
}

impl Repair {
    /// Returns whether packets use a tunnel: they are encapsulated, and the path is not one hop to a neighbour.
    #[must_use]
    pub fn tunnel(&self) -> bool {
        self.encapsulated && self.hops.len() > 1
    }
}
