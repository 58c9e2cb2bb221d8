//! Circuits of reserved backups: their links and rates.

use std::collections::{BTreeMap, BTreeSet};

use optcp_optical::protection::{Scheme, SetUp, SwitchPoint};
use optcp_units::{Duration, Rate};

use crate::plan::{CapacityKind, Carries, DirectedLink, FlowPlan, ProtectionPlan};
use crate::problem::Problems;
use crate::protected::{Protected, reserved_on};
use crate::schema::ProtectionEntry;
use crate::tree::{Step, place};

use super::draft::Draft;
use super::network::Network;

/// Number of units per flow in the shares of a link, so that flows of a traffic matrix have whole numbers.
const PER_FLOW: u128 = 1000;

/// Returns the default capacity of backups. `1+1` reserves circuits: in shared queues, its permanent copies
/// would take half of everybody's capacity.
pub(super) fn default_capacity(scheme: Scheme) -> CapacityKind {
    if scheme.bridges() { CapacityKind::Reserved } else { CapacityKind::Shared }
}

/// Paths of an entry whose packets leave by the same port for the same backup; they share one circuit.
type Client = (usize, Vec<DirectedLink>, DirectedLink);

/// Circuits created so far.
pub(super) struct Circuits {
    /// Units of each flow in the shares of a link.
    units: Vec<u128>,
    /// Links of the circuits, by client.
    laid: BTreeMap<Client, usize>,
    /// Units of paths by protected port, over all circuits that share its rate.
    working: BTreeMap<DirectedLink, u128>,
    /// Units by protected port, per circuit.
    carried: BTreeMap<usize, BTreeMap<DirectedLink, u128>>,
}

impl Circuits {
    pub(super) fn of(plan: &Draft) -> Self {
        Circuits {
            units: units(plan),
            laid: BTreeMap::new(),
            working: BTreeMap::new(),
            carried: BTreeMap::new(),
        }
    }

    /// Creates the circuits of backup n of entry i, one per piece of a detour.
    pub(super) fn reserve(
        &mut self,
        (i, n): (usize, usize),
        entry: &ProtectionEntry,
        protection: &mut ProtectionPlan,
        plan: &Draft,
        network: &mut Network,
    ) {
        if protection.capacity == CapacityKind::Shared {
            return;
        }
        let name = if n == 0 { format!("reserved-{i}") } else { format!("reserved-{i}.{n}") };
        let shares = protection.capacity == CapacityKind::Reserved && entry.rate.is_none();
        let flows = protection.flows.iter().map(|&flow| self.units[flow]);
        let units: Vec<u128> = flows.chain(protection.link.as_ref().map(|_| PER_FLOW)).collect();
        let line_rate = protection.capacity == CapacityKind::LineRate;
        let mut circuits: BTreeMap<Vec<DirectedLink>, usize> = BTreeMap::new();
        for (way, units) in protection.ways(&plan.flows).zip(units) {
            for direction in [0, 1] {
                let ways = (&protection.backup[..], &protection.hops[..]);
                let protected =
                    Protected::new(&network.bundles, way, direction, ways, &protection.links);
                let Some(protected) = protected else { continue };
                let mut used = BTreeSet::new();
                for (hops, replaced) in pieces(protection.scheme, &protected) {
                    let client = (i, hops.clone(), replaced);
                    let alike = self.laid.get(&client).filter(|_| !line_rate);
                    let known = circuits.get(&hops).or(alike);
                    let circuit = known.copied().unwrap_or_else(|| {
                        let end =
                            |(link, way): DirectedLink, far| network.links[link].ends[way ^ far];
                        let ends = [end(hops[0], 0), end(hops[hops.len() - 1], 1)];
                        let name = format!("{name}-{}", circuits.len());
                        let rate = entry.rate.map(|rate| rate.0);
                        network.add_circuit(name, ends, hops.clone(), replaced, rate)
                    });
                    self.laid.entry(client).or_insert(circuit);
                    circuits.insert(hops, circuit);
                    used.insert(circuit);
                }
                let covered =
                    protected.covered.iter().map(|&link| protected.working()[link].ports[0]);
                for port in covered.filter(|_| shares) {
                    *self.working.entry(port).or_default() += units;
                    for &circuit in &used {
                        *self.carried.entry(circuit).or_default().entry(port).or_default() += units;
                    }
                }
            }
        }
        protection.circuits = circuits;
    }

    /// Sets the rate of circuits without `rate`: the minimum, over all working links, of the share that their
    /// paths have of the link. If any link fails, the circuits that replace it do not exceed its rate in
    /// total.
    pub(super) fn share(&self, network: &mut Network) {
        for (&circuit, carried) in &self.carried {
            let share = |(port, units): (&DirectedLink, &u128)| {
                let rate = u128::from(network.links[port.0].directions[port.1].rate.bps());
                u64::try_from(rate * units / self.working[port]).unwrap_or(u64::MAX)
            };
            let bps = carried.iter().map(share).min().unwrap_or_default().max(1);
            let Some(rate) = Rate::from_bps(bps) else { continue };
            for direction in &mut network.links[circuit].directions {
                direction.rate = rate;
            }
        }
    }
}

/// Returns the pieces of the detours from each switching node of a scheme, with the port that the packets
/// otherwise take.
fn pieces(scheme: Scheme, protected: &Protected) -> Vec<(Vec<DirectedLink>, DirectedLink)> {
    let segment = protected.segment(|_| Duration::ZERO, Duration::ZERO);
    let points = scheme.points(&segment, SetUp { computation: Duration::ZERO });
    let working = protected.working();
    let of_point = |point: &SwitchPoint| {
        // The selecting node is after the last link; its packets left through the first link.
        let replaced = working.get(point.node).unwrap_or(&working[0]).ports[0];
        protected.pieces(scheme, point).into_iter().map(move |piece| (piece, replaced))
    };
    points.iter().flat_map(of_point).collect()
}

/// Returns the units of each path: one flow counts as one. Paths with drawn pairs or random arrivals count as
/// one on average, in proportion to their weights.
fn units(plan: &Draft) -> Vec<u128> {
    // Routes of an entry are adjacent, in the order of their weights.
    let mut first: Option<(Carries, usize, u128)> = None;
    let of = |(place, flow): (usize, &FlowPlan)| {
        let weights = match flow.carries {
            Carries::Drawn(drawn) => &plan.drawn[drawn].weights,
            Carries::Arrivals(arrivals) => &plan.arrivals[arrivals].weights,
            Carries::Flow | Carries::Datagrams(_) => return PER_FLOW,
        };
        if weights.is_empty() {
            return PER_FLOW;
        }
        let (_, start, sum) = match first.filter(|(carries, ..)| *carries == flow.carries) {
            Some(known) => known,
            None => {
                let sum = weights.iter().map(|&weight| u128::from(weight)).sum();
                *first.insert((flow.carries, place, sum))
            }
        };
        let weight = u128::from(weights[place - start]);
        (PER_FLOW * weights.len() as u128 * weight / sum).max(1)
    };
    plan.flows.iter().enumerate().map(of).collect()
}

/// Reports circuits that exceed the spare capacity of a link.
pub(super) fn check_spare(plan: &Draft, network: &Network, problems: &mut Problems<'_>) {
    let reserved = reserved_on(&plan.protections, &network.links);
    for (port, bps) in reserved {
        let link = &network.links[port.0];
        let Some(spare) = link.spare.filter(|spare| bps > spare.bps()) else { continue };
        let place = match link.entry {
            Some(entry) => place!["links", entry, "spare"].to_vec(),
            None => [Step::from("topology"), "spare".into()].to_vec(),
        };
        let needed = Rate::from_bps(bps).map_or(String::new(), |rate| rate.to_string());
        let message = format!("backups reserve {needed} on `{}`", link.name);
        problems
            .at(&place, message)
            .label(format!("spare capacity is {spare}"))
            .help("raise `spare`, or set a lower `rate` in [[protection]]".to_owned());
        return;
    }
}
