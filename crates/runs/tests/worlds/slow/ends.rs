//! Ends of flows and operations without observation, compared with observations and packets of the same run.

use std::collections::BTreeMap;

use optcp_runs::Series;
use optcp_scenario::Scenario;
use optcp_scenario::plan::ObserveKind;
use optcp_store::scalars;

use super::{Evidence, called, whole};
use crate::check::{ENDS, Failure, failure};

/// Group, start, end, and whether it finished or the sender gave up.
type Ended = (usize, u64, u64, bool, bool);

impl Evidence<'_> {
    pub(super) fn ends(&self, scenario: &Scenario) -> Result<(), Failure> {
        let flows = self.run.series.iter().find(|series| series.name == ENDS);
        let ended = |one: &optcp_runs::Lasted| {
            (one.group, one.start.as_ps(), one.end.as_ps(), one.is_finished, one.is_aborted)
        };
        let mut found: Vec<Ended> = self.run.ends.flows.iter().map(ended).collect();
        let mut expected = flows.map_or(Vec::new(), rows);
        found.sort_unstable();
        expected.sort_unstable();
        if found != expected {
            return failure("ends of flows", format!("{found:?}, expected {expected:?}"));
        }
        for (observed, series) in self.plan.observe.iter().zip(&self.run.series) {
            if observed.kind == ObserveKind::Operations {
                let mine = self.run.ends.operations.iter().map(ended);
                let mut found: Vec<Ended> =
                    mine.filter(|(group, ..)| observed.groups.contains(group)).collect();
                let mut expected = rows(series);
                found.sort_unstable();
                expected.sort_unstable();
                if found != expected {
                    let what = format!("{found:?}, expected {expected:?}");
                    return failure("ends of operations", what);
                }
            }
        }
        if let Some(flows) = flows {
            self.slowest(flows)?;
        }
        self.metrics_without_observation(scenario)
    }

    /// The slowest flows: all rows of the observation in order, with the retransmissions among the packets.
    fn slowest(&self, flows: &Series) -> Result<(), Failure> {
        let names = called(flows, "flow", "flows");
        let (numbers, bytes) = (whole(flows, "flow"), whole(flows, "bytes"));
        let mut again: BTreeMap<usize, u64> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.event == "resent") {
            *again.entry(row.flow).or_default() += 1;
        }
        let mut ranked: Vec<_> = rows(flows).into_iter().enumerate().collect();
        ranked.sort_by_key(|&(at, (_, start, end, finished, aborted))| {
            let worst_first = match (aborted, finished) {
                (true, _) => 0,
                (_, false) => 1,
                _ => 2,
            };
            (worst_first, u64::MAX - (end - start), numbers[at])
        });
        let expected = ranked.into_iter().take(10).map(|(at, row)| {
            let number = usize::try_from(numbers[at]).expect("an index");
            let resent = self.carriers(number).map(|flow| again.get(&flow).copied().unwrap_or(0));
            (names[at].unwrap_or_default(), bytes[at], row.1, row.2, resent.sum::<u64>())
        });
        let expected: Vec<_> = expected.collect();
        let found = self.run.ends.slowest.iter().map(|one| {
            let [start, end] = [one.lasted.start, one.lasted.end].map(|at| at.as_ps());
            (one.flow.as_str(), one.bytes, start, end, one.retransmissions)
        });
        let found: Vec<_> = found.collect();
        match found == expected {
            true => Ok(()),
            false => failure("slowest flows", format!("{found:?}, expected {expected:?}")),
        }
    }

    /// Metrics of the same run without the observations are equal.
    fn metrics_without_observation(&self, scenario: &Scenario) -> Result<(), Failure> {
        let mut bare = self.run.clone();
        bare.series.retain(|series| !matches!(series.kind, "completions" | "operations"));
        let observed = scalars(self.run, scenario.plan());
        for one in scalars(&bare, scenario.plan()) {
            let lasts = ["completion", "completed", "unfinished", "aborted", "operation"];
            let named = |word: &&str| one.metric.name.starts_with(word);
            if lasts.iter().any(named) && !observed.contains(&one) {
                return failure("metric without observation", format!("{one:?}"));
            }
        }
        Ok(())
    }
}

fn rows(series: &Series) -> Vec<Ended> {
    let [end, start, group, finished] =
        ["time_ps", "start_ps", "group", "finished"].map(|name| whole(series, name));
    let aborted = match series.kind {
        "completions" => whole(series, "aborted"),
        _ => vec![0; end.len()],
    };
    let row = |at: usize| {
        let group = usize::try_from(group[at]).expect("an index");
        (group, start[at], end[at], finished[at] == 1, aborted[at] == 1)
    };
    (0..end.len()).map(row).collect()
}
