//! When the way of a flow leads nowhere: from forwarding tables and ports alone, without a packet.
//!
//! # Models
//! A way is followed from the entry where a flow's packets come in, through the tables as they are at an instant. It leads
//! nowhere where it comes to a port that is down, to a gate whose selector does not admit its side, or past more routers
//! than the time to live allows, as in a loop.
//! # Limits
//! What is on its way when tables change is not followed: a cut says when packets that come in would be lost if all happened
//! at once. A selector that waits for the first packet of a side admits both sides. Of a bundle one link that works
//! is enough, unless the selection is by destination, and so is one way behind a virtual output queue; bursts, wavelengths and
//! queues are not looked at.

use std::collections::{BTreeMap, BTreeSet};

use optcp_net::{
    Action, BundleId, FlowId, Hop, INITIAL_TTL, Label, LabelTable, PortId, SelectorId,
};
use optcp_optical::bundle::Bundle;
use optcp_units::Time;

use crate::Blueprint;

/// For so long the way of a flow in one direction led nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathOutage {
    /// The flow or, behind the flows, the source of datagrams.
    pub flow: FlowId,
    /// Whether it is the way of its ACKs; of its data otherwise.
    pub acks: bool,
    /// From when on.
    pub from: Time,
    /// Up to when: the end of the run where it lasted.
    pub until: Time,
}

/// What control actions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Port(PortId),
    Label(Label),
    Selector(SelectorId),
    Bundle(BundleId),
}

/// The way of flows that come in at the same entry and, where flows are spread, are hashed alike.
#[derive(Debug)]
struct Way {
    entry: Label,
    key: u64,
    /// Whose it is, and whether that of ACKs.
    of: Vec<(FlowId, bool)>,
    /// Since when it has led nowhere.
    since: Option<Time>,
    path_outages: Vec<[Time; 2]>,
}

/// All ways, and which of them pass what changes at some time.
struct Ways {
    all: Vec<Way>,
    passing: BTreeMap<Place, BTreeSet<usize>>,
}

/// The network at an instant.
struct Network {
    labels: LabelTable,
    bundles: Vec<Bundle>,
    /// By port, whether its link works.
    up: Vec<bool>,
    /// By label, in which walk it was come to last, and past how many routers.
    seen: Vec<(u64, u8)>,
    walks: u64,
}

/// The cuts of all flows up to `stop`: by flow, data first, in order of time. A way is followed again only when something
/// on it changes.
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
    /// Whether it leads to its end from now on.
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

    /// Whether a way leads to its end; tells what it passes, as far as that decides.
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
                // Whatever serves it: what waits is held, not lost.
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
                // The time to live is used up.
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
                        // All of them are passed: any may decide next time.
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
