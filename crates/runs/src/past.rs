//! Part of a plan that a run depends on until some time.

use optcp_scenario::Plan;
use optcp_scenario::plan::{Carries, Spread};
use optcp_units::Time;

/// Returns the plan without what has no effect before `now`. Runs with equal results and one seed are equal until then.
///
/// Scheduled changes without a period, failures, commands and TCP connections may come later, and datagram sources may end later.
/// All flows and groups keep their numbers, because events at the same time are ordered by number.
pub(crate) fn past(plan: &Plan, now: Time) -> Plan {
    let mut plan = plan.clone();
    plan.stop = plan.stop.min(now);
    for schedule in plan.schedules.iter_mut().filter(|schedule| schedule.period.is_none()) {
        let start = schedule.start;
        schedule.steps.retain(|step| start + step.after < now);
    }
    while plan.schedules.pop_if(|last| last.period.is_none() && last.steps.is_empty()).is_some() {}
    let of_fibres = plan.optical.iter_mut().map(|optical| &mut optical.failures);
    for failures in of_fibres.chain([&mut plan.failures]) {
        failures.retain(|failure| failure.is_drawn() || failure.at < now);
        for failure in failures.iter_mut().filter(|failure| !failure.is_drawn()) {
            failure.repair = failure.repair.filter(|&repair| repair < now);
        }
    }
    for protection in &mut plan.protections {
        protection.commands.retain(|command| command.at < now);
    }
    for traffic in &mut plan.traffic {
        traffic.until = traffic.until.min(now);
    }
    while let Some(last) = plan.flows.pop_if(|flow| {
        let starts = matches!(flow.start, Spread::Fixed(start) if Time::ZERO + start >= now);
        starts && flow.carries == Carries::Flow
    }) {
        let flow = plan.flows.len();
        plan.protections.iter_mut().for_each(|one| one.flows.retain(|&other| other != flow));
        drop(last);
    }
    let flows = plan.flows.len();
    plan.connections.retain(|connection| connection.subflows.end <= flows);
    let groups = plan.flows.iter().map(|flow| flow.group + 1).max().unwrap_or(0);
    plan.groups.truncate(groups);
    plan.classes.truncate(groups);
    plan.observe.iter_mut().for_each(|observed| observed.groups.retain(|&group| group < groups));
    let tables = plan.flows.iter().filter_map(|flow| flow.tcp).map(|tcp| tcp + 1).max();
    plan.tcp.truncate(tables.unwrap_or(0));
    plan
}
