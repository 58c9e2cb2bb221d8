//! Static forwarding of a run: entries of the label table, and their changes as control actions.

use std::collections::{BTreeMap, BTreeSet};

use optcp_net::{Action, Control, Hop, Label, Paths};
use optcp_units::Time;

use optcp_scenario::plan::{DirectedLink, ForwardingPlan, Plan};

use super::places::port_id;
use super::routing::{Entries, destinations};

/// Creates the initial entries; also returns the later changes.
pub(super) fn lay(
    plan: &Plan,
    written: &ForwardingPlan,
    paths: &mut Paths,
) -> (Entries, Vec<Control>) {
    let mut tables = Tables { plan, written, entries: Entries::default(), known: BTreeMap::new() };
    let routeless = any_port(plan);
    for destination in destinations(plan) {
        let delivered = paths.entry(0, &[]);
        let mut labels = vec![None; plan.nodes.len()];
        for node in tables.passed(destination) {
            labels[node] = routeless[node].map(|hop| paths.add(hop));
        }
        labels[destination] = Some(delivered);
        tables.entries.insert(destination, labels);
    }
    let mut controls = Vec::new();
    for step in &written.entries {
        if step.at > plan.stop || !tables.entries.knows(step.to) {
            continue;
        }
        let Some(routeless) = routeless[step.node] else { continue };
        let label = tables.entries.at(step.node, step.to);
        let does = step.way.map_or(routeless, |way| tables.along(way, step.to, paths));
        if step.at == Time::ZERO {
            paths.set(label, does);
        } else {
            controls.push(Control { at: step.at, action: Action::SetHop(label, does) });
        }
    }
    (tables.entries, controls)
}

/// Returns the treatment of packets without route, by node; `None` for a node without links.
fn any_port(plan: &Plan) -> Vec<Option<Hop>> {
    let mut ports = vec![None; plan.nodes.len()];
    for (number, link) in plan.links.iter().enumerate().rev() {
        for direction in [0, 1] {
            ports[link.ends[direction]] = Some(Hop::Discard(port_id((number, direction))));
        }
    }
    ports
}

struct Tables<'p> {
    plan: &'p Plan,
    written: &'p ForwardingPlan,
    entries: Entries,
    /// Hop by path and destination.
    known: BTreeMap<(usize, usize), Hop>,
}

impl Tables<'_> {
    /// Returns the nodes that packets for a destination can reach.
    fn passed(&self, to: usize) -> BTreeSet<usize> {
        let routed = self.plan.flows.iter().filter(|flow| flow.routed);
        let ways = self.written.entries.iter().filter(|step| step.to == to);
        let ways = ways.flat_map(|step| {
            let last = self.written.hops(step.way).last();
            last.map(|&hop| self.far_end(hop)).into_iter().chain([step.node])
        });
        ways.chain(routed.flat_map(|flow| [flow.path[0], flow.path[flow.path.len() - 1]])).collect()
    }

    fn far_end(&self, (link, direction): DirectedLink) -> usize {
        self.plan.links[link].ends[1 - direction]
    }

    /// Returns the hop of an entry that sends packets for a destination over a path.
    fn along(&mut self, way: usize, to: usize, paths: &mut Paths) -> Hop {
        if let Some(&known) = self.known.get(&(way, to)) {
            return known;
        }
        let hops = &self.written.ways[way];
        let (&first, beyond) = hops.split_first().expect("a way has a link at least");
        let last = self.entries.at(self.far_end(*hops.last().unwrap_or(&first)), to);
        let before = |next: Label, &hop: &DirectedLink| paths.before(0, port_id(hop), next);
        let next = beyond.iter().rev().fold(last, before);
        let does = Hop::Forward { port: port_id(first), next };
        self.known.insert((way, to), does);
        does
    }
}
