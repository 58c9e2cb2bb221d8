//! What routing does in a run: forwarding tables as entries of the label table, and what routers
//! rewrite as control actions.

use std::collections::{BTreeMap, BTreeSet};

use optcp_des::Streams;
use optcp_net::{Action, Control, Label, Paths, PortConfig, PortId};
use optcp_routing::{Cause, Change, Entry, Failure, Repair, Routes, Timing, Topology, timeline};
use optcp_units::Time;

use crate::plan::{Plan, RoutingPlan};
use crate::routed::topology;

use super::{delay_of, draw, port_id};

/// What routers did at an instant, for the result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerouted {
    /// When.
    pub at: Time,
    /// The router.
    pub router: String,
    /// Why: "failure", "repair" or "convergence".
    pub cause: &'static str,
    /// How many entries of its table it rewrote.
    pub entries: u64,
}

/// What routing did in a run, forwarding tables between all nodes counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutingRecord {
    /// Announcements that routers originated.
    pub announcements: u64,
    /// Entries that were rewritten because a router saw a link fail.
    pub on_failure: u64,
    /// Entries that were rewritten because a router saw it work again.
    pub on_repair: u64,
    /// Entries that were rewritten because of an announcement.
    pub on_convergence: u64,
    /// The same, router by router, in order of time.
    pub steps: Vec<Rerouted>,
}

/// The forwarding tables of the destinations that flows have.
pub(super) struct Tables {
    topology: Topology,
    /// By destination: the entry of each node that has a way there.
    entries: BTreeMap<usize, Vec<Option<Label>>>,
}

impl Tables {
    /// Lays the tables as they are before anything fails; `None` without routing.
    pub(super) fn lay(plan: &Plan, paths: &mut Paths) -> Option<Self> {
        plan.routing.as_ref()?;
        let topology = topology(plan.nodes.len(), &plan.links);
        let routed = plan.flows.iter().filter(|flow| flow.routed);
        let ends = routed.flat_map(|flow| [flow.path.first(), flow.path.last()]);
        let destinations: BTreeSet<usize> = ends.flatten().copied().collect();
        let routes = Routes::new(&topology);
        let mut entries = BTreeMap::new();
        for destination in destinations {
            // Nothing is left to pass: the entry at the destination itself delivers.
            let delivered = paths.entry(0, &[]);
            let labels: Vec<Option<Label>> = (0..topology.nodes())
                .map(|node| match routes.next(node, destination) {
                    Some(_) => Some(paths.open()),
                    None => (node == destination).then_some(delivered),
                })
                .collect();
            entries.insert(destination, labels);
        }
        let tables = Tables { topology, entries };
        for (&destination, labels) in &tables.entries {
            for (node, label) in labels.iter().enumerate() {
                let next = routes.next(node, destination);
                if let (Some(label), Some(hop)) = (label, next) {
                    let to = tables.beyond(hop, destination);
                    paths.set(*label, optcp_net::Hop::Forward { port: port_id(hop), next: to });
                }
            }
        }
        Some(tables)
    }

    /// Where packets of a destination enter the network at a node.
    ///
    /// # Panics
    /// If no flow has the destination, or there is no way.
    pub(super) fn entry(&self, node: usize, destination: usize) -> Label {
        self.entries[&destination][node].expect("checked: there is a way")
    }

    fn beyond(&self, hop: optcp_routing::Hop, destination: usize) -> Label {
        let adjacency = self.topology.adjacency(hop).expect("a link of the topology");
        self.entry(adjacency.to, destination)
    }

    /// What routers rewrite, as control actions and for the result.
    pub(super) fn rewrite(
        &self,
        plan: &Plan,
        routing: &RoutingPlan,
        ports: &[PortConfig],
        streams: Streams,
        paths: &mut Paths,
    ) -> (Vec<Control>, RoutingRecord) {
        let failures: Vec<Failure> = plan
            .failures
            .iter()
            .map(|failure| Failure {
                link: failure.link,
                directions: failure.directions,
                at: failure.at,
                repair: failure.repair,
            })
            .collect();
        let timing = timing(plan, routing, ports, streams);
        let (mechanism, protect) = (routing.mechanism, routing.protect);
        let mut line =
            timeline(&self.topology, &failures, &timing, mechanism, protect, routing.converge);
        line.announcements.retain(|one| one.at <= plan.stop);
        line.changes.retain(|change| change.at <= plan.stop);
        let mut record = RoutingRecord {
            announcements: line.announcements.iter().map(|one| one.senders as u64).sum(),
            ..RoutingRecord::default()
        };
        line.changes.iter().for_each(|change| record.count(plan, change));
        let mut laid: BTreeMap<(usize, Vec<PortId>), optcp_net::Hop> = BTreeMap::new();
        let mut controls = Vec::new();
        for Change { at, router, destination, entry, .. } in &line.changes {
            let Some(labels) = self.entries.get(destination) else { continue };
            let Some(label) = labels[*router] else { continue };
            let hop = match entry {
                Entry::Next(hop) => {
                    let next = self.beyond(*hop, *destination);
                    optcp_net::Hop::Forward { port: port_id(*hop), next }
                }
                Entry::Backup(Repair { hops, end, .. }) => {
                    let way: Vec<PortId> = hops.iter().map(|&hop| port_id(hop)).collect();
                    let onto = self.entry(*end, *destination);
                    *laid
                        .entry((*destination, way.clone()))
                        .or_insert_with(|| paths.tunnel(&way, onto, routing.pipe))
                }
            };
            controls.push(Control { at: *at, action: Action::SetHop(label, hop) });
        }
        (controls, record)
    }
}

impl RoutingRecord {
    fn count(&mut self, plan: &Plan, change: &Change) {
        let (total, cause) = match change.cause {
            Cause::Failure => (&mut self.on_failure, "failure"),
            Cause::Repair => (&mut self.on_repair, "repair"),
            Cause::Convergence => (&mut self.on_convergence, "convergence"),
        };
        *total += 1;
        let router = &plan.nodes[change.router];
        match self.steps.last_mut() {
            Some(step) if step.at == change.at && step.router == *router && step.cause == cause => {
                step.entries += 1;
            }
            _ => self.steps.push(Rerouted {
                at: change.at,
                router: router.clone(),
                cause,
                entries: 1,
            }),
        }
    }
}

/// How long everything takes in this run.
fn timing(plan: &Plan, routing: &RoutingPlan, ports: &[PortConfig], streams: Streams) -> Timing {
    let update = |node: &String| draw(routing.update, streams, || format!("routing/{node}/update"));
    let delay = |link| [0, 1].map(|direction| delay_of(ports, (link, direction)));
    Timing {
        detection: routing.detection,
        detection_up: routing.detection_up,
        hold_down: routing.hold_down,
        flooding: routing.flooding,
        computation: routing.spf,
        update: plan.nodes.iter().map(update).collect(),
        delay: (0..plan.links.len()).map(delay).collect(),
    }
}
