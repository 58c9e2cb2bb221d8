//! Links and nodes that traffic uses before any failure.

use std::collections::BTreeSet;

use optcp_routing::{Topology, Tree};

use crate::plan::{FlowPlan, ForwardingPlan, Plan};
use crate::routed::topology_of;

/// Links and nodes, as indices.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrafficFootprint {
    pub links: BTreeSet<usize>,
    pub nodes: BTreeSet<usize>,
}

/// Returns the links and nodes of flows and sources including ACKs, for one group or for all. If pairs are
/// drawn per run, every pair counts.
pub(crate) fn crossed(plan: &Plan, group: Option<usize>) -> TrafficFootprint {
    let mut found = TrafficFootprint::default();
    let flows = || plan.flows.iter().filter(|flow| group.is_none_or(|group| flow.group == group));
    for flow in flows() {
        found.nodes.extend(&flow.path);
        found.links.extend(flow.hops.iter().map(|hop| hop.0));
        let bundles = flow.bundles.values().map(|&bundle| &plan.bundles[bundle]);
        found.links.extend(bundles.flat_map(|bundle| &bundle.members).map(|member| member.0));
    }
    match &plan.forwarding {
        Some(written) => written_paths(plan, written, flows(), &mut found),
        None => routed_paths(plan, flows(), &mut found),
    }
    // A virtual output queue may be served over any of its paths.
    let voqs = found.links.iter().filter_map(|&link| plan.links[link].voq.as_ref());
    let behind: Vec<usize> =
        voqs.flat_map(|voq| &voq.ways).flat_map(|way| &way.hops).map(|hop| hop.0).collect();
    found.links.extend(behind);
    // A circuit depends on the links that it uses.
    let over: Vec<usize> =
        found.links.iter().flat_map(|&link| &plan.links[link].over).map(|hop| hop.0).collect();
    found.links.extend(over);
    found
}

/// Returns the paths of static forwarding: any path of the entries may be used.
fn written_paths<'p>(
    plan: &'p Plan,
    written: &ForwardingPlan,
    flows: impl Iterator<Item = &'p FlowPlan>,
    found: &mut TrafficFootprint,
) {
    let routed = flows.filter(|flow| flow.routed);
    let ends: BTreeSet<usize> =
        routed.flat_map(|flow| [flow.path[0], flow.path[flow.path.len() - 1]]).collect();
    for (link, _) in ends.into_iter().flat_map(|to| written.links_towards(to)) {
        found.links.insert(link);
        found.nodes.extend(plan.links[link].ends);
    }
}

/// Returns the paths of routed flows. ACKs take the shortest path back, which may differ from the path of the
/// data. With ECMP, both take all paths of minimum cost.
fn routed_paths<'p>(
    plan: &'p Plan,
    flows: impl Iterator<Item = &'p FlowPlan>,
    found: &mut TrafficFootprint,
) {
    let spread = plan.routing.as_ref().is_some_and(|routing| routing.ecmp.is_some());
    let ends: BTreeSet<[usize; 2]> = flows
        .filter(|flow| flow.routed)
        .map(|flow| [flow.path[0], flow.path[flow.path.len() - 1]])
        .flat_map(|[source, sink]| [Some([source, sink]), spread.then_some([sink, source])])
        .flatten()
        .collect();
    let mut known: Option<(Topology, usize, Tree)> = None;
    for [to, from] in ends {
        let (topology, _, tree) = match &mut known {
            Some(known) if known.1 == to => known,
            known => {
                let topology =
                    known.take().map_or_else(|| topology_of(plan), |(topology, ..)| topology);
                let tree = Tree::new(&topology, to);
                known.insert((topology, to, tree))
            }
        };
        let hops = match spread {
            true => tree.all_paths(topology, from),
            false => tree.path(topology, from),
        };
        for hop in hops {
            let led = plan.led_by(hop.0).map(|bundle| &plan.bundles[bundle].members);
            found.links.extend(led.into_iter().flatten().map(|member| member.0));
            found.links.insert(hop.0);
            found.nodes.extend(plan.links[hop.0].ends);
        }
    }
}
