//! Not-via addresses.
//!
//! # Model
//! The router S that detects a failure encapsulates packets to an address of a router beyond the failed component.
//! All routers forward this address on shortest paths in the network without the component. The addressed router
//! decapsulates the packets and forwards them as usual.
//!
//! * The link S-E: the address of E that is not via this link.
//! * The node E: the address of E's next hop on the path to the destination, not via E.
//! * Shared risks: the address of E that is not via any link at risk together with S-E.
//!
//! # References
//! RFC 6981.
//!
//! # Parameters
//! `Protect`: the component that the address avoids.
//!
//! # Limitations
//! Every repair is encapsulated, also if a loop-free alternate exists; the RFC permits its use instead. If no path avoids the node, or if E is the destination, the link is repaired. Repair of multihomed
//! prefixes, LANs and multicast is not modelled.

use crate::{DirectedLink, Protect, Removed, Routes, Topology};

/// Tunnel to a not-via address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotVia {
    /// Hops to the router with the address.
    pub hops: Vec<DirectedLink>,
    /// This router.
    pub end: usize,
}

/// Returns the tunnel of `router` for `destination`; `None` without a path around the failure.
#[must_use]
pub fn not_via(
    topology: &Topology,
    routes: &Routes,
    protect: Protect,
    router: usize,
    destination: usize,
) -> Option<NotVia> {
    let primary = topology.adjacency(routes.next(router, destination)?)?;
    let to = |end: usize, gone: Removed<'_>| {
        let path = routes.to(end).detour(topology, gone, router);
        let hops: Vec<DirectedLink> = path.iter().map(|step| step.hop).collect();
        (!hops.is_empty()).then_some(NotVia { hops, end })
    };
    let preferred = match protect {
        Protect::Link => None,
        Protect::Node => routes
            .next(primary.to, destination)
            .and_then(|beyond| topology.adjacency(beyond))
            .and_then(|beyond| to(beyond.to, Removed::Node(primary.to))),
        Protect::Risk => to(primary.to, Removed::Links(topology.at_risk_with(&primary.hop.0))),
    };
    preferred.or_else(|| to(primary.to, Removed::Links(&[primary.hop.0])))
}
