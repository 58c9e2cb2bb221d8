//! Sources of datagrams.

use std::collections::BTreeMap;

use optcp_routing::Routes;
use optcp_traffic::{
    DATAGRAM_HEADERS, ExponentialSize, FractalRenewal, FractionalNoise, NoiseError, PacketRate,
    PacketSize, ProcessKind, RenewalShape, SizesKind,
};
use optcp_units::{Codepoint, Duration, Time};

use crate::library::Library;
use crate::plan::{Carries, FlowPlan, ProcessPlan, Spread, TrafficPlan};
use crate::problem::Problems;
use crate::schema::{CodepointKind, File, Pace, SizesTable, TrafficEntry};
use crate::tree::place;

use super::arrivals::keys_fit;
use super::bounds::{MOST, MOST_LISTED, check_name};
use super::draft::Draft;
use super::flow_names::varying;
use super::network::{Network, checked};
use super::queue_room::check_room;
use super::route::Route;
use super::ways::{self, Way, Ways};
use super::{lists, pairs, queues};

/// Maximum packet size of Ethernet, in bytes.
const LARGEST: u64 = 1500;

/// Expands the groups of sources.
pub(super) fn traffic(
    file: &File,
    library: &Library,
    plan: &mut Draft,
    network: &mut Network,
    shortest: Option<&Routes>,
    problems: &mut Problems<'_>,
) {
    for (i, entry) in file.traffic.iter().enumerate() {
        let place = place!["traffic", i, "group"];
        check_name(&entry.group, place, problems);
        if plan.groups.contains(&entry.group) {
            problems.at(place, format!("group `{}` exists already", entry.group));
        }
        let group = plan.groups.len();
        plan.groups.push(entry.group.clone());
        plan.classes.push(queues::class(entry.class, place!["traffic", i, "class"], problems));
        let listed = match &entry.list {
            None => None,
            Some(name) => {
                check_amounts(i, entry, problems);
                let name = (i, name.as_str());
                let listed = lists::sources(file, name, plan.stop, library, network, problems);
                let Some(listed) = listed else { continue };
                Some(listed)
            }
        };
        let way = Way {
            at: ("traffic", i),
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
            per_source: 1,
        };
        let found = ways::ways(&way, plan, network, shortest, library, problems);
        if found.as_ref().is_some_and(|found| found.drawn.is_some()) {
            problems
                .at(place!["traffic", i, "pairs", "count"], "`count` of pairs without `seed`")
                .help("give `pairs` a `seed`, which draws them once for all runs".to_owned());
            continue;
        }
        if let Some(found) = &found {
            pairs::warn_of_weights(("traffic", i), entry.pairs.as_ref(), found, problems);
        }
        let (start, until) = span(i, entry, plan.stop, problems);
        let sizes = sizes(i, entry, problems);
        let process = process(i, entry, until.saturating_since(Time::ZERO), problems);
        let (
            Some(Ways { routes, routed, by_pair, .. }),
            Some((sizes, mean, largest)),
            Some(process),
        ) = (found, sizes, process)
        else {
            continue;
        };
        let Some(rate) = rate(entry.rate, mean) else {
            problems.at(place!["traffic", i, "rate"], "rate is not possible with this packet size");
            continue;
        };
        if let ProcessPlan::OnOff { superposed, times, .. } = process
            && silence(rate, superposed, times) > MOST_SILENCE
        {
            problems
                .at(place!["traffic", i, "on"], "less than one packet per 1000 on periods")
                .label("every period is drawn")
                .help("raise `rate` or `on`, or lower `superposed`".to_owned());
            continue;
        }
        let superposed = superposed(process, rate);
        if superposed > MOST {
            problems
                .at(place!["traffic", i], format!("a source superposes {superposed} processes"))
                .label(format!("at most {MOST}"))
                .help(
                    "for `fractal-renewal`, their number grows with `onset` and `rate`".to_owned(),
                );
            continue;
        }
        let limit = if listed.is_some() { MOST_LISTED } else { MOST };
        if routes.len().saturating_add(plan.flows.len()) > limit {
            problems.at(place!["traffic", i], format!("more than {limit} flows"));
            return;
        }
        let carries = Carries::Datagrams(plan.traffic.len());
        let codepoint = entry.ecn.map_or(Codepoint::NotEct, CodepointKind::codepoint);
        plan.traffic.push(TrafficPlan { group, process, rate, sizes, until, codepoint });
        let varying = varying(&routes);
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut checked: Option<Route> = None;
        for (row, route) in routes.into_iter().enumerate() {
            // Lists have many sources per route, and routed packets may use every link.
            let is_checked = |one: &Route| routed || one.hops == route.hops;
            if !checked.as_ref().is_some_and(is_checked) {
                let hops = if routed { network.all_hops() } else { network.every_port(&route) };
                let packets = [(0, u64::from(largest), "datagram")];
                check_room(&entry.group, &packets, &hops, network, problems);
                checked = Some(route.clone());
            }
            let listed = listed.as_ref().map(|listed| &listed.amounts[row]);
            let member = match by_pair {
                true => network.pair_name(&route.nodes),
                false => network.name(route.nodes[varying]).to_owned(),
            };
            // Number of a source whose pair occurs repeatedly.
            let number = numbers.entry(member.clone()).or_default();
            let name = match *number {
                0 if listed.is_none() => format!("{}/{member}", entry.group),
                _ => format!("{}/{member}/{number}", entry.group),
            };
            *number += 1;
            plan.flows.push(FlowPlan {
                name,
                group,
                entry: i,
                lsp: None,
                path: route.nodes,
                hops: route.hops,
                bundles: route.bundles,
                routed,
                start: listed.map_or(&start, |(start, _)| start).clone(),
                size: None,
                datagram_bytes: listed.map(|&(_, bytes)| bytes),
                writes: Vec::new(),
                tcp: None,
                carries,
                application: None,
            });
        }
    }
}

/// Reports packets and processes of sources that cannot send a given amount of data.
fn check_amounts(i: usize, entry: &TrafficEntry, problems: &mut Problems<'_>) {
    if !matches!(entry.process, ProcessKind::Constant | ProcessKind::Poisson) {
        let message = format!("process `{}` with `list`", entry.process.name());
        problems.at(place!["traffic", i, "process"], message).label("`constant` or `poisson`");
    }
    let headers = u64::from(DATAGRAM_HEADERS);
    if entry.size.is_some_and(|size| size.0.count() <= headers) {
        problems
            .at(place!["traffic", i, "size"], "packets without data with `list`")
            .label(format!("must be above {headers} B, the headers of UDP and IPv4"));
    }
    let smallest = entry.sizes.as_ref().and_then(|sizes| sizes.smallest);
    if smallest.is_some_and(|size| size.0.count() < headers) {
        problems
            .at(place!["traffic", i, "sizes", "smallest"], "packets without headers with `list`")
            .label(format!("at least {headers} B, the headers of UDP and IPv4"));
    }
}

/// Returns start and end of sending.
fn span(i: usize, entry: &TrafficEntry, stop: Time, problems: &mut Problems<'_>) -> (Spread, Time) {
    let until = entry.until.map_or(stop, |until| Time::ZERO + until.0).min(stop);
    let start = checked(entry.start.as_ref(), true, place!["traffic", i, "start"], problems);
    if let Some(latest) = start.latest().filter(|&latest| latest >= until)
        && stop > Time::ZERO
    {
        let key = if entry.until.is_some() { "until" } else { "start" };
        problems
            .at(place!["traffic", i, key], "source without time to send")
            .label(format!("from {latest} to {until}"));
    }
    (start, until)
}

/// Maximum number of on and off periods per packet of an on-off source.
const MOST_SILENCE: f64 = 1000.0;

/// Returns the number of on and off periods per packet of each superposed process.
fn silence(rate: PacketRate, superposed: u32, [on, off]: [Duration; 2]) -> f64 {
    rate.mean_interval_ps() * f64::from(superposed) / (on.as_ps() as f64 + off.as_ps() as f64)
}

/// Returns the number of processes that a source superposes.
fn superposed(process: ProcessPlan, rate: PacketRate) -> usize {
    let superposed = match process {
        ProcessPlan::OnOff { superposed, .. } => superposed,
        ProcessPlan::FractalRenewal { shape, hurst } => {
            FractalRenewal::superposed(rate, hurst, shape)
        }
        ProcessPlan::Constant | ProcessPlan::Poisson | ProcessPlan::FractionalNoise { .. } => 1,
    };
    usize::try_from(superposed).unwrap_or(usize::MAX)
}

fn rate(pace: Pace, mean: u16) -> Option<PacketRate> {
    match pace {
        Pace::Packets(rate) => Some(rate),
        Pace::Bits(rate) => PacketRate::filling(rate, mean),
    }
}

/// Returns the sizes, their mean and their maximum.
fn sizes(
    i: usize,
    entry: &TrafficEntry,
    problems: &mut Problems<'_>,
) -> Option<(PacketSize, u16, u16)> {
    let place = place!["traffic", i, "size"];
    match (entry.size, &entry.sizes) {
        (Some(size), None) => match u16::try_from(size.0.count()) {
            Ok(size) if size > 0 => Some((PacketSize::Fixed(size), size, size)),
            _ => {
                problems.at(place, "invalid packet size").label("from 1 B to 65535 B");
                None
            }
        },
        (None, Some(sizes)) => size_distribution(i, sizes, problems),
        (Some(_), Some(_)) => {
            problems.at(place, "both `size` and `sizes`").label("omit one of them");
            None
        }
        (None, None) => {
            problems
                .at(place!["traffic", i], "packet size is missing")
                .label("needs `size` or `sizes`")
                .help("for example: size = \"1500 B\"".to_owned());
            None
        }
    }
}

fn size_distribution(
    i: usize,
    sizes: &SizesTable,
    problems: &mut Problems<'_>,
) -> Option<(PacketSize, u16, u16)> {
    let place = place!["traffic", i, "sizes"];
    if sizes.kind != SizesKind::Exponential {
        let message = format!("no `{}` sizes for packets", sizes.kind.name());
        let place = place!["traffic", i, "sizes", "kind"];
        problems.at(place, message).help("did you mean `exponential`?".to_owned());
        return None;
    }
    if !keys_fit(place, sizes, &["mean", "smallest", "largest"], &["mean"], problems) {
        return None;
    }
    let bytes = |size: Option<crate::schema::Size>, default| {
        u16::try_from(size.map_or(default, |size| size.0.count())).ok()
    };
    let headers = u64::from(DATAGRAM_HEADERS);
    let (smallest, largest) = (bytes(sizes.smallest, headers), bytes(sizes.largest, LARGEST));
    let found =
        bytes(sizes.mean, 0).zip(smallest).zip(largest).and_then(|((mean, least), most)| {
            let sizes = ExponentialSize::new(mean, least, most).filter(|_| least > 0)?;
            Some((PacketSize::Exponential(sizes), mean, most))
        });
    if found.is_none() {
        problems.at(place, "invalid packet size distribution").label(
            "the mean must lie between the minimum and the midpoint of minimum and maximum, all from 1 B to 65535 B",
        );
    }
    found
}

/// Returns the process if the entry has exactly the keys of its kind.
fn process(
    i: usize,
    entry: &TrafficEntry,
    span: Duration,
    problems: &mut Problems<'_>,
) -> Option<ProcessPlan> {
    let before = problems.found.len();
    let renewal = [ProcessKind::FractalRenewal].as_slice();
    let on_off = [ProcessKind::OnOff].as_slice();
    let noise = [ProcessKind::FractionalNoise].as_slice();
    let superposed = [ProcessKind::OnOff, ProcessKind::FractalRenewal].as_slice();
    let similar =
        [ProcessKind::OnOff, ProcessKind::FractalRenewal, ProcessKind::FractionalNoise].as_slice();
    // Key, presence, kinds that accept it, and whether these require it.
    let keys: [(&str, bool, &[ProcessKind], bool); 7] = [
        ("hurst", entry.hurst.is_some(), similar, true),
        ("superposed", entry.superposed.is_some(), superposed, entry.process == ProcessKind::OnOff),
        ("on", entry.on.is_some(), on_off, true),
        ("off", entry.off.is_some(), on_off, true),
        ("onset", entry.onset.is_some(), renewal, false),
        ("slot", entry.slot.is_some(), noise, true),
        ("dispersion", entry.dispersion.is_some(), noise, false),
    ];
    let name = entry.process.name();
    for (key, given, kinds, needed) in keys {
        let fits = kinds.contains(&entry.process);
        if given && !fits {
            problems.at(place!["traffic", i, key], format!("process `{name}` has no `{key}`"));
        }
        if !given && fits && needed {
            problems.at(place!["traffic", i], format!("process `{name}` needs `{key}`"));
        }
    }
    let hurst = entry.hurst.map_or(0.75, |hurst| hurst.0);
    if !(hurst > 0.5 && hurst < 1.0) {
        problems
            .at(place!["traffic", i, "hurst"], format!("invalid Hurst parameter `{hurst}`"))
            .label("must be above 0.5 and below 1");
    }
    if entry.process == ProcessKind::FractalRenewal
        && entry.superposed.is_some() == entry.onset.is_some()
    {
        problems
            .at(place!["traffic", i], "time scale is not clear")
            .label("needs either `superposed` or `onset`");
    }
    let zero = |span: Option<crate::schema::Span>| span.is_some_and(|s| s.0 == Duration::ZERO);
    let lengths =
        [("on", entry.on), ("off", entry.off), ("onset", entry.onset), ("slot", entry.slot)];
    for (key, _) in lengths.into_iter().filter(|&(_, length)| zero(length)) {
        problems.at(place!["traffic", i, key], "time is zero").label("must be above zero");
    }
    if entry.superposed.is_some_and(|count| count.0 == 0) {
        problems
            .at(place!["traffic", i, "superposed"], "number of processes is zero")
            .label("must be above zero");
    }
    if problems.found.len() > before {
        return None;
    }
    let superposed = entry.superposed.map_or(1, |count| count.0);
    Some(match entry.process {
        ProcessKind::Constant => ProcessPlan::Constant,
        ProcessKind::Poisson => ProcessPlan::Poisson,
        ProcessKind::OnOff => {
            ProcessPlan::OnOff { superposed, times: [entry.on?.0, entry.off?.0], hurst }
        }
        ProcessKind::FractalRenewal => {
            let shape = match entry.onset {
                Some(onset) => RenewalShape::Onset(onset.0),
                None => RenewalShape::Processes(superposed),
            };
            ProcessPlan::FractalRenewal { shape, hurst }
        }
        ProcessKind::FractionalNoise => {
            let slot = entry.slot?.0;
            if let Err(NoiseError::TooManySlots { slots, most }) =
                FractionalNoise::check(slot, span)
            {
                problems
                    .at(place!["traffic", i, "slot"], format!("{slots} slots of {slot} in the run"))
                    .label(format!("at most {most}"));
            }
            let dispersion = entry.dispersion.map_or(1.0, |dispersion| dispersion.0);
            ProcessPlan::FractionalNoise { slot, dispersion, hurst }
        }
    })
}
