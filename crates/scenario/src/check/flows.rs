//! Flows and their paths.

use std::collections::{BTreeMap, BTreeSet};

use optcp_routing::Routes;
use optcp_tcp::config::{Config, PathState};
use optcp_units::{Bytes, Duration, Time};

use crate::library::Library;
use crate::plan::{Carries, DirectedLink, DrawnPlan, FlowPlan, QueueLimit, Spread};
use crate::problem::Problems;
use crate::schema::{File, FlowsEntry, Volume};
use crate::tree::{Step, place};
use crate::warnings::{WarningKind, text};
use optcp_units::nearest::list;

use super::bounds::{MOST, check_name};
use super::draft::Draft;
use super::network::{Network, checked};
use super::queues;
use super::route::Route;
use super::ways::{self, Way};
use super::{arrivals, pairs, tcp};

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
        let start = start(i, entry, plan.stop, problems);
        let per_source = entry.per_source.map_or(1, |count| count.0);
        if per_source == 0 {
            let place = place!["flows", i, "per_source"];
            problems.at(place, format!("group `{}` has no flows", entry.group));
        }
        let tcp = tcp::find(i, entry.tcp.as_deref(), plan, problems);
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
        if here.saturating_add(plan.flows.len()).saturating_add(drawn_routes.len()) > MOST {
            problems.at(place!["flows", i], format!("more than {MOST} flows"));
            return;
        }
        // The name of a flow contains the node that distinguishes it from its siblings: the member of the
        // first group of maximum size.
        let varying = varying(&found.routes);
        for route in found.routes {
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
                    writes: writes.clone(),
                    tcp: Some(tcp),
                    carries,
                });
            }
            let hops = if found.routed { network.all_hops() } else { network.every_port(&route) };
            check_queues(&entry.group, &config, &hops, network, problems);
        }
    }
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

/// Flow numbers in use, by group and member name.
#[derive(Default)]
struct Numbers(BTreeMap<(usize, String), usize>);

impl Numbers {
    /// Returns the first of `count` new numbers.
    fn take(&mut self, group: usize, member: &str, count: usize) -> usize {
        let next = self.0.entry((group, member.to_owned())).or_default();
        let first = *next;
        *next = first.saturating_add(count);
        first
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

/// Returns the first position at which all routes of an entry differ, which is the position of the
/// largest group. If there is only one route, it is the source.
pub(super) fn varying(routes: &[Route]) -> usize {
    let apart = |place: &usize| {
        let members: BTreeSet<_> = routes.iter().map(|route| route.nodes.get(*place)).collect();
        members.len() == routes.len()
    };
    let longest = routes.iter().map(|route| route.nodes.len()).max().unwrap_or(0);
    (0..longest).find(apart).unwrap_or(0)
}

fn start(i: usize, entry: &FlowsEntry, stop: Time, problems: &mut Problems<'_>) -> Spread {
    let place = place!["flows", i, "start"];
    let start = checked(entry.start.as_ref(), true, place, problems);
    if let Some(latest) = start.latest().filter(|&latest| latest >= stop)
        && stop > Time::ZERO
    {
        let message = format!("flows start at {latest}, but the run stops at {stop}");
        problems.at(place, message).label("must be before `stop`");
    }
    start
}

/// Returns the number of full segments of a flow, and its later writes: delay after the start, and number of
/// segments.
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
        problems.at(place, "both `size` and `writes`").label("omit one of them");
    }
    if writes.is_empty() {
        problems.at(place, "flow without data");
    }
    let mut all = 0_u32;
    let mut later: Vec<(Duration, u32)> = Vec::new();
    for (j, write) in writes.iter().enumerate() {
        if j > 0 && write.after.0 <= writes[j - 1].after.0 {
            problems
                .at(place!["flows", i, "writes", j, "after"], "not later than the previous write")
                .label("sort writes by time");
        }
        let place = place!["flows", i, "writes", j, "size"];
        if write.size == Volume::Greedy {
            problems.at(place, "unlimited write").label("needs a size, such as `100 segments`");
        }
        let Some(segments) = segments(place, write.size, config, problems) else { continue };
        all = all.checked_add(segments).filter(|all| *all <= MOST_WRITTEN).unwrap_or_else(|| {
            problems.at(place, format!("writes of more than {MOST_WRITTEN} segments"));
            0
        });
        if write.after.0 > Duration::ZERO {
            later.push((write.after.0, segments));
        }
    }
    (Some(all), later)
}

/// Maximum number of segments of all writes together.
const MOST_WRITTEN: u32 = (1 << 30) - 1;

/// Returns the number of full segments needed for the data.
fn segments(
    place: &[Step],
    size: Volume,
    config: &Config,
    problems: &mut Problems<'_>,
) -> Option<u32> {
    let segments = match size {
        Volume::Greedy => return None,
        Volume::Segments(segments) => u64::from(segments),
        Volume::Data(bytes) => {
            let mss = config.mss.count().max(1);
            let segments = bytes.count().div_ceil(mss);
            warn_of_rounding(place, bytes.count(), [segments, mss], problems);
            segments
        }
    };
    if segments == 0 {
        problems.at(place, "flow without data");
    }
    match u32::try_from(segments) {
        Ok(segments) => Some(segments),
        Err(_) => {
            let message = format!("{segments} segments exceed the maximum of a flow");
            problems.at(place, message).label(format!("at most {} segments", u32::MAX));
            None
        }
    }
}

/// Warns if rounding up to whole segments increases a size by a tenth or more.
fn warn_of_rounding(
    place: &[Step],
    bytes: u64,
    [segments, mss]: [u64; 2],
    problems: &mut Problems<'_>,
) {
    let sent = segments.saturating_mul(mss);
    if bytes == 0 || sent.saturating_sub(bytes) < bytes.div_ceil(10) {
        return;
    }
    let message = format!(
        "{} are sent as {} of {}, so that completion times are those of {}: give `size` in segments, or set a smaller `mss`",
        text::bytes(bytes as f64),
        text::count_noun(segments, "whole segment"),
        text::bytes(mss as f64),
        text::bytes(sent as f64),
    );
    problems.warn(WarningKind::WholeSegments, place, message);
}

/// Reports queues in bytes that are smaller than a packet of a flow over `hops`.
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

/// Reports queues in bytes that are smaller than one of `packets`: direction (0 for `hops`, 1 for the
/// reverse), size and name.
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
            // A queue limit of zero has been reported already.
            if room == Bytes::ZERO || room.count() >= size {
                continue;
            }
            let entry = problems.tree.get("links");
            let own = |i: usize| {
                let reverse = entry.map(|links| links.deepest(place![i, "reverse"]));
                direction == 1 && reverse.is_some_and(|reverse| reverse.get("queue").is_some())
            };
            let place = match network.links[link].entry {
                None => vec![Step::from("topology"), "queue".into()],
                Some(i) if own(i) => place!["links", i, "reverse", "queue"].to_vec(),
                Some(i) => place!["links", i, "queue"].to_vec(),
            };
            let place = place.as_slice();
            let name = list(&[group]);
            let message = format!("the queue limit is below one {what} of {name}");
            let origin = problems.tree.deepest(place).origin;
            if problems.found.iter().any(|p| p.origin == origin && p.message == message) {
                continue;
            }
            problems.at(place, message).label(format!("needs at least {size} B"));
        }
    }
}
