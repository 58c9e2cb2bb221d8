//! Backup paths.

use std::collections::BTreeMap;

use optcp_optical::protection::{Revert, Scheme, SetUp};
use optcp_units::Duration;

use crate::plan::{BundlePlan, CapacityKind, DetectionPlan, FlowPlan, ProtectionPlan};
use crate::problem::Problems;
use crate::protected::{Protected, TeLink};
use crate::schema::{File, LinkRef, ListOr, ProtectionEntry, Span, SwitchDelay};
use crate::tree::place;
use optcp_units::nearest::suggestion;

use super::backup_scope::{BackupScope, ProtectedGroup, avoids, consists_of, name_of, written};
use super::backups;
use super::circuits::{self, Circuits};
use super::draft::Draft;
use super::links as of_links;
use super::network::Network;
use super::protection_keys::check_keys;
use super::queue_room::check_queues;
use super::route::Route;
use super::switch_times::{check_commands, check_delays, commands};

/// Adds the backup paths.
pub(super) fn protections(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let mut circuits = Circuits::of(plan);
    for (i, entry) in file.protection.iter().enumerate() {
        // Each group separately, or the links of all routers.
        let groups = match &entry.flows {
            None => vec![None],
            Some(ListOr::Found(name)) => vec![Some(name)],
            Some(ListOr::List(names)) => names.iter().map(Some).collect(),
        };
        let mut laid = 0;
        for flows in groups {
            let Some(found) = backups_of(i, entry, flows, plan, network, problems) else {
                continue;
            };
            let (group, detection, protected) = found;
            for covers in protected {
                let mut protection =
                    add_backup(i, entry, (group, detection), covers, plan, network, problems);
                circuits.reserve((i, laid), entry, &mut protection, plan, network);
                plan.protections.push(protection);
                laid += 1;
            }
        }
    }
    circuits.share(network);
    circuits::check_spare(plan, network, problems);
}

/// Adds the backups of an entry for a group of flows, or for links of routed traffic, with the detection
/// method.
fn backups_of(
    i: usize,
    entry: &ProtectionEntry,
    flows: Option<&String>,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<(Option<usize>, DetectionPlan, Vec<BackupScope>)> {
    let named = entry.link.as_ref().map(|link| links(i, link, network, problems));
    let routes = match &entry.backup {
        ListOr::List(nodes) => network.routes(nodes, place!["protection", i, "backup"], problems),
        ListOr::Found(_) => None,
    };
    let guard = match flows {
        Some(flows) => Some((ProtectedGroup { entry, flows }, group(i, flows, plan, problems)?)),
        None => None,
    };
    let detection = detection(i, entry, problems);
    check_keys(i, entry, problems);
    let named = named.unwrap_or(Some(Vec::new()))?;
    check_delays(i, entry, &named, plan, problems);
    check_commands(i, entry, plan, problems);
    let group = guard.as_ref().map(|(_, group)| *group);
    let covers = match (&guard, &entry.backup) {
        (None, _) => of_links::links(i, entry, &named, routes.as_deref(), plan, network, problems),
        (Some((guard, group)), ListOr::Found(disjoint)) => {
            backups::found((i, guard, *disjoint), *group, plan, network, problems)
        }
        (Some((guard, group)), ListOr::List(_)) => {
            written_scope(i, guard, *group, &named, &routes?, plan, network, problems)
                .into_iter()
                .collect()
        }
    };
    Some((group, detection, covers))
}

/// Returns the index of a flow group with its own paths.
fn group(i: usize, flows: &str, plan: &Draft, problems: &mut Problems<'_>) -> Option<usize> {
    let place = place!["protection", i, "flows"];
    let Some(group) = plan.groups.iter().position(|group| group == flows) else {
        let help = suggestion(flows, "groups of flows", plan.groups.iter().map(String::as_str));
        problems.at(place, format!("unknown group of flows `{flows}`")).help(help);
        return None;
    };
    if plan.flows.iter().any(|flow| flow.group == group && flow.routed) {
        problems
            .at(place, format!("`{flows}` follows the routing"))
            .label("has no path of its own to protect")
            .help(
                "omit `flows` to protect links for all traffic of routers, or give these flows path = \"shortest\""
                    .to_owned(),
            );
        return None;
    }
    Some(group)
}

/// Returns the scope of a backup with listed nodes.
#[expect(clippy::too_many_arguments, reason = "separate parts of the checked scenario")]
fn written_scope(
    i: usize,
    entry: &ProtectedGroup<'_>,
    group: usize,
    links: &[usize],
    routes: &[Route],
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<BackupScope> {
    let backup = written(i, entry, routes, network, problems)?;
    let flows = flows(i, entry, group, links, &backup, plan, network, problems)?;
    Some(BackupScope { flows, link: None, links: links.to_vec(), backup })
}

/// Adds a backup of entry i.
fn add_backup(
    i: usize,
    entry: &ProtectionEntry,
    (group, detection): (Option<usize>, DetectionPlan),
    covers: BackupScope,
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> ProtectionPlan {
    let BackupScope { flows, link, links, backup } = covers;
    if let (Some(group), Some(&flow)) = (group, flows.first())
        && let Some(tcp) = plan.flows[flow].tcp
    {
        let config = &plan.tcp[tcp].1;
        check_queues(&plan.groups[group], config, &backup.hops, network, problems);
    }
    let span = |span: Option<Span>| span.map_or(Duration::ZERO, |span| span.0);
    let scheme = entry.scheme.unwrap_or(Scheme::Local);
    let protection = ProtectionPlan {
        entry: i,
        group,
        flows,
        link,
        scheme,
        links,
        backup: backup.nodes,
        hops: backup.hops,
        capacity: entry.capacity.unwrap_or(circuits::default_capacity(scheme)),
        circuits: BTreeMap::new(),
        detection,
        hold_off: span(entry.hold_off),
        signal_processing: span(entry.signal_processing),
        computation: span(entry.computation),
        revert: entry.revert.unwrap_or(Revert::None),
        wait_to_restore: span(entry.wait_to_restore),
        resequencing: entry.resequencing.map(|wait| wait.0),
        commands: commands(entry),
    };
    check_bundles(i, &protection, plan, network, problems);
    protection
}

/// Returns the link that a protection names, or all links of the bundle.
fn links(
    i: usize,
    link: &LinkRef,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<usize>> {
    let place = place!["protection", i, "link"];
    let hops = network.referred(link, place, problems)?;
    let links: Vec<usize> = hops.iter().map(|hop| hop.0).collect();
    let is_bundle = || network.bundles.iter().any(|bundle| consists_of(bundle, &links));
    if links.len() > 1 && !is_bundle() {
        problems
            .at(place, "several links in place of one")
            .label("name one link, or a bundle for all its links");
        return None;
    }
    Some(links)
}

/// Returns the position at which a flow uses a link, or the bundle that consists of the links.
fn passage(flow: &FlowPlan, links: &[usize], network: &Network) -> Option<usize> {
    TeLink::passed(&network.bundles, flow).iter().position(|link| link.is_among(links))
}

/// Reports unsupported uses of bundles on the protected part of the path. These are selection
/// between their ports and another port, loop-back, and replacement by one port.
fn check_bundles(
    i: usize,
    protection: &ProtectionPlan,
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) {
    let one_plus_one = protection.scheme.bridges();
    let optical = protection.revert == Revert::Optical && !one_plus_one;
    let reserved = protection.capacity != CapacityKind::Shared;
    for way in protection.ways(&plan.flows) {
        let ways = (&protection.backup[..], &protection.hops[..]);
        let both = [0, 1].map(|direction| {
            Protected::new(&network.bundles, way, direction, ways, &protection.links)
        });
        let Some(data) = &both[0] else { continue };
        let working = data.working();
        let around = working.iter().find_map(|link| link.bundle);
        let at_an_end =
            [&working[0], &working[working.len() - 1]].into_iter().find_map(|link| link.bundle);
        let back = both.iter().flatten().find_map(|protected| {
            let segment = protected.segment(|_| Duration::ZERO, Duration::ZERO);
            let set_up = SetUp { computation: Duration::ZERO };
            let points = protection.scheme.points(&segment, set_up);
            points.iter().find_map(|point| protected.back_through(point))
        });
        let mut refused = false;
        for (bundle, key, what, why) in [
            (
                at_an_end.filter(|_| one_plus_one),
                "scheme",
                "1+1 next to",
                "the node that sends on both paths needs one port for each",
            ),
            (
                at_an_end.filter(|_| optical),
                "revert",
                "`optical` next to",
                "the selecting node needs one port for each path",
            ),
            (back, "scheme", "packets would loop back through", "loop-back needs single links"),
            (
                around.filter(|_| reserved),
                "capacity",
                "a circuit in place of",
                "a circuit has the rate and queue of one port",
            ),
        ] {
            if let Some(bundle) = bundle {
                let message = format!("{what} bundle `{}`", network.bundles[bundle].name);
                let shared = "`capacity = \"shared\"` goes with bundles".to_owned();
                let help = (key == "capacity").then_some(shared);
                problems.at(place!["protection", i, key], message).label(why).help(help);
                refused = true;
            }
        }
        if refused {
            return;
        }
    }
}

/// Returns the detection method: exactly one of two keys.
fn detection(i: usize, entry: &ProtectionEntry, problems: &mut Problems<'_>) -> DetectionPlan {
    match (entry.switch_delay, entry.hello) {
        (Some(SwitchDelay { data, ack }), None) => DetectionPlan::After([data, ack]),
        (None, None) if entry.resequencing.is_some() => DetectionPlan::After([Duration::ZERO; 2]),
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
            let detection = hello.interval.0 * u64::from(multiplier);
            if detection > Duration::LONGEST {
                problems
                    .at(
                        place!["protection", i, "hello", "multiplier"],
                        format!("detection delay of {detection}"),
                    )
                    .label(format!("at most {}", Duration::LONGEST));
            }
            DetectionPlan::Hello { interval: hello.interval.0, multiplier }
        }
        (switch_delay, _) => {
            let message = match switch_delay {
                Some(_) => "two detection methods",
                None => "no detection method",
            };
            problems
                .at(place!["protection", i], message)
                .label("needs either `switch_delay` or `hello`");
            DetectionPlan::After([Duration::ZERO; 2])
        }
    }
}

/// Returns the flows of the group that the backup protects; `None` if a problem was found.
#[expect(clippy::too_many_arguments, reason = "separate parts of the checked scenario")]
fn flows(
    i: usize,
    entry: &ProtectedGroup<'_>,
    group: usize,
    links: &[usize],
    backup: &Route,
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<usize>> {
    let place = if links.is_empty() { "backup" } else { "link" };
    let in_group = |flow: &FlowPlan| flow.group == group;
    let ways = (&backup.nodes[..], &backup.hops[..]);
    let passes = |flow: &FlowPlan| match links {
        [] => Protected::new(&network.bundles, flow, 0, ways, links).is_some(),
        links => passage(flow, links, network).is_some(),
    };
    let flows: Vec<usize> = (0..plan.flows.len())
        .filter(|&flow| in_group(&plan.flows[flow]) && passes(&plan.flows[flow]))
        .collect();
    let name = || name_of(links, network);
    if !avoids(i, backup, links, "uses the link that it protects", network, problems) {
        return None;
    }
    if flows.is_empty() {
        let of_group = || plan.flows.iter().filter(|flow| in_group(flow));
        let in_bundle = |flow: &FlowPlan| {
            let mut bundles = flow.bundles.values().map(|&bundle| &network.bundles[bundle]);
            bundles.find(|bundle| links.iter().any(|&link| bundle.has(link)))
        };
        if let Some(BundlePlan { name: bundle, .. }) = of_group().find_map(in_bundle) {
            let message = format!("`{}` is one link of bundle `{bundle}`", name());
            problems
                .at(place!["protection", i, place], message)
                .label("after its failure, the bundle uses the other links")
                .help(format!(
                    "to protect against the failure of all of them: link = \"{bundle}\""
                ));
        } else if of_group().next().is_some() {
            let what = match links {
                [] => "both ends of the backup in the direction of the data".to_owned(),
                _ => format!("`{}`", name()),
            };
            let message = format!("no flow of `{}` passes {what}", entry.flows);
            problems.at(place!["protection", i, place], message).label("not on their path");
        }
        // A group with an invalid path has no flows, and its problem has been reported.
        return None;
    }
    for &flow in &flows {
        let flow = &plan.flows[flow];
        if !links.is_empty() && !joins(i, flow, links, backup, network, problems) {
            return None;
        }
        let covered = |ways, links: &[usize]| -> Option<Vec<Vec<usize>>> {
            let protected = Protected::new(&network.bundles, flow, 0, ways, links)?;
            let covered = protected.covered.iter().map(|&link| &protected.working()[link].ports);
            Some(covered.map(|ports| ports.iter().map(|port| port.0).collect()).collect())
        };
        let ours = covered(ways, links)?;
        let around = ours.concat();
        if !avoids(i, backup, &around, "uses a link that it protects", network, problems) {
            return None;
        }
        let heads = |ways, links: &[usize]| {
            [0, 1].map(|direction| {
                let protected = Protected::new(&network.bundles, flow, direction, ways, links)?;
                let from = protected.from;
                Some(flow.path[if direction == 0 { from } else { flow.path.len() - 1 - from }])
            })
        };
        let ours_at = heads(ways, links);
        let same_head =
            plan.protections.iter().filter(|other| other.group == Some(group)).find_map(|other| {
                let theirs_at = heads((&other.backup[..], &other.hops[..]), &other.links);
                ours_at
                    .iter()
                    .zip(&theirs_at)
                    .find_map(|(ours, theirs)| ours.filter(|_| ours == theirs))
            });
        let twice = plan.protections.iter().find_map(|other| {
            let ways = (&other.backup[..], &other.hops[..]);
            let theirs = covered(ways, &other.links).filter(|_| other.group == Some(group))?;
            theirs.into_iter().find(|link| ours.contains(link))
        });
        if let Some(twice) = twice {
            let name = name_of(&twice, network);
            let message = format!("`{}` is already protected against `{name}`", entry.flows);
            problems.at(place!["protection", i, place], message);
            return None;
        }
        if let Some(node) = same_head {
            let name = network.name(node);
            let message = format!("two protections of `{}` switch at `{name}`", entry.flows);
            problems
                .at(place!["protection", i], message)
                .label("they would conflict")
                .help("omit `link` to protect all links between the ends of the backup".to_owned());
            break;
        }
    }
    Some(flows)
}

/// Returns whether the backup leaves the path of the flow before the link and rejoins it after the link.
fn joins(
    i: usize,
    flow: &FlowPlan,
    links: &[usize],
    backup: &Route,
    network: &Network,
    problems: &mut Problems<'_>,
) -> bool {
    let position = |node: usize| flow.path.iter().position(|&other| other == node);
    let Some(before) = passage(flow, links, network) else { return false };
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
        let link = name_of(links, network);
        let message = format!("`{name}` is not on the path of `{}` {side} `{link}`", flow.name);
        let candidates: Vec<&str> = candidates.iter().map(|&node| network.name(node)).collect();
        problems
            .at(place!["protection", i, "backup", j], message)
            .label(format!("use one of {}", candidates.join(", ")));
        return false;
    }
    true
}
