//! Part of the run that metrics cover.

use optcp_units::{Duration, Time};

use crate::plan::MeasurePlan;
use crate::problem::Problems;
use crate::schema::File;
use crate::tree::place;

use super::draft::Draft;

/// Reads `[measure]`. Its bounds must be bounds of intervals, because series by interval are summed over
/// whole intervals.
pub(super) fn measure(file: &File, plan: &mut Draft, problems: &mut Problems<'_>) {
    let Some(table) = file.measure else { return };
    let after = table.after.map_or(Duration::ZERO, |after| after.0);
    let until = table.until.map_or(plan.stop, |until| Time::ZERO + until.0);
    if plan.end_with_flows {
        problems
            .at(place!["measure"], "`[measure]` with `end_with_flows`")
            .label("omit one of them");
    }
    if Time::ZERO + after >= until {
        let message = format!("no time between {after} and {until}");
        problems.at(place!["measure", "after"], message).label("must be before `until`");
    }
    if until > plan.stop {
        let message = format!("the run ends at {}, before {until}", plan.stop);
        problems.at(place!["measure", "until"], message).label("must not be after `stop`");
    }
    let ends = [("after", Time::ZERO + after), ("until", until)];
    for (key, at) in ends.into_iter().filter(|(_, at)| *at < plan.stop) {
        // Kinds with their own `after` are not restricted.
        let by_interval = plan.observe.iter().filter(|observed| !observed.kind.keys().after);
        let cut = by_interval.filter_map(|observed| Some((observed, observed.interval?)));
        let cut = cut.filter(|(_, interval)| *interval > Duration::ZERO);
        for (observed, interval) in cut {
            let whole = at.as_ps() / interval.as_ps() * interval.as_ps();
            if whole != at.as_ps() {
                let [before, behind] =
                    [whole, whole.saturating_add(interval.as_ps())].map(Time::from_ps);
                problems
                    .at(
                        place!["measure", key],
                        format!("{at} is within an interval of `{}`", observed.name),
                    )
                    .label(format!(
                        "must be a multiple of its interval, {interval}: {before} or {behind}"
                    ));
            }
        }
    }
    plan.measure = Some(MeasurePlan { after: Time::ZERO + after, until });
}
