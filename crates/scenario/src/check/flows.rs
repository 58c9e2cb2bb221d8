//! Flows and the paths that they take.

use std::collections::BTreeSet;

use optcp_routing::Routes;
use optcp_tcp::config::Config;
use optcp_units::{Bytes, Time};

use crate::plan::{Carries, DirectedLink, FlowPlan, QueueLimit, Spread};
use crate::problem::Problems;
use crate::schema::{File, FlowsEntry, Volume};
use crate::tree::{Step, place};
use optcp_units::nearest::list;

use super::bounds::{MOST, check_name};
use super::draft::Draft;
use super::network::{Network, check_spread};
use super::route::Route;
use super::{arrivals, tcp};

/// Expands the groups of flows.
pub(super) fn flows(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    shortest: Option<&Routes>,
    problems: &mut Problems<'_>,
) {
    // Behind all others: flows that come at random take their places in a run.
    let mut routes_of_arrivals = Vec::new();
    for (i, entry) in file.flows.iter().enumerate() {
        let place = place!["flows", i, "group"];
        check_name(&entry.group, place, problems);
        if plan.groups.contains(&entry.group) {
            problems.at(place, format!("there is already a group of flows `{}`", entry.group));
        }
        let group = plan.groups.len();
        plan.groups.push(entry.group.clone());
        let start = start(i, entry, plan.stop, problems);
        let per_source = entry.per_source.map_or(1, |count| count.0);
        if per_source == 0 {
            let place = place!["flows", i, "per_source"];
            problems.at(place, format!("group `{}` has no flows", entry.group));
        }
        let tcp = tcp::find(i, entry.tcp.as_deref(), plan, problems);
        let way =
            Way { path: &entry.path, between: &entry.between, from: &entry.from, to: &entry.to };
        let routes = routes(("flows", i), way, plan, network, shortest, problems);
        let routed = entry.from.is_some();
        let (Some(tcp), Some(routes)) = (tcp, routes) else { continue };
        let config = plan.tcp[tcp].1.clone();
        arrivals::check_keys(i, entry, problems);
        let carries = arrivals::arrivals(i, entry, group, start, plan, problems);
        let (size, per_source) = match carries {
            Carries::Arrivals(_) => (None, 1),
            _ => (segments(i, entry, &config, problems), per_source),
        };
        let per_source = usize::try_from(per_source).unwrap_or(usize::MAX);
        if routes.len().saturating_mul(per_source).saturating_add(plan.flows.len()) > MOST {
            problems.at(place!["flows", i], format!("more than {MOST} flows"));
            return;
        }
        // A flow is called after the node that tells it from its siblings: the member of the first group that
        // is as large as any.
        let varying = varying(&routes);
        for route in routes {
            for k in 0..per_source {
                let member = match entry.between {
                    Some(_) => network.pair_name(&route.nodes),
                    None => network.name(route.nodes[varying]).to_owned(),
                };
                let flows = match carries {
                    Carries::Arrivals(_) => &mut routes_of_arrivals,
                    _ => &mut plan.flows,
                };
                flows.push(FlowPlan {
                    name: format!("{}/{member}/{k}", entry.group),
                    group,
                    path: route.nodes.clone(),
                    hops: route.hops.clone(),
                    bundles: route.bundles.clone(),
                    routed,
                    start,
                    size,
                    tcp: Some(tcp),
                    carries,
                });
            }
            let hops = if routed { network.all_hops() } else { network.every_port(&route) };
            check_queues(&entry.group, &config, &hops, network, problems);
        }
    }
    plan.flows.append(&mut routes_of_arrivals);
}

/// How an entry says where its packets go.
#[derive(Clone, Copy)]
pub(super) struct Way<'e> {
    pub path: &'e Option<Vec<String>>,
    pub between: &'e Option<Vec<String>>,
    pub from: &'e Option<String>,
    pub to: &'e Option<String>,
}

/// The ways of the flows of an entry of a section: written node by node, or found by the routing.
pub(super) fn routes(
    (section, i): (&str, usize),
    way: Way<'_>,
    plan: &Draft,
    network: &mut Network,
    shortest: Option<&Routes>,
    problems: &mut Problems<'_>,
) -> Option<Vec<Route>> {
    let (from, to) = (place![section, i, "from"], place![section, i, "to"]);
    let what = if section == "traffic" { "datagrams" } else { "flows" };
    match (way.path, way.between, way.from, way.to) {
        (Some(path), None, None, None) => {
            network.routes(path, place![section, i, "path"], problems)
        }
        (None, Some(names), None, None) => {
            let place = place![section, i, "between"];
            let pairs = network.pairs(names, place, problems)?;
            let both = pairs.into_iter().flat_map(|[a, b]| [[a, b], [b, a]]);
            let direct = both.map(|[a, b]| network.direct(a, b, place, problems));
            direct.collect()
        }
        (None, None, Some(_), Some(_)) if plan.routing.is_none() => {
            problems
                .at(from, format!("{what} without a `path` follow the routing, and there is none"))
                .help("write a table `[routing]`, or the `path`".to_owned());
            None
        }
        (None, None, Some(a), Some(b)) => network.shortest([a, b], shortest, [from, to], problems),
        _ => {
            problems
                .at(place![section, i], format!("the path of these {what} is not clear"))
                .label("needs either `path`, or `between`, or `from` and `to`");
            None
        }
    }
}

/// The first position at which all routes of one entry differ: that of the largest group; the source if there
/// is only one route.
pub(super) fn varying(routes: &[Route]) -> usize {
    let apart = |place: &usize| {
        let members: BTreeSet<_> = routes.iter().map(|route| route.nodes.get(*place)).collect();
        members.len() == routes.len()
    };
    let longest = routes.iter().map(|route| route.nodes.len()).max().unwrap_or(0);
    (0..longest).find(apart).unwrap_or(0)
}

fn start(i: usize, entry: &FlowsEntry, stop: Time, problems: &mut Problems<'_>) -> Spread<Time> {
    let place = place!["flows", i, "start"];
    let Some(start) = entry.start else { return Spread::Fixed(Time::ZERO) };
    check_spread(start.0, place, problems);
    let start = start.0.map(|since_zero| Time::ZERO + since_zero);
    if start.high() >= stop && stop > Time::ZERO {
        let message = format!("flows start at {}, the run stops at {stop}", start.high());
        problems.at(place, message).label("must come before the stop");
    }
    start
}

/// The number of full segments that hold what the flow sends.
fn segments(
    i: usize,
    entry: &FlowsEntry,
    config: &Config,
    problems: &mut Problems<'_>,
) -> Option<u32> {
    let segments = match entry.size? {
        Volume::Greedy => return None,
        Volume::Segments(segments) => u64::from(segments),
        Volume::Data(bytes) => bytes.count().div_ceil(config.mss.count().max(1)),
    };
    let place = place!["flows", i, "size"];
    if segments == 0 {
        problems.at(place, "a flow that sends nothing");
    }
    match u32::try_from(segments) {
        Ok(segments) => Some(segments),
        Err(_) => {
            let message = format!("{segments} segments are more than a flow can count");
            problems.at(place, message).label(format!("at most {} segments", u32::MAX));
            None
        }
    }
}

/// Reports queues in bytes that some packet of a flow over `hops` would never fit into.
pub(super) fn check_queues(
    group: &str,
    config: &Config,
    hops: &[DirectedLink],
    network: &Network,
    problems: &mut Problems<'_>,
) {
    let data = config.mss.count().saturating_add(config.header.count());
    let packets = [(0, data, "data packet"), (1, config.ack_size.count(), "ACK")];
    check_room(group, &packets, hops, network, problems);
}

/// The same for packets of which each goes over `hops`, or back (1), with its size and what it is.
pub(super) fn check_room(
    group: &str,
    packets: &[(usize, u64, &str)],
    hops: &[DirectedLink],
    network: &Network,
    problems: &mut Problems<'_>,
) {
    for &(link, way) in hops {
        for &(back, size, what) in packets {
            let direction = way ^ back;
            let QueueLimit::Bytes(room) = network.links[link].directions[direction].queue else {
                continue;
            };
            // An empty queue has been reported already.
            if room == Bytes::ZERO || room.count() >= size {
                continue;
            }
            let entry = problems.tree.get("links");
            let own = |i: usize| {
                let reverse = entry.map(|links| links.deepest(place![i, "reverse"]));
                direction == 1 && reverse.is_some_and(|reverse| reverse.get("queue").is_some())
            };
            let place = match network.entry_of[link] {
                None => vec![Step::from("topology"), "queue".into()],
                Some(i) if own(i) => place!["links", i, "reverse", "queue"].to_vec(),
                Some(i) => place!["links", i, "queue"].to_vec(),
            };
            let place = place.as_slice();
            let name = list(&[group]);
            let message = format!("no {what} of {name} fits into this queue");
            let origin = problems.tree.deepest(place).origin;
            if problems.found.iter().any(|p| p.origin == origin && p.message == message) {
                continue;
            }
            problems.at(place, message).label(format!("needs at least {size} B"));
        }
    }
}
