//! Flow stalls.

use std::collections::{BTreeMap, BTreeSet};

use optcp_runs::Series;

use super::{Evidence, Row, called, equal, whole};
use crate::check::{ENDS, Failure, SENDERS};

impl Evidence<'_> {
    pub(super) fn outages(
        &self,
        series: &Series,
        groups: &[usize],
        after: u64,
    ) -> Result<(), Failure> {
        if self.may_discard {
            return Ok(());
        }
        let mut progress: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        for (at, flow, bytes) in self.progress() {
            progress.entry(flow).or_default().push((at, bytes));
        }
        let timeouts = self.timeouts();
        let (sizes, aborted) = (self.sizes(), self.aborted());
        // When a run ended with its flows its packets do not say.
        let (at, ended) = (whole(series, "time_ps"), whole(series, "ended"));
        let cut = at.iter().zip(&ended).find(|(_, ended)| **ended == 0).map(|(at, _)| *at);
        let stop = cut.filter(|_| self.plan.end_with_flows).unwrap_or(self.stop);
        let names = ["time_ps", "flow", "gap_ps", "ended", "usual_gap_ps", "bytes_before", "bytes"];
        let counts =
            ["lost_packets", "dropped_packets", "timeouts", "resent", "needless", "aborted"];
        let mut expected: Vec<[u64; 13]> = Vec::new();
        let listed = |flow: usize| {
            let written = self.routes(flow).any(|route| route.application.is_some());
            self.chosen(flow, groups) && !written
        };
        for flow in (0..self.flows.len()).filter(|&flow| listed(flow)) {
            // Losses and retransmissions of subflows also count for their connection.
            let carriers = self.carriers(flow);
            let of_flow = |place: &usize| carriers.contains(&self.rows[*place].flow);
            let places = || (0..self.rows.len()).filter(of_flow);
            let mine: Vec<&Row<'_>> = places().map(|place| &self.rows[place]).collect();
            let starter = self.starter(flow);
            let started = |row: &&Row<'_>| row.event == "sent" && row.flow == starter;
            let Some(start) = self.rows.iter().find(started).map(|row| row.at) else {
                continue;
            };
            let progress = progress.remove(&flow).unwrap_or_default();
            let mut sum = 0;
            let end = progress.iter().find_map(|&(at, bytes)| {
                sum += bytes;
                (Some(&sum) == sizes.get(&flow)).then_some(at)
            });
            if start >= stop || stop <= after || end.is_some_and(|end| end <= after) {
                continue;
            }
            // Each gap with whether bytes ended it.
            let mut instants: Vec<(u64, u64)> = vec![(start, 1)];
            instants.extend(progress.iter().map(|&(at, _)| (at, 1)));
            if end.is_none() {
                instants.push((stop, 0));
            }
            let gaps: Vec<_> =
                instants.windows(2).map(|w| (w[1].0 - w[0].0, w[1].0, w[1].1)).collect();
            let gave_up = end.is_none() && aborted.contains_key(&flow);
            let counted = gaps.iter().filter(|&&(_, at, ended)| at > after || ended == 0);
            let counted: Vec<_> = counted.filter(|gap| !gave_up || gap.2 == 0).collect();
            let longest = counted.iter().map(|gap| gap.0).max().expect("it had not ended");
            let &&(gap, at, ended) =
                counted.iter().find(|gap| gap.0 == longest).expect("the longest");
            let mut before: Vec<u64> =
                gaps.iter().filter(|gap| gap.1 <= after).map(|gap| gap.0).collect();
            before = before.split_off(before.len().saturating_sub(101));
            before.sort_unstable_by(|a, b| b.cmp(a));
            let usual = before.get(before.len() / 2).copied().unwrap_or(0);
            let bytes = |late: bool| -> u64 {
                progress
                    .iter()
                    .filter(|(at, _)| (*at > after) == late)
                    .map(|(_, bytes)| bytes)
                    .sum()
            };
            let since = || mine.iter().filter(|row| row.at >= after);
            let to_failures = [
                "link-down",
                "queue-flushed",
                "lost-in-flight",
                "not-selected",
                "ttl-expired",
                "no-route",
            ];
            let lost = |failure: bool| {
                let lost = places().filter(|place| self.fates.losses.contains(place));
                let lost = lost.map(|place| &self.rows[place]).filter(|row| row.at >= after);
                let reasons = lost.filter_map(|row| row.reason);
                reasons.filter(|reason| to_failures.contains(reason) == failure).count() as u64
            };
            let mut come = BTreeSet::new();
            let arrived = places().filter(|place| !self.fates.seconds.contains(place));
            let arrived = arrived.map(|place| &self.rows[place]);
            let arrived = arrived.filter(|row| row.event == "arrived");
            let arrived = arrived.filter(|row| row.flow == flow);
            let needless = arrived.filter(|row| !come.insert(row.seq) && row.at >= after).count();
            let timeouts = timeouts.iter().filter(|&&(at, of, _)| of == flow && at >= after);
            expected.push([
                at,
                flow as u64,
                gap,
                ended,
                usual,
                bytes(false),
                bytes(true),
                lost(true),
                lost(false),
                timeouts.map(|(_, _, more)| more).sum(),
                since().filter(|row| row.event == "resent").count() as u64,
                needless as u64,
                u64::from(gave_up),
            ]);
        }
        let group: Vec<Option<&str>> = expected
            .iter()
            .map(|row| Some(self.group(usize::try_from(row[1]).expect("an index"))))
            .collect();
        equal(series, "group", &called(series, "group", "groups"), &group)?;
        names.iter().chain(&counts).enumerate().try_for_each(|(place, name)| {
            let found = whole(series, name);
            let mut expected: Vec<u64> = expected.iter().map(|row| row[place]).collect();
            if ["lost_packets", "dropped_packets", "needless"].contains(name) {
                self.but_open(series, &found, &mut expected);
            }
            equal(series, name, &found, &expected)
        })
    }

    /// Leaves the rows of flows of which the list of packets leaves something open as they were found.
    fn but_open(&self, series: &Series, found: &[u64], expected: &mut [u64]) {
        let flows = whole(series, "flow").into_iter().zip(found).zip(expected);
        for ((flow, &found), expected) in flows {
            let flow = usize::try_from(flow).expect("an index");
            if self.carriers(flow).any(|flow| self.fates.open.contains(&flow)) {
                *expected = found;
            }
        }
    }

    /// Returns the sizes of finished flows, in bytes, from the completions, which are derived again
    /// too.
    fn sizes(&self) -> BTreeMap<usize, u64> {
        let Some(ends) = self.run.series.iter().find(|series| series.name == ENDS) else {
            return BTreeMap::new();
        };
        let flows = whole(ends, "flow").into_iter();
        let flows = flows.map(|flow| usize::try_from(flow).expect("an index"));
        flows.zip(whole(ends, "bytes")).collect()
    }

    /// Timeouts: when, of which flow, and how many at once.
    fn timeouts(&self) -> Vec<(u64, usize, u64)> {
        let senders = super::series(self.run, SENDERS);
        let mut before: BTreeMap<u64, u64> = BTreeMap::new();
        let rows = whole(senders, "time_ps").into_iter().zip(whole(senders, "flow"));
        rows.zip(whole(senders, "timeouts"))
            .map(|((at, flow), number)| {
                let more = number - before.insert(flow, number).unwrap_or(0);
                (at, usize::try_from(flow).expect("an index"), more)
            })
            .collect()
    }
}
