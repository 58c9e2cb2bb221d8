//! Observations.

use optcp_engine::observe::{Groups, Links};
use optcp_units::{Duration, Time};

use crate::plan::{DirectedLink, ObservePlan};
use crate::problem::Problems;
use crate::schema::{File, LinkRef, ObserveEntry};
use crate::tree::{Step, place};
use optcp_units::nearest::suggestion;

use super::bounds::{check_name, is_name};
use super::draft::Draft;
use super::network::Network;

/// Maximum number of values of an observation, a limit of the memory use.
const MOST_VALUES: u64 = 100_000_000;

/// Names in a study's directory that observations must not use, because OpTCP writes them.
const RESERVED: [&str; 15] = [
    "scalars",
    "runs",
    "switches",
    "reroutes",
    "arrived",
    "cuts",
    "slowest",
    "cells",
    "parts",
    "study.json",
    "plots",
    "export",
    "report",
    "index.html",
    "outage.json",
];

/// Device names on Windows, which are reserved with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Device names on Windows that are followed by a digit.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Maximum length of a name. File names have at most 255 bytes, including extensions and the place names of
/// captures.
const LONGEST_NAME: usize = 100;

/// Resolves the names in observations.
pub(super) fn observe(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (i, entry) in file.observe.iter().enumerate() {
        let place = place!["observe", i, "name"];
        check_name(&entry.name, place, problems);
        check_file(&entry.name, place, plan, problems);
        let keys = entry.kind.keys();
        let taken = [
            ("groups", entry.groups.is_some(), keys.groups.is_some()),
            ("links", entry.links.is_some(), keys.links.is_some()),
            ("interval", entry.interval.is_some(), keys.interval),
            ("after", entry.after.is_some(), keys.after),
            ("until", entry.until.is_some(), keys.until),
        ];
        for (key, given, takes) in taken {
            if given && !takes {
                let message = format!("kind `{}` has no `{key}`", entry.kind.name());
                problems.at(place!["observe", i, key], message);
            }
        }
        let interval = if keys.interval { interval(i, entry, plan, problems) } else { None };
        let groups = match keys.groups {
            None => Vec::new(),
            Some(which) => groups(i, entry, which, plan, problems),
        };
        let ports = match keys.links {
            None => Some(Vec::new()),
            Some(which) => links(which, i, entry, (file, plan), network, problems),
        };
        let after = entry.after.filter(|_| keys.after).map_or(Duration::ZERO, |after| after.0);
        let until = entry.until.filter(|_| keys.until).map(|until| until.0);
        if keys.after && !keys.interval {
            check_window(i, after, until, plan, problems);
        }
        let (name, kind) = (entry.name.clone(), entry.kind);
        let observed = ObservePlan { name, kind, groups, ports, after, until, interval };
        check_room(i, &observed, plan, problems);
        plan.observe.push(observed);
    }
}

/// Reports a name whose file would conflict with another file of the run.
fn check_file(name: &str, place: &[Step<'_>], plan: &Draft, problems: &mut Problems<'_>) {
    // Some file systems ignore case.
    let same = |other: &str| other.to_lowercase() == name.to_lowercase();
    if let Some(reserved) = RESERVED.into_iter().find(|&reserved| same(reserved)) {
        problems
            .at(place, format!("observation name `{name}` is reserved"))
            .label(format!("the directory of a study contains its own `{reserved}`"));
    } else if is_name(name) && !is_file_name(name) {
        problems
            .at(place, format!("`{name}` is not a valid observation name"))
            .label("it names a folder: start with a letter, digit or `_`, do not end with `.`, and avoid device names");
    }
    match plan.observe.iter().find(|other| same(&other.name)) {
        Some(other) if other.name == name => {
            problems.at(place, format!("observation `{name}` exists already"));
        }
        Some(other) => {
            problems
                .at(place, format!("observation `{}` exists already", other.name))
                .label("names of files must differ in more than case");
        }
        None => {}
    }
    if name.len() > LONGEST_NAME {
        problems
            .at(place, format!("name of {} bytes", name.len()))
            .label(format!("at most {LONGEST_NAME}, because it is a file name"));
    }
}

/// Returns whether every operating system accepts the name as a visible folder.
fn is_file_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let numbered = |device: &&str| {
        let rest = stem.strip_prefix(*device).unwrap_or_default();
        rest.len() == 1 && rest.bytes().all(|digit| digit.is_ascii_digit())
    };
    let device = DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.iter().any(numbered);
    name.starts_with(|c: char| c.is_alphanumeric() || c == '_') && !name.ends_with('.') && !device
}

/// Reports an observation with too many values.
fn check_room(i: usize, observed: &ObservePlan, plan: &Draft, problems: &mut Problems<'_>) {
    let Some((rows, interval)) = observed.by_interval() else { return };
    let intervals = plan.stop.as_ps().checked_div(interval.as_ps()).unwrap_or(0);
    let values = intervals.saturating_mul(rows as u64);
    if values > MOST_VALUES {
        let message = format!("`{}` would have {values} values", observed.name);
        problems
            .at(place!["observe", i, "interval"], message)
            .label(format!("at most {MOST_VALUES}: use a longer interval or fewer rows"));
    }
}

/// Reports an empty time window.
fn check_window(
    i: usize,
    after: Duration,
    until: Option<Duration>,
    plan: &Draft,
    problems: &mut Problems<'_>,
) {
    if let Some(until) = until.filter(|&until| until <= after) {
        problems
            .at(place!["observe", i, "until"], format!("{until} is not after {after}"))
            .label("must be later than `after`");
    } else if Time::ZERO + after >= plan.stop && after > Duration::ZERO {
        let message = format!("the run ends at {}, not after {after}", plan.stop);
        problems.at(place!["observe", i, "after"], message);
    }
}

fn interval(
    i: usize,
    entry: &ObserveEntry,
    plan: &Draft,
    problems: &mut Problems<'_>,
) -> Option<Duration> {
    let place = place!["observe", i, "interval"];
    let Some(interval) = entry.interval else {
        problems
            .at(place, format!("kind `{}` needs `interval`", entry.kind.name()))
            .help("for example: interval = \"10 ms\"".to_owned());
        return None;
    };
    let (interval, after) = (interval.0, entry.after.map_or(Duration::ZERO, |after| after.0));
    if interval == Duration::ZERO {
        problems.at(place, "interval is zero").label("must be above zero");
    } else if Time::ZERO + after + interval > plan.stop && plan.stop > Time::ZERO {
        let message = format!("interval {interval} is longer than the run ({})", plan.stop);
        problems.at(place, message);
    }
    Some(interval)
}

fn groups(
    i: usize,
    entry: &ObserveEntry,
    which: Groups,
    plan: &Draft,
    problems: &mut Problems<'_>,
) -> Vec<usize> {
    let datagrams = |group: usize| plan.traffic.iter().any(|traffic| traffic.group == group);
    let fits = |group: &usize| which.include(datagrams(*group));
    let Some(names) = &entry.groups else {
        return (0..plan.groups.len()).filter(fits).collect();
    };
    let mut groups = Vec::new();
    if names.is_empty() {
        problems.at(place!["observe", i, "groups"], "list without groups").label("omit it for all");
    }
    for (j, name) in names.iter().enumerate() {
        let place = place!["observe", i, "groups", j];
        match plan.groups.iter().position(|group| group == name) {
            Some(group) if groups.contains(&group) => {
                problems.at(place, format!("`{name}` is listed twice"));
            }
            Some(group) if !fits(&group) => {
                let what = if datagrams(group) { "datagrams" } else { "flows" };
                let message = format!("kind `{}` does not record {what}", entry.kind.name());
                problems.at(place, message).label(format!("`{name}` is a group of {what}"));
            }
            Some(group) => groups.push(group),
            None => {
                let known = plan.groups.iter().map(String::as_str);
                let help = suggestion(name, "groups of flows", known);
                problems.at(place, format!("unknown group of flows `{name}`")).help(help);
            }
        }
    }
    groups
}

/// Returns the ports or fibres; `None` for all ports.
fn links(
    which: Links,
    i: usize,
    entry: &ObserveEntry,
    (file, plan): (&File, &Draft),
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<DirectedLink>> {
    if which == Links::Bursts && file.bursts.is_empty() {
        problems
            .at(place!["observe", i, "kind"], "no link carries bursts")
            .label("needs [[bursts]]");
    }
    let in_bursts = which == Links::Bursts;
    match (which, &entry.links) {
        (Links::Fibres, _) => Some(fibres(i, entry, network, problems)),
        (Links::All, None) => None,
        (Links::Named, None) => Some(Vec::new()),
        (Links::All | Links::Named, Some(_)) => Some(ports(i, entry, network, problems)),
        (Links::Queues | Links::Bursts, None) => {
            let packets = (0..network.links.len())
                .filter(|&link| network.links[link].wavelengths.is_none())
                .filter(|&link| plan.in_bursts(link) == in_bursts);
            Some(packets.flat_map(|link| [(link, 0), (link, 1)]).collect())
        }
        (Links::Queues | Links::Bursts, Some(_)) => {
            Some(chosen(in_bursts, i, entry, plan, network, problems))
        }
    }
}

/// Returns the ports of links that carry bursts, or of other links.
fn chosen(
    in_bursts: bool,
    i: usize,
    entry: &ObserveEntry,
    plan: &Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<DirectedLink> {
    let ports = ports(i, entry, network, problems);
    if let Some(&(fibre, _)) =
        ports.iter().find(|&&(link, _)| network.links[link].wavelengths.is_some())
    {
        let message = format!("`{}` is a fibre", network.links[fibre].name);
        problems.at(place!["observe", i, "links"], message).label("use kind `fibres`");
        return ports;
    }
    if let Some(&(other, _)) = ports.iter().find(|&&(link, _)| plan.in_bursts(link) != in_bursts) {
        let (has, hint) = match in_bursts {
            true => ("carries no bursts", "not in [[bursts]]"),
            false => ("has no queue: packets travel in bursts", "use kind `bursts`"),
        };
        let message = format!("`{}` {has}", network.links[other].name);
        problems.at(place!["observe", i, "links"], message).label(hint);
    }
    ports
}

/// Returns both directions of each fibre.
fn fibres(
    i: usize,
    entry: &ObserveEntry,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<DirectedLink> {
    let all = (0..network.links.len()).filter(|&link| network.links[link].wavelengths.is_some());
    let all: Vec<DirectedLink> = all.flat_map(|link| [(link, 0), (link, 1)]).collect();
    if all.is_empty() && !network.incomplete {
        problems.at(place!["observe", i, "kind"], "no fibres").label("no link has `wavelengths`");
    }
    if entry.links.is_none() {
        return all;
    }
    both_directions(i, entry, network, problems, Network::referred_fibres)
}

/// Returns both directions of each link, starting with the direction in which it is written.
fn ports(
    i: usize,
    entry: &ObserveEntry,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<DirectedLink> {
    both_directions(i, entry, network, problems, Network::referred)
}

/// Returns both directions of each link that `find` returns.
fn both_directions(
    i: usize,
    entry: &ObserveEntry,
    network: &mut Network,
    problems: &mut Problems<'_>,
    referred: impl Fn(
        &mut Network,
        &LinkRef,
        &[Step<'_>],
        &mut Problems<'_>,
    ) -> Option<Vec<DirectedLink>>,
) -> Vec<DirectedLink> {
    let links = entry.links.as_deref().unwrap_or_default();
    if links.is_empty() {
        problems.at(place!["observe", i, "links"], "list without links").label("omit it for all");
    }
    let mut ports: Vec<DirectedLink> = Vec::new();
    for (j, link) in links.iter().enumerate() {
        let place = place!["observe", i, "links", j];
        for (link, direction) in referred(network, link, place, problems).unwrap_or_default() {
            if ports.contains(&(link, direction)) {
                let name = &network.links[link].name;
                problems.at(place, format!("`{name}` is listed twice"));
                break;
            }
            ports.extend([(link, direction), (link, 1 - direction)]);
        }
    }
    ports
}
