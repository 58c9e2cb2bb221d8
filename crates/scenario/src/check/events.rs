//! Failures and protection.

use optcp_units::{Duration, Time};

use crate::nearest::suggestion;
use crate::plan::{FailurePlan, FlowPlan, Hop, Plan, ProtectionPlan};
use crate::problem::Problems;
use crate::schema::{File, ProtectionEntry, Span, SwitchDelay};
use crate::tree::place;

use super::flows::check_queues;
use super::network::Network;
use super::route::Route;

/// The instant a span after another, as far as time can be written.
fn after(instant: Time, span: Duration) -> Time {
    Time::from_ps(instant.as_ps().saturating_add(span.as_ps()))
}

/// Places the failures.
pub(super) fn failures(
    file: &File,
    plan: &mut Plan,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let stop = plan.stop;
    for (i, entry) in file.failures.iter().enumerate() {
        let link = network.one_link(&entry.link, place!["failures", i, "link"], problems);
        let instant = |span: Span| Time::ZERO + span.0;
        let (at, repair) = (instant(entry.at), entry.repair.map(instant));
        if at >= stop {
            problems
                .at(
                    place!["failures", i, "at"],
                    format!("it fails at {at}, the run stops at {stop}"),
                )
                .label("must come before the stop");
        }
        if let Some(repair) = repair {
            let place = place!["failures", i, "repair"];
            if repair < at {
                let message = format!("repaired at {repair}, before it fails at {at}");
                problems.at(place, message).label("must not come before the failure");
            } else if repair >= stop {
                problems
                    .at(place, format!("repaired at {repair}, the run stops at {stop}"))
                    .help("leave `repair` out for a failure that lasts".to_owned());
            }
        }
        let Some(link) = link else { continue };
        let failure = FailurePlan { link, at, repair };
        let before_end = |instant: Time, end: Option<Time>| end.is_none_or(|end| instant <= end);
        let overlap = plan.failures.iter().find(|other| {
            other.link == link && before_end(at, other.repair) && before_end(other.at, repair)
        });
        if let Some(other) = overlap {
            let name = &network.links[link].name;
            let until = other.repair.map_or("the end".to_owned(), |end| end.to_string());
            let message = format!("`{name}` is already down from {} to {until}", other.at);
            problems.at(place!["failures", i, "at"], message);
        }
        plan.failures.push(failure);
    }
}

/// Lays the backup paths.
pub(super) fn protections(
    file: &File,
    plan: &mut Plan,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (i, entry) in file.protection.iter().enumerate() {
        let link = network.one_link(&entry.link, place!["protection", i, "link"], problems);
        let place = place!["protection", i, "backup"];
        let backup = network.routes(&entry.backup, place, problems);
        let Some(group) = plan.groups.iter().position(|group| *group == entry.flows) else {
            let groups = plan.groups.iter().map(String::as_str);
            let help = suggestion(&entry.flows, "groups of flows", groups);
            problems
                .at(
                    place!["protection", i, "flows"],
                    format!("no group of flows `{}`", entry.flows),
                )
                .help(help);
            continue;
        };
        let (Some(link), Some(backup)) = (link, backup) else { continue };
        check_delays(i, entry, link, plan, problems);
        let name = network.links[link].name.clone();
        let [backup] = backup.as_slice() else {
            problems.at(place, "a group of nodes in a backup path").label("name one node");
            continue;
        };
        if plan.protections.iter().any(|other| other.group == group && other.link == link) {
            let message = format!("`{}` is already protected against `{name}`", entry.flows);
            problems.at(place!["protection", i, "link"], message);
        }
        if let Some(j) = backup.hops.iter().position(|hop| hop.0 == link) {
            problems
                .at(place!["protection", i, "backup", j], format!("the backup path uses `{name}`"))
                .label("goes over the link that it protects");
            continue;
        }
        let in_group = |flow: &FlowPlan| flow.group == group;
        let passes = |flow: &FlowPlan| flow.hops.iter().any(|hop| hop.0 == link);
        let flows: Vec<usize> = (0..plan.flows.len())
            .filter(|&flow| in_group(&plan.flows[flow]) && passes(&plan.flows[flow]))
            .collect();
        if flows.is_empty() {
            // A group whose own path is wrong has no flows, and its problem is known.
            if plan.flows.iter().any(in_group) {
                let message = format!("no flow of `{}` passes `{name}`", entry.flows);
                problems.at(place!["protection", i, "link"], message).label("not on their path");
            }
            continue;
        }
        if !flows.iter().all(|&f| joins(i, &plan.flows[f], link, backup, network, problems)) {
            continue;
        }
        let config = &plan.tcp[plan.flows[flows[0]].tcp].1;
        check_queues(&entry.flows, config, &backup.hops, network, problems);
        let each_way = |delay: SwitchDelay| [delay.data, delay.ack];
        plan.protections.push(ProtectionPlan {
            group,
            flows,
            link,
            backup: backup.nodes.clone(),
            hops: backup.hops.clone(),
            switch_delay: each_way(entry.switch_delay),
            revert_delay: entry.revert_delay.map(each_way),
        });
    }
}

/// Whether the backup path leaves the path of the flow before the link and is back behind it.
fn joins(
    i: usize,
    flow: &FlowPlan,
    link: usize,
    backup: &Route,
    network: &Network,
    problems: &mut Problems<'_>,
) -> bool {
    let position = |node: usize| flow.path.iter().position(|&other| other == node);
    let is_link = |hop: &Hop| hop.0 == link;
    let Some(before) = flow.hops.iter().position(is_link) else { return false };
    let last = backup.nodes.len() - 1;
    let ends = [
        (0, position(backup.nodes[0]).is_some_and(|at| at <= before), &flow.path[..=before]),
        (
            last,
            position(backup.nodes[last]).is_some_and(|at| at > before),
            &flow.path[before + 1..],
        ),
    ];
    for (j, good, candidates) in ends {
        if good {
            continue;
        }
        let name = network.name(backup.nodes[j]);
        let side = if j == 0 { "before" } else { "behind" };
        let link = &network.links[link].name;
        let message = format!("`{name}` is not on the path of `{}` {side} `{link}`", flow.name);
        let candidates: Vec<&str> = candidates.iter().map(|&node| network.name(node)).collect();
        problems
            .at(place!["protection", i, "backup", j], message)
            .label(format!("one of {}", candidates.join(", ")));
        return false;
    }
    true
}

/// Reports switches that would come after the end of the run.
fn check_delays(
    i: usize,
    entry: &ProtectionEntry,
    link: usize,
    plan: &Plan,
    problems: &mut Problems<'_>,
) {
    for failure in plan.failures.iter().filter(|failure| failure.link == link) {
        let repair = failure.repair.zip(entry.revert_delay);
        let instants = [
            (Some((failure.at, entry.switch_delay)), "switch_delay", "switched"),
            (repair, "revert_delay", "switched back"),
        ];
        for (instant, key, what) in instants {
            let Some((from, SwitchDelay { data, ack })) = instant else { continue };
            for (delay, way) in [(data, "data"), (ack, "ack")] {
                let at = after(from, delay);
                // A failure after the stop has been reported as such.
                if at >= plan.stop && from < plan.stop {
                    let place = place!["protection", i, key, way];
                    let stop = plan.stop;
                    problems.at(place, format!("{what} at {at}, the run stops at {stop}"));
                    break;
                }
            }
        }
    }
}
