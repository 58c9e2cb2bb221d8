//! Flows that come at random.

use optcp_traffic::{BoundedPareto, SizesKind, Volume, WebLike};
use optcp_units::Time;

use crate::plan::{ArrivalsPlan, Carries, Spread};
use crate::problem::Problems;
use crate::schema::{self, FlowsEntry, Size, SizesTable};
use crate::tree::{Step, place};

use super::bounds::MOST;
use super::draft::Draft;

/// Reports keys that only flows which come at random have, or do not have.
pub(super) fn check_keys(i: usize, entry: &FlowsEntry, problems: &mut Problems<'_>) {
    if entry.arrivals.is_some() {
        if entry.per_source.is_some() {
            problems
                .at(place!["flows", i, "per_source"], "flows with `arrivals` have no `per_source`")
                .label("`arrivals` says how many come");
        }
        if entry.writes.is_some() {
            problems
                .at(place!["flows", i, "writes"], "flows with `arrivals` have no `writes`")
                .label("they send what they have from their start on");
        }
        return;
    }
    for (key, given) in [("sizes", entry.sizes.is_some()), ("until", entry.until.is_some())] {
        if given {
            problems
                .at(place!["flows", i, key], format!("`{key}` needs `arrivals`"))
                .help("for example: arrivals = \"20 flows/s\"".to_owned());
        }
    }
}

/// What goes over the routes of an entry.
pub(super) fn arrivals(
    i: usize,
    entry: &FlowsEntry,
    group: usize,
    start: Spread<Time>,
    plan: &mut Draft,
    problems: &mut Problems<'_>,
) -> Carries {
    let Some(rate) = entry.arrivals else { return Carries::Flow };
    let Spread::Fixed(from) = start else {
        problems
            .at(place!["flows", i, "start"], "the start of `arrivals` is drawn")
            .label("must be one instant");
        return Carries::Flow;
    };
    let until = entry.until.map_or(plan.stop, |until| Time::ZERO + until.0).min(plan.stop);
    if until <= from && plan.stop > Time::ZERO {
        let key = if entry.until.is_some() { "until" } else { "start" };
        problems
            .at(place!["flows", i, key], "no flow has time to arrive")
            .label(format!("from {from} to {until}"));
    }
    let Some(volume) = volume(i, entry, problems) else { return Carries::Flow };
    let expected = rate.0.per_second() * until.saturating_since(from).as_secs_f64();
    if expected > MOST as f64 {
        let message = format!("about {expected:.0} flows arrive");
        problems.at(place!["flows", i, "arrivals"], message).label(format!("at most {MOST}"));
    }
    plan.arrivals.push(ArrivalsPlan { group, rate: rate.0, from, until, volume });
    Carries::Arrivals(plan.arrivals.len() - 1)
}

/// How much the flows send.
fn volume(i: usize, entry: &FlowsEntry, problems: &mut Problems<'_>) -> Option<Volume> {
    let place = place!["flows", i, "size"];
    match (entry.size, &entry.sizes) {
        (Some(_), Some(_)) => {
            problems.at(place, "`size` and `sizes` say the same").label("leave one of them out");
            None
        }
        (Some(schema::Volume::Data(bytes)), None) if bytes.count() > 0 => {
            Some(Volume::Fixed(bytes.count()))
        }
        (None, Some(sizes)) => drawn(i, sizes, problems),
        (None, None) => {
            problems
                .at(place!["flows", i], "flows that come at random must end")
                .label("needs `size` or `sizes`")
                .help("for example: size = \"20 MB\"".to_owned());
            None
        }
        (Some(_), None) => {
            problems
                .at(place, "flows that come at random send a number of bytes")
                .help("for example: size = \"20 MB\"".to_owned());
            None
        }
    }
}

/// The distribution of what flows send.
fn drawn(i: usize, sizes: &SizesTable, problems: &mut Problems<'_>) -> Option<Volume> {
    let (allowed, needed): (&[&str], &[&str]) = match sizes.kind {
        SizesKind::Exponential => (&["mean"], &["mean"]),
        SizesKind::Pareto => (&["mean", "shape", "largest"], &["mean", "shape", "largest"]),
        SizesKind::WebLike => (&["largest"], &["largest"]),
    };
    let place = place!["flows", i, "sizes"];
    if !keys_fit(place, sizes, allowed, needed, problems) {
        return None;
    }
    let bytes = |size: Option<Size>| size.map_or(0, |size| size.0.count());
    let (mean, largest) = (bytes(sizes.mean), bytes(sizes.largest));
    let shape = sizes.shape.map_or(0.0, |shape| shape.0);
    let volume = match sizes.kind {
        SizesKind::Exponential => (mean > 0).then_some(Volume::Exponential(mean)),
        SizesKind::Pareto => {
            BoundedPareto::with_mean(mean as f64, shape, largest as f64).map(Volume::Pareto)
        }
        SizesKind::WebLike => WebLike::new(largest as f64).map(Volume::Web),
    };
    if volume.is_none() {
        problems.at(place, "there is no such distribution of sizes").label(match sizes.kind {
            SizesKind::Exponential => "the mean must be above zero".to_owned(),
            SizesKind::Pareto => {
                "the mean must be below the largest size, the shape above zero, and the smallest size that \
                 gives the mean 1 B or more"
                    .to_owned()
            }
            SizesKind::WebLike => {
                format!("the tail begins at {} B: the largest must be above", WebLike::TAIL_FROM)
            }
        });
    }
    volume
}

/// Whether a table of sizes has the keys of its kind, and no others.
pub(super) fn keys_fit(
    place: &[Step<'_>],
    sizes: &SizesTable,
    allowed: &[&str],
    needed: &[&str],
    problems: &mut Problems<'_>,
) -> bool {
    let before = problems.found.len();
    let keys = [
        ("mean", sizes.mean.is_some()),
        ("shape", sizes.shape.is_some()),
        ("smallest", sizes.smallest.is_some()),
        ("largest", sizes.largest.is_some()),
    ];
    for (key, given) in keys {
        if given && !allowed.contains(&key) {
            let place = [place, place![key]].concat();
            problems.at(&place, format!("`{}` sizes here have no `{key}`", sizes.kind.name()));
        }
        if !given && needed.contains(&key) {
            problems.at(place, format!("`{}` sizes need `{key}`", sizes.kind.name()));
        }
    }
    problems.found.len() == before
}
