//! Metrics of completion times of flows, and of durations of operations.
//!
//! They need no observation. If there is one, its groups count as it records them.

use std::collections::{BTreeMap, BTreeSet};

use optcp_runs::{Lasted, Run, Series};
use optcp_scenario::Plan;
use optcp_scenario::plan::MeasurePlan;

use crate::survival::{Observation, Survival};

use super::{
    ABORTED, ENDED, Found, MEAN, Metric, OPERATION_MEAN, OPERATION_P50, OPERATION_P95,
    OPERATION_P99, OPERATIONS as OPERATIONS_ENDED, OPERATIONS_OPEN, P50, P95, P99, UNFINISHED,
    by_group, column, float,
};

/// Metrics of durations.
pub(super) struct Durations {
    /// Groups that have them.
    groups: fn(&Plan) -> Box<dyn Iterator<Item = usize> + '_>,
    mean: Metric,
    quantiles: [(Metric, f64); 3],
    ended: Metric,
    unfinished: Metric,
    aborted: Option<Metric>,
}

pub(super) const FLOWS: Durations = Durations {
    groups: |plan| {
        let flows = plan.flows.iter().filter(|flow| flow.application.is_none());
        Box::new(flows.map(|flow| flow.group))
    },
    mean: MEAN,
    quantiles: [(P50, 0.5), (P95, 0.95), (P99, 0.99)],
    ended: ENDED,
    unfinished: UNFINISHED,
    aborted: Some(ABORTED),
};

pub(super) const OPERATIONS: Durations = Durations {
    groups: |plan| Box::new(plan.applications.iter().map(|application| application.group)),
    mean: OPERATION_MEAN,
    quantiles: [(OPERATION_P50, 0.5), (OPERATION_P95, 0.95), (OPERATION_P99, 0.99)],
    ended: OPERATIONS_ENDED,
    unfinished: OPERATIONS_OPEN,
    aborted: None,
};

/// Flow or operation.
struct Row {
    start_ps: f64,
    end_ps: f64,
    finished: bool,
    aborted: bool,
}

impl Row {
    fn observation(&self) -> Observation {
        Observation { seconds: (self.end_ps - self.start_ps) / 1e12, ended: self.finished }
    }
}

impl From<&Lasted> for Row {
    fn from(one: &Lasted) -> Row {
        let [start_ps, end_ps] = [one.start, one.end].map(|at| float(at.as_ps()));
        Row { start_ps, end_ps, finished: one.is_finished, aborted: one.is_aborted }
    }
}

/// Computes the durations that an observation records.
pub(super) fn of_series(
    metrics: &Durations,
    series: &Series,
    plan: &Plan,
    window: MeasurePlan,
    found: &mut Found,
) {
    let (ends, starts) = (column(series, "time_ps"), column(series, "start_ps"));
    let finished = column(series, "finished");
    let aborted = match metrics.aborted {
        Some(_) => column(series, "aborted"),
        None => vec![0.0; finished.len()],
    };
    let listed: BTreeSet<&str> =
        (metrics.groups)(plan).map(|group| plan.groups[group].as_str()).collect();
    for (name, ours) in by_group(series, plan).into_iter().filter(|(name, _)| listed.contains(name))
    {
        let row = |at: usize| Row {
            start_ps: starts[at],
            end_ps: ends[at],
            finished: finished[at] > 0.5,
            aborted: aborted[at] > 0.5,
        };
        add(metrics, name, ours.into_iter().map(row), plan, window, found);
    }
}

/// Computes the durations of all other groups with flows of finite size, and of all other applications.
pub(super) fn of_run(run: &Run, plan: &Plan, window: MeasurePlan, found: &mut Found) {
    let applications = (OPERATIONS.groups)(plan).collect();
    let kinds = [
        (&FLOWS, plan.finite_groups(), &run.ends.flows),
        (&OPERATIONS, applications, &run.ends.operations),
    ];
    for (metrics, groups, all) in kinds {
        let unobserved =
            groups.into_iter().filter(|&at| !found.has(metrics.ended, &plan.groups[at]));
        let mut rows: BTreeMap<usize, Vec<Row>> =
            unobserved.map(|group| (group, Vec::new())).collect();
        if rows.is_empty() {
            continue;
        }
        for one in all {
            if let Some(ours) = rows.get_mut(&one.group) {
                ours.push(Row::from(one));
            }
        }
        for (group, rows) in rows {
            add(metrics, &plan.groups[group], rows.into_iter(), plan, window, found);
        }
    }
}

/// Adds the metrics of a group, for rows that start in the measured part of the run.
fn add(
    metrics: &Durations,
    name: &str,
    rows: impl Iterator<Item = Row>,
    plan: &Plan,
    window: MeasurePlan,
    found: &mut Found,
) {
    let measured = float(window.after.as_ps())..=float(window.until.as_ps());
    let ours = rows.filter(|row| measured.contains(&row.start_ps));
    let (endless, ours): (Vec<Row>, Vec<Row>) = ours.partition(|row| row.aborted);
    let flows: Vec<Observation> = ours.iter().map(Row::observation).collect();
    let endless: Vec<f64> = endless.iter().map(|row| row.observation().seconds).collect();
    let ended = flows.iter().filter(|flow| flow.ended).count();
    found.add(metrics.ended, name, float(ended as u64));
    found.add(metrics.unfinished, name, float((flows.len() + endless.len() - ended) as u64));
    if let Some(metric) = metrics.aborted
        && may_give_up(plan)
    {
        found.add(metric, name, float(endless.len() as u64));
    }
    if let Some(times) = Survival::with_endless(flows, &endless) {
        found.estimate(metrics.mean, name, times.mean());
        for (metric, share) in metrics.quantiles {
            found.estimate(metric, name, times.quantile(share));
        }
    }
}

/// Returns whether any sender may give up.
fn may_give_up(plan: &Plan) -> bool {
    plan.flows.iter().filter_map(|flow| flow.tcp).any(|tcp| plan.tcp[tcp].1.may_give_up())
}
