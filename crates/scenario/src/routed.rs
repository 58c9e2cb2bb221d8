//! Network from the perspective of its routers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use optcp_routing::{Coverage, Forwarding, Link, Protect, Repair, Repairs, Topology, coverage};

use crate::plan::{BundlePlan, DirectedLink, LinkPlan, Plan};

/// Builds the routing graph of the links. Circuits of protections and fibres between burst switches are excluded, and the
/// first link of a bundle represents it.
pub fn topology(nodes: usize, links: &[LinkPlan], bundles: &[BundlePlan]) -> Topology {
    let led = |link| bundles.iter().any(|bundle| bundle.has(link) && bundle.leader() != link);
    let link = |(number, link): (usize, &LinkPlan)| {
        // A route of bursts is a link for routers, a circuit is not.
        let circuit =
            link.over.first().is_some_and(|&(under, _)| links[under].wavelengths.is_none());
        let routed = !circuit && link.wavelengths.is_none() && !led(number);
        routed.then_some(Link { ends: link.ends, costs: link.costs })
    };
    Topology::new(nodes, links.iter().enumerate().map(link).collect())
}

/// Builds the routing graph of a plan, with shared risks if backups avoid them.
pub fn topology_of(plan: &Plan) -> Topology {
    let graph = topology(plan.nodes.len(), &plan.links, &plan.bundles);
    if !plan.routing.as_ref().is_some_and(|routing| routing.protect == Protect::Risk) {
        return graph;
    }
    let led = |&link: &usize| {
        plan.bundles.iter().find(|bundle| bundle.has(link)).map_or(link, BundlePlan::leader)
    };
    let risks: Vec<Vec<usize>> =
        plan.risks.iter().map(|risk| risk.links.iter().map(led).collect()).collect();
    graph.with_risks(risks.iter().map(Vec::as_slice))
}

/// Returns the name of a graph direction: a port, or "bundle:A->B".
fn name(plan: &Plan, hop: DirectedLink) -> String {
    let Some(bundle) = plan.led_by(hop.0) else { return plan.port_name(hop) };
    let bundle = &plan.bundles[bundle];
    let [from, to] = [0, 1].map(|end| &plan.nodes[bundle.ends[end ^ bundle.way(&plan.links, hop)]]);
    format!("{}:{from}->{to}", bundle.name)
}

/// Inputs on which the coverage of fast reroute depends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Network {
    topology: Topology,
    forwarding: Forwarding,
}

/// Coverage of fast reroute, computed on first use.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    network: Network,
    found: Arc<OnceLock<Coverage>>,
}

impl Protected {
    pub(crate) fn coverage(&self) -> Coverage {
        let Network { topology, forwarding } = &self.network;
        *self.found.get_or_init(|| coverage(topology, *forwarding))
    }
}

/// Cache of fast-reroute coverage for scenarios that differ only in overrides, such as the combinations of a
/// sweep over links.
#[derive(Debug, Default)]
pub(crate) struct Networks(Mutex<HashMap<Network, Arc<OnceLock<Coverage>>>>);

impl Networks {
    /// Returns the coverage for a plan; `None` without routing.
    pub(crate) fn of(&self, plan: &Plan) -> Option<Protected> {
        let forwarding = plan.routing.as_ref()?.forwarding();
        let network = Network { topology: topology_of(plan), forwarding };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = Arc::clone(known.entry(network.clone()).or_default());
        Some(Protected { network, found })
    }
}

/// Route and backup of a router for one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Router.
    pub router: String,
    /// Destination.
    pub destination: String,
    /// Cost of the shortest path.
    pub cost: u64,
    /// Port or bundle to the next router; several with ECMP.
    pub next: Vec<String>,
    /// Name of the mechanism that found the backup, or "ecmp" if the next hops protect each other; `None`
    /// without backup.
    pub mechanism: Option<&'static str>,
    /// Ports and bundles of the backup, up to the node where ordinary forwarding continues.
    pub ports: Vec<String>,
    /// Node where ordinary forwarding continues.
    pub end: Option<String>,
    /// Protected elements: "link", "node" or "risk".
    pub protects: Option<&'static str>,
}

/// Returns the backups of every router.
pub fn backups(plan: &Plan) -> Vec<Backup> {
    let Some(routing) = &plan.routing else { return Vec::new() };
    let repairs = Repairs::new(topology_of(plan));
    let (topology, routes) = (repairs.topology(), repairs.routes());
    let of = |router: usize, destination: usize| {
        let forwarding = routing.forwarding();
        let Forwarding { mechanism, protect, .. } = forwarding;
        let set = forwarding.next_hops(topology, routes, router, destination);
        if set.is_empty() {
            return None;
        }
        let next = set.iter().map(|&hop| name(plan, hop)).collect();
        if set.len() > 1 {
            let both = routes.avoid_each_other(topology, &set, destination);
            return Some(Backup {
                router: plan.nodes[router].clone(),
                destination: plan.nodes[destination].clone(),
                cost: routes.cost(router, destination).sum()?,
                next,
                mechanism: Some("ecmp"),
                ports: Vec::new(),
                end: None,
                protects: Some(if both { Protect::Node } else { Protect::Link }.name()),
            });
        }
        let backup = repairs.find(mechanism, protect, router, destination);
        let avoids = |backup: &Repair| match protect {
            Protect::Risk if backup.risk_protecting => Protect::Risk.name(),
            _ if backup.node_protecting => Protect::Node.name(),
            _ => Protect::Link.name(),
        };
        let hops = backup.as_ref().map_or(&[][..], |backup| &backup.hops);
        Some(Backup {
            router: plan.nodes[router].clone(),
            destination: plan.nodes[destination].clone(),
            cost: routes.cost(router, destination).sum()?,
            next,
            mechanism: backup.as_ref().map(|backup| backup.mechanism.name()),
            ports: hops.iter().map(|&hop| name(plan, hop)).collect(),
            end: backup.as_ref().map(|backup| plan.nodes[backup.end].clone()),
            protects: backup.as_ref().map(avoids),
        })
    };
    let nodes = 0..plan.nodes.len();
    nodes
        .clone()
        .flat_map(|s| nodes.clone().map(move |d| (s, d)))
        .filter_map(|(s, d)| of(s, d))
        .collect()
}
