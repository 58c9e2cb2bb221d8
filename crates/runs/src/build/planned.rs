//! Virtual output queues and schedules of a run.

use std::collections::BTreeSet;

use optcp_engine::QueueSpec;
use optcp_net::schedule::{Change, Schedule, Step};
use optcp_net::{Hop, Label, Paths, PortId};

use optcp_scenario::plan::{ChangePlan, DirectedLink, FlowPlan, Plan, SchedulePlan, VoqPlan};

use super::places::port_id;

/// Returns the queues, both directions of each.
pub(super) fn queues(plan: &Plan) -> Vec<QueueSpec> {
    let voqs = plan.links.iter().enumerate();
    let voqs = voqs.filter_map(|(link, one)| Some((link, one.voq.as_ref()?)));
    let both = voqs.flat_map(|(link, voq)| [0, 1].map(|direction| (link, voq, direction)));
    both.map(|(link, voq, direction)| QueueSpec {
        port: port_id((link, direction)),
        ways: ports_of(voq, direction),
        served: voq.served[direction],
        notify: voq.notify,
    })
    .collect()
}

/// Returns the queue on the path of a flow's data that notifies senders of the active network.
pub(super) fn notified_by(plan: &Plan, flow: &FlowPlan) -> Option<PortId> {
    let tells = |link: usize| plan.links[link].voq.as_ref().is_some_and(|voq| voq.notify.is_some());
    flow.hops.iter().copied().find(|&(link, _)| tells(link)).map(port_id)
}

/// Returns the ports of each path of a virtual output queue in a direction.
fn ports_of(voq: &VoqPlan, direction: usize) -> Vec<Vec<PortId>> {
    let ports = |way| voq.hops(way, direction).into_iter().map(port_id).collect();
    (0..voq.ways.len()).map(ports).collect()
}

/// Returns the entry before a virtual output queue, whose paths end under the label `onto`.
pub(super) fn entry(plan: &Plan, hop: DirectedLink, onto: Label, paths: &mut Paths) -> Label {
    let ways = plan.links[hop.0].voq.as_ref().map_or_else(Vec::new, |voq| ports_of(voq, hop.1));
    let ways = paths.ways(&ways, onto);
    let next = paths.add(ways);
    paths.add(Hop::Forward { port: port_id(hop), next })
}

/// Returns the schedules.
pub(super) fn schedules(plan: &Plan) -> Vec<Schedule> {
    let change = |&(hop, change): &(DirectedLink, ChangePlan)| {
        let port = port_id(hop);
        match change {
            ChangePlan::Serve(way) => Change::Serve(port, way),
            ChangePlan::Rate(rate) => Change::Rate(port, rate),
            ChangePlan::Delay(delay) => Change::Delay(port, delay),
            ChangePlan::Drift(drift) => Change::Drift(port, drift),
            ChangePlan::Limit(limit) => Change::Limit(port, limit.into()),
            ChangePlan::Sends(sends) => Change::Open(port, sends),
            ChangePlan::Ece(sets) => Change::Ece(port, sets),
            ChangePlan::Loss(chance) => Change::Loss(port, chance),
        }
    };
    let of = |plan: &SchedulePlan| Schedule {
        first: plan.start,
        period: plan.period,
        steps: plan
            .steps
            .iter()
            .map(|step| Step {
                after: step.after,
                changes: step.changes.iter().map(change).collect(),
            })
            .collect(),
    };
    plan.schedules.iter().map(of).collect()
}

/// Returns the ports whose delay changes.
pub(super) fn moved(plan: &Plan) -> BTreeSet<DirectedLink> {
    changed(plan, |change| matches!(change, ChangePlan::Delay(_) | ChangePlan::Drift(_)))
}

/// Returns the ports whose loss changes.
pub(super) fn lossy(plan: &Plan) -> BTreeSet<DirectedLink> {
    changed(plan, |change| matches!(change, ChangePlan::Loss(_)))
}

/// Returns the ports that have a change of a kind.
fn changed(plan: &Plan, kind: impl Fn(&ChangePlan) -> bool) -> BTreeSet<DirectedLink> {
    let steps = plan.schedules.iter().flat_map(|schedule| &schedule.steps);
    let changes = steps.flat_map(|step| &step.changes);
    changes.filter(|(_, change)| kind(change)).map(|&(hop, _)| hop).collect()
}
