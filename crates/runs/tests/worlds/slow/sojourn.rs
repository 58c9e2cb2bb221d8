//! How long packets wait.

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
        // A packet may be there twice, as a segment that is sent again, or an ACK that repeats another: what takes
        // marks and what does not may stand in queues of their own.
        let same = |a: &Row<'_>, b: &Row<'_>| {
            let who = |row: &Row<'_>| (row.flow, row.ack, row.seq, row.bytes);
            let takes_marks = |row: &Row<'_>| {
                matches!(row.marking.split(' ').next(), Some("ce" | "ect0" | "ect1"))
            };
            (who(a), takes_marks(a)) == (who(b), takes_marks(b))
        };
        let mut inside: Vec<&Row<'_>> = Vec::new();
        let mut transmissions = self.transmissions(port).into_iter();
        let mut sojourns = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let mut copies = (0..inside.len())
                .filter(|&at| same(inside[at], row))
                .collect::<Vec<_>>()
                .into_iter();
            match (row.event, row.reason) {
                ("queued", _) => inside.push(row),
                ("transmitted", _) => {
                    let sent = transmissions.next().expect("each row is of one");
                    if let Some(at) = copies.next() {
                        sojourns.push((row.at, sent.began - inside.remove(at).at));
                    }
                }
                ("dropped", Some("pushed-out")) => {
                    // What is being sent stays; out of a virtual output queue nothing is.
                    let next = rows[place..].iter().find(|row| row.event == "transmitted");
                    let sending = !self.is_voq(port)
                        && next.is_some_and(|next| same(next, row) && copies.len() > 1);
                    let gone = match newest {
                        true => copies.last(),
                        false => copies.nth(usize::from(sending)),
                    };
                    inside.remove(gone.expect("it was there"));
                }
                // The youngest goes.
                ("dropped", Some("queue-shrunk")) => {
                    inside.remove(copies.last().expect("it was there"));
                }
                ("dropped", Some("queue-flushed")) => {
                    inside.remove(copies.next().expect("it was there"));
                }
                _ if self.left_queue(row) => {
                    inside.remove(copies.next().expect("it was there"));
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
