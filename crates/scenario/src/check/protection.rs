//! Backup paths.

use std::collections::BTreeMap;

use optcp_optical::protection::SetUp;
use optcp_units::{Duration, Time};

use crate::nearest::suggestion;
use crate::plan::{DetectionPlan, FlowPlan, Hop, Plan, ProtectionPlan};
use crate::problem::Problems;
use crate::protected::Protected;
use crate::schema::{
    CapacityKind, File, ProtectionEntry, RevertKind, SchemeKind, Span, SwitchDelay,
};
use crate::tree::place;

use super::flows::check_queues;
use super::network::Network;
use super::route::Route;

/// Lays the backup paths.
pub(super) fn protections(
    file: &File,
    plan: &mut Plan,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (i, entry) in file.protection.iter().enumerate() {
        let link = entry.link.as_ref().map(|link| {
            let link = network.one_link(link, place!["protection", i, "link"], problems);
            link.map(|link| vec![link])
        });
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
        if plan.flows.iter().any(|flow| flow.group == group && flow.routed) {
            let message = format!("`{}` follows the routing", entry.flows);
            problems
                .at(place!["protection", i, "flows"], message)
                .label("has no path of its own to protect")
                .help("backups of routers are `repair` of [routing]".to_owned());
            continue;
        }
        if plan.flows.iter().any(|flow| flow.group == group && !flow.bundles.is_empty()) {
            let message = format!("`{}` goes through a bundle", entry.flows);
            problems
                .at(place!["protection", i, "flows"], message)
                .label("flows through a bundle have no other backup than its links");
            continue;
        }
        let detection = detection(i, entry, problems);
        check_keys(i, entry, problems);
        let (Some(links), Some(backup)) = (link.unwrap_or(Some(Vec::new())), backup) else {
            continue;
        };
        check_delays(i, entry, &links, plan, problems);
        let [backup] = backup.as_slice() else {
            problems.at(place, "a group of nodes in a backup path").label("name one node");
            continue;
        };
        let Some(flows) = flows(i, entry, group, &links, backup, plan, network, problems) else {
            continue;
        };
        if let Some(tcp) = plan.flows[flows[0]].tcp {
            let config = &plan.tcp[tcp].1;
            check_queues(&entry.flows, config, &backup.hops, network, problems);
        }
        let span = |span: Option<Span>| span.map_or(Duration::ZERO, |span| span.0);
        let mut protection = ProtectionPlan {
            group,
            flows,
            scheme: entry.scheme.unwrap_or(SchemeKind::Local).scheme(),
            links,
            backup: backup.nodes.clone(),
            hops: backup.hops.clone(),
            circuits: BTreeMap::new(),
            detection,
            hold_off: span(entry.hold_off),
            signal_processing: span(entry.signal_processing),
            computation: span(entry.computation),
            revert: entry.revert.unwrap_or(RevertKind::None).revert(),
            wait_to_restore: span(entry.wait_to_restore),
        };
        if entry.capacity == Some(CapacityKind::Reserved) {
            reserve(i, &mut protection, plan, network);
        }
        plan.protections.push(protection);
    }
}

/// How failures are known: by exactly one of two keys.
fn detection(i: usize, entry: &ProtectionEntry, problems: &mut Problems<'_>) -> DetectionPlan {
    match (entry.switch_delay, entry.hello) {
        (Some(SwitchDelay { data, ack }), None) => DetectionPlan::After([data, ack]),
        (None, Some(hello)) => {
            let multiplier = hello.multiplier.map_or(3, |count| count.0);
            for (bad, key) in
                [(hello.interval.0 == Duration::ZERO, "interval"), (multiplier == 0, "multiplier")]
            {
                if bad {
                    let place = place!["protection", i, "hello", key];
                    problems.at(place, format!("`{key}` is zero")).label("must be above zero");
                }
            }
            DetectionPlan::Hello { interval: hello.interval.0, multiplier }
        }
        (switch_delay, _) => {
            let message = match switch_delay {
                Some(_) => "a failure is known in two ways",
                None => "how a failure is known is not said",
            };
            problems
                .at(place!["protection", i], message)
                .label("needs either `switch_delay` or `hello`");
            DetectionPlan::After([Duration::ZERO; 2])
        }
    }
}

/// Refuses keys that the chosen scheme does not look at.
fn check_keys(i: usize, entry: &ProtectionEntry, problems: &mut Problems<'_>) {
    let scheme = entry.scheme.unwrap_or(SchemeKind::Local);
    let revert = entry.revert.unwrap_or(RevertKind::None);
    let signals = matches!(
        scheme,
        SchemeKind::Path
            | SchemeKind::LoopBackVariant
            | SchemeKind::OneToOne
            | SchemeKind::Restoration
    );
    let mut idle = |given: bool, key: &str, why: String| {
        if given {
            let place = place!["protection", i, key];
            problems.at(place, format!("`{key}` has no meaning here")).label(why);
        }
    };
    let name = scheme.name();
    idle(
        entry.signal_processing.is_some() && !signals,
        "signal_processing",
        format!("nobody is told anything with scheme `{name}`"),
    );
    idle(
        entry.computation.is_some() && scheme != SchemeKind::Restoration,
        "computation",
        "only for scheme `restoration`: other backups are set up beforehand".to_owned(),
    );
    idle(
        entry.wait_to_restore.is_some() && revert == RevertKind::None,
        "wait_to_restore",
        "needs a `revert` other than `none`".to_owned(),
    );
    if scheme == SchemeKind::OnePlusOne
        && matches!(revert, RevertKind::Electrical | RevertKind::OpticalEmulated)
    {
        problems
            .at(place!["protection", i, "revert"], format!("1+1 cannot revert `{}`", revert.name()))
            .label("its selector takes packets of one way only")
            .help("use `optical` or `none`".to_owned());
    }
}

/// The flows of the group that the backup protects; `None` if a problem was found.
#[expect(clippy::too_many_arguments, reason = "what is known so far, in its parts")]
fn flows(
    i: usize,
    entry: &ProtectionEntry,
    group: usize,
    links: &[usize],
    backup: &Route,
    plan: &Plan,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<usize>> {
    let place = if links.is_empty() { "backup" } else { "link" };
    let in_group = |flow: &FlowPlan| flow.group == group;
    let ways = (&backup.nodes[..], &backup.hops[..]);
    let passes = |flow: &FlowPlan| match links {
        [] => Protected::new(flow, 0, ways, links).is_some(),
        links => flow.hops.iter().any(|hop| links.contains(&hop.0)),
    };
    let flows: Vec<usize> = (0..plan.flows.len())
        .filter(|&flow| in_group(&plan.flows[flow]) && passes(&plan.flows[flow]))
        .collect();
    if let Some(j) = backup.hops.iter().position(|hop| links.contains(&hop.0)) {
        let name = &network.links[backup.hops[j].0].name;
        problems
            .at(place!["protection", i, "backup", j], format!("the backup path uses `{name}`"))
            .label("goes over the link that it protects");
        return None;
    }
    if flows.is_empty() {
        // A group whose own path is wrong has no flows, and its problem is known.
        if plan.flows.iter().any(in_group) {
            let what = match links {
                [] => "both ends of the backup in the direction of the data".to_owned(),
                [link, ..] => format!("`{}`", network.links[*link].name),
            };
            let message = format!("no flow of `{}` passes {what}", entry.flows);
            problems.at(place!["protection", i, place], message).label("not on their path");
        }
        return None;
    }
    for &flow in &flows {
        let flow = &plan.flows[flow];
        if !links.is_empty() && !joins(i, flow, links[0], backup, network, problems) {
            return None;
        }
        let protected = Protected::new(flow, 0, ways, links)?;
        let covered: Vec<usize> =
            protected.covered.iter().map(|&link| protected.working()[link].0).collect();
        if let Some(j) = backup.hops.iter().position(|hop| covered.contains(&hop.0)) {
            let name = &network.links[backup.hops[j].0].name;
            problems
                .at(place!["protection", i, "backup", j], format!("the backup path uses `{name}`"))
                .label("goes over a link that it protects");
            return None;
        }
        let twice = plan.protections.iter().find_map(|other| {
            let ways = (&other.backup[..], &other.hops[..]);
            let theirs =
                Protected::new(flow, 0, ways, &other.links).filter(|_| other.group == group)?;
            theirs
                .covered
                .iter()
                .map(|&link| theirs.working()[link].0)
                .find(|l| covered.contains(l))
        });
        if let Some(link) = twice {
            let name = &network.links[link].name;
            let message = format!("`{}` is already protected against `{name}`", entry.flows);
            problems.at(place!["protection", i, place], message);
            return None;
        }
    }
    Some(flows)
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

/// Gives a backup circuits of its own, one for each piece of a way that its packets may take.
fn reserve(i: usize, protection: &mut ProtectionPlan, plan: &Plan, network: &mut Network) {
    let mut wanted: Vec<(Vec<Hop>, Hop)> = Vec::new();
    for &flow in &protection.flows {
        for direction in [0, 1] {
            let ways = (&protection.backup[..], &protection.hops[..]);
            let flow = &plan.flows[flow];
            let Some(protected) = Protected::new(flow, direction, ways, &protection.links) else {
                continue;
            };
            let segment = protected.segment(|_| Duration::ZERO, Duration::ZERO);
            let set_up = SetUp { computation: Duration::ZERO };
            for point in protection.scheme.points(&segment, set_up) {
                // A node that selects lies behind the last link; its packets left the first one.
                let replaced =
                    *protected.working().get(point.node).unwrap_or(&protected.working()[0]);
                for piece in protected.pieces(protection.scheme, &point) {
                    if !wanted.iter().any(|(hops, _)| *hops == piece) {
                        wanted.push((piece, replaced));
                    }
                }
            }
        }
    }
    for (n, (hops, replaced)) in wanted.into_iter().enumerate() {
        let end = |hop: Hop, far: usize| network.links[hop.0].ends[hop.1 ^ far];
        let ends = [end(hops[0], 0), end(hops[hops.len() - 1], 1)];
        let name = format!("reserved-{i}-{n}");
        let circuit = network.add_circuit(name, ends, hops.clone(), replaced);
        protection.circuits.insert(hops, circuit);
    }
}

/// Reports switches that would come after the end of the run.
fn check_delays(
    i: usize,
    entry: &ProtectionEntry,
    links: &[usize],
    plan: &Plan,
    problems: &mut Problems<'_>,
) {
    let after =
        |instant: Time, span: Duration| Time::from_ps(instant.as_ps().saturating_add(span.as_ps()));
    for failure in plan.failures.iter().filter(|failure| links.contains(&failure.link)) {
        // A failure after the stop has been reported as such.
        let late = |from: Time, delay: Duration| {
            let from = from + failure.later.high();
            let at = after(from, delay);
            (at >= plan.stop && from < plan.stop).then_some(at)
        };
        let stop = plan.stop;
        if let Some(SwitchDelay { data, ack }) = entry.switch_delay {
            for (delay, way) in [(data, "data"), (ack, "ack")] {
                if let Some(at) = late(failure.at, delay) {
                    let place = place!["protection", i, "switch_delay", way];
                    problems.at(place, format!("switched at {at}, the run stops at {stop}"));
                    break;
                }
            }
        }
        if let (Some(repair), Some(Span(wait))) = (failure.repair, entry.wait_to_restore)
            && let Some(at) = late(repair, wait)
        {
            let place = place!["protection", i, "wait_to_restore"];
            problems.at(place, format!("switched back at {at}, the run stops at {stop}"));
        }
    }
}
