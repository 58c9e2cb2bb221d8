//! Flows and sources of datagrams listed in a file.

use std::collections::BTreeSet;

use optcp_tcp::config::Config;
use optcp_units::nearest::suggestion;
use optcp_units::{Duration, Time};

use crate::library::{FlowList, Library};
use crate::plan::Spread;
use crate::problem::Problems;
use crate::schema::{File, FlowsEntry, ListOr, TrafficEntry};
use crate::tree::{Step, place};
use crate::warnings::{WarningKind, text};

use super::bounds::MOST_LISTED;
use super::network::Network;

/// Flows of a list that start before the end of the run, by source, destination, start and size. The order of
/// the rows in the file has no effect.
pub(super) struct Listed<A> {
    /// Source and destination of each flow.
    pub ends: Vec<[usize; 2]>,
    /// Start and amount of data of each flow.
    pub amounts: Vec<(Spread, A)>,
}

/// Returns the TCP flows of an entry, each with its number of segments; `None` if a problem was reported.
pub(super) fn flows(
    file: &File,
    (i, name): (usize, &str),
    (stop, config): (Time, &Config),
    library: &Library,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<Listed<u32>> {
    let given = keys_of_flows(&file.flows[i]);
    let entry = Entry { at: ("flows", i), group: &file.flows[i].group, name, udp: false };
    entry.check_keys(&given, problems);
    let mss = config.mss.count().max(1);
    let most = (u64::from(u32::MAX).saturating_mul(mss), format!("{} segments", u32::MAX));
    let listed = entry.rows(file, stop, &most, (library, network), problems)?;
    let all = listed.amounts.len() as u64;
    let small = listed.amounts.iter().filter(|&&(_, bytes)| bytes < mss).count() as u64;
    if small > 0 && small >= all.div_ceil(10) {
        let message = format!(
            "{small} of {} with less data than a segment of {}, of which a whole one is sent: set a smaller `mss`",
            text::count_noun(all, "flow"),
            text::bytes(mss as f64),
        );
        problems.warn(WarningKind::WholeSegments, place!["flows", i, "list"], message);
    }
    let segments = |bytes: u64| u32::try_from(bytes.div_ceil(mss)).unwrap_or(u32::MAX);
    let amounts = listed.amounts.into_iter().map(|(start, bytes)| (start, segments(bytes)));
    Some(Listed { ends: listed.ends, amounts: amounts.collect() })
}

/// Returns the UDP flows of an entry, each with its bytes; `None` if a problem was reported.
pub(super) fn sources(
    file: &File,
    (i, name): (usize, &str),
    stop: Time,
    library: &Library,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<Listed<u64>> {
    let given = keys_of_sources(&file.traffic[i]);
    let entry = Entry { at: ("traffic", i), group: &file.traffic[i].group, name, udp: true };
    entry.check_keys(&given, problems);
    entry.rows(file, stop, &(u64::MAX, format!("{} B", u64::MAX)), (library, network), problems)
}

/// Returns the keys of `[[flows]]` that a list replaces, and whether they are given.
fn keys_of_flows(entry: &FlowsEntry) -> [(&'static str, bool); 14] {
    [
        ("path", matches!(entry.path, Some(ListOr::List(_)))),
        ("paths", entry.paths.is_some()),
        ("between", entry.between.is_some()),
        ("from", entry.from.is_some()),
        ("to", entry.to.is_some()),
        ("pairs", entry.pairs.is_some()),
        ("per_source", entry.per_source.is_some()),
        ("start", entry.start.is_some()),
        ("size", entry.size.is_some()),
        ("writes", entry.writes.is_some()),
        ("sizes", entry.sizes.is_some()),
        ("arrivals", entry.arrivals.is_some()),
        ("load", entry.load.is_some()),
        ("until", entry.until.is_some()),
    ]
}

/// Returns the keys of `[[traffic]]` that a list replaces, and whether they are given.
fn keys_of_sources(entry: &TrafficEntry) -> [(&'static str, bool); 8] {
    [
        ("path", matches!(entry.path, Some(ListOr::List(_)))),
        ("paths", entry.paths.is_some()),
        ("between", entry.between.is_some()),
        ("from", entry.from.is_some()),
        ("to", entry.to.is_some()),
        ("pairs", entry.pairs.is_some()),
        ("start", entry.start.is_some()),
        ("until", entry.until.is_some()),
    ]
}

/// Entry that takes rows of a list.
struct Entry<'e> {
    /// Section, and index of the entry in it.
    at: (&'static str, usize),
    group: &'e str,
    /// Name of the file.
    name: &'e str,
    /// `true`: takes UDP flows. `false`: takes TCP flows.
    udp: bool,
}

impl Entry<'_> {
    fn place(&self) -> [Step<'static>; 3] {
        [self.at.0.into(), self.at.1.into(), "list".into()]
    }

    fn check_keys(&self, given: &[(&'static str, bool)], problems: &mut Problems<'_>) {
        for &(key, _) in given.iter().filter(|(_, given)| *given) {
            problems
                .at(place![self.at.0, self.at.1, key], format!("`{key}` with `list`"))
                .label("the file lists nodes, starts and sizes");
        }
    }

    /// Reads the rows of this entry, with at most `most` bytes each.
    fn rows(
        &self,
        file: &File,
        stop: Time,
        most: &(u64, String),
        (library, network): (&Library, &Network),
        problems: &mut Problems<'_>,
    ) -> Option<Listed<u64>> {
        let (place, name) = (&self.place(), self.name);
        let list = match library.flows(name) {
            Ok(list) => list,
            Err(message) => {
                problems.at(place, message);
                return None;
            }
        };
        if network.incomplete {
            return None;
        }
        let row = if name.to_lowercase().ends_with(".parquet") { "row" } else { "line" };
        let at = |number| format!("`{name}`, {row} {number}");
        let reader = Reader { list: &list, at, network };
        if !reader.has_entries(file, self, problems) {
            return None;
        }
        let own = list.names.iter().position(|name| name == self.group);
        let is_own = |row: usize| match list.groups.get(row) {
            Some(&group) => own == Some(group as usize),
            None => list.is_udp(row) == self.udp,
        };
        let (mut flows, mut late) = (Vec::new(), 0_u64);
        for row in (0..list.lines.len()).filter(|&row| is_own(row)) {
            let ends = reader.ends(row, place, problems)?;
            let (start_ps, bytes) = (list.starts_ps[row], list.bytes[row]);
            if bytes == 0 || bytes > most.0 {
                let message = format!("{}: column `bytes`: {bytes}", (reader.at)(list.lines[row]));
                problems.at(place, message).label(format!("from 1 B to {}", most.1));
                return None;
            }
            match start_ps >= stop.as_ps() {
                true => late += 1,
                false => flows.push((ends, start_ps, bytes)),
            }
        }
        if flows.is_empty() && stop > Time::ZERO {
            let message = match late {
                0 => format!("`{name}` lists no flow of group `{}`", self.group),
                _ => format!("all flows of `{name}` start at {stop} or later"),
            };
            problems.at(place, message).label("needs a flow before `stop`");
            return None;
        }
        if flows.len() > MOST_LISTED {
            problems.at(place, format!("more than {MOST_LISTED} flows before `stop`"));
            return None;
        }
        if late > 0 {
            let rows = text::count_noun(late, "row");
            let message = format!("left out: {rows} of `{name}` with a start at {stop} or later");
            problems.warn(WarningKind::NoEffect, place, message);
        }
        flows.sort_unstable();
        let start = |start_ps| Spread::Fixed(Duration::from_ps(start_ps));
        let each = flows.into_iter().map(|(ends, at, bytes)| (ends, (start(at), bytes)));
        let (ends, amounts) = each.unzip();
        Some(Listed { ends, amounts })
    }
}

/// Access to the rows of a list.
struct Reader<'r, A> {
    list: &'r FlowList,
    /// Describes the place of a row in the file.
    at: A,
    network: &'r Network,
}

impl<A: Fn(u64) -> String> Reader<'_, A> {
    /// Returns whether each row has an entry with this list, of its protocol and group; otherwise reports the
    /// first row without one.
    fn has_entries(&self, file: &File, entry: &Entry<'_>, problems: &mut Problems<'_>) -> bool {
        let list = self.list;
        for udp in [false, true] {
            let flows = file.flows.iter().filter(|_| !udp).map(|one| (&one.list, &one.group));
            let traffic = file.traffic.iter().filter(|_| udp).map(|one| (&one.list, &one.group));
            let sharing = flows.chain(traffic);
            let sharing = sharing.filter(|(list, _)| list.as_deref() == Some(entry.name));
            let known: BTreeSet<&str> = sharing.map(|(_, group)| group.as_str()).collect();
            let is_known = |row: usize| match list.groups.get(row) {
                Some(&group) => known.contains(list.names[group as usize].as_str()),
                None => !known.is_empty(),
            };
            let rows = 0..list.lines.len();
            let mut own = rows.filter(|&row| list.is_udp(row) == udp);
            let Some(row) = own.find(|&row| !is_known(row)) else { continue };
            let at = (self.at)(list.lines[row]);
            let (message, help) = match list.groups.get(row) {
                Some(&group) if !known.is_empty() => {
                    let group = &list.names[group as usize];
                    let help = suggestion(group, "groups with this list", known.iter().copied());
                    (format!("{at}: column `group`: unknown group `{group}`"), help)
                }
                _ if udp => {
                    let help = Some("`optcp flows --protocol tcp` omits UDP flows".to_owned());
                    (format!("{at}: a UDP flow, and no `[[traffic]]` has this list"), help)
                }
                _ => {
                    let help =
                        Some("`udp` in the column `protocol` makes it a UDP flow".to_owned());
                    (format!("{at}: a TCP flow, and no `[[flows]]` has this list"), help)
                }
            };
            problems.at(&entry.place(), message).help(help);
            return false;
        }
        true
    }

    /// Returns source and destination of a row; `None` if a problem was reported.
    fn ends(
        &self,
        row: usize,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<[usize; 2]> {
        let list = self.list;
        let names = [list.from[row], list.to[row]].map(|name| list.names[name as usize].as_str());
        let [from, to] = names.map(|name| self.network.find_node(name));
        let at = || (self.at)(list.lines[row]);
        match (from, to) {
            (Some(from), Some(to)) if from == to => {
                problems.at(place, format!("{}: flow from `{}` to itself", at(), names[0]));
                None
            }
            (Some(from), Some(to)) => Some([from, to]),
            _ => {
                let end = usize::from(from.is_some());
                let column = ["from", "to"][end];
                let known = self.network.nodes.iter().map(String::as_str);
                let help = suggestion(names[end], "nodes", known);
                let message = format!("{}: column `{column}`: unknown node `{}`", at(), names[end]);
                problems.at(place, message).help(help);
                None
            }
        }
    }
}
