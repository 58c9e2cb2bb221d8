//! Series of every kind, derived again from the list of packets: plainly, slowly, and by separate
//! code.

mod applications;
mod assembly;
mod buckets;
mod bursts;
mod copies;
mod cuts;
mod ends;
mod flows;
mod forwarding;
mod giving_up;
mod lines;
mod marks;
mod metrics;
mod outages;
mod paws;
mod planned;
mod sojourn;
mod subflows;
mod transit;
mod trims;
mod ways;

use std::collections::BTreeSet;

use optcp_runs::{Run, Series, Values};
use optcp_scenario::Scenario;
use optcp_scenario::plan::{ObserveKind, Plan};

use crate::check::{Failure, PACKETS, count, failure};

/// A row of the list of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row<'r> {
    at: u64,
    event: &'r str,
    flow: usize,
    ack: bool,
    seq: u64,
    port: Option<usize>,
    bytes: u64,
    reason: Option<&'r str>,
    marking: &'r str,
    /// 0 for green, 1 for yellow, 2 for red.
    colour: u8,
    /// Data number in a connection over several subflows, from 1.
    data: u64,
}

/// The listed packets, and the data needed to read them.
struct Evidence<'r> {
    plan: &'r Plan,
    run: &'r Run,
    rows: Vec<Row<'r>>,
    flows: &'r [String],
    /// By flow: the name of its group, and the group's number in the plan.
    groups: Vec<(&'r str, Option<usize>)>,
    ports: &'r [String],
    /// By port, whether its queueing and transmission are listed.
    listed: Vec<bool>,
    stop: u64,
    /// What happens by plan, in order.
    changes: Vec<planned::Changed>,
    /// By row, how many of them come before it.
    before: Vec<usize>,
    fates: copies::Fates,
    /// Whether segments that have arrived may have been discarded.
    may_discard: bool,
}

/// Compares every series of a run with what its packets say.
pub(crate) fn derived_again(
    scenario: &Scenario,
    run: &Run,
    seen: &mut BTreeSet<String>,
) -> Result<(), Failure> {
    let plan = scenario.plan();
    let packets = series(run, PACKETS);
    let rows = packet_rows(packets);
    let mut listed = vec![false; 2 * plan.links.len()];
    for observed in plan.observe.iter().filter(|observed| observed.name == PACKETS) {
        let ports = observed.ports.iter().flatten();
        ports.for_each(|&(link, direction)| listed[2 * link + direction] = true);
    }
    // A run that ends with its flows ends before its stop.
    let end = match plan.end_with_flows {
        true => rows.last().map_or(0, |row| row.at),
        false => packets.stop.as_ps(),
    };
    let ports = names(packets, "ports");
    let changes = planned::changes(plan, end);
    let flows = names(packets, "flows");
    // Text up to the first slash; found once, since most checks need it for each packet.
    let group = |flow: &String| -> Option<usize> {
        let name = flow.split('/').next()?;
        plan.groups.iter().position(|group| group == name)
    };
    let named = flows.iter().map(|flow| flow.split('/').next().unwrap_or_default());
    let mut evidence = Evidence {
        plan,
        run,
        flows,
        groups: named.zip(flows.iter().map(group)).collect(),
        ports,
        before: planned::changed_before(plan, run, ports, &rows, &changes),
        changes,
        listed,
        stop: end,
        rows,
        fates: copies::Fates::default(),
        may_discard: false,
    };
    evidence.fates = evidence.find_fates()?;
    evidence.may_discard = evidence.may_discard_old_segments();
    evidence.totals(seen)?;
    evidence.data_of_subflows()?;
    evidence.queues_and_lines()?;
    evidence.policed()?;
    evidence.queues_are_served()?;
    evidence.marked(seen)?;
    evidence.marked_quic(seen)?;
    evidence.trimmed(seen)?;
    evidence.gave_up(seen)?;
    evidence.ways()?;
    evidence.tables_are_followed(seen)?;
    evidence.cut_off(seen)?;
    evidence.ends(scenario)?;
    for (observed, series) in plan.observe.iter().zip(&run.series) {
        if observed.name != series.name {
            return failure("order of series", format!("{} and {}", observed.name, series.name));
        }
        let groups = &observed.groups;
        match observed.kind {
            ObserveKind::Goodput => evidence.goodput(series)?,
            ObserveKind::Load => evidence.load(series)?,
            ObserveKind::Queue => evidence.queue(series)?,
            ObserveKind::Drops => evidence.drops(series)?,
            ObserveKind::Marks => evidence.marks(series)?,
            ObserveKind::Sojourn => evidence.sojourn(series)?,
            ObserveKind::Transit => evidence.transit(series)?,
            ObserveKind::Ports => evidence.counted_ports(series)?,
            ObserveKind::Datagrams => evidence.datagrams(series)?,
            ObserveKind::Completions => evidence.completions(series, groups)?,
            ObserveKind::Operations => evidence.operations(scenario, series, groups)?,
            ObserveKind::Tcp => evidence.senders(series, groups)?,
            ObserveKind::Packets => {
                let ports = observed.ports.iter().flatten();
                let ports: Vec<usize> = ports.map(|&(link, way)| 2 * link + way).collect();
                evidence.packets(series, observed, &ports)?;
            }
            ObserveKind::Reordering => evidence.reordering(series, groups)?,
            ObserveKind::Outages => {
                evidence.outages(series, groups, observed.after.as_ps())?;
            }
            ObserveKind::Bursts => evidence.bursts(series, groups)?,
            ObserveKind::BurstClasses => evidence.burst_classes(series)?,
            ObserveKind::SegmentsPerBurst => evidence.segments_per_burst(series, groups)?,
            ObserveKind::Fibres => {
                let fibres = observed.ports.iter().flatten().count();
                let all = fibres == plan.fibres().count() && observed.after.as_ps() == 0;
                evidence.fibres(series, all)?;
            }
        }
        seen.insert(format!("kind {}", series.kind));
    }
    evidence.metrics(scenario, seen)
}

fn series<'r>(run: &'r Run, name: &str) -> &'r Series {
    run.series.iter().find(|series| series.name == name).expect("it was asked for")
}

fn names<'r>(series: &'r Series, list: &str) -> &'r [String] {
    let found = series.names.iter().find(|(name, _)| *name == list);
    &found.unwrap_or_else(|| panic!("{} has no list {list}", series.kind)).1
}

/// A column of whole numbers.
fn whole(series: &Series, name: &str) -> Vec<u64> {
    match column(series, name) {
        Values::U64(values) => values.clone(),
        Values::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Values::U8(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Values::Bool(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Values::F64(_) => panic!("{name} is no column of whole numbers"),
    }
}

fn real<'r>(series: &'r Series, name: &str) -> &'r [f64] {
    match column(series, name) {
        Values::F64(values) => values,
        _ => panic!("{name} is no column of real numbers"),
    }
}

fn column<'r>(series: &'r Series, name: &str) -> &'r Values {
    let found = series.columns.iter().find(|column| column.name == name);
    &found.unwrap_or_else(|| panic!("{} has no column {name}", series.kind)).values
}

/// The names that a column of indices stands for; `None` for none.
fn called<'r>(series: &'r Series, name: &str, list: &str) -> Vec<Option<&'r str>> {
    let list = names(series, list);
    let index = |value: u64| usize::try_from(value).expect("an index");
    whole(series, name).into_iter().map(|v| list.get(index(v)).map(String::as_str)).collect()
}

fn packet_rows(series: &Series) -> Vec<Row<'_>> {
    let (at, flow, seq) = (whole(series, "time_ps"), whole(series, "flow"), whole(series, "seq"));
    let (ack, port, bytes) = (whole(series, "ack"), whole(series, "port"), whole(series, "bytes"));
    let event = called(series, "event", "events");
    let reason = called(series, "reason", "reasons");
    let marking = called(series, "marking", "markings");
    let colour = whole(series, "colour");
    let data = whole(series, "data_seq");
    let ports = names(series, "ports").len();
    let row = |i: usize| Row {
        at: at[i],
        event: event[i].expect("every row has an event"),
        flow: usize::try_from(flow[i]).expect("an index"),
        ack: ack[i] == 1,
        seq: seq[i],
        port: usize::try_from(port[i]).ok().filter(|&port| port < ports),
        bytes: bytes[i],
        reason: reason[i],
        marking: marking[i].expect("every row has a marking"),
        colour: u8::try_from(colour[i]).expect("one of three"),
        data: data[i],
    };
    (0..at.len()).map(row).collect()
}

/// Compares a column with what it should be.
fn equal<T: PartialEq + std::fmt::Debug>(
    series: &Series,
    column: &str,
    found: &[T],
    expected: &[T],
) -> Result<(), Failure> {
    let what = format!("{}, {column}", series.kind);
    if found.len() != expected.len() {
        return failure(&what, format!("{} values, expected {}", found.len(), expected.len()));
    }
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(at) => {
            failure(&what, format!("value {at}: {:?}, expected {:?}", found[at], expected[at]))
        }
        None => Ok(()),
    }
}

/// Interval i of a series is (i T, (i + 1) T], the last one cut by the stop.
struct Intervals {
    length: u64,
    count: usize,
    stop: u64,
}

impl Intervals {
    fn of(series: &Series) -> Self {
        let (length, stop) =
            (series.interval.expect("a kind with intervals").as_ps(), series.stop.as_ps());
        let mut count = 0;
        while u128::from(length) * (count as u128) < u128::from(stop) {
            count += 1;
        }
        Intervals { length, count, stop }
    }

    fn index(&self, at: u64) -> usize {
        let mut index = 0;
        while at > (index as u64 + 1) * self.length {
            index += 1;
        }
        index
    }

    /// The beginning and the end of one.
    fn ends(&self, index: usize) -> (u64, u64) {
        let from = index as u64 * self.length;
        (from, from.saturating_add(self.length).min(self.stop))
    }

    /// Returns a table with a row for each name, in order.
    fn table(&self, rows: usize) -> Vec<u64> {
        vec![0; rows * self.count]
    }
}

impl Evidence<'_> {
    /// Returns the name of the group of a flow: the text up to the first slash.
    fn group(&self, flow: usize) -> &str {
        self.groups[flow].0
    }

    /// The group's number, if it is among the chosen ones.
    fn chosen(&self, flow: usize, groups: &[usize]) -> bool {
        self.groups[flow].1.is_some_and(|group| groups.contains(&group))
    }

    /// Data bytes of a segment of a flow, and numbers that its handshake takes; `None` for a source of datagrams.
    fn segments(&self, flow: usize) -> Option<(u64, u64)> {
        let config = self.config(flow)?;
        Some((config.mss.count(), u64::from(config.handshake)))
    }

    fn config(&self, flow: usize) -> Option<&optcp_tcp::Config> {
        let group = self.groups[flow].1?;
        let route = self.plan.flows.iter().find(|flow| flow.group == group);
        let route = route.or_else(|| self.plan.flows.get(self.carriers(flow).start))?;
        Some(&self.plan.tcp[route.tcp?].1)
    }

    fn is_queue(&self, port: usize) -> bool {
        self.listed[port] && !self.plan.bursts.iter().any(|bursts| bursts.link == port / 2)
    }

    /// Whether a discipline or a policer dropped what a row tells of out of a queue, not on its way in.
    fn left_queue(&self, row: &Row<'_>) -> bool {
        let by_discipline = matches!(row.reason, Some("aqm" | "aqm-forced"));
        matches!(row.reason, Some("pushed-out" | "policed-egress"))
            || (by_discipline && row.port.is_some_and(|port| self.keeps(port)))
    }

    /// Whether a discipline or a policer dropped what a row tells of on its way into a queue.
    fn turned_away(&self, row: &Row<'_>) -> bool {
        matches!(row.reason, Some("aqm" | "aqm-forced" | "policed")) && !self.left_queue(row)
    }

    /// Whether the discipline of a port decides when packets leave.
    fn keeps(&self, port: usize) -> bool {
        let line = &self.plan.links[port / 2].directions[port % 2];
        line.discipline.kind().decides_on_departure()
    }

    /// Leaves the rows of ports whose packets are not listed as they were found.
    fn but_circuits<T: Copy>(&self, ports: &[String], found: &[T], expected: &mut [T]) {
        let each = found.len() / ports.len().max(1);
        for (row, name) in ports.iter().enumerate() {
            let port = self.ports.iter().position(|port| port == name);
            if !port.is_some_and(|port| self.listed[port]) && found.len() == expected.len() {
                let places = row * each..(row + 1) * each;
                expected[places.clone()].copy_from_slice(&found[places]);
            }
        }
    }

    /// Checks that the run's totals match the rows.
    fn totals(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        self.counts_of_copies()?;
        let reasons = self.rows.iter().filter_map(|row| row.reason);
        seen.extend(reasons.map(|reason| format!("drop {reason}")));
        if self.plan.bursts.is_empty() && self.plan.links.iter().all(|link| link.over.is_empty()) {
            // A packet from a virtual output queue is sent by a port of a path.
            let queued = self.rows.iter().filter(|row| row.event == "queued");
            let sent = |row: &&Row<'_>| row.port.is_some_and(|port| !self.is_voq(port));
            let queued = queued.filter(sent).count() as u64;
            if queued != count(self.run, "packet_hops") {
                return failure("packet_hops", format!("{queued} queued, {:?}", self.run.counts));
            }
        }
        if !self.rows.is_sorted_by_key(|row| row.at) {
            return failure("order of rows", "packets are not in order of time");
        }
        match self.rows.iter().find(|row| row.at > self.stop) {
            Some(row) => failure("end of the run", format!("{row:?}")),
            None => Ok(()),
        }
    }

    fn port(&self, row: &Row<'_>) -> Option<&String> {
        row.port.map(|port| &self.ports[port])
    }
}
