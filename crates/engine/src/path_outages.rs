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
//! - Bursts, wavelengths and queue lengths are ignored.

use std::collections::{BTreeMap, BTreeSet};

use optcp_net::{
    Action, BundleId, FlowId, Hop, INITIAL_TTL, Label, LabelTable, PortId, SelectorId,
};
use optcp_optical::bundle::Bundle;
use optcp_units::Time;

use crate::Blueprint;

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
enum Place {
    Port(PortId),
    Label(Label),
    Selector(SelectorId),
    Bundle(BundleId),
}

/// Path of all flows with the same entry label and, where ECMP applies, the same hash.
#[derive(Debug)]
struct Way {
    entry: Label,
    key: u64,
    /// Flows on this path; `true` for their ACKs.
    of: Vec<(FlowId, bool)>,
    /// Start of the current outage.
    since: Option<Time>,
    path_outages: Vec<[Time; 2]>,
}

/// All paths, and the paths that include each target of a control action.
struct Ways {
    all: Vec<Way>,
    passing: BTreeMap<Place, BTreeSet<usize>>,
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
    let changed = blueprint.controls.iter().filter_map(|control| Place::of(control.action));
    let passing: BTreeMap<Place, BTreeSet<usize>> =
        changed.map(|place| (place, BTreeSet::new())).collect();
    if passing.is_empty() {
        return Vec::new();
    }
    let mut ways = Ways { all: all_ways(blueprint), passing };
    let mut network = Network::of(blueprint);
    (0..ways.all.len()).for_each(|way| ways.follow(way, &mut network, Time::ZERO));
    for at_once in blueprint.controls.chunk_by(|a, b| a.at == b.at) {
        let now = at_once[0].at;
        if now >= stop {
            break;
        }
        at_once.iter().for_each(|control| network.apply(control.action));
        let places = at_once.iter().filter_map(|control| Place::of(control.action));
        let concerned: BTreeSet<usize> =
            places.flat_map(|place| ways.passing[&place].iter().copied()).collect();
        concerned.into_iter().for_each(|way| ways.follow(way, &mut network, now));
    }
    let mut found = Vec::new();
    for mut way in ways.all {
        way.is_found(true, stop);
        for (flow, acks) in way.of {
            found.extend(way.path_outages.iter().map(|&[from, until]| PathOutage {
                flow,
                acks,
                from,
                until,
            }));
        }
    }
    found.sort_unstable();
    found
}

fn all_ways(blueprint: &Blueprint) -> Vec<Way> {
    let flows = blueprint.flows.iter().map(|flow| (flow.data, Some(flow.acks)));
    let sources = blueprint.datagrams.iter().map(|source| (source.data, None));
    let mut places: BTreeMap<(Label, u64), usize> = BTreeMap::new();
    let mut all: Vec<Way> = Vec::new();
    for (flow, (data, acks)) in FlowId::all().zip(flows.chain(sources)) {
        for (acks, entry) in [(false, Some(data)), (true, acks)] {
            let Some(entry) = entry else { continue };
            let key = blueprint.labels.key(flow, acks);
            let place = *places.entry((entry, key)).or_insert(all.len());
            if place == all.len() {
                all.push(Way { entry, key, of: Vec::new(), since: None, path_outages: Vec::new() });
            }
            all[place].of.push((flow, acks));
        }
    }
    all
}

impl Place {
    fn of(action: Action) -> Option<Place> {
        match action {
            Action::PortDown(port) | Action::PortClosed(port) | Action::PortUp(port) => {
                Some(Place::Port(port))
            }
            Action::SetHop(label, _) => Some(Place::Label(label)),
            Action::Expect(selector, _) | Action::Select(selector, _) => {
                Some(Place::Selector(selector))
            }
            Action::TakeOut(bundle, _) | Action::PutBack(bundle, _) => Some(Place::Bundle(bundle)),
            Action::SetDelay(..) => None,
        }
    }
}

impl Way {
    /// Records whether the path works from `now` on.
    fn is_found(&mut self, leads: bool, now: Time) {
        if !leads {
            self.since.get_or_insert(now);
        } else if let Some(since) = self.since.take()
            && since < now
        {
            self.path_outages.push([since, now]);
        }
    }
}

impl Ways {
    fn follow(&mut self, way: usize, network: &mut Network, now: Time) {
        let Way { entry, key, .. } = self.all[way];
        let leads = network.leads(entry, key, |place| {
            if let Some(passing) = self.passing.get_mut(&place) {
                passing.insert(way);
            }
        });
        self.all[way].is_found(leads, now);
    }
}

impl Network {
    fn of(blueprint: &Blueprint) -> Self {
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
            Action::SetDelay(..) => {}
        }
    }

    /// Returns whether a path works. `passes` receives every visited component that determines the result.
    fn leads(&mut self, entry: Label, key: u64, mut passes: impl FnMut(Place)) -> bool {
        self.walks += 1;
        let mut pending = vec![(entry, 0)];
        while let Some((label, routers)) = pending.pop() {
            let seen = &mut self.seen[label.0 as usize];
            if seen.0 == self.walks && seen.1 <= routers {
                continue;
            }
            *seen = (self.walks, routers);
            passes(Place::Label(label));
            let mut works = |port: PortId| {
                passes(Place::Port(port));
                self.up[port.index()]
            };
            match self.labels.hop(label) {
                Hop::Deliver => return true,
                Hop::Discard(_) => {}
                Hop::Goto(next) => pending.push((next, routers)),
                // Packets in such a queue wait until some path serves it; they are not lost.
                hop @ Hop::Ways(_) => {
                    let ways = self.labels.leads_to(hop).into_iter();
                    pending.extend(ways.map(|(_, next)| (next, routers)));
                }
                Hop::Ecmp(set) => pending.push((self.labels.spread_by(set, key), routers)),
                Hop::Tunnel { port, next } => {
                    pending.extend(works(port).then_some((next, routers)));
                }
                Hop::SelectorInput(gate) => {
                    passes(Place::Selector(self.labels.gate(gate).selector));
                    pending.extend(self.labels.may_pass(gate).map(|next| (next, routers)));
                }
                // The time to live has expired.
                Hop::Forward { .. } | Hop::Bridge(_) | Hop::Bundle(_) if routers == INITIAL_TTL => {
                }
                Hop::Forward { port, next } => {
                    pending.extend(works(port).then_some((next, routers + 1)));
                }
                Hop::Bridge(bridge) => {
                    let ways = self.labels.bridge(bridge).into_iter();
                    let working = ways.filter(|&(port, _)| works(port));
                    pending.extend(working.map(|(_, next)| (next, routers + 1)));
                }
                Hop::Bundle(entrance) => {
                    let entrance = self.labels.entrance(entrance);
                    let bundle = &self.bundles[entrance.bundle as usize];
                    let working = match bundle.fixed(entrance.destination) {
                        Some(port) => works(port),
                        // `count` visits all links, because each may decide the next search.
                        None => bundle.candidates().iter().filter(|&&port| works(port)).count() > 0,
                    };
                    passes(Place::Bundle(entrance.bundle));
                    pending.extend(working.then_some((entrance.next, routers + 1)));
                }
            }
        }
        false
    }
}
