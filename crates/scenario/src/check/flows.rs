//! Flows and the paths that they take.

use std::collections::BTreeSet;

use optcp_routing::Routes;
use optcp_tcp::config::Config;
use optcp_units::{Bytes, Duration, Time};

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
        let (size, writes, per_source) = match carries {
            Carries::Arrivals(_) => (None, Vec::new(), 1),
            _ => {
                let (size, writes) = amounts(i, entry, &config, problems);
                (size, writes, per_source)
            }
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
                    writes: writes.clone(),
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

/// How many full segments the flow sends, and what of it is written later than at its start: how much later, and
/// how many segments.
fn amounts(
    i: usize,
    entry: &FlowsEntry,
    config: &Config,
    problems: &mut Problems<'_>,
) -> (Option<u32>, Vec<(Duration, u32)>) {
    let Some(writes) = &entry.writes else {
        let place = place!["flows", i, "size"];
        let size = entry.size.and_then(|size| segments(place, size, config, problems));
        return (size, Vec::new());
    };
    let place = place!["flows", i, "writes"];
    if entry.size.is_some() {
        problems.at(place, "`size` and `writes` say the same").label("leave one of them out");
    }
    if writes.is_empty() {
        problems.at(place, "a flow that sends nothing");
    }
    let mut all = 0_u32;
    let mut later: Vec<(Duration, u32)> = Vec::new();
    for (j, write) in writes.iter().enumerate() {
        if j > 0 && write.after.0 <= writes[j - 1].after.0 {
            problems
                .at(place!["flows", i, "writes", j, "after"], "not later than the write before")
                .label("writes are listed in order of time");
        }
        let place = place!["flows", i, "writes", j, "size"];
        if write.size == Volume::Greedy {
            problems.at(place, "a write without end").label("needs a size, such as `100 segments`");
        }
        let Some(segments) = segments(place, write.size, config, problems) else { continue };
        all = all.checked_add(segments).filter(|all| *all <= MOST_WRITTEN).unwrap_or_else(|| {
            problems.at(place, format!("more than {MOST_WRITTEN} segments are written"));
            0
        });
        if write.after.0 > Duration::ZERO {
            later.push((write.after.0, segments));
        }
    }
    (Some(all), later)
}

/// The most segments that writes together may have.
const MOST_WRITTEN: u32 = (1 << 30) - 1;

/// The number of full segments that hold what is sent.
fn segments(
    place: &[Step],
    size: Volume,
    config: &Config,
    problems: &mut Problems<'_>,
) -> Option<u32> {
    let segments = match size {
        Volume::Greedy => return None,
        Volume::Segments(segments) => u64::from(segments),
        Volume::Data(bytes) => bytes.count().div_ceil(config.mss.count().max(1)),
    };
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
