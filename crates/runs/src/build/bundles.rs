//! Bundles of a run: both directions of each, the label entries before them, and the times at which nodes
//! detect failures of their links.

use std::collections::BTreeMap;

use optcp_net::{Action, BundleHop, BundleId, Control, Label, PathId, Paths};
use optcp_optical::bundle::Bundle;
use optcp_optical::protection::Outage;
use optcp_units::{Duration, Time};

use optcp_scenario::plan::{BundlePlan, DirectedLink, FlowPlan, Plan};
use optcp_scenario::protected::reverse;

use super::places::{outages, path_ids, port_id, united};
use super::planned;

/// Returns the number of a bundle's direction: from its first end to its second (0) or back (1).
pub(super) fn bundle_id(bundle: usize, way: usize) -> BundleId {
    BundleId::try_from(2 * bundle + way).expect("a plan has fewer than 2^31 bundles")
}

/// Returns both directions of every bundle, next to each other.
pub(super) fn bundles(plan: &Plan) -> Vec<Bundle> {
    let both = |bundle| [(bundle, 0), (bundle, 1)];
    let ways = plan.bundles.iter().flat_map(both);
    ways.map(|(bundle, way)| {
        Bundle::new(bundle.ports(way).map(port_id).collect(), bundle.selection)
    })
    .collect()
}

/// Label entries of paths that may use bundles and virtual output queues. All flows of a path with the same
/// destination number share one entry before a bundle.
#[derive(Default)]
pub(super) struct Entrances {
    voqs: BTreeMap<(PathId, DirectedLink, Label), Label>,
    labels: BTreeMap<(PathId, BundleId, u32, Label), Label>,
}

impl Entrances {
    /// Returns the first entries of a flow's data and of its ACKs.
    pub(super) fn entries(
        &mut self,
        plan: &Plan,
        flow: &FlowPlan,
        paths: &mut Paths,
    ) -> [Label; 2] {
        [0, 1].map(|direction| self.along(plan, flow, direction, paths)[0])
    }

    /// Returns the entry of a flow's data (0) or ACKs (1) at every node, in order.
    pub(super) fn along(
        &mut self,
        plan: &Plan,
        flow: &FlowPlan,
        direction: usize,
        paths: &mut Paths,
    ) -> Vec<Label> {
        let path = path_ids(plan, flow)[direction];
        let mut next = paths.entry(path, &[]);
        let mut along = vec![next];
        // An entry needs the label behind it, so that entries are created from the last one back.
        for n in 0..flow.hops.len() {
            let place = if direction == 0 { flow.hops.len() - 1 - n } else { n };
            let hop = flow.hops[place];
            let hop = if direction == 0 { hop } else { reverse(hop) };
            next = match flow.bundles.get(&place) {
                None if plan.links[hop.0].voq.is_some() => *self
                    .voqs
                    .entry((path, hop, next))
                    .or_insert_with(|| planned::entry(plan, hop, next, paths)),
                None => paths.before(path, port_id(hop), next),
                Some(&number) => {
                    let bundle = bundle_id(number, plan.bundles[number].way(&plan.links, hop));
                    let destination = plan.destination(flow, place, direction);
                    let key = (path, bundle, destination, next);
                    *self.labels.entry(key).or_insert_with(|| {
                        let hop = paths.entrance(BundleHop { bundle, destination, next });
                        paths.add(hop)
                    })
                }
            };
            along.push(next);
        }
        along.reverse();
        along
    }
}

/// Returns the outages of a bundle's direction with these ports: times at which none of its links works and
/// is selected.
pub(super) fn outages_of(plan: &Plan, bundle: &BundlePlan, ports: &[DirectedLink]) -> Vec<Outage> {
    let of_link = |&port: &DirectedLink| {
        let mut outages = outages(plan, port);
        let mut out = known(&outages, bundle.detection).into_iter();
        // Known states alternate: a failure, then its repair.
        while let Some((failure, _)) = out.next() {
            outages.push(Outage { failure, repair: out.next().map(|(at, _)| at) });
        }
        united(outages)
    };
    ports.iter().map(of_link).reduce(|a, b| common(&a, &b)).unwrap_or_default()
}

/// Returns the times at which two links are both down.
fn common(a: &[Outage], b: &[Outage]) -> Vec<Outage> {
    let both = |a: &Outage, b: &Outage| {
        let failure = a.failure.max(b.failure);
        let repair = a.repair.into_iter().chain(b.repair).min();
        repair.is_none_or(|repair| failure < repair).then_some(Outage { failure, repair })
    };
    a.iter().flat_map(|a| b.iter().filter_map(move |b| both(a, b))).collect()
}

/// Returns the detection events of nodes adjacent to bundles.
pub(super) fn controls(plan: &Plan) -> Vec<Control> {
    let mut controls = Vec::new();
    for (number, bundle) in plan.bundles.iter().enumerate() {
        for way in [0, 1] {
            for hop in bundle.ports(way) {
                let (id, port) = (bundle_id(number, way), port_id(hop));
                for (at, works) in known(&outages(plan, hop), bundle.detection) {
                    let action = match works {
                        true => Action::PutBack(id, port),
                        false => Action::TakeOut(id, port),
                    };
                    controls.push(Control { at, action });
                }
            }
        }
    }
    controls
}

/// Returns the detected states of a link with their times (`true`: it works). Changes shorter than the
/// detection time are never detected.
fn known(outages: &[Outage], detection: Duration) -> Vec<(Time, bool)> {
    let ends = |one: &Outage| [Some((one.failure, false)), one.repair.map(|at| (at, true))];
    let changes: Vec<(Time, bool)> = outages.iter().flat_map(ends).flatten().collect();
    let mut known: Vec<(Time, bool)> = Vec::new();
    for (number, &(at, works)) in changes.iter().enumerate() {
        let lasts = changes.get(number + 1).is_none_or(|&(next, _)| next > at + detection);
        let before = known.last().is_none_or(|&(_, works)| works);
        if lasts && works != before {
            known.push((at + detection, works));
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// Detection takes 10 ms: an outage of 5 ms and a repair of 5 ms are not detected.
    #[test]
    fn outage_shorter_than_detection_is_ignored() {
        let outage = |from: u64, to: Option<u64>| Outage { failure: ms(from), repair: to.map(ms) };
        let outages = [outage(100, Some(105)), outage(200, Some(300)), outage(305, Some(400))];
        let expected = [(ms(210), false), (ms(410), true)];
        assert_eq!(known(&outages, Duration::from_ms(10)), expected);
        let at_once = [(ms(100), false), (ms(105), true)];
        assert_eq!(known(&outages[..1], Duration::ZERO), at_once);
        assert_eq!(known(&[outage(7, None)], Duration::from_ms(1)), [(ms(8), false)]);
    }

    /// Two links. One is down from 100 to 200 and from 300 to 400 ms, the other from 150 to 350 ms
    /// and from 400 ms. Both are down from 150 to 200 ms and from 300 to 350 ms, but not at 400 ms,
    /// where they change roles.
    #[test]
    fn bundle_is_down_while_all_links_are_down() {
        let outage = |from: u64, to: Option<u64>| Outage { failure: ms(from), repair: to.map(ms) };
        let one = [outage(100, Some(200)), outage(300, Some(400))];
        let other = [outage(150, Some(350)), outage(400, None)];
        let both = [outage(150, Some(200)), outage(300, Some(350))];
        assert_eq!(common(&one, &other), both);
        assert_eq!(common(&other, &one), both);
        assert_eq!(common(&other, &[outage(500, None)]), [outage(500, None)]);
    }
}
