//! Packets that ports accept, queue and send.

use std::collections::VecDeque;

use optcp_runs::Series;
use optcp_scenario::plan::{ChangePlan, QueueLimit};

use super::buckets::Shaping;
use super::planned::{LogEntry, bits, holds};
use super::{Evidence, Intervals, Row, equal, names, real, whole};
use crate::check::{Failure, failure};

/// Packets that are not sent by this time are never sent, in picoseconds.
const NEVER: u128 = 1 << 63;

/// A port that sends what it takes in order.
#[derive(Debug)]
struct Line<'r> {
    /// A virtual output queue, out of which others take.
    voq: bool,
    /// Whether packets may be lost at the inputs of a switch before it.
    at_switch: bool,
    rate: u64,
    limit: QueueLimit,
    held: bool,
    queue: VecDeque<Row<'r>>,
    /// How many bytes are in it.
    bytes: u64,
    /// When the first of them will have been sent, if it is being sent.
    ends: Option<u128>,
    /// When the first of them was taken out of the queue, if it is being sent.
    taken: u64,
    shaping: Shaping,
    /// Packets to be dropped because the queue limit has decreased.
    shed: VecDeque<Row<'r>>,
}

impl<'r> Line<'r> {
    fn new(evidence: &Evidence<'r>, port: usize) -> Self {
        let line = &evidence.plan.links[port / 2].directions[port % 2];
        let voq = evidence.is_voq(port);
        Line {
            voq,
            at_switch: evidence.is_at_switch(port, false),
            rate: line.rate.bps(),
            limit: line.queue,
            held: voq,
            queue: VecDeque::new(),
            bytes: 0,
            ends: None,
            taken: 0,
            shaping: Shaping::of(evidence.plan, port),
            shed: VecDeque::new(),
        }
    }

    fn leave(&mut self) -> Option<Row<'r>> {
        let row = self.queue.pop_front()?;
        self.bytes -= row.bytes;
        Some(row)
    }

    fn begin(&mut self, at: u64) {
        if let Some(row) = self.queue.front()
            && !self.held
            && self.ends.is_none()
        {
            self.taken = at;
            let begins = self.shaping.begins(at, row.bytes);
            self.ends = Some(u128::from(begins) + bits(self.rate, row.bytes));
        }
    }

    fn goes_on(&mut self, entry: &LogEntry<'_, 'r>) -> Result<(), &'static str> {
        let at = match entry {
            LogEntry::Row(row) => row.at,
            LogEntry::Change(change) => change.at,
        };
        if self.ends.is_some_and(|ends| ends < u128::from(at)) {
            return Err("a packet that never left");
        }
        match entry {
            LogEntry::Change(change) => match change.what {
                ChangePlan::Rate(rate) => self.rate = rate.bps(),
                ChangePlan::Sends(sends) => self.held = !sends,
                ChangePlan::Limit(limit) => {
                    self.limit = limit;
                    let sending = usize::from(self.ends.is_some());
                    while self.queue.len() > sending
                        && !holds(limit, self.queue.len(), self.bytes)
                        && let Some(youngest) = self.queue.pop_back()
                    {
                        self.bytes -= youngest.bytes;
                        self.shed.push_front(youngest);
                    }
                }
                ChangePlan::Delay(_)
                | ChangePlan::Drift(_)
                | ChangePlan::Serve(_)
                | ChangePlan::Ece(_)
                | ChangePlan::Loss(_) => {}
            },
            LogEntry::Row(row) => self.row(row)?,
        }
        let flushed = matches!(entry, LogEntry::Row(row) if row.reason == Some("queue-flushed"));
        if flushed {
            // The rest of it follows.
            self.ends = None;
        } else {
            self.begin(at);
        }
        Ok(())
    }

    fn row(&mut self, row: &Row<'r>) -> Result<(), &'static str> {
        let same = |one: &Row<'_>| (one.flow, one.ack, one.seq) == (row.flow, row.ack, row.seq);
        if row.reason == Some("queue-shrunk") {
            let place = self.shed.iter().position(same);
            place.and_then(|place| self.shed.remove(place));
            return place.map(|_| ()).ok_or("a packet lost that has a place");
        }
        if !self.shed.is_empty() {
            return Err("more in a queue than fits");
        }
        let fits = holds(self.limit, self.queue.len() + 1, self.bytes + row.bytes);
        match (row.event, row.reason) {
            ("queued", _) if !fits => Err("more in a queue than fits"),
            ("queued", _) => {
                self.queue.push_back(*row);
                self.bytes += row.bytes;
                Ok(())
            }
            ("transmitted", _) => {
                let in_time = self.voq || self.ends == Some(u128::from(row.at));
                if !in_time || !self.queue.front().is_some_and(same) {
                    return Err("a transmission out of turn");
                }
                self.leave();
                self.ends = None;
                self.shaping.begin(self.taken, row.bytes);
                Ok(())
            }
            ("dropped", Some("policed-egress")) => {
                // Instead of the transmission that would begin.
                let in_time = self.voq || (self.ends.is_some() && self.taken == row.at);
                if !in_time || !self.queue.front().is_some_and(same) {
                    return Err("a packet policed out of turn");
                }
                self.leave();
                self.ends = None;
                Ok(())
            }
            ("dropped", Some("queue-flushed")) => {
                if self.ends.is_some() {
                    self.shaping.begin(self.taken, row.bytes);
                }
                let flushed = self.leave();
                flushed.map(|_| ()).ok_or("something was flushed out of an empty queue")
            }
            ("dropped", Some("queue-full")) if fits && !self.at_switch => {
                Err("a packet was turned away that fits")
            }
            _ => Ok(()),
        }
    }
}

impl Evidence<'_> {
    /// Checks that every port sends the accepted packets in their order of arrival. Each
    /// transmission takes as long as its bits, the queue never exceeds its limit, and only packets
    /// beyond the limit are dropped.
    pub(super) fn queues_and_lines(&self) -> Result<(), Failure> {
        for port in (0..self.ports.len()).filter(|&port| self.is_queue(port)) {
            if self.keeps(port) {
                self.kept_queue(port)?;
                continue;
            }
            let mut line = Line::new(self, port);
            for entry in self.story(port) {
                if let Err(why) = line.goes_on(&entry) {
                    let detail = format!("at {}: {entry:?}; {line:?}", self.ports[port]);
                    return failure(why, detail);
                }
            }
            if line.ends.is_some_and(|at| at <= u128::from(self.stop)) || !line.shed.is_empty() {
                return failure(
                    "a packet that never left",
                    format!("{}: {line:?}", self.ports[port]),
                );
            }
        }
        Ok(())
    }

    /// Checks a port whose discipline chooses the next packet. It is never idle while packets wait,
    /// and each transmission takes as long as its bits. The queue never exceeds its limit, and only
    /// queued packets are sent or dropped.
    fn kept_queue(&self, port: usize) -> Result<(), Failure> {
        let line = &self.plan.links[port / 2].directions[port % 2];
        let mut inside: Vec<Row<'_>> = Vec::new();
        let mut transmissions = self.transmissions(port).into_iter();
        for row in self.rows.iter().filter(|row| row.port == Some(port)) {
            let wrong = |why: &str, inside: &[Row<'_>]| {
                failure(why, format!("at {}: {row:?}; in it {inside:?}", self.ports[port]))
            };
            let same = |one: &Row<'_>| {
                (one.flow, one.ack, one.seq, one.bytes) == (row.flow, row.ack, row.seq, row.bytes)
            };
            if row.event == "queued" {
                inside.push(*row);
            } else if self.leaves(row) {
                let Some(place) = inside.iter().position(same) else {
                    return wrong("a packet left a queue in which it was not", &inside);
                };
                inside.remove(place);
            } else {
                continue;
            }
            if row.event == "transmitted"
                && let Some(sent) = transmissions.next().filter(|_| !self.is_voq(port))
                && u128::from(sent.began) + bits(sent.rate, row.bytes) != u128::from(row.at)
            {
                return wrong("a transmission that is not as long as its bits", &inside);
            }
            // A packet that is pushed out is listed after the packet that replaces it.
            let settled = row.event != "queued";
            let held: u64 = inside.iter().map(|one| one.bytes).sum();
            let fits = holds(line.queue, inside.len(), held);
            if settled && row.reason != Some("pushed-out") && !fits {
                return wrong("more in a queue than fits", &inside);
            }
        }
        Ok(())
    }

    pub(super) fn load(&self, series: &Series) -> Result<(), Failure> {
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

    /// Returns the changes of a port's queue: time, packets and bytes from then on.
    pub(super) fn held(&self, port: &str) -> Vec<(u64, u64, u64)> {
        let number = self.ports.iter().position(|name| name == port);
        let Some(number) = number.filter(|&number| self.listed[number]) else {
            return Vec::new();
        };
        let (mut packets, mut bytes) = (0, 0);
        let mut held: Vec<(u64, u64, u64)> = Vec::new();
        for row in self.rows.iter().filter(|row| self.port(row).is_some_and(|name| name == port)) {
            match (row.event, row.reason) {
                ("queued", _) => (packets, bytes) = (packets + 1, bytes + row.bytes),
                ("transmitted", _) | ("dropped", Some("queue-flushed" | "queue-shrunk")) => {
                    (packets, bytes) = (packets - 1, bytes - row.bytes);
                }
                _ if self.left_queue(row) => {
                    (packets, bytes) = (packets - 1, bytes - row.bytes);
                    // A discipline acts immediately at one time; changes requested by another
                    // transmitter follow later.
                    let at_once = !self.is_voq(number) || row.reason == Some("pushed-out");
                    held.pop_if(|(at, ..)| at_once && *at == row.at);
                }
                _ => continue,
            }
            held.push((row.at, packets, bytes));
        }
        held
    }

    pub(super) fn queue(&self, series: &Series) -> Result<(), Failure> {
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

    pub(super) fn counted_ports(&self, series: &Series) -> Result<(), Failure> {
        let (after, length) = (series.after.as_ps(), series.interval.map_or(1, |i| i.as_ps()));
        let mut intervals = Vec::new();
        let mut from = after;
        while from < self.stop {
            let to = from.saturating_add(length).min(self.stop);
            intervals.push((from, to));
            from = to;
        }
        let mut expected: [Vec<u64>; 6] = Default::default();
        let mut means = Vec::new();
        let found_longest = whole(series, "longest_ps");
        for port in names(series, "ports") {
            let at_port = || self.rows.iter().filter(|row| self.port(row) == Some(port));
            let held = self.held(port);
            let waits = self.waits(port);
            let (waits, known) = (waits.as_deref().unwrap_or_default(), waits.is_some());
            for &(from, to) in &intervals {
                // What happens at the very end of the run is in the last interval.
                let last = to == self.stop;
                let within = |at: u64| at >= from && (at < to || (last && at == to));
                let queued = || at_port().filter(|row| row.event == "queued" && within(row.at));
                let lost = || {
                    let lost = at_port().filter(|row| row.event == "dropped" && within(row.at));
                    lost.filter(|row| {
                        !matches!(row.reason, Some("not-selected" | "ttl-expired" | "no-route"))
                    })
                };
                expected[0].push(queued().count() as u64);
                expected[1].push(queued().map(|row| row.bytes).sum());
                expected[2].push(lost().count() as u64);
                expected[3].push(lost().map(|row| row.bytes).sum());
                let so_far = waits.iter().filter(|(at, _)| *at < to || (last && *at == to));
                let longest = so_far.map(|(_, wait)| *wait).max().unwrap_or(0);
                let place = expected[4].len();
                expected[4].push(if known { longest } else { found_longest[place] });
                let marked = at_port().filter(|row| row.event == "marked" && within(row.at));
                expected[5].push(marked.count() as u64);
                let (mut area, mut since) = (0_u128, (0, 0));
                for &(at, _, bytes) in held.iter().chain([&(self.stop, 0, 0)]) {
                    let stood = at.min(to).saturating_sub(since.0.max(from));
                    area += u128::from(stood) * u128::from(since.1);
                    since = (at, bytes);
                }
                means.push(area as f64 / (to - from) as f64);
            }
        }
        let columns = ["packets", "bytes", "dropped", "dropped_bytes", "longest_ps", "marked"];
        let ports = names(series, "ports");
        for (name, expected) in columns.iter().zip(&mut expected) {
            let found = whole(series, name);
            self.but_circuits(ports, &found, expected);
            equal(series, name, &found, expected)?;
        }
        self.but_circuits(ports, real(series, "mean_bytes"), &mut means);
        equal(series, "mean_bytes", real(series, "mean_bytes"), &means)
    }

    /// Returns the arrival time of each packet that a port accepted, and its predicted time until
    /// the last bit, at the rate at that time. Holds of the transmitter are ignored. `None` if the
    /// prediction is unknown.
    pub(super) fn waits(&self, name: &str) -> Option<Vec<(u64, u64)>> {
        let port = self.ports.iter().position(|port| port == name).expect("a port of the list");
        let voq = self.is_voq(port);
        let matters =
            |what: &ChangePlan| matches!(what, ChangePlan::Rate(_) | ChangePlan::Sends(_));
        let changes = self.changes_of(port, matters);
        let behind = self.has_bucket_behind_queue(port);
        if !self.listed[port] || ((self.keeps(port) || behind) && changes) || self.is_shaped(port) {
            return None;
        }
        let line = &self.plan.links[port / 2].directions[port % 2];
        let (mut rate, mut held) = (line.rate.bps(), voq);
        let mut inside: Vec<u64> = Vec::new();
        // When the first of them will have been sent, if it is being sent.
        let mut ends: Option<u128> = None;
        let mut free = 0;
        let mut waits = Vec::new();
        for entry in self.story(port) {
            let at = match entry {
                LogEntry::Row(row) => row.at,
                LogEntry::Change(change) => change.at,
            };
            let begins = |ends: Option<u128>| ends.unwrap_or(u128::from(at));
            let waiting = |inside: &[u64], ends: Option<u128>| -> Vec<u64> {
                inside.iter().skip(usize::from(ends.is_some())).copied().collect()
            };
            let sum = |rate: u64, inside: &[u64], ends: Option<u128>| {
                let each = waiting(inside, ends).into_iter().map(|bytes| bits(rate, bytes));
                (begins(ends) + each.sum::<u128>()).min(NEVER)
            };
            // All bits of the queue, back to back.
            let at_once = |rate: u64, inside: &[u64], ends: Option<u128>| {
                let bytes: u64 = waiting(inside, ends).iter().sum();
                (begins(ends) + bits(rate, bytes)).min(NEVER)
            };
            let wait = |free: u128| match free < NEVER {
                true => u64::try_from(free - u128::from(at)).expect("below 2^63"),
                false => u64::MAX,
            };
            match entry {
                LogEntry::Change(change) => match change.what {
                    ChangePlan::Rate(new) => {
                        rate = new.bps();
                        if free > u128::from(at) {
                            free = sum(rate, &inside, ends);
                        }
                    }
                    ChangePlan::Sends(sends) => {
                        held = !sends;
                        if sends {
                            free = sum(rate, &inside, ends);
                        }
                    }
                    ChangePlan::Limit(_)
                    | ChangePlan::Delay(_)
                    | ChangePlan::Drift(_)
                    | ChangePlan::Serve(_)
                    | ChangePlan::Ece(_)
                    | ChangePlan::Loss(_) => {}
                },
                LogEntry::Row(row) => match (row.event, row.reason) {
                    ("queued", _) => {
                        inside.push(row.bytes);
                        free = match held {
                            true => at_once(rate, &inside, ends),
                            // Endless transmissions remain endless.
                            false => free.max(u128::from(at)) + bits(rate, row.bytes),
                        };
                        waits.push((at, wait(free)));
                    }
                    ("transmitted", _) => {
                        let place = inside.iter().position(|&bytes| bytes == row.bytes);
                        inside.remove(place.expect("it was there"));
                        ends = None;
                    }
                    ("dropped", Some("queue-flushed")) => {
                        (free, ends) = (0, None);
                        inside.clear();
                    }
                    ("dropped", Some("queue-shrunk")) => {
                        inside.pop();
                        free = sum(rate, &inside, ends);
                    }
                    _ if self.left_queue(row) => {
                        let place = inside.iter().position(|&bytes| bytes == row.bytes);
                        inside.remove(place.expect("it was there"));
                        if held {
                            free = at_once(rate, &inside, ends);
                        } else if free < NEVER {
                            free -= bits(rate, row.bytes);
                        }
                        // It makes room for the one that has come.
                        if row.reason == Some("pushed-out")
                            && let Some((_, last)) = waits.last_mut()
                        {
                            *last = wait(free);
                        }
                    }
                    _ => {}
                },
            }
            let flushed =
                matches!(entry, LogEntry::Row(row) if row.reason == Some("queue-flushed"));
            if let Some(&first) = inside.first()
                && !held
                && !flushed
                && ends.is_none()
            {
                ends = Some(u128::from(at) + bits(rate, first));
            }
        }
        Some(waits)
    }
}
