//! The network as its routers see it.

use optcp_routing::{Coverage, Link, Topology, coverage};

use crate::plan::{LinkPlan, Plan};

/// The graph of the links; circuits of protections are not for routing.
pub(crate) fn topology(nodes: usize, links: &[LinkPlan]) -> Topology {
    let link = |link: &LinkPlan| {
        link.over.is_empty().then_some(Link { ends: link.ends, costs: link.costs })
    };
    Topology::new(nodes, links.iter().map(link).collect())
}

/// How much fast reroute protects; `None` without routing.
pub(crate) fn covered(plan: &Plan) -> Option<Coverage> {
    let routing = plan.routing.as_ref()?;
    let topology = topology(plan.nodes.len(), &plan.links);
    Some(coverage(&topology, routing.mechanism, routing.protect))
}
