//! Flows and their paths.

use optcp_routing::Routes;
use optcp_tcp::config::PathState;

use crate::library::Library;
use crate::plan::{Carries, DrawnPlan, FlowPlan};
use crate::problem::Problems;
use crate::schema::{File, FlowsEntry};
use crate::tree::place;
use optcp_units::nearest::list;

use super::amounts::amounts;
use super::bounds::{MOST, MOST_LISTED, check_name};
use super::draft::Draft;
use super::flow_names::{Numbers, varying};
use super::network::Network;
use super::queue_room::check_queues;
use super::route::Route;
use super::starts::start;
use super::ways::{self, Way};
use super::{applications, arrivals, lists, multipath, pairs, queues, tcp};

/// Expands the groups of flows.
pub(super) fn flows(
    file: &File,
    library: &Library,
    plan: &mut Draft,
    network: &mut Network,
    shortest: Option<&Routes>,
    problems: &mut Problems<'_>,
) {
    // Routes of drawn pairs and of random arrivals follow all other flows in the plan.
    let (mut drawn_routes, mut routes_of_arrivals) = (Vec::new(), Vec::new());
    let mut numbers = Numbers::default();
    for (i, entry) in file.flows.iter().enumerate() {
        let group = group(i, entry, plan, problems);
        let place = place!["flows", i, "start"];
        let start = start(entry.start.as_ref(), "flows start", plan.stop, place, problems);
        let per_source = entry.per_source.map_or(1, |count| count.0);
        if per_source == 0 {
            let place = place!["flows", i, "per_source"];
            problems.at(place, format!("group `{}` has no flows", entry.group));
        }
        let tcp = tcp::find(("flows", i), entry.tcp.as_deref(), plan, problems);
        if let Some(table) = &entry.multipath {
            let Some(tcp) = tcp else { continue };
            let each = usize::try_from(per_source).unwrap_or(usize::MAX);
            let given = multipath::Given { i, entry, table, group, start, tcp, each };
            multipath::connections(given, plan, network, &mut numbers, problems);
            continue;
        }
        let listed = match (&entry.list, tcp) {
            (None, _) => None,
            (Some(_), None) => continue,
            (Some(name), Some(tcp)) => {
                let about = (plan.stop, &plan.tcp[tcp].1);
                let listed = lists::flows(file, (i, name), about, library, network, problems);
                let Some(listed) = listed else { continue };
                Some(listed)
            }
        };
        let way = Way {
            at: ("flows", i),
            group: &entry.group,
            path: &entry.path,
            metric: entry.metric,
            paths: entry.paths,
            via: entry.via.as_deref(),
            between: &entry.between,
            from: &entry.from,
            to: &entry.to,
            pairs: &entry.pairs,
            given: listed.as_ref().map(|listed| &listed.ends[..]),
            per_source: usize::try_from(per_source).unwrap_or(usize::MAX),
        };
        let found = ways::ways(&way, plan, network, shortest, library, problems);
        let (Some(tcp), Some(found)) = (tcp, found) else { continue };
        let config = plan.tcp[tcp].1.clone();
        if config.path_state == PathState::PerNetwork {
            check_notification(i, entry, &found.routes, network, problems);
        }
        arrivals::check_keys(i, entry, problems);
        let comes = arrivals::arrivals(
            i,
            entry,
            (group, &start),
            &found,
            &config,
            (plan, network),
            problems,
        );
        let (size, writes) = match comes {
            Carries::Arrivals(_) => (None, Vec::new()),
            _ => amounts(i, entry, &config, problems),
        };
        if comes == Carries::Flow {
            pairs::warn_of_weights(("flows", i), entry.pairs.as_ref(), &found, problems);
        }
        let carries = match (comes, found.drawn) {
            (Carries::Flow, Some(count)) => {
                let weights = found.weights.clone();
                plan.drawn.push(DrawnPlan { group, count, per_source, weights });
                Carries::Drawn(plan.drawn.len() - 1)
            }
            _ => comes,
        };
        let each = if carries == Carries::Flow { found.each } else { 1 };
        // Upper bound of the numbers that flows of one route need.
        let most = found.drawn.map_or(each, |count| (count as usize).saturating_mul(found.each));
        let all = found.drawn.map_or(0, |_| most);
        let here = found.routes.len().saturating_mul(each).saturating_add(all);
        let limit = if listed.is_some() { MOST_LISTED } else { MOST };
        if here.saturating_add(plan.flows.len()).saturating_add(drawn_routes.len()) > limit {
            problems.at(place!["flows", i], format!("more than {limit} flows"));
            return;
        }
        // The name of a flow contains the node that distinguishes it from its siblings: the member of the
        // first group of maximum size.
        let varying = if found.by_pair { 0 } else { varying(&found.routes) };
        let mut checked: Option<Route> = None;
        for (number, route) in found.routes.into_iter().enumerate() {
            let (start, size) = match &listed {
                Some(listed) => (&listed.amounts[number].0, Some(listed.amounts[number].1)),
                None => (&start, size),
            };
            let member = match found.by_pair {
                true => network.pair_name(&route.nodes),
                false => network.name(route.nodes[varying]).to_owned(),
            };
            let first = numbers.take(group, &member, most);
            for k in first..first + each {
                let flows = match carries {
                    Carries::Arrivals(_) => &mut routes_of_arrivals,
                    Carries::Drawn(_) => &mut drawn_routes,
                    _ => &mut plan.flows,
                };
                flows.push(FlowPlan {
                    name: format!("{}/{member}/{k}", entry.group),
                    group,
                    entry: i,
                    lsp: None,
                    path: route.nodes.clone(),
                    hops: route.hops.clone(),
                    bundles: route.bundles.clone(),
                    routed: found.routed,
                    start: start.clone(),
                    size,
                    datagram_bytes: None,
                    writes: writes.clone(),
                    tcp: Some(tcp),
                    carries,
                    application: None,
                });
            }
            // Lists have many flows per route, and routed flows may use every link.
            let is_checked = |one: &Route| found.routed || one.hops == route.hops;
            if !checked.as_ref().is_some_and(is_checked) {
                let hops = match found.routed {
                    true => network.all_hops(),
                    false => network.every_port(&route),
                };
                check_queues(&entry.group, &config, &hops, network, problems);
                checked = Some(route);
            }
        }
    }
    applications::applications(file, library, plan, network, shortest, problems);
    plan.flows.append(&mut drawn_routes);
    plan.flows.append(&mut routes_of_arrivals);
}

/// Reports senders with per-network state that no queue, or more than one queue, notifies of the active
/// network.
fn check_notification(
    i: usize,
    entry: &FlowsEntry,
    routes: &[Route],
    network: &Network,
    problems: &mut Problems<'_>,
) {
    for route in routes {
        let links = route.hops.iter().map(|&(link, _)| &network.links[link]);
        let telling =
            links.filter(|link| link.voq.as_ref().is_some_and(|voq| voq.notify.is_some()));
        let names: Vec<&str> = telling.map(|link| link.name.as_str()).collect();
        let (message, why) = match names[..] {
            [_] => continue,
            [] => (
                "its senders are not notified of the active network".to_owned(),
                "`path_state = \"per-network\"` needs a virtual output queue with `notify` on the path",
            ),
            _ => (
                format!("{} notify its senders of the active network", list(&names)),
                "`path_state = \"per-network\"` needs exactly one virtual output queue with `notify`",
            ),
        };
        let key = if entry.tcp.is_some() { "tcp" } else { "group" };
        let message = format!("group `{}`: {message}", entry.group);
        problems.at(place!["flows", i, key], message).label(why);
        return;
    }
}

/// Returns the group of an entry, which earlier entries may have created.
fn group(i: usize, entry: &FlowsEntry, plan: &mut Draft, problems: &mut Problems<'_>) -> usize {
    let place = place!["flows", i, "group"];
    check_name(&entry.group, place, problems);
    let Some(group) = plan.groups.iter().position(|group| *group == entry.group) else {
        plan.groups.push(entry.group.clone());
        plan.classes.push(queues::class(entry.class, place!["flows", i, "class"], problems));
        return plan.groups.len() - 1;
    };
    if let Some(class) = entry.class
        && class.0 != u32::from(plan.classes[group])
    {
        problems
            .at(place!["flows", i, "class"], format!("group `{}` has two classes", entry.group))
            .label(format!("its first entry has class {}", plan.classes[group]))
            .help("a group has one class: use another `group` for these flows".to_owned());
    }
    let comes = |entry: &FlowsEntry| entry.arrivals.is_some() || entry.load.is_some();
    if comes(entry) || plan.arrivals.iter().any(|arrivals| arrivals.group == group) {
        problems
            .at(place, format!("group of flows `{}` exists already", entry.group))
            .label("flows with random arrivals need a group of their own");
    }
    group
}
