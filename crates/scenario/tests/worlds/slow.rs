//! Series of every kind, derived again from the list of packets: plainly, slowly, and by code of their own.

mod ways;

use std::collections::{BTreeMap, BTreeSet};

use optcp_scenario::plan::{Observation, Plan, QueueLimit};
use optcp_scenario::{Run, Scenario, Series, Values};

use crate::check::{BURSTS, Failure, PACKETS, SENDERS, count, failure};

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
}

/// What the packets say, and what is needed to read it.
struct Evidence<'r> {
    plan: &'r Plan,
    run: &'r Run,
    rows: Vec<Row<'r>>,
    flows: &'r [String],
    ports: &'r [String],
    /// By port, whether its queueing and transmission are listed.
    listed: Vec<bool>,
    stop: u64,
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
        let Observation::Packets { ports, .. } = &observed.kind else { continue };
        ports.iter().for_each(|&(link, direction)| listed[2 * link + direction] = true);
    }
    // A run that ends with its flows ends before its stop.
    let end = match plan.end_with_flows {
        true => rows.last().map_or(0, |row| row.at),
        false => packets.stop.as_ps(),
    };
    let evidence = Evidence {
        plan,
        run,
        flows: names(packets, "flows"),
        ports: names(packets, "ports"),
        listed,
        stop: end,
        rows,
    };
    evidence.totals(seen)?;
    evidence.queues_and_lines()?;
    evidence.ways()?;
    for (observed, series) in plan.observe.iter().zip(&run.series) {
        if observed.name != series.name {
            return failure("order of series", format!("{} and {}", observed.name, series.name));
        }
        match &observed.kind {
            Observation::Goodput { .. } => evidence.goodput(series)?,
            Observation::Load { .. } => evidence.load(series)?,
            Observation::Queue { .. } => evidence.queue(series)?,
            Observation::Drops { .. } => evidence.drops(series)?,
            Observation::Ports { .. } => evidence.counted_ports(series)?,
            Observation::Datagrams { .. } => evidence.datagrams(series)?,
            Observation::Completions { groups } => evidence.completions(series, groups)?,
            Observation::Senders { groups } => evidence.senders(series, groups)?,
            Observation::Packets { groups, ports } => {
                let ports: Vec<usize> = ports.iter().map(|&(link, way)| 2 * link + way).collect();
                evidence.packets(series, groups, &ports)?;
            }
            Observation::Reordering { groups } => evidence.reordering(series, groups)?,
            Observation::Bursts { groups, .. } => evidence.bursts(series, groups)?,
            Observation::SegmentsPerBurst { groups, .. } => {
                evidence.segments_per_burst(series, groups)?;
            }
            Observation::Fibres { fibres, after, .. } => {
                let all = fibres.len() == plan.fibres().count() && after.as_ps() == 0;
                evidence.fibres(series, all)?;
            }
        }
        seen.insert(format!("kind {}", series.kind));
    }
    Ok(())
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

    /// A table of a row for each name, one after the other.
    fn table(&self, rows: usize) -> Vec<u64> {
        vec![0; rows * self.count]
    }
}

impl Evidence<'_> {
    /// The name of the group of a flow: what stands before the first stroke.
    fn group(&self, flow: usize) -> &str {
        self.flows[flow].split('/').next().unwrap_or_default()
    }

    /// The group's number, if it is among the chosen ones.
    fn chosen(&self, flow: usize, groups: &[usize]) -> bool {
        groups.iter().any(|&group| self.plan.groups[group] == self.group(flow))
    }

    /// Data bytes of a segment of a flow, and numbers that its handshake takes; `None` for a source of datagrams.
    fn segments(&self, flow: usize) -> Option<(u64, u64)> {
        let group = self.plan.groups.iter().position(|group| group == self.group(flow))?;
        let route = self.plan.flows.iter().find(|flow| flow.group == group)?;
        let config = &self.plan.tcp[route.tcp?].1;
        Some((config.mss.count(), u64::from(config.handshake)))
    }

    fn is_queue(&self, port: usize) -> bool {
        self.listed[port] && !self.plan.bursts.iter().any(|bursts| bursts.link == port / 2)
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

    /// The run's totals are those of the rows.
    fn totals(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        let number = |wanted: fn(&Row<'_>) -> bool| {
            self.rows.iter().filter(|row| wanted(row)).count() as u64
        };
        let came = number(|row| matches!(row.event, "arrived" | "acked"));
        let dropped = number(|row| row.event == "dropped");
        let (delivered, lost) = (count(self.run, "delivered"), count(self.run, "dropped"));
        if (came, dropped) != (delivered, lost) {
            let detail = format!("{came} came, {dropped} dropped; {delivered}, {lost} counted");
            return failure("totals", detail);
        }
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.event == "dropped") {
            *reasons.entry(row.reason.unwrap_or("none")).or_default() += 1;
        }
        let counted: BTreeMap<&str, u64> = self.run.drops.iter().copied().collect();
        if reasons != counted {
            return failure("drops by reason", format!("{counted:?}, expected {reasons:?}"));
        }
        seen.extend(reasons.keys().map(|reason| format!("drop {reason}")));
        if self.plan.bursts.is_empty() && self.plan.links.iter().all(|link| link.over.is_empty()) {
            let queued = number(|row| row.event == "queued");
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

    /// Every port sends what it takes in the order in which it came, each packet as long as its bits take,
    /// with never more in its queue than fits, and turns away only what does not fit.
    fn queues_and_lines(&self) -> Result<(), Failure> {
        for port in (0..self.ports.len()).filter(|&port| self.is_queue(port)) {
            let line = &self.plan.links[port / 2].directions[port % 2];
            let takes = |bytes: u64| {
                let bits = u128::from(bytes) * 8 * 1_000_000_000_000;
                bits.div_ceil(u128::from(line.rate.bps()))
            };
            let fits = |queue: &[(u128, Row<'_>)], bytes: u64| match line.queue {
                QueueLimit::Packets(limit) => (queue.len() as u64) < limit,
                QueueLimit::Bytes(limit) => {
                    let held: u64 = queue.iter().map(|(_, row)| row.bytes).sum();
                    held + bytes <= limit.count()
                }
                QueueLimit::Unlimited => true,
            };
            let mut queue: Vec<(u128, Row<'_>)> = Vec::new();
            let mut free = 0;
            for row in self.rows.iter().filter(|row| row.port == Some(port)) {
                let wrong = |why: &str| {
                    failure(why, format!("at {}: {row:?}; in it {queue:?}", self.ports[port]))
                };
                match (row.event, row.reason) {
                    ("queued", _) => {
                        if !fits(&queue, row.bytes) {
                            return wrong("more in a queue than fits");
                        }
                        free = u128::from(row.at).max(free) + takes(row.bytes);
                        queue.push((free, *row));
                    }
                    ("transmitted", _) => match queue.first() {
                        Some(&(at, first))
                            if at == u128::from(row.at)
                                && (first.flow, first.ack, first.seq)
                                    == (row.flow, row.ack, row.seq) =>
                        {
                            queue.remove(0);
                        }
                        _ => return wrong("a transmission out of turn"),
                    },
                    ("dropped", Some("queue-flushed")) => {
                        if queue.is_empty() {
                            return wrong("something was flushed out of an empty queue");
                        }
                        queue.remove(0);
                        free = 0;
                    }
                    ("dropped", Some("queue-full")) if fits(&queue, row.bytes) => {
                        return wrong("a packet was turned away that fits");
                    }
                    _ => {}
                }
            }
            if let Some((at, row)) = queue.first().filter(|(at, _)| *at <= u128::from(self.stop)) {
                let detail = format!("{row:?} was to leave {} at {at}", self.ports[port]);
                return failure("a packet that never left", detail);
            }
        }
        Ok(())
    }

    /// Newly in-order bytes: arrivals of each flow put in order.
    fn progress(&self) -> Vec<(u64, usize, u64)> {
        let mut came: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); self.flows.len()];
        let mut reached: Vec<u64> = vec![0; self.flows.len()];
        let mut progress = Vec::new();
        for row in self.rows.iter().filter(|row| row.event == "arrived") {
            let Some((mss, syn)) = self.segments(row.flow) else { continue };
            came[row.flow].insert(row.seq);
            let before = reached[row.flow].saturating_sub(syn);
            while came[row.flow].contains(&reached[row.flow]) {
                reached[row.flow] += 1;
            }
            let new = reached[row.flow].saturating_sub(syn) - before;
            if new > 0 {
                progress.push((row.at, row.flow, new * mss));
            }
        }
        progress
    }

    fn goodput(&self, series: &Series) -> Result<(), Failure> {
        let (intervals, groups) = (Intervals::of(series), names(series, "groups"));
        let mut sums = intervals.table(groups.len());
        for (at, flow, bytes) in self.progress() {
            if let Some(row) = groups.iter().position(|group| group == self.group(flow)) {
                sums[row * intervals.count + intervals.index(at)] += bytes;
            }
        }
        equal(series, "bytes", &whole(series, "bytes"), &sums)
    }

    fn load(&self, series: &Series) -> Result<(), Failure> {
        let (intervals, ports) = (Intervals::of(series), names(series, "ports"));
        let mut sums = intervals.table(ports.len());
        for row in self.rows.iter().filter(|row| row.event == "transmitted") {
            let place = ports.iter().position(|port| Some(port) == self.port(row));
            if let Some(place) = place {
                sums[place * intervals.count + intervals.index(row.at)] += row.bytes;
            }
        }
        let found = whole(series, "bytes");
        self.but_circuits(ports, &found, &mut sums);
        equal(series, "bytes", &found, &sums)
    }

    fn port(&self, row: &Row<'_>) -> Option<&String> {
        row.port.map(|port| &self.ports[port])
    }

    /// Changes of what a port holds, in packets and bytes: when, and what it holds from then on.
    fn held(&self, port: &str) -> Vec<(u64, u64, u64)> {
        let number = self.ports.iter().position(|name| name == port);
        if !number.is_some_and(|number| self.listed[number]) {
            return Vec::new();
        }
        let (mut packets, mut bytes) = (0, 0);
        let mut held = Vec::new();
        for row in self.rows.iter().filter(|row| self.port(row).is_some_and(|name| name == port)) {
            match (row.event, row.reason) {
                ("queued", _) => (packets, bytes) = (packets + 1, bytes + row.bytes),
                ("transmitted", _) | ("dropped", Some("queue-flushed")) => {
                    (packets, bytes) = (packets - 1, bytes - row.bytes);
                }
                _ => continue,
            }
            held.push((row.at, packets, bytes));
        }
        held
    }

    fn queue(&self, series: &Series) -> Result<(), Failure> {
        let intervals = Intervals::of(series);
        let (mut means, mut greatest) = (Vec::new(), Vec::new());
        for port in names(series, "ports") {
            let held = self.held(port);
            for index in 0..intervals.count {
                let (from, to) = intervals.ends(index);
                let (mut area, mut most) = (0_u128, 0);
                let mut since = (0, 0);
                for &(at, packets, _) in held.iter().chain([&(self.stop, 0, 0)]) {
                    let stood = at.min(to).saturating_sub(since.0.max(from));
                    area += u128::from(stood) * u128::from(since.1);
                    if stood > 0 {
                        most = most.max(since.1);
                    }
                    // Nothing but a start happens at time zero, which is in the first interval.
                    if (from < at || (from, at) == (0, 0)) && at <= to && at <= self.stop {
                        most = most.max(packets);
                    }
                    since = (at, packets);
                }
                means.push(area as f64 / (to - from) as f64);
                greatest.push(most);
            }
        }
        let (ports, found) = (names(series, "ports"), whole(series, "max_packets"));
        self.but_circuits(ports, real(series, "mean_packets"), &mut means);
        self.but_circuits(ports, &found, &mut greatest);
        equal(series, "mean_packets", real(series, "mean_packets"), &means)?;
        equal(series, "max_packets", &found, &greatest)
    }

    fn drops(&self, series: &Series) -> Result<(), Failure> {
        type Drop<'d> = (u64, Option<&'d str>, Option<&'d str>, bool, Option<&'d str>);
        let (at, ack) = (whole(series, "time_ps"), whole(series, "ack"));
        let (port, group) = (called(series, "port", "ports"), called(series, "group", "groups"));
        let reason = called(series, "reason", "reasons");
        let found: Vec<Drop<'_>> =
            (0..at.len()).map(|i| (at[i], port[i], group[i], ack[i] == 1, reason[i])).collect();
        let ports = names(series, "ports");
        let dropped = self.rows.iter().filter(|row| row.event == "dropped");
        let watched = dropped.filter(|row| self.port(row).is_some_and(|port| ports.contains(port)));
        let row = |row: &Row<'_>| {
            let port = self.port(row).map(String::as_str);
            (row.at, port, Some(self.group(row.flow)), row.ack)
        };
        let expected: Vec<Drop<'_>> = watched
            .map(|one| {
                let (at, port, group, ack) = row(one);
                (at, port, group, ack, one.reason)
            })
            .collect();
        equal(series, "rows", &found, &expected)
    }

    fn counted_ports(&self, series: &Series) -> Result<(), Failure> {
        let (after, length) = (series.after.as_ps(), series.interval.map_or(1, |i| i.as_ps()));
        let mut intervals = Vec::new();
        let mut from = after;
        while from < self.stop {
            let to = from.saturating_add(length).min(self.stop);
            intervals.push((from, to));
            from = to;
        }
        let mut expected: [Vec<u64>; 5] = Default::default();
        let mut means = Vec::new();
        for port in names(series, "ports") {
            let at_port = || self.rows.iter().filter(|row| self.port(row) == Some(port));
            let held = self.held(port);
            let waits = self.waits(port);
            for &(from, to) in &intervals {
                // What happens at the very end of the run is in the last interval.
                let last = to == self.stop;
                let within = |at: u64| at >= from && (at < to || (last && at == to));
                let queued = || at_port().filter(|row| row.event == "queued" && within(row.at));
                let lost = || {
                    let lost = at_port().filter(|row| row.event == "dropped" && within(row.at));
                    lost.filter(|row| !matches!(row.reason, Some("not-selected" | "ttl-expired")))
                };
                expected[0].push(queued().count() as u64);
                expected[1].push(queued().map(|row| row.bytes).sum());
                expected[2].push(lost().count() as u64);
                expected[3].push(lost().map(|row| row.bytes).sum());
                let so_far = waits.iter().filter(|(at, _)| *at < to || (last && *at == to));
                expected[4].push(so_far.map(|(_, wait)| *wait).max().unwrap_or(0));
                let (mut area, mut since) = (0_u128, (0, 0));
                for &(at, _, bytes) in held.iter().chain([&(self.stop, 0, 0)]) {
                    let stood = at.min(to).saturating_sub(since.0.max(from));
                    area += u128::from(stood) * u128::from(since.1);
                    since = (at, bytes);
                }
                means.push(area as f64 / (to - from) as f64);
            }
        }
        let columns = ["packets", "bytes", "dropped", "dropped_bytes", "longest_ps"];
        let ports = names(series, "ports");
        for (name, expected) in columns.iter().zip(&mut expected) {
            let found = whole(series, name);
            self.but_circuits(ports, &found, expected);
            equal(series, name, &found, expected)?;
        }
        self.but_circuits(ports, real(series, "mean_bytes"), &mut means);
        equal(series, "mean_bytes", real(series, "mean_bytes"), &means)
    }

    /// When each packet came that a port took, and how long it was to take until its last bit.
    fn waits(&self, name: &str) -> Vec<(u64, u64)> {
        let port = self.ports.iter().position(|port| port == name).expect("a port of the list");
        let rate = u128::from(self.plan.links[port / 2].directions[port % 2].rate.bps());
        let mut free = 0;
        let mut waits = Vec::new();
        for row in self.rows.iter().filter(|row| row.port == Some(port)) {
            match (row.event, row.reason) {
                ("queued", _) => {
                    let bits = u128::from(row.bytes) * 8 * 1_000_000_000_000;
                    free = u128::from(row.at).max(free) + bits.div_ceil(rate);
                    // What is not sent by 2^63 ps never is.
                    let sent = u64::try_from(free).ok().filter(|free| *free < 1 << 63);
                    waits.push((row.at, sent.map_or(u64::MAX, |sent| sent - row.at)));
                }
                ("dropped", Some("queue-flushed")) => free = 0,
                _ => {}
            }
        }
        waits
    }

    fn datagrams(&self, series: &Series) -> Result<(), Failure> {
        let (intervals, groups) = (Intervals::of(series), names(series, "groups"));
        let mut sums: [Vec<u64>; 7] = std::array::from_fn(|_| intervals.table(groups.len()));
        let mut sent: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for row in &self.rows {
            let Some(group) = groups.iter().position(|group| group == self.group(row.flow)) else {
                continue;
            };
            let place = group * intervals.count + intervals.index(row.at);
            match row.event {
                "sent" => {
                    sent.insert((row.flow, row.seq), row.at);
                    sums[0][place] += 1;
                    sums[1][place] += row.bytes;
                }
                "arrived" => {
                    let delay = row.at - sent[&(row.flow, row.seq)];
                    sums[2][place] += 1;
                    sums[3][place] += row.bytes;
                    sums[5][place] += delay;
                    sums[6][place] = sums[6][place].max(delay);
                }
                "dropped" => sums[4][place] += 1,
                _ => {}
            }
        }
        let columns = [
            "sent_packets",
            "sent_bytes",
            "arrived_packets",
            "arrived_bytes",
            "lost_packets",
            "delay_sum_ps",
            "longest_delay_ps",
        ];
        let mut pairs = columns.iter().zip(&sums);
        pairs.try_for_each(|(name, sums)| equal(series, name, &whole(series, name), sums))
    }

    fn completions(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let (at, start) = (whole(series, "time_ps"), whole(series, "start_ps"));
        let (flow, bytes) = (whole(series, "flow"), whole(series, "bytes"));
        let finished = whole(series, "finished");
        let index = |flow: u64| usize::try_from(flow).expect("an index");
        // What a flow has to send is in the plan, but for flows that came at random.
        let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
        for (place, flow) in flow.iter().enumerate() {
            sizes.insert(index(*flow), bytes[place]);
        }
        for (number, name) in self.flows.iter().enumerate() {
            let planned = self.plan.flows.iter().find(|flow| &flow.name == name);
            let Some((mss, _)) = self.segments(number) else { continue };
            let Some(size) = planned.and_then(|flow| flow.size) else { continue };
            if self.chosen(number, groups) {
                sizes.insert(number, u64::from(size) * mss);
            }
        }
        let mut left = sizes.clone();
        let mut expected: Vec<(u64, usize, u64)> = Vec::new();
        for (at, flow, new) in self.progress() {
            let Some(rest) = left.get_mut(&flow) else { continue };
            if new > *rest {
                return failure("completions", format!("{} got too much", self.flows[flow]));
            }
            *rest -= new;
            if *rest == 0 {
                expected.push((at, flow, 1));
            }
        }
        let first_sent = |flow: usize| {
            self.rows.iter().find(|row| row.flow == flow && row.event == "sent").map(|row| row.at)
        };
        let open = left.iter().filter(|(_, rest)| **rest > 0).map(|(flow, _)| *flow);
        let end = at.iter().zip(&finished).find(|(_, done)| **done == 0).map_or(0, |(at, _)| *at);
        expected.extend(open.filter(|&flow| first_sent(flow).is_some()).map(|f| (end, f, 0)));
        let found: Vec<(u64, usize, u64)> =
            (0..at.len()).map(|i| (at[i], index(flow[i]), finished[i])).collect();
        equal(series, "rows", &found, &expected)?;
        let starts: Vec<Option<u64>> = flow.iter().map(|&flow| first_sent(index(flow))).collect();
        equal(series, "start_ps", &start.into_iter().map(Some).collect::<Vec<_>>(), &starts)?;
        let group: Vec<Option<&str>> = flow.iter().map(|&f| Some(self.group(index(f)))).collect();
        equal(series, "group", &called(series, "group", "groups"), &group)?;
        let all: Vec<u64> = flow.iter().map(|&flow| sizes[&index(flow)]).collect();
        equal(series, "bytes", &bytes, &all)
    }

    /// The rows of a list of senders' variables, those of chosen groups.
    fn sender_rows(&self, series: &Series) -> Vec<Vec<String>> {
        let columns = series.columns.iter().map(|column| match &column.values {
            Values::F64(values) => values.iter().map(ToString::to_string).collect(),
            _ => whole(series, column.name).iter().map(ToString::to_string).collect(),
        });
        let columns: Vec<Vec<String>> = columns.collect();
        let rows = columns.first().map_or(0, Vec::len);
        (0..rows).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
    }

    fn senders(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let all = self::series(self.run, SENDERS);
        let flow = |row: &Vec<String>| row[1].parse::<usize>().expect("the second is the flow");
        let mut expected = self.sender_rows(all);
        expected.retain(|row| self.chosen(flow(row), groups));
        equal(series, "rows", &self.sender_rows(series), &expected)?;
        // Timeouts are counted up, and a window holds something.
        let mut timeouts: BTreeMap<u64, u64> = BTreeMap::new();
        let cwnd = real(series, "cwnd_bytes");
        let flows = whole(series, "flow");
        for (i, (flow, number)) in flows.iter().zip(whole(series, "timeouts")).enumerate() {
            let before = timeouts.insert(*flow, number).unwrap_or(0);
            if number < before || !(cwnd[i] > 0.0 && cwnd[i].is_finite()) {
                let detail = format!("{before} timeouts, then {number}; cwnd {}", cwnd[i]);
                return failure("senders", detail);
            }
        }
        Ok(())
    }

    fn packets(&self, series: &Series, groups: &[usize], ports: &[usize]) -> Result<(), Failure> {
        let listed = |row: &&Row<'_>| {
            let at_port = matches!(row.event, "queued" | "transmitted");
            self.chosen(row.flow, groups)
                && (!at_port || row.port.is_some_and(|port| ports.contains(&port)))
        };
        let expected: Vec<Row<'_>> = self.rows.iter().filter(listed).copied().collect();
        equal(series, "rows", &packet_rows(series), &expected)
    }

    fn reordering(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let mut expected = Vec::new();
        let mut reached: BTreeMap<usize, u64> = BTreeMap::new();
        let mut again = BTreeSet::new();
        let segments = self.rows.iter().filter(|row| !row.ack && self.chosen(row.flow, groups));
        for row in segments.filter(|row| self.segments(row.flow).is_some()) {
            match row.event {
                "resent" => {
                    again.insert((row.flow, row.seq));
                    expected.push((row.at, "resent", row.flow, row.seq));
                }
                "arrived" => {
                    let next = reached.entry(row.flow).or_default();
                    if row.seq < *next && !again.contains(&(row.flow, row.seq)) {
                        expected.push((row.at, "overtaken", row.flow, row.seq));
                    }
                    *next = (*next).max(row.seq + 1);
                }
                _ => {}
            }
        }
        let senders = self::series(self.run, SENDERS);
        let (at, flow) = (whole(senders, "time_ps"), whole(senders, "flow"));
        let timeouts = whole(senders, "timeouts");
        let phase = called(senders, "phase", "phases");
        let mut before: BTreeMap<usize, (u64, bool)> = BTreeMap::new();
        for i in 0..at.len() {
            let flow = usize::try_from(flow[i]).expect("an index");
            let now = (timeouts[i], phase[i] == Some("recovery"));
            let last = before.insert(flow, now).unwrap_or_default();
            if !self.chosen(flow, groups) {
                continue;
            }
            if now.0 > last.0 {
                expected.push((at[i], "timeout", flow, u64::from(u32::MAX)));
            } else if now.1 && !last.1 {
                expected.push((at[i], "recovery", flow, u64::from(u32::MAX)));
            }
        }
        let (at, flow) = (whole(series, "time_ps"), whole(series, "flow"));
        let (seq, event) = (whole(series, "seq"), called(series, "event", "events"));
        let index = |flow: u64| usize::try_from(flow).expect("an index");
        let mut found: Vec<(u64, &str, usize, u64)> = (0..at.len())
            .map(|i| (at[i], event[i].unwrap_or("none"), index(flow[i]), seq[i]))
            .collect();
        // The two lists interleave at one instant as the events do, which neither shows.
        found.sort_unstable();
        expected.sort_unstable();
        equal(series, "rows", &found, &expected)
    }

    /// What each burst of a port carries: its rows, in the order of the list of all bursts.
    fn carried(&self, port: &str, bursts: &[u64]) -> Vec<Vec<Row<'_>>> {
        let gathered = self.rows.iter().filter(|row| row.event == "queued");
        let mut gathered = gathered.filter(|row| self.port(row).is_some_and(|name| name == port));
        let of = |&packets: &u64| {
            let packets = usize::try_from(packets).expect("a number of packets");
            gathered.by_ref().take(packets).copied().collect()
        };
        bursts.iter().map(of).collect()
    }

    fn bursts(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let port = called(series, "port", "ports");
        let (at, packets) = (whole(series, "time_ps"), whole(series, "packets"));
        let (bytes, lost) = (whole(series, "bytes"), whole(series, "lost"));
        let (segments, acks) = (whole(series, "segments"), whole(series, "acks"));
        for name in names(series, "ports") {
            let of_port: Vec<usize> =
                (0..at.len()).filter(|&i| port[i] == Some(name.as_str())).collect();
            let sizes: Vec<u64> = of_port.iter().map(|&i| packets[i]).collect();
            for (&i, rows) in of_port.iter().zip(self.carried(name, &sizes)) {
                let ours = || rows.iter().filter(|row| self.chosen(row.flow, groups));
                let expected = (
                    packets[i],
                    rows.iter().map(|row| row.bytes).sum::<u64>(),
                    ours().filter(|row| !row.ack).count() as u64,
                    ours().filter(|row| row.ack).count() as u64,
                );
                let found = (rows.len() as u64, bytes[i], segments[i], acks[i]);
                if found != expected || rows.iter().any(|row| row.at > at[i]) {
                    let detail = format!("{name}, at {}: {found:?}, expected {expected:?}", at[i]);
                    return failure("bursts", detail);
                }
            }
            let lost_packets: u64 =
                of_port.iter().filter(|&&i| lost[i] == 1).map(|&i| packets[i]).sum();
            let dropped = self.rows.iter().filter(|row| {
                let in_burst = matches!(row.reason, Some("burst-lost" | "contention"));
                in_burst && self.port(row) == Some(name)
            });
            let dropped = dropped.count() as u64;
            if lost_packets != dropped {
                let detail = format!("{name}: {lost_packets} in lost bursts, {dropped} dropped");
                return failure("bursts", detail);
            }
        }
        Ok(())
    }

    fn segments_per_burst(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let bursts = self::series(self.run, BURSTS);
        let (packets, port) = (whole(bursts, "packets"), called(bursts, "port", "ports"));
        let mut expected: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for (place, name) in names(series, "ports").iter().enumerate() {
            let sizes: Vec<u64> = (0..packets.len())
                .filter(|&i| port[i] == Some(name.as_str()))
                .map(|i| packets[i])
                .collect();
            for rows in self.carried(name, &sizes) {
                let ours = rows.iter().filter(|row| !row.ack && self.chosen(row.flow, groups));
                *expected.entry((place, ours.count() as u64)).or_default() += 1;
            }
        }
        let (port, segments) = (whole(series, "port"), whole(series, "segments"));
        let number = whole(series, "bursts");
        let place = |port: u64| usize::try_from(port).expect("an index");
        let found: Vec<((usize, u64), u64)> =
            (0..port.len()).map(|i| ((place(port[i]), segments[i]), number[i])).collect();
        equal(series, "rows", &found, &expected.into_iter().collect::<Vec<_>>())
    }

    /// Bursts that found no wavelength, on fibres and in the list of bursts.
    fn fibres(&self, series: &Series, all: bool) -> Result<(), Failure> {
        let busy = real(series, "utilisation");
        if let Some(share) = busy.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return failure("fibres", format!("a utilisation of {share}"));
        }
        let sum = |name: &str| whole(series, name).iter().sum::<u64>();
        let (lost, asked) = ([sum("lost"), sum("lost_bytes")], sum("bursts"));
        // Fibres over which nobody sends bursts see none.
        let bursts = self.run.series.iter().find(|series| series.name == BURSTS);
        let of_bursts = bursts.map(|bursts| whole(bursts, "lost")).unwrap_or_default();
        let bytes = bursts.map(|bursts| whole(bursts, "bytes")).unwrap_or_default();
        let bytes = of_bursts.iter().zip(bytes).map(|(lost, bytes)| lost * bytes).sum();
        let (sent, expected) = (of_bursts.len() as u64, [of_bursts.iter().sum::<u64>(), bytes]);
        match all && (lost != expected || asked < sent) {
            true => failure(
                "fibres",
                format!("{lost:?} of {asked} lost; bursts: {expected:?} of {sent}"),
            ),
            false => Ok(()),
        }
    }
}
