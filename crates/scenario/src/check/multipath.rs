//! Connections over several subflows.

use optcp_routing::{Disjointness, disjoint_pair};
use optcp_tcp::config::{PathState, RecoveryKind};
use optcp_tcp::multipath::{MAX_SUBFLOWS, MultipathConfig, SchedulerKind};

use crate::plan::{Carries, ConnectionPlan, FlowPlan, Spread};
use crate::problem::Problems;
use crate::schema::{FlowsEntry, Metric, MultipathTable};
use crate::tree::{Step, place};

use super::amounts::amounts;
use super::bounds::MOST;
use super::draft::Draft;
use super::flow_names::{Numbers, varying};
use super::network::Network;
use super::queue_room::check_queues;
use super::route::Route;
use super::ways::Finder;

/// Entry with subflows.
pub(super) struct Given<'e> {
    /// Number of the entry.
    pub i: usize,
    pub entry: &'e FlowsEntry,
    pub table: &'e MultipathTable,
    pub group: usize,
    pub start: Spread,
    /// TCP table, as an index.
    pub tcp: usize,
    /// Number of connections per source.
    pub each: usize,
}

/// Adds the connections of an entry with their subflows.
pub(super) fn connections(
    given: Given<'_>,
    plan: &mut Draft,
    network: &mut Network,
    numbers: &mut Numbers,
    problems: &mut Problems<'_>,
) {
    let Given { i, entry, table, group, start, tcp, each } = given;
    let config = plan.tcp[tcp].1.clone();
    check_keys(i, entry, problems);
    if config.path_state == PathState::PerNetwork {
        problems
            .at(place!["flows", i, "multipath"], "subflows with `path_state = \"per-network\"`")
            .label("each subflow has one path");
    }
    if config.recovery == RecoveryKind::Quic {
        problems
            .at(place!["flows", i, "multipath"], "subflows with `recovery = \"quic\"`")
            .label("Multipath TCP has subflows of TCP");
    }
    let (size, writes) = amounts(i, entry, &config, problems);
    let Some(rows) = rows(i, entry, table, network, problems) else { return };
    let here = rows.iter().map(Vec::len).sum::<usize>().saturating_mul(each);
    if here.saturating_add(plan.flows.len()) > MOST {
        problems.at(place!["flows", i], format!("more than {MOST} flows"));
        return;
    }
    let config_of_connection = MultipathConfig {
        scheduler: table.scheduler.unwrap_or(SchedulerKind::MinRtt),
        opportunistic_retransmission: table.opportunistic_retransmission.unwrap_or(false),
    };
    let groups = subflow_groups(i, entry, rows[0].len(), group, plan, problems);
    // Connections are named like flows: after the node that distinguishes them.
    let first: Vec<Route> = rows.iter().map(|row| row[0].clone()).collect();
    let varying = varying(&first);
    for row in rows {
        let member = network.name(row[0].nodes[varying]).to_owned();
        let number = numbers.take(group, &member, each);
        for k in number..number + each {
            let begin = plan.flows.len();
            for (route, &(group, ref name)) in row.iter().zip(&groups) {
                plan.flows.push(FlowPlan {
                    name: format!("{name}/{member}/{k}"),
                    group,
                    entry: i,
                    lsp: None,
                    path: route.nodes.clone(),
                    hops: route.hops.clone(),
                    bundles: route.bundles.clone(),
                    routed: false,
                    start: start.clone(),
                    size: None,
                    datagram_bytes: None,
                    writes: Vec::new(),
                    tcp: Some(tcp),
                    carries: Carries::Flow,
                    application: None,
                });
                let hops = network.every_port(route);
                check_queues(name, &config, &hops, network, problems);
            }
            plan.connections.push(ConnectionPlan {
                name: format!("{}/{member}/{k}", entry.group),
                group,
                subflows: begin..plan.flows.len(),
                config: config_of_connection,
                size,
                writes: writes.clone(),
            });
        }
    }
}

/// Reports keys that do not go with subflows.
fn check_keys(i: usize, entry: &FlowsEntry, problems: &mut Problems<'_>) {
    let FlowsEntry { path, metric, paths, via, between, pairs, .. } = entry;
    let FlowsEntry { sizes, arrivals, load, until, .. } = entry;
    for (key, given) in [
        ("path", path.is_some()),
        ("metric", metric.is_some()),
        ("paths", paths.is_some()),
        ("via", via.is_some()),
        ("between", between.is_some()),
        ("pairs", pairs.is_some()),
        ("sizes", sizes.is_some()),
        ("arrivals", arrivals.is_some()),
        ("load", load.is_some()),
        ("until", until.is_some()),
    ] {
        if given {
            problems
                .at(place!["flows", i, key], format!("`{key}` with `multipath`"))
                .label("omit it: `multipath` has the paths, and connections start at `start`");
        }
    }
}

/// Returns the routes of the subflows of each connection; `None` if a problem was reported.
fn rows(
    i: usize,
    entry: &FlowsEntry,
    table: &MultipathTable,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<Vec<Route>>> {
    let at = |key: &'static str| [Step::from("flows"), i.into(), key.into()];
    match (&table.paths, &entry.from, &entry.to) {
        (Some(paths), None, None) => listed(i, paths, network, problems),
        (None, Some(from), Some(to)) => {
            let ends = network.ends([from, to], [&at("from"), &at("to")], problems)?;
            if network.incomplete {
                return None;
            }
            let finder = Finder::new(network, Metric::Cost, &at("multipath"), problems)?;
            let pair = |[a, b]: [usize; 2], problems: &mut Problems<'_>| {
                let found = disjoint_pair(&finder.topology, a, b, Disjointness::Links);
                if found.is_none() {
                    let (from, to) = (network.name(a), network.name(b));
                    let message = format!("no link-disjoint paths from `{from}` to `{to}`");
                    problems
                        .at(&at("multipath"), message)
                        .help("list the `paths` of the subflows".to_owned());
                }
                Some(found?.iter().map(|hops| network.along(a, hops)).collect())
            };
            ends.into_iter().map(|ends| pair(ends, problems)).collect()
        }
        _ => {
            problems
                .at(&at("multipath"), "paths of the subflows are not clear")
                .label("needs either `paths`, or `from` and `to` next to it");
            None
        }
    }
}

/// Returns the listed routes.
fn listed(
    i: usize,
    paths: &[Vec<String>],
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<Vec<Route>>> {
    let here = place!["flows", i, "multipath", "paths"];
    if paths.is_empty() || paths.len() > MAX_SUBFLOWS {
        let message = format!("{} subflows", paths.len());
        problems.at(here, message).label(format!("needs 1 to {MAX_SUBFLOWS} paths"));
        return None;
    }
    let mut columns = Vec::new();
    for (j, path) in paths.iter().enumerate() {
        columns.push(network.routes(
            path,
            place!["flows", i, "multipath", "paths", j],
            problems,
        )?);
    }
    let count = columns[0].len();
    let mut rows: Vec<Vec<Route>> = std::iter::repeat_with(Vec::new).take(count).collect();
    for (j, column) in columns.into_iter().enumerate() {
        let place = place!["flows", i, "multipath", "paths", j];
        if column.len() != count {
            let message = format!("{} paths, but {count} for the first subflow", column.len());
            problems.at(place, message).label("groups are matched member by member");
            return None;
        }
        for (row, route) in rows.iter_mut().zip(column) {
            let ends = |route: &Route| [route.nodes[0], route.nodes[route.nodes.len() - 1]];
            if row.first().is_some_and(|first| ends(first) != ends(&route)) {
                problems
                    .at(place, "subflows between different nodes")
                    .label("all paths must begin and end at the same nodes");
                return None;
            }
            row.push(route);
        }
    }
    Some(rows)
}

/// Returns the groups of the subflows with their names, such as `backup.1`, which must be new, or of the same group.
fn subflow_groups(
    i: usize,
    entry: &FlowsEntry,
    count: usize,
    group: usize,
    plan: &mut Draft,
    problems: &mut Problems<'_>,
) -> Vec<(usize, String)> {
    let class = plan.classes[group];
    let is_known = plan.connections.iter().any(|connection| connection.group == group);
    let number = |number: usize| {
        let name = format!("{}.{number}", entry.group);
        if let Some(found) = plan.groups.iter().position(|known| *known == name) {
            if !is_known {
                problems
                    .at(place!["flows", i, "group"], format!("group `{name}` exists already"))
                    .label("it is the group of a subflow");
            }
            return (found, name);
        }
        plan.groups.push(name.clone());
        plan.classes.push(class);
        (plan.groups.len() - 1, name)
    };
    (1..=count).map(number).collect()
}
