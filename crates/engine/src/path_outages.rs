//! Periods in which a flow has no working path, computed from forwarding tables and port states only.
//!
//! # Model
//! A path starts at the flow's entry label and follows the tables of one point in time. It is broken at a port that is
//! down, at a selector that rejects this input, and where the time to live expires (a loop).
//!
//! # Limitations
//! - Table changes do not affect packets in flight. A period covers the packets that would be lost if they crossed the
//!   network in zero time.
//! - A selector that waits for the first packet of one input accepts both inputs.
//! - A bundle needs one working link, unless it selects links by destination. A virtual output queue needs one working
//!   path.
//! - Bursts, wavelengths and queue lengths are ignored. A link that carries bursts counts as working.

use std::collections::{BTreeMap, BTreeSet};

use optcp_net::{
    Action, BundleId, FlowId, Hop, INITIAL_TTL, Label, LabelTable, PortId, SelectorId,
};
use optcp_optical::bundle::Bundle;
use optcp_tcp::config::Repath;
use optcp_units::Time;

use crate::{Blueprint, FlowSpec};

/// Period in which a flow has no working path in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathOutage {
    /// Flow. Sources of datagrams are numbered after the flows.
    pub flow: FlowId,
    /// Direction: `true` for ACKs, `false` for data.
    pub acks: bool,
    /// Start of the outage.
    pub from: Time,
    /// End of the outage, at most the end of the run.
    pub until: Time,
}

/// Target of a control action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Component {
    Port(PortId),
    Label(Label),
    Selector(SelectorId),
    Bundle(BundleId),
}

/// Path of all flows with the same entry label and, where ECMP applies, the same hash.
#[derive(Debug)]
struct FlowPath {
    entry: Label,
    key: u64,
    /// Flows on this path; `true` for their ACKs.
    users: Vec<(FlowId, bool)>,
    /// Start of the current outage.
    since: Option<Time>,
    outages: Vec<[Time; 2]>,
}

/// All paths, and the paths that include each target of a control action.
struct FlowPaths {
    all: Vec<FlowPath>,
    passing: BTreeMap<Component, BTreeSet<usize>>,
}

/// State of the network at one time.
struct Network {
    labels: LabelTable,
    bundles: Vec<Bundle>,
    /// State of the link, by port.
    up: Vec<bool>,
    /// Last search that visited the label and the number of routers passed, by label.
    seen: Vec<(u64, u8)>,
    walks: u64,
}

/// Returns the path outages of all flows until `stop`, sorted by flow, direction (data first) and time.
///
/// A path is searched again only after a change on it.
#[must_use]
pub fn path_outages(blueprint: &Blueprint, stop: Time) -> Vec<PathOutage> {
    let changed =
        blueprint.controls.iter().filter_map(|control| Component::of_action(control.action));
    let passing: BTreeMap<Component, BTreeSet<usize>> =
        changed.map(|component| (component, BTreeSet::new())).collect();
    if passing.is_empty() {
        return Vec::new();
    }
    let mut paths = FlowPaths { all: all_paths(blueprint), passing };
    let mut network = Network::new(blueprint);
    (0..paths.all.len()).for_each(|path| paths.follow(path, &mut network, Time::ZERO));
    for at_once in blueprint.controls.chunk_by(|a, b| a.at == b.at) {
        let now = at_once[0].at;
        if now >= stop {
            break;
        }
        at_once.iter().for_each(|control| network.apply(control.action));
        let components = at_once.iter().filter_map(|control| Component::of_action(control.action));
        let concerned: BTreeSet<usize> =
            components.flat_map(|component| paths.passing[&component].iter().copied()).collect();
        concerned.into_iter().for_each(|path| paths.follow(path, &mut network, now));
    }
    let mut outages = Vec::new();
    for mut path in paths.all {
        path.set_working(true, stop);
        for (flow, acks) in path.users {
            outages.extend(path.outages.iter().map(|&[from, until]| PathOutage {
                flow,
                acks,
                from,
                until,
            }));
        }
    }
    outages.sort_unstable();
    outages
}

fn all_paths(blueprint: &Blueprint) -> Vec<FlowPath> {
    // The path of a connection that repaths depends on its RTOs.
    let fixed =
        |flow: &&FlowSpec| flow.config.repath == Repath::None || !blueprint.labels.has_keys();
    let flows = blueprint.flows.iter().map(|flow| {
        Some(flow).filter(fixed).map_or([None; 2], |flow| [Some(flow.data), Some(flow.acks)])
    });
    let sources = blueprint.datagrams.iter().map(|source| [Some(source.data), None]);
    let mut components: BTreeMap<(Label, u64), usize> = BTreeMap::new();
    let mut all: Vec<FlowPath> = Vec::new();
    for (flow, [data, acks]) in FlowId::all().zip(flows.chain(sources)) {
        for (acks, entry) in [(false, data), (true, acks)] {
            let Some(entry) = entry else { continue };
            let key = blueprint.labels.key(flow, acks);
            let component = *components.entry((entry, key)).or_insert(all.len());
            if component == all.len() {
                all.push(FlowPath {
                    entry,
                    key,
                    users: Vec::new(),
                    since: None,
                    outages: Vec::new(),
                });
            }
            all[component].users.push((flow, acks));
        }
    }
    all
}

impl Component {
    fn of_action(action: Action) -> Option<Component> {
        match action {
            Action::PortDown(port) | Action::PortClosed(port) | Action::PortUp(port) => {
                Some(Component::Port(port))
            }
            Action::SetHop(label, _) => Some(Component::Label(label)),
            Action::Expect(selector, _) | Action::Select(selector, _) => {
                Some(Component::Selector(selector))
            }
            Action::TakeOut(bundle, _) | Action::PutBack(bundle, _) => {
                Some(Component::Bundle(bundle))
            }
            Action::SetDelay(..) | Action::FibreDown(..) | Action::FibreUp(_) => None,
        }
    }
}

impl FlowPath {
    /// Records whether the path works from `now` on.
    fn set_working(&mut self, is_working: bool, now: Time) {
        if !is_working {
            self.since.get_or_insert(now);
        } else if let Some(since) = self.since.take()
            && since < now
        {
            self.outages.push([since, now]);
        }
    }
}

impl FlowPaths {
    fn follow(&mut self, path: usize, network: &mut Network, now: Time) {
        let FlowPath { entry, key, .. } = self.all[path];
        let is_working = network.is_working(entry, key, |component| {
            if let Some(passing) = self.passing.get_mut(&component) {
                passing.insert(path);
            }
        });
        self.all[path].set_working(is_working, now);
    }
}

impl Network {
    fn new(blueprint: &Blueprint) -> Self {
        Network {
            labels: blueprint.labels.clone(),
            bundles: blueprint.bundles.clone(),
            up: vec![true; blueprint.ports.len()],
            seen: vec![(0, 0); blueprint.labels.len()],
            walks: 0,
        }
    }

    fn apply(&mut self, action: Action) {
        match action {
            Action::PortDown(port) | Action::PortClosed(port) => self.up[port.index()] = false,
            Action::PortUp(port) => self.up[port.index()] = true,
            Action::TakeOut(bundle, port) => self.bundles[bundle as usize].take_out(port),
            Action::PutBack(bundle, port) => self.bundles[bundle as usize].put_back(port),
            Action::SetHop(..) | Action::Expect(..) | Action::Select(..) => {
                self.labels.apply(action);
            }
            Action::SetDelay(..) | Action::FibreDown(..) | Action::FibreUp(_) => {}
        }
    }

    /// Returns whether a path works. `visit` receives every visited component that determines the result.
    fn is_working(&mut self, entry: Label, key: u64, mut visit: impl FnMut(Component)) -> bool {
        self.walks += 1;
        let mut pending = vec![(entry, 0)];
        while let Some((label, routers)) = pending.pop() {
            let seen = &mut self.seen[label.0 as usize];
            if seen.0 == self.walks && seen.1 <= routers {
                continue;
            }
            *seen = (self.walks, routers);
            visit(Component::Label(label));
            let mut works = |port: PortId| {
                visit(Component::Port(port));
                self.up[port.index()]
            };
            match self.labels.hop(label) {
                Hop::Deliver => return true,
                Hop::Discard(_) => {}
                Hop::Goto(next) => pending.push((next, routers)),
                // Packets in such a queue wait until some path serves it; they are not lost.
                hop @ Hop::Ways(_) => {
                    let paths = self.labels.leads_to(hop).into_iter();
                    pending.extend(paths.map(|(_, next)| (next, routers)));
                }
                Hop::Ecmp(set) => pending.push((self.labels.ecmp_by_key(set, key), routers)),
                Hop::Tunnel { port, next } => {
                    pending.extend(works(port).then_some((next, routers)));
                }
                Hop::SelectorInput(input) => {
                    visit(Component::Selector(self.labels.selector_input(input).selector));
                    pending.extend(self.labels.may_pass(input).map(|next| (next, routers)));
                }
                // The time to live has expired.
                Hop::Forward { .. } | Hop::Bridge(_) | Hop::Bundle(_) if routers == INITIAL_TTL => {
                }
                Hop::Forward { port, next } => {
                    pending.extend(works(port).then_some((next, routers + 1)));
                }
                Hop::Bridge(bridge) => {
                    let paths = self.labels.bridge(bridge).into_iter();
                    let working = paths.filter(|&(port, _)| works(port));
                    pending.extend(working.map(|(_, next)| (next, routers + 1)));
                }
                Hop::Bundle(number) => {
                    let bundle_hop = self.labels.bundle_hop(number);
                    let bundle = &self.bundles[bundle_hop.bundle as usize];
                    let working = match bundle.fixed(bundle_hop.destination) {
                        Some(port) => works(port),
                        // `count` visits all links, because each may decide the next search.
                        None => bundle.candidates().iter().filter(|&&port| works(port)).count() > 0,
                    };
                    visit(Component::Bundle(bundle_hop.bundle));
                    pending.extend(working.then_some((bundle_hop.next, routers + 1)));
                }
            }
        }
        false
    }
}
