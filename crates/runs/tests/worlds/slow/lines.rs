//! What ports take, hold and send.

use optcp_runs::Series;
use optcp_scenario::plan::QueueLimit;

use super::{Evidence, Intervals, Row, equal, names, real, whole};
use crate::check::{Failure, failure};

impl Evidence<'_> {
    /// How long the bits of a packet take at a port, in picoseconds, rounded up.
    pub(super) fn takes(&self, port: usize, bytes: u64) -> u128 {
        let rate = self.plan.links[port / 2].directions[port % 2].rate.bps();
        (u128::from(bytes) * 8 * 1_000_000_000_000).div_ceil(u128::from(rate))
    }

    /// Every port sends what it takes in the order in which it came, each packet as long as its bits take,
    /// with never more in its queue than fits, and turns away only what does not fit.
    pub(super) fn queues_and_lines(&self) -> Result<(), Failure> {
        for port in (0..self.ports.len()).filter(|&port| self.is_queue(port)) {
            if self.keeps(port) {
                self.kept_queue(port)?;
                continue;
            }
            let line = &self.plan.links[port / 2].directions[port % 2];
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
                        free = u128::from(row.at).max(free) + self.takes(port, row.bytes);
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

    /// A port whose discipline chooses what leaves: it is never idle while something waits, sends each packet as long as
    /// its bits take, holds no more than fits, and sends and drops nothing that is not in it.
    fn kept_queue(&self, port: usize) -> Result<(), Failure> {
        let line = &self.plan.links[port / 2].directions[port % 2];
        let mut inside: Vec<Row<'_>> = Vec::new();
        // From when on the transmitter has had something to send.
        let mut begun = 0;
        for row in self.rows.iter().filter(|row| row.port == Some(port)) {
            let wrong = |why: &str, inside: &[Row<'_>]| {
                failure(why, format!("at {}: {row:?}; in it {inside:?}", self.ports[port]))
            };
            let same = |one: &Row<'_>| {
                (one.flow, one.ack, one.seq, one.bytes) == (row.flow, row.ack, row.seq, row.bytes)
            };
            let leaves = self.left_queue(row) || row.reason == Some("queue-flushed");
            match row.event {
                "queued" => {
                    if inside.is_empty() {
                        begun = u128::from(row.at);
                    }
                    inside.push(*row);
                }
                "transmitted" => {
                    if begun + self.takes(port, row.bytes) != u128::from(row.at) {
                        return wrong("a transmission that is not as long as its bits", &inside);
                    }
                    begun = u128::from(row.at);
                }
                _ if !leaves => continue,
                _ => {}
            }
            if row.event == "transmitted" || leaves {
                let Some(place) = inside.iter().position(same) else {
                    return wrong("a packet left a queue in which it was not", &inside);
                };
                inside.remove(place);
            }
            // What makes room is told after what takes its place.
            let settled = row.event != "queued";
            let held: u64 = inside.iter().map(|one| one.bytes).sum();
            let fits = match line.queue {
                QueueLimit::Packets(limit) => inside.len() as u64 <= limit,
                QueueLimit::Bytes(limit) => held <= limit.count(),
                QueueLimit::Unlimited => true,
            };
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

    /// Changes of what a port holds, in packets and bytes: when, and what it holds from then on.
    pub(super) fn held(&self, port: &str) -> Vec<(u64, u64, u64)> {
        let number = self.ports.iter().position(|name| name == port);
        if !number.is_some_and(|number| self.listed[number]) {
            return Vec::new();
        }
        let (mut packets, mut bytes) = (0, 0);
        let mut held: Vec<(u64, u64, u64)> = Vec::new();
        for row in self.rows.iter().filter(|row| self.port(row).is_some_and(|name| name == port)) {
            match (row.event, row.reason) {
                ("queued", _) => (packets, bytes) = (packets + 1, bytes + row.bytes),
                ("transmitted", _) | ("dropped", Some("queue-flushed")) => {
                    (packets, bytes) = (packets - 1, bytes - row.bytes);
                }
                _ if self.left_queue(row) => {
                    (packets, bytes) = (packets - 1, bytes - row.bytes);
                    // What a discipline does at an instant it does at once.
                    held.pop_if(|(at, ..)| *at == row.at);
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

    /// When each packet came that a port took, and how long it was to take until its last bit.
    pub(super) fn waits(&self, name: &str) -> Vec<(u64, u64)> {
        let port = self.ports.iter().position(|port| port == name).expect("a port of the list");
        let mut free = 0;
        let mut waits = Vec::new();
        for row in self.rows.iter().filter(|row| row.port == Some(port)) {
            match (row.event, row.reason) {
                ("queued", _) => {
                    free = u128::from(row.at).max(free) + self.takes(port, row.bytes);
                    // What is not sent by 2^63 ps never is.
                    let sent = u64::try_from(free).ok().filter(|free| *free < 1 << 63);
                    waits.push((row.at, sent.map_or(u64::MAX, |sent| sent - row.at)));
                }
                ("dropped", Some("queue-flushed")) => free = 0,
                _ if self.left_queue(row) && free < 1 << 63 => {
                    free -= self.takes(port, row.bytes);
                    // It makes room for the one that has come.
                    if row.reason == Some("pushed-out")
                        && let Some((came, wait)) = waits.last_mut()
                    {
                        let sent = u64::try_from(free).ok().filter(|free| *free < 1 << 63);
                        *wait = sent.map_or(u64::MAX, |sent| sent - *came);
                    }
                }
                _ => {}
            }
        }
        waits
    }
}
