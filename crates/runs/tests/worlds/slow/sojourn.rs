//! How long packets wait.

use std::collections::{BTreeMap, VecDeque};

use optcp_runs::Series;

use super::{Evidence, Intervals, Row, equal, names, real, whole};
use crate::check::Failure;

impl Evidence<'_> {
    /// When each packet that a port sent had left it, and how long it had waited until its first bit went.
    pub(super) fn sojourns(&self, name: &str) -> Vec<(u64, u64)> {
        let port = self.ports.iter().position(|port| port == name).expect("a port of the list");
        if !self.listed[port] {
            return Vec::new();
        }
        let line = &self.plan.links[port / 2].directions[port % 2];
        let newest = line.discipline.kind().name() == "priority";
        let rows: Vec<&Row<'_>> = self.rows.iter().filter(|row| row.port == Some(port)).collect();
        // A packet may be queued twice, as a retransmitted segment or a repeated ACK. ECN-capable
        // packets and others may have separate queues.
        let who = |row: &Row<'_>| {
            let takes_marks = matches!(row.marking.split(' ').next(), Some("ce" | "ect0" | "ect1"));
            (row.flow, row.ack, row.seq, row.bytes, takes_marks)
        };
        // When those that are in the queue came into it, by who they are.
        let mut inside: BTreeMap<_, VecDeque<u64>> = BTreeMap::new();
        let mut transmissions = self.transmissions(port).into_iter().peekable();
        let mut sojourns = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let copies = inside.entry(who(row)).or_default();
            match (row.event, row.reason) {
                ("queued", _) => copies.push_back(row.at),
                ("transmitted", _) => {
                    let sent = transmissions.next().expect("each row is of one");
                    if let Some(came) = copies.pop_front() {
                        sojourns.push((row.at, sent.began - came));
                    }
                }
                ("dropped", Some("pushed-out")) => {
                    // A packet being transmitted stays. A virtual output queue transmits none, nor
                    // does a port that is held.
                    let next = rows[place..].iter().find(|row| row.event == "transmitted");
                    let began = transmissions.peek().is_some_and(|sent| sent.began <= row.at);
                    let sending = !self.is_voq(port)
                        && began
                        && next.is_some_and(|next| who(next) == who(row) && copies.len() > 1);
                    let gone = match newest {
                        true => copies.pop_back(),
                        false => copies.remove(usize::from(sending)),
                    };
                    gone.expect("it was there");
                }
                // The youngest goes.
                ("dropped", Some("queue-shrunk")) => {
                    copies.pop_back().expect("it was there");
                }
                ("dropped", Some("queue-flushed")) => {
                    copies.pop_front().expect("it was there");
                }
                _ if self.left_queue(row) => {
                    copies.pop_front().expect("it was there");
                }
                _ => {}
            }
        }
        sojourns
    }

    pub(super) fn sojourn(&self, series: &Series) -> Result<(), Failure> {
        let intervals = Intervals::of(series);
        let columns = ["packets", "p50_ps", "p95_ps", "p99_ps", "longest_ps"];
        let mut expected: [Vec<u64>; 5] = Default::default();
        let mut means = Vec::new();
        let ports = names(series, "ports");
        for port in ports {
            let sojourns = self.sojourns(port);
            for index in 0..intervals.count {
                let sent = sojourns.iter().filter(|(at, _)| intervals.index(*at) == index);
                let mut waits: Vec<u64> = sent.map(|&(_, wait)| wait).collect();
                waits.sort_unstable();
                // The least of which so many percent are no greater.
                let quantile = |percent: usize| {
                    let enough = |wait: &&u64| {
                        let within = waits.iter().filter(|other| other <= wait).count();
                        within * 100 >= waits.len() * percent
                    };
                    waits.iter().find(enough).copied().unwrap_or(0)
                };
                let sum: u128 = waits.iter().map(|&wait| u128::from(wait)).sum();
                means.push(if waits.is_empty() { 0.0 } else { sum as f64 / waits.len() as f64 });
                let values = [
                    waits.len() as u64,
                    quantile(50),
                    quantile(95),
                    quantile(99),
                    waits.last().copied().unwrap_or(0),
                ];
                expected.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
        }
        for (name, mut expected) in columns.into_iter().zip(expected) {
            let found = whole(series, name);
            self.but_circuits(ports, &found, &mut expected);
            equal(series, name, &found, &expected)?;
        }
        self.but_circuits(ports, real(series, "mean_ps"), &mut means);
        equal(series, "mean_ps", real(series, "mean_ps"), &means)
    }
}
