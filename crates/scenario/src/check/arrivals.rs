//! Flows with random arrivals.

use std::collections::BTreeMap;

use optcp_des::Streams;
use optcp_tcp::Config;
use optcp_traffic::{BoundedPareto, PacketRate, SizesKind, Volume, WebLike, Workload};
use optcp_units::Time;

use crate::plan::{ArrivalsPlan, Carries, DirectedLink, Spread};
use crate::problem::Problems;
use crate::schema::{self, FlowsEntry, Size, SizePoint, SizesTable};
use crate::tree::{Step, place};
use crate::warnings::{WarningKind, text};

use super::bounds::MOST;
use super::draft::Draft;
use super::network::Network;
use super::ways::Ways;

/// Reports keys that require random arrivals, or that exclude them.
pub(super) fn check_keys(i: usize, entry: &FlowsEntry, problems: &mut Problems<'_>) {
    if entry.arrivals.is_some() || entry.load.is_some() {
        let drawn =
            entry.pairs.as_ref().is_some_and(|pairs| pairs.count.is_some() && pairs.seed.is_none());
        if drawn {
            problems
                .at(place!["flows", i, "pairs", "count"], "random arrivals draw a pair per flow")
                .label("omit `count`, or give the pairs a `seed` to draw them once for all runs");
        }
        if entry.per_source.is_some() {
            problems
                .at(place!["flows", i, "per_source"], "`per_source` with `arrivals`")
                .label("`arrivals` sets the number of flows");
        }
        if entry.writes.is_some() {
            problems
                .at(place!["flows", i, "writes"], "`writes` with `arrivals`")
                .label("these flows have all data at their start");
        }
        return;
    }
    for (key, given) in [("sizes", entry.sizes.is_some()), ("until", entry.until.is_some())] {
        if given {
            problems
                .at(place!["flows", i, key], format!("`{key}` needs `arrivals` or `load`"))
                .help("for example: arrivals = \"20 flows/s\"".to_owned());
        }
    }
}

/// Returns the traffic on the routes of an entry: one flow each, or random arrivals.
pub(super) fn arrivals(
    i: usize,
    entry: &FlowsEntry,
    (group, start): (usize, &Spread),
    ways: &Ways,
    config: &Config,
    (plan, network): (&mut Draft, &Network),
    problems: &mut Problems<'_>,
) -> Carries {
    if entry.arrivals.is_none() && entry.load.is_none() {
        return Carries::Flow;
    }
    let Spread::Fixed(since_zero) = start else {
        problems
            .at(place!["flows", i, "start"], "distributed start of `arrivals`")
            .label("must be one fixed time");
        return Carries::Flow;
    };
    let from = Time::ZERO + *since_zero;
    let until = entry.until.map_or(plan.stop, |until| Time::ZERO + until.0).min(plan.stop);
    if until <= from && plan.stop > Time::ZERO {
        let key = if entry.until.is_some() { "until" } else { "start" };
        problems
            .at(place!["flows", i, key], "no time for arrivals")
            .label(format!("from {from} to {until}"));
    }
    let Some(volume) = volume(i, entry, problems) else { return Carries::Flow };
    warn_of_rounding(i, &volume, config, problems);
    let rate = match (entry.arrivals, entry.load) {
        (Some(rate), None) => Some(rate.0),
        (None, Some(load)) => rate_of_load(i, load.0, &volume, ways, config, network, problems),
        _ => {
            problems
                .at(place!["flows", i, "load"], "both `arrivals` and `load`")
                .label("omit one of them");
            None
        }
    };
    let Some(rate) = rate else { return Carries::Flow };
    let expected = rate.per_second() * until.saturating_since(from).as_secs_f64();
    if expected > MOST as f64 {
        let message = format!("about {expected:.0} flows arrive");
        problems.at(place!["flows", i, "arrivals"], message).label(format!("at most {MOST}"));
    }
    plan.arrivals.push(ArrivalsPlan {
        group,
        rate,
        from,
        until,
        volume,
        weights: ways.weights.clone(),
    });
    Carries::Arrivals(plan.arrivals.len() - 1)
}

/// Warns if many flow sizes are below one segment.
fn warn_of_rounding(i: usize, volume: &Volume, config: &Config, problems: &mut Problems<'_>) {
    const DRAWS: u32 = 2000;
    let mss = config.mss.count();
    let mut stream = Streams::new(1).stream("sizes below a segment");
    let smaller = (0..DRAWS).filter(|_| volume.draw(&mut stream) < mss).count();
    let share = smaller as f64 / f64::from(DRAWS);
    if share >= 0.1 {
        let message = format!(
            "about {:.0} % of the flows are smaller than a segment of {} and send a whole one, so that short flows have equal completion times: set a smaller `mss`, or larger sizes",
            share * 100.0,
            text::bytes(mss as f64),
        );
        let key = if matches!(volume, Volume::Fixed(_)) { "size" } else { "sizes" };
        problems.warn(WarningKind::WholeSegments, place!["flows", i, key], message);
    }
}

/// Returns the arrival rate at which the busiest port has this mean load, including headers, excluding ACKs
/// and retransmissions.
fn rate_of_load(
    i: usize,
    load: f64,
    volume: &Volume,
    ways: &Ways,
    config: &Config,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<PacketRate> {
    const MILLION_SECONDS_PS: u64 = 1_000_000_000_000_000_000;
    let place = place!["flows", i, "load"];
    if load.is_nan() || load <= 0.0 {
        problems.at(place, "load is zero").label("must be above 0");
        return None;
    }
    let weight = |route: usize| ways.weights.get(route).copied().unwrap_or(1) as f64;
    let mut weights: BTreeMap<DirectedLink, f64> = BTreeMap::new();
    for (number, route) in ways.routes.iter().enumerate() {
        for &hop in &route.hops {
            *weights.entry(hop).or_default() += weight(number);
        }
    }
    let all: f64 = (0..ways.routes.len()).map(weight).sum();
    let capacity = |hop: DirectedLink| {
        let bundle = network.bundles.iter().find(|bundle| bundle.leader() == hop.0);
        let rate = |(link, way): DirectedLink| network.links[link].directions[way].rate.bps();
        match bundle {
            Some(bundle) => bundle.ports(bundle.way(&network.links, hop)).map(rate).sum(),
            None => rate(hop),
        }
    };
    let mss = config.mss.count().max(1) as f64;
    let bits = volume.mean() * (mss + config.header.count() as f64) / mss * 8.0;
    let most = |(&hop, share): (&DirectedLink, &f64)| capacity(hop) as f64 / (share / all * bits);
    let least = weights.iter().map(most).fold(f64::INFINITY, f64::min);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates"
    )]
    let millionths = (load * least * 1e6) as u64;
    let rate = PacketRate::new(millionths, MILLION_SECONDS_PS);
    if rate.is_none() {
        problems.at(place, "arrival rate below one flow per 10^6 s").label("must be higher");
    }
    rate
}

/// Returns the amount of data per flow.
fn volume(i: usize, entry: &FlowsEntry, problems: &mut Problems<'_>) -> Option<Volume> {
    let place = place!["flows", i, "size"];
    match (entry.size, &entry.sizes) {
        (Some(_), Some(_)) => {
            problems.at(place, "both `size` and `sizes`").label("omit one of them");
            None
        }
        (Some(schema::Volume::Data(bytes)), None) if bytes.count() > 0 => {
            Some(Volume::Fixed(bytes.count()))
        }
        (None, Some(sizes)) => size_distribution(place!["flows", i, "sizes"], sizes, problems),
        (None, None) => {
            problems
                .at(place!["flows", i], "random arrivals need a finite size")
                .label("needs `size` or `sizes`")
                .help("for example: size = \"20 MB\"".to_owned());
            None
        }
        (Some(_), None) => {
            problems
                .at(place, "sizes of random arrivals are in bytes")
                .help("for example: size = \"20 MB\"".to_owned());
            None
        }
    }
}

/// Returns the distribution of flow sizes.
pub(super) fn size_distribution(
    place: &[Step<'_>],
    sizes: &SizesTable,
    problems: &mut Problems<'_>,
) -> Option<Volume> {
    let (allowed, needed): (&[&str], &[&str]) = match sizes.kind {
        SizesKind::Exponential => (&["mean"], &["mean"]),
        SizesKind::Pareto => (&["mean", "shape", "largest"], &["mean", "shape", "largest"]),
        SizesKind::WebLike => (&["largest"], &["largest"]),
        SizesKind::WebSearch | SizesKind::DataMining | SizesKind::Hadoop => (&["largest"], &[]),
        SizesKind::Points => (&["points", "largest"], &["points"]),
    };
    if !keys_fit(place, sizes, allowed, needed, problems) {
        return None;
    }
    let bytes = |size: Option<Size>| size.map_or(0, |size| size.0.count());
    let (mean, largest) = (bytes(sizes.mean), bytes(sizes.largest));
    let shape = sizes.shape.map_or(0.0, |shape| shape.0);
    let most = sizes.largest.map(|size| size.0.count() as f64);
    let volume = match sizes.kind {
        SizesKind::Exponential => (mean > 0).then_some(Volume::Exponential(mean)),
        SizesKind::Pareto => {
            BoundedPareto::with_mean(mean as f64, shape, largest as f64).map(Volume::Pareto)
        }
        SizesKind::WebLike => WebLike::new(largest as f64).map(Volume::Web),
        SizesKind::Points => {
            let points = points(place, sizes, problems)?;
            Workload::of_points(&points, most).map(Volume::Measured)
        }
        kind => Workload::new(kind, most).map(Volume::Measured),
    };
    if volume.is_none() {
        problems.at(place, "invalid size distribution").label(match sizes.kind {
            SizesKind::Exponential => "the mean must be above zero".to_owned(),
            SizesKind::Pareto => {
                "the mean must be below the maximum, the shape above zero, and the minimum size that results from \
                 the mean at least 1 B"
                    .to_owned()
            }
            SizesKind::WebLike => {
                format!("the tail begins at {} B: the maximum must be above it", WebLike::TAIL_FROM)
            }
            SizesKind::Points => {
                "the maximum must be above zero, and some flows must be at most this size".to_owned()
            }
            _ => "the maximum must be above zero".to_owned(),
        });
    }
    volume
}

/// Maximum number of points of a distribution.
const MOST_POINTS: usize = 1000;

/// Returns the points of a table as bytes and shares; `None` if they do not form a distribution.
fn points(
    of_table: &[Step<'_>],
    sizes: &SizesTable,
    problems: &mut Problems<'_>,
) -> Option<Vec<(f64, f64)>> {
    let all = sizes.points.as_deref().unwrap_or_default();
    let at = |more: &[Step<'static>]| [of_table, place!["points"], more].concat();
    let place = &at(&[]);
    let Some(last) = all.last() else {
        problems.at(place, "list without points").label("needs at least one point");
        return None;
    };
    if all.len() > MOST_POINTS {
        problems.at(place, format!("{} points", all.len())).label(format!("at most {MOST_POINTS}"));
        return None;
    }
    let mut good = true;
    for (j, two) in all.windows(2).enumerate() {
        let here = &at(place![j + 1]);
        if two[1].size.0 < two[0].size.0 {
            let message = format!("{} after {}", two[1].size.0, two[0].size.0);
            problems.at(here, message).label("sizes must not decrease");
            good = false;
        }
        if two[1].percent.0 < two[0].percent.0 {
            let message = format!("{} % after {} %", two[1].percent.0, two[0].percent.0);
            problems.at(here, message).label("percentages must not decrease");
            good = false;
        }
    }
    if good && last.percent.0.total_cmp(&100.0).is_ne() {
        let place = &at(place![all.len() - 1]);
        problems
            .at(place, format!("the last point has {} %", last.percent.0))
            .label("must be 100 %");
        good = false;
    }
    let share = |point: &SizePoint| (point.size.0.count() as f64, point.percent.0 / 100.0);
    good.then(|| all.iter().map(share).collect())
}

/// Returns whether a table of sizes has exactly the keys of its kind.
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
        ("points", sizes.points.is_some()),
    ];
    for (key, given) in keys {
        if given && !allowed.contains(&key) {
            let place = [place, place![key]].concat();
            problems.at(&place, format!("`{}` sizes have no `{key}` here", sizes.kind.name()));
        }
        if !given && needed.contains(&key) {
            problems.at(place, format!("`{}` sizes need `{key}`", sizes.kind.name()));
        }
    }
    problems.found.len() == before
}
