//! Repair path of a router for a destination.

use crate::backup::{Mechanism, Protect, Repair, Segment};
use crate::lfa::{Alternate, alternates, choose};
use crate::remote_lfa::pq_node;
use crate::ti_lfa::post_convergence;
use crate::{DirectedLink, Routes, Topology};

/// Returns the repair path of `router` for `destination`; `None` if the mechanism finds none.
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
    // Neither the path nor any shortest path from its end touches the next hop: inequality 3 of RFC 5286 if
    // the end is a neighbour.
    let node_protecting = |hops: &[DirectedLink], end: usize| {
        let beyond = routes.cost(end, primary.to) + routes.cost(primary.to, destination);
        let touches =
            |&hop: &DirectedLink| topology.adjacency(hop).is_some_and(|a| a.to == primary.to);
        routes.cost(end, destination) < beyond && !hops.iter().any(touches)
    };
    let at_risk = topology.at_risk_with(&primary.hop.0);
    let repair = |mechanism, hops: Vec<DirectedLink>, end, segments| Repair {
        mechanism,
        node_protecting: node_protecting(&hops, end),
        risk_protecting: routes.avoid_links(topology, at_risk, &hops, end, destination),
        hops,
        end,
        segments,
    };
    let by_neighbour = || {
        let found = alternates(topology, routes, router, destination);
        let Alternate { adjacency, node_protecting, .. } = choose(&found, protect)?;
        let (hops, end) = (vec![adjacency.hop], adjacency.to);
        Some(Repair { node_protecting, ..repair(Mechanism::Lfa, hops, end, Vec::new()) })
    };
    match mechanism {
        Mechanism::None => None,
        Mechanism::Lfa => by_neighbour(),
        Mechanism::RemoteLfa => by_neighbour().or_else(|| {
            let pq = pq_node(topology, routes, router, primary)?;
            Some(repair(mechanism, pq.hops, pq.node, vec![Segment::Node(pq.node)]))
        }),
        Mechanism::TiLfa => {
            let path = post_convergence(topology, routes, protect, router, destination)?;
            Some(repair(mechanism, path.hops, path.end, path.segments))
        }
    }
}
