//! Routing in a run: FIBs as entries of the label table, and their changes as control actions.

use std::collections::{BTreeMap, BTreeSet};

use optcp_des::Streams;
use optcp_net::{
    Action, BundleHop, Control, Hashing, Hop, Label, Multipath, Paths, PortConfig, PortId,
};
use optcp_optical::burst::BurstProtection;
use optcp_optical::protection::Outage;
use optcp_routing::{
    Cause, Change, DirectedLink, Entry, Failure, Repair, Routes, Timing, Topology, TunnelTtl,
    timeline,
};
use optcp_units::Time;

use optcp_scenario::ecmp_paths;
use optcp_scenario::plan::{Carries, Plan, RoutingPlan};
use optcp_scenario::routed::topology_of;

use super::bundles::{bundle_id, outages_of};
use super::places::{delay_of, draw, outages, port_id};
use super::protection::Segment;

/// FIB changes of a router at one time, for the result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerouted {
    /// Time.
    pub at: Time,
    /// Router.
    pub router: String,
    /// Cause: "failure", "repair" or "convergence".
    pub cause: &'static str,
    /// Number of changed FIB entries.
    pub entries: u64,
}

/// Record of routing in a run, counting the FIBs between all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutingRecord {
    /// Number of flooded reports that routers originated.
    pub announcements: u64,
    /// Number of entries changed because a router detected a link failure.
    pub on_failure: u64,
    /// Number of entries changed because a router detected a repair.
    pub on_repair: u64,
    /// Number of entries changed because of a report.
    pub on_convergence: u64,
    /// Changes by router, in order of time.
    pub steps: Vec<Rerouted>,
}

/// Entry of each node with a path, by destination.
#[derive(Clone, Default)]
pub(super) struct Entries(BTreeMap<usize, Vec<Option<Label>>>);

impl Entries {
    /// Adds the entries of a destination.
    pub(super) fn insert(&mut self, destination: usize, labels: Vec<Option<Label>>) {
        self.0.insert(destination, labels);
    }

    /// Returns whether packets have this destination.
    pub(super) fn knows(&self, destination: usize) -> bool {
        self.0.contains_key(&destination)
    }

    /// Returns the entry of packets for a destination at a node.
    ///
    /// # Panics
    /// If no flow has the destination, or if there is no path.
    pub(super) fn at(&self, node: usize, destination: usize) -> Label {
        self.0[&destination][node].expect("checked: there is a way")
    }
}

/// Returns the destinations of traffic that follows FIBs.
pub(super) fn destinations(plan: &Plan) -> BTreeSet<usize> {
    let routed = plan.flows.iter().filter(|flow| flow.routed);
    let ends = routed.flat_map(|flow| [flow.path.first(), flow.path.last()]);
    ends.flatten().copied().collect()
}

/// FIBs for the destinations of flows.
pub(super) struct Tables {
    topology: Topology,
    /// Shortest paths before any failure.
    routes: Routes,
    pub(super) entries: Entries,
    /// ECMP hash, and the seed of each router.
    spread: Option<(Hashing, Vec<u64>)>,
    /// Links that are protected for all traffic.
    protected: BTreeSet<DirectedLink>,
    /// By such a link and the label behind it: the entry for packets that are to take it.
    into_link: BTreeMap<(DirectedLink, Label), Label>,
    /// Where flows are spread: by destination and next hop, the entry for those that are to take it.
    next_hops: BTreeMap<(usize, DirectedLink), Label>,
}

impl Tables {
    /// Installs the tables without failures; `None` without routing.
    pub(super) fn lay(plan: &Plan, seed: u64, paths: &mut Paths) -> Option<Self> {
        let routing = plan.routing.as_ref()?;
        let topology = topology_of(plan);
        let routes = Routes::new(&topology);
        let mut entries = Entries::default();
        for destination in destinations(plan) {
            // The entry at the destination itself delivers: no hops remain.
            let delivered = paths.entry(0, &[]);
            let labels: Vec<Option<Label>> = (0..topology.nodes())
                .map(|node| match routes.next(node, destination) {
                    Some(_) => Some(paths.open()),
                    None => (node == destination).then_some(delivered),
                })
                .collect();
            entries.insert(destination, labels);
        }
        let spread = routing.ecmp.map(|hashing| (hashing, ecmp_paths::seeds(plan, seed)));
        let next_hops = BTreeMap::new();
        let links = plan.protections.iter().filter_map(|one| Some(one.link.as_ref()?.hops[0]));
        let protected = links.flat_map(|(link, _)| [(link, 0), (link, 1)]).collect();
        let into_link = BTreeMap::new();
        let mut tables =
            Tables { topology, routes, entries, spread, next_hops, protected, into_link };
        for (destination, labels) in tables.entries.0.clone() {
            for (node, label) in labels.into_iter().enumerate() {
                let (topology, routes) = (&tables.topology, &tables.routes);
                let hops = routing.forwarding().next_hops(topology, routes, node, destination);
                if let (Some(label), false) = (label, hops.is_empty()) {
                    let does = tables.over(plan, node, &hops, destination, paths);
                    paths.set(label, does);
                }
            }
        }
        Some(tables)
    }

    /// Returns the hash keys of the flows of a run, then of its sources; empty without ECMP.
    pub(super) fn keys(&self, plan: &Plan) -> Vec<u64> {
        let of = |carries: fn(&Carries) -> bool| {
            let flows = plan.flows.iter().filter(move |flow| carries(&flow.carries));
            flows.map(|flow| ecmp_paths::key(&flow.name))
        };
        let all = of(|carries| *carries == Carries::Flow)
            .chain(of(|carries| matches!(carries, Carries::Datagrams(_))));
        if self.spread.is_some() { all.collect() } else { Vec::new() }
    }

    /// Returns the hop of a node's entry that sends packets for a destination over one of these next hops.
    fn over(
        &mut self,
        plan: &Plan,
        node: usize,
        hops: &[DirectedLink],
        destination: usize,
        paths: &mut Paths,
    ) -> Hop {
        let spread = self.spread.as_ref().map(|(hashing, seeds)| (*hashing, seeds[node]));
        let Some((hashing, seed)) = spread.filter(|_| hops.len() > 1) else {
            return self.along(plan, hops, destination, paths);
        };
        let next_hops = hops
            .iter()
            .map(|&hop| (ecmp_paths::number(hop), self.into(plan, hop, destination, paths)));
        let next_hops = next_hops.collect();
        paths.multipath(Multipath { hashing, seed, next_hops })
    }

    /// Returns the entry for packets for a destination that take one of several next hops.
    fn into(
        &mut self,
        plan: &Plan,
        hop: DirectedLink,
        destination: usize,
        paths: &mut Paths,
    ) -> Label {
        if let Some(&known) = self.next_hops.get(&(destination, hop)) {
            return known;
        }
        let does = self.along(plan, &[hop], destination, paths);
        let label = paths.add(does);
        self.next_hops.insert((destination, hop), label);
        label
    }

    /// Returns the node at the end of a link direction.
    fn far_end(&self, hop: DirectedLink) -> usize {
        self.topology.adjacency(hop).expect("a link of the topology").to
    }

    /// Returns the hop of an entry that sends packets for a destination over these links and then forwards
    /// them as usual.
    fn along(
        &mut self,
        plan: &Plan,
        hops: &[DirectedLink],
        destination: usize,
        paths: &mut Paths,
    ) -> Hop {
        let (&first, beyond) = hops.split_first().expect("a way has a link at least");
        let next = match beyond {
            [] => self.entries.at(self.far_end(first), destination),
            _ => {
                let does = self.along(plan, beyond, destination, paths);
                paths.add(does)
            }
        };
        if let Some(&known) = self.into_link.get(&(first, next)) {
            return Hop::Goto(known);
        }
        let into = match plan.led_by(first.0) {
            None => Hop::Forward { port: port_id(first), next },
            Some(number) => {
                // Node behind the bundle, or its end if the packets stay there.
                let end = self.far_end(first);
                let onward = beyond.first().copied().or_else(|| self.routes.next(end, destination));
                let behind = onward.map_or(end, |hop| self.far_end(hop));
                paths.entrance(BundleHop {
                    bundle: bundle_id(number, plan.bundles[number].way(&plan.links, first)),
                    destination: plan.numbers[behind],
                    next,
                })
            }
        };
        if !self.protected.contains(&first) {
            return into;
        }
        let label = paths.add(into);
        self.into_link.insert((first, next), label);
        Hop::Goto(label)
    }

    /// Returns the same for a tunnel whose inner routers do not change the time to live. Not possible with
    /// bundles.
    fn piped(&self, hops: &[DirectedLink], destination: usize, paths: &mut Paths) -> Hop {
        let end = self.far_end(*hops.last().expect("a tunnel has a link at least"));
        let way: Vec<PortId> = hops.iter().map(|&hop| port_id(hop)).collect();
        paths.tunnel(&way, self.entries.at(end, destination), true)
    }

    /// Returns the FIB changes as control actions and for the result; `None` if cancelled.
    pub(super) fn rewrite(
        &mut self,
        plan: &Plan,
        routing: &RoutingPlan,
        (ports, protected): (&[PortConfig], &[Segment<'_>]),
        (streams, go_on): (Streams, &mut dyn FnMut() -> bool),
        paths: &mut Paths,
    ) -> Option<(Vec<Control>, RoutingRecord)> {
        let failures = failures(plan, protected);
        let timing = timing(plan, routing, ports, streams);
        let (forwarding, converge) = (routing.forwarding(), routing.converge);
        let mut line = timeline(&self.topology, &failures, &timing, forwarding, converge, go_on)?;
        line.announcements.retain(|one| one.at <= plan.stop);
        line.changes.retain(|change| change.at <= plan.stop);
        let mut record = RoutingRecord {
            announcements: line.announcements.iter().map(|one| one.senders as u64).sum(),
            ..RoutingRecord::default()
        };
        line.changes.iter().for_each(|change| record.count(plan, change));
        let mut laid: BTreeMap<(usize, Vec<DirectedLink>), Hop> = BTreeMap::new();
        let mut controls = Vec::new();
        for Change { at, router, destination, entry, .. } in &line.changes {
            let Some(labels) = self.entries.0.get(destination) else { continue };
            let Some(label) = labels[*router] else { continue };
            let hops = match entry {
                Entry::Next(hop) => std::slice::from_ref(hop),
                Entry::Ecmp(hops) | Entry::Backup(Repair { hops, .. }) => hops,
            };
            let lay = || match entry {
                Entry::Backup(backup) if backup.tunnel() && routing.ttl == TunnelTtl::Pipe => {
                    self.piped(hops, *destination, paths)
                }
                Entry::Backup(_) => self.along(plan, hops, *destination, paths),
                _ => self.over(plan, *router, hops, *destination, paths),
            };
            // All next hops of a set leave the router, but only one hop of a backup does, so the lists of
            // hops cannot be confused.
            let hop = *laid.entry((*destination, hops.to_vec())).or_insert_with(lay);
            controls.push(Control { at: *at, action: Action::SetHop(label, hop) });
        }
        // Now all entries before protected links are known.
        for segment in protected {
            let of_port = (segment.port(), Label(0))..=(segment.port(), Label(u32::MAX));
            for (&(_, onto), &entry) in self.into_link.range(of_port) {
                segment.switch_link([entry, onto], ports, paths, &mut controls);
            }
        }
        Some((controls, record))
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

/// Returns the failures that routers detect. A bundle fails while none of its links works and is selected;
/// separately protected links fail until the backup is used. An unprotected route of bursts fails with its fibres.
fn failures(plan: &Plan, protected: &[Segment<'_>]) -> Vec<Failure> {
    let by_itself = |link: usize| protected.iter().any(|segment| segment.port().0 == link);
    let alone = plan.failures.iter().filter(|failure| {
        let link = failure.link;
        let is_fibre = plan.links[link].wavelengths.is_some();
        !by_itself(link) && !is_fibre && !plan.bundles.iter().any(|bundle| bundle.has(link))
    });
    let of_links = alone.map(|failure| Failure {
        link: failure.link,
        directions: failure.directions,
        at: failure.at,
        repair: failure.repair,
    });
    let one_way = |(link, direction): DirectedLink, outages: Vec<Outage>| {
        let directions = [direction == 0, direction == 1];
        let failure =
            move |Outage { failure, repair }| Failure { link, directions, at: failure, repair };
        outages.into_iter().map(failure)
    };
    let bundles = plan.bundles.iter().filter(|bundle| !by_itself(bundle.leader()));
    let of_bundles = bundles.flat_map(|bundle| {
        [0, 1].into_iter().flat_map(move |way| {
            let ports: Vec<DirectedLink> = bundle.ports(way).collect();
            one_way(ports[0], outages_of(plan, bundle, &ports))
        })
    });
    let of_protected = protected.iter().flat_map(|segment| one_way(segment.port(), segment.seen()));
    let unprotected = plan.bursts.iter().filter(|one| one.protection == BurstProtection::None);
    let of_bursts = unprotected.flat_map(|bursts| {
        [0, 1].into_iter().flat_map(move |direction| {
            let hop = (bursts.link, direction);
            one_way(hop, outages(plan, hop))
        })
    });
    of_links.chain(of_bundles).chain(of_protected).chain(of_bursts).collect()
}

/// Returns the delays of convergence in this run.
fn timing(plan: &Plan, routing: &RoutingPlan, ports: &[PortConfig], streams: Streams) -> Timing {
    let update =
        |node: &String| draw(&routing.update, streams, || format!("routing/{node}/update"));
    let delay = |link| [0, 1].map(|direction| delay_of(ports, (link, direction)));
    Timing {
        detection: routing.detection,
        detection_up: routing.detection_up,
        hold_down: routing.hold_down,
        flooding: routing.flooding,
        computation: routing.spf,
        update: plan.nodes.iter().map(update).collect(),
        hold: routing.hold,
        delay: (0..plan.links.len()).map(delay).collect(),
    }
}
