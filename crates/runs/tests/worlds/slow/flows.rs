//! Packets that flows and sources of datagrams send and receive.

use std::collections::{BTreeMap, BTreeSet};

use optcp_runs::{Series, Values};
use optcp_scenario::plan::ObservePlan;
use optcp_units::Duration;

use super::{Evidence, Intervals, Row, called, equal, names, packet_rows, real, whole};
use crate::check::{Failure, SENDERS, failure};

impl Evidence<'_> {
    /// Newly in-order bytes: arrivals of each flow put in order.
    pub(super) fn progress(&self) -> Vec<(u64, usize, u64)> {
        let mut came: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); self.flows.len()];
        let mut reached: Vec<u64> = vec![0; self.flows.len()];
        let mut progress = Vec::new();
        for row in self.rows.iter().filter(|row| row.event == "arrived") {
            let Some((_, syn)) = self.segments(row.flow) else { continue };
            came[row.flow].insert(row.seq);
            let before = reached[row.flow].max(syn);
            while came[row.flow].contains(&reached[row.flow]) {
                reached[row.flow] += 1;
            }
            let new = reached[row.flow].max(syn) - before;
            if new > 0 {
                progress.push((row.at, row.flow, before, new));
            }
        }
        self.delivered(&progress)
    }

    pub(super) fn goodput(&self, series: &Series) -> Result<(), Failure> {
        if self.may_discard {
            return Ok(());
        }
        let (intervals, groups) = (Intervals::of(series), names(series, "groups"));
        let mut sums = intervals.table(groups.len());
        for (at, flow, bytes) in self.progress() {
            if let Some(row) = groups.iter().position(|group| group == self.group(flow)) {
                sums[row * intervals.count + intervals.index(at)] += bytes;
            }
        }
        equal(series, "bytes", &whole(series, "bytes"), &sums)
    }

    pub(super) fn drops(&self, series: &Series) -> Result<(), Failure> {
        let dropped = self.at_ports(series, "dropped")?;
        let reasons: Vec<Option<&str>> = dropped.iter().map(|row| row.reason).collect();
        equal(series, "reason", &called(series, "reason", "reasons"), &reasons)
    }

    /// Returns the rows of an event at the ports of a series, which has a separate one for each
    /// port.
    pub(super) fn at_ports(&self, series: &Series, event: &str) -> Result<Vec<&Row<'_>>, Failure> {
        let (at, ack) = (whole(series, "time_ps"), whole(series, "ack"));
        let (port, group) = (called(series, "port", "ports"), called(series, "group", "groups"));
        let found: Vec<_> =
            (0..at.len()).map(|i| (at[i], port[i], group[i], ack[i] == 1)).collect();
        let ports = names(series, "ports");
        let happened = self.rows.iter().filter(|row| row.event == event);
        let rows: Vec<&Row<'_>> = happened
            .filter(|row| self.port(row).is_some_and(|port| ports.contains(port)))
            .collect();
        let one = |row: &&Row<'_>| {
            let port = self.port(row).map(String::as_str);
            (row.at, port, Some(self.group(row.flow)), row.ack)
        };
        let expected: Vec<_> = rows.iter().map(one).collect();
        equal(series, "rows", &found, &expected)?;
        Ok(rows)
    }

    pub(super) fn datagrams(&self, series: &Series) -> Result<(), Failure> {
        let (intervals, groups) = (Intervals::of(series), names(series, "groups"));
        let mut sums: [Vec<u64>; 7] = std::array::from_fn(|_| intervals.table(groups.len()));
        let mut sent: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        let mut open = BTreeSet::new();
        for (number, row) in self.rows.iter().enumerate() {
            let Some(group) = groups.iter().position(|group| group == self.group(row.flow)) else {
                continue;
            };
            if self.fates.open.contains(&row.flow) {
                open.insert(group);
            }
            let place = group * intervals.count + intervals.index(row.at);
            match row.event {
                "sent" => {
                    sent.insert((row.flow, row.seq), row.at);
                    sums[0][place] += 1;
                    sums[1][place] += row.bytes;
                }
                "arrived" if !self.fates.seconds.contains(&number) => {
                    let delay = row.at - sent[&(row.flow, row.seq)];
                    sums[2][place] += 1;
                    sums[3][place] += row.bytes;
                    sums[5][place] = sums[5][place].saturating_add(delay);
                    sums[6][place] = sums[6][place].max(delay);
                }
                "dropped" => sums[4][place] += u64::from(self.fates.losses.contains(&number)),
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
        columns.iter().zip(&mut sums).try_for_each(|(name, sums)| {
            let found = whole(series, name);
            for &group in open.iter().filter(|_| !name.starts_with("sent")) {
                let places = group * intervals.count..(group + 1) * intervals.count;
                if found.len() == sums.len() {
                    sums[places.clone()].copy_from_slice(&found[places]);
                }
            }
            equal(series, name, &found, sums)
        })
    }

    pub(super) fn completions(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        if self.may_discard {
            return Ok(());
        }
        let (at, start) = (whole(series, "time_ps"), whole(series, "start_ps"));
        let (flow, bytes) = (whole(series, "flow"), whole(series, "bytes"));
        let finished = whole(series, "finished");
        let index = |flow: u64| usize::try_from(flow).expect("an index");
        // The plan contains the data of a flow, except for flows with random arrivals.
        let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
        for (place, flow) in flow.iter().enumerate() {
            sizes.insert(index(*flow), bytes[place]);
        }
        for (number, name) in self.flows.iter().enumerate() {
            let flows = self.plan.flows.iter().map(|flow| (&flow.name, flow.size));
            let connections = self.plan.connections.iter().map(|one| (&one.name, one.size));
            let planned = flows.chain(connections).find(|(known, _)| *known == name);
            let Some((mss, _)) = self.segments(number) else { continue };
            let Some(size) = planned.and_then(|(_, size)| size) else { continue };
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
            let carriers = self.carriers(flow);
            let sent = |row: &&Row<'_>| row.event == "sent" && carriers.contains(&row.flow);
            self.rows.iter().find(sent).map(|row| row.at)
        };
        let open = left.iter().filter(|(_, rest)| **rest > 0).map(|(flow, _)| *flow);
        let aborted = self.aborted();
        let gave_up = |flow: u64| aborted.contains_key(&index(flow));
        let cut = (0..at.len()).find(|&i| finished[i] == 0 && !gave_up(flow[i]));
        let end = |flow: usize| aborted.get(&flow).copied().or(cut.map(|i| at[i])).unwrap_or(0);
        expected.extend(open.filter(|&flow| first_sent(flow).is_some()).map(|f| (end(f), f, 0)));
        expected.sort_by_key(|row| row.0);
        let aborts = (0..at.len()).map(|i| u64::from(finished[i] == 0 && gave_up(flow[i])));
        equal(series, "aborted", &whole(series, "aborted"), &aborts.collect::<Vec<_>>())?;
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

    /// Returns the rows of a list of senders' variables, for chosen groups.
    pub(super) fn sender_rows(&self, series: &Series) -> Vec<Vec<String>> {
        let columns = series.columns.iter().map(|column| match &column.values {
            Values::F64(values) => values.iter().map(ToString::to_string).collect(),
            _ => whole(series, column.name).iter().map(ToString::to_string).collect(),
        });
        let columns: Vec<Vec<String>> = columns.collect();
        let rows = columns.first().map_or(0, Vec::len);
        (0..rows).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
    }

    pub(super) fn senders(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let all = super::series(self.run, SENDERS);
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

    pub(super) fn packets(
        &self,
        series: &Series,
        observed: &ObservePlan,
        ports: &[usize],
    ) -> Result<(), Failure> {
        let until = observed.until.map_or(u64::MAX, Duration::as_ps);
        let listed = |row: &&Row<'_>| {
            let at_port = matches!(row.event, "queued" | "transmitted");
            self.chosen(row.flow, &observed.groups)
                && (observed.after.as_ps()..until).contains(&row.at)
                && (!at_port || row.port.is_some_and(|port| ports.contains(&port)))
        };
        let expected: Vec<Row<'_>> = self.rows.iter().filter(listed).copied().collect();
        equal(series, "rows", &packet_rows(series), &expected)
    }

    pub(super) fn reordering(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let mut expected = Vec::new();
        let mut reached: BTreeMap<usize, u64> = BTreeMap::new();
        let (mut again, mut come) = (BTreeSet::new(), BTreeSet::new());
        let segments = self.rows.iter().filter(|row| !row.ack && self.chosen(row.flow, groups));
        for row in segments.filter(|row| self.segments(row.flow).is_some()) {
            match row.event {
                "resent" => {
                    again.insert((row.flow, row.seq));
                    expected.push((row.at, "resent", row.flow, row.seq));
                }
                "arrived" => {
                    let next = reached.entry(row.flow).or_default();
                    let first = come.insert((row.flow, row.seq));
                    if first && row.seq < *next && !again.contains(&(row.flow, row.seq)) {
                        expected.push((row.at, "overtaken", row.flow, row.seq));
                    }
                    *next = (*next).max(row.seq + 1);
                }
                _ => {}
            }
        }
        let senders = super::series(self.run, SENDERS);
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
        // At one time, the two lists interleave in the order of events, which neither shows.
        found.sort_unstable();
        expected.sort_unstable();
        equal(series, "rows", &found, &expected)
    }
}
