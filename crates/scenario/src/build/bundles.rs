//! Bundles: both directions of each, the ways into them, and when nodes know which links work.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use optcp_net::{Action, BundleId, Control, Entrance, Label, PathId, Paths, PortId};
use optcp_optical::bundle::Bundle;
use optcp_optical::protection::Outage;
use optcp_units::{Duration, Time};

use crate::plan::{FlowPlan, Hop, Plan};
use crate::protected::reverse;

use super::{outages, path_ids, port_id};

/// The number of one direction of a bundle: from its first end to its second (0) or back (1).
fn bundle_id(bundle: usize, way: usize) -> BundleId {
    BundleId::try_from(2 * bundle + way).expect("a plan has fewer than 2^31 bundles")
}

/// Both directions of every bundle, side by side.
pub(super) fn bundles(plan: &Plan) -> Vec<Bundle> {
    let both = |bundle| [(bundle, 0), (bundle, 1)];
    let ways = plan.bundles.iter().flat_map(both);
    ways.map(|(bundle, way)| {
        Bundle::new(bundle.ports(way).map(port_id).collect(), bundle.selection)
    })
    .collect()
}

/// The entries in front of bundles: one for all flows of a path that go to the same number.
#[derive(Default)]
pub(super) struct Entrances {
    labels: BTreeMap<(PathId, BundleId, u32, Label), Label>,
}

impl Entrances {
    /// The entries of a flow's data and of its ACKs.
    pub(super) fn entries(
        &mut self,
        plan: &Plan,
        flow: &FlowPlan,
        paths: &mut Paths,
    ) -> [Label; 2] {
        let back = flow.hops.iter().rev().map(|&hop| reverse(hop)).collect();
        let ways: [Vec<Hop>; 2] = [flow.hops.clone(), back];
        [0, 1].map(|direction| self.entry(plan, flow, direction, &ways[direction], paths))
    }

    /// The entry of data (0) or ACKs (1) that pass `hops`.
    fn entry(
        &mut self,
        plan: &Plan,
        flow: &FlowPlan,
        direction: usize,
        hops: &[Hop],
        paths: &mut Paths,
    ) -> Label {
        let path = path_ids(flow.group)[direction];
        let ports: Vec<PortId> = hops.iter().map(|&hop| port_id(hop)).collect();
        let along = |place: usize| if direction == 0 { place } else { hops.len() - 1 - place };
        // What is behind a bundle is laid before the way into it: from the last one back.
        let mut passed: Vec<(usize, usize)> = flow.bundles.iter().map(|(&p, &b)| (p, b)).collect();
        passed.sort_unstable_by_key(|&(place, _)| Reverse(along(place)));
        let mut onto = None;
        let mut end = hops.len();
        for (place, number) in passed {
            let here = along(place);
            let next = lay(paths, path, &ports[here + 1..end], onto);
            let bundle = bundle_id(number, plan.way(&plan.bundles[number], hops[here]));
            let destination = plan.destination(flow, place, direction);
            let key = (path, bundle, destination, next);
            onto = Some(*self.labels.entry(key).or_insert_with(|| {
                let label = paths.open();
                let hop = paths.entrance(Entrance { bundle, destination, next });
                paths.set(label, hop);
                label
            }));
            end = here;
        }
        lay(paths, path, &ports[..end], onto)
    }
}

/// The entry of a way over `ports` that leads on under the label `onto`, or ends.
fn lay(paths: &mut Paths, path: PathId, ports: &[PortId], onto: Option<Label>) -> Label {
    match onto {
        None => paths.entry(path, ports),
        Some(onto) => paths.lay(ports, onto),
    }
}

/// When the nodes beside bundles learn that links fail and work again.
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

/// What a node knows of a link, and from when on: whether it works. Changes that do not last as long as
/// the detection takes are never known.
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

    /// Detection in 10 ms: an outage of 5 ms and a repair that lasts 5 ms go unnoticed.
    #[test]
    fn what_does_not_last_is_never_known() {
        let outage = |from: u64, to: Option<u64>| Outage { failure: ms(from), repair: to.map(ms) };
        let outages = [outage(100, Some(105)), outage(200, Some(300)), outage(305, Some(400))];
        let expected = [(ms(210), false), (ms(410), true)];
        assert_eq!(known(&outages, Duration::from_ms(10)), expected);
        let at_once = [(ms(100), false), (ms(105), true)];
        assert_eq!(known(&outages[..1], Duration::ZERO), at_once);
        assert_eq!(known(&[outage(7, None)], Duration::from_ms(1)), [(ms(8), false)]);
    }
}
