//! Definitions of the metrics of a run.

mod durations;

use std::collections::BTreeMap;
use std::ops::Range;

use optcp_runs::{DropReason, Run, Series, Values};
use optcp_scenario::Plan;
use optcp_scenario::plan::{ChangePlan, DirectedLink, MeasurePlan};
use optcp_traffic::hurst::local_whittle;
use optcp_units::{Duration, Time};

use crate::survival::{Estimate, Observation, Survival};

/// Metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Name in tables, files, API and documentation.
    pub name: &'static str,
    /// Unit; empty for a share or a pure number.
    pub unit: &'static str,
    /// Subject with one value each, such as a group or port.
    pub of: &'static str,
    /// Possible values.
    pub bounds: Bounds,
    /// Definition.
    pub summary: &'static str,
    /// Condition under which a run has no value.
    pub absent: &'static str,
    /// Treatment of flows that are unfinished at the end of the run.
    pub unfinished: &'static str,
    /// `true`: it covers the part of the run given by `[measure]` instead of the whole run.
    pub measured: bool,
}

/// Range of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Zero or more.
    NotNegative,
    /// From zero to one.
    Share,
    /// Any number.
    Any,
}

impl Bounds {
    /// Returns minimum and maximum, both possible; infinite if unbounded.
    #[must_use]
    pub const fn ends(self) -> (f64, f64) {
        match self {
            Bounds::NotNegative => (0.0, f64::INFINITY),
            Bounds::Share => (0.0, 1.0),
            Bounds::Any => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

macro_rules! metrics {
    ($( $CONST:ident $name:literal $unit:literal $of:literal $bounds:ident: $summary:literal
        absent: $absent:literal, unfinished: $unfinished:literal $(, $measured:ident)?; )+) => {
        $( const $CONST: Metric = Metric {
            name: $name,
            unit: $unit,
            of: $of,
            bounds: Bounds::$bounds,
            summary: $summary,
            absent: $absent,
            unfinished: $unfinished,
            measured: metrics!(@measured $($measured)?),
        }; )+
        /// All metrics, in the order of tables.
        pub const METRICS: &[Metric] = &[$( $CONST ),+];
    };
    (@measured measured) => { true };
    (@measured) => { false };
}

metrics! {
    GOODPUT "goodput_bps" "bit/s" "group" NotNegative:
        "New in-order payload at receivers, per unit of time."
        absent: "`goodput` not observed", unfinished: "bytes received so far", measured;
    ACTIVE "active_goodput_bps" "bit/s" "group" NotNegative:
        "The same payload, over the time from `active_from_s` to `active_to_s`."
        absent: "no flow started", unfinished: "bytes received so far";
    ACTIVE_FROM "active_from_s" "s" "group" NotNegative:
        "Start of the first flow."
        absent: "no flow started", unfinished: "not affected";
    ACTIVE_TO "active_to_s" "s" "group" NotNegative:
        "Time at which the last flow had all of its data in order."
        absent: "no flow started", unfinished: "the end of the run";
    MEAN "completion_mean_s" "s" "group" NotNegative:
        "Mean completion time, from a flow's start to its last in-order byte."
        absent: "no flow with a size started", unfinished: "product-limit estimator; infinite if the longest flow is unfinished, `at_least` is then the restricted mean", measured;
    P50 "completion_p50_s" "s" "group" NotNegative:
        "Median completion time: the smallest that half of all flows do not exceed."
        absent: "no flow with a size started", unfinished: "later than the end of the run; infinite if the quantile falls there, `at_least` is then the longest time observed", measured;
    P95 "completion_p95_s" "s" "group" NotNegative:
        "95th percentile of completion times."
        absent: "no flow with a size started", unfinished: "as for `completion_p50_s`", measured;
    P99 "completion_p99_s" "s" "group" NotNegative:
        "99th percentile of completion times."
        absent: "no flow with a size started", unfinished: "as for `completion_p50_s`", measured;
    ENDED "completed_flows" "flows" "group" NotNegative:
        "Flows that received all of their data."
        absent: "no flow with a size", unfinished: "not counted", measured;
    UNFINISHED "unfinished_flows" "flows" "group" NotNegative:
        "Flows with a size that started and did not receive all of their data."
        absent: "no flow with a size", unfinished: "counted", measured;
    OPERATION_MEAN "operation_mean_s" "s" "group" NotNegative:
        "Mean duration of [operations](../details/applications.md)."
        absent: "no operation began", unfinished: "as for `completion_mean_s`", measured;
    OPERATION_P50 "operation_p50_s" "s" "group" NotNegative:
        "Median."
        absent: "no operation began", unfinished: "as for `completion_p50_s`", measured;
    OPERATION_P95 "operation_p95_s" "s" "group" NotNegative:
        "95th percentile."
        absent: "no operation began", unfinished: "as for `completion_p50_s`", measured;
    OPERATION_P99 "operation_p99_s" "s" "group" NotNegative:
        "99th percentile."
        absent: "no operation began", unfinished: "as for `completion_p50_s`", measured;
    OPERATIONS "completed_operations" "operations" "group" NotNegative:
        "Operations that ended."
        absent: "no application", unfinished: "not counted", measured;
    OPERATIONS_OPEN "unfinished_operations" "operations" "group" NotNegative:
        "Operations that began and did not end."
        absent: "no application", unfinished: "counted", measured;
    ABORTED "aborted_flows" "flows" "group" NotNegative:
        "Unfinished flows whose sender gave up."
        absent: "no sender may give up", unfinished: "counted", measured;
    OUTAGE "outage_p50_s" "s" "group" Any:
        "Median over affected flows of the longest gap without new in-order bytes, minus the usual gap."
        absent: "no affected flow", unfinished: "a gap that the end of the run cuts is longer than observed; infinite if the median falls there";
    OUTAGE_LONGEST "outage_longest_s" "s" "group" Any:
        "Maximum over affected flows of the longest gap, minus the usual gap."
        absent: "no affected flow", unfinished: "infinite if a gap is cut by the end of the run, `at_least` is then the longest observed";
    HIT "hit_flows" "flows" "group" NotNegative:
        "Affected flows: those that lost packets to a failure or to a switchover; a copy of a packet that arrives is no loss."
        absent: "`outages` not observed", unfinished: "counted";
    UTILISATION "utilisation" "" "port" Share:
        "Bits whose transmission ended over the bits that the port's rate allows, its changes by schedule included; at most 1."
        absent: "`load` not observed", unfinished: "not affected", measured;
    HURST "hurst" "" "group" Any:
        "Hurst parameter of packets sent per interval, by the local Whittle method."
        absent: "too few intervals, or constant counts", unfinished: "not affected", measured;
    HURST_ERROR "hurst_error" "" "group" NotNegative:
        "Asymptotic standard error of `hurst`."
        absent: "as for `hurst`", unfinished: "not affected", measured;
    SOJOURN "sojourn_mean_s" "s" "port" NotNegative:
        "Mean queueing delay of transmitted packets, from arrival to the first bit sent."
        absent: "`sojourn` not observed, or nothing was sent", unfinished: "not affected", measured;
    SOJOURN_LONGEST "sojourn_longest_s" "s" "port" NotNegative:
        "Maximum queueing delay of transmitted packets."
        absent: "as for `sojourn_mean_s`", unfinished: "not affected", measured;
    QUEUE "queue_mean_packets" "packets" "port" NotNegative:
        "Mean queue length over time, the packet in transmission included."
        absent: "`queue` not observed", unfinished: "not affected", measured;
    QUEUE_LONGEST "queue_max_packets" "packets" "port" NotNegative:
        "Maximum queue length, the packet in transmission included."
        absent: "`queue` not observed", unfinished: "not affected", measured;
    BURSTS "bursts" "bursts" "fibre" NotNegative:
        "Bursts that requested a wavelength."
        absent: "`fibres` not observed", unfinished: "not affected";
    BURST_LOSS "burst_loss" "" "fibre" Share:
        "Share of these bursts that got no wavelength."
        absent: "no burst", unfinished: "not affected";
    WAVELENGTHS "wavelength_utilisation" "" "fibre" Share:
        "Share of time for which wavelengths were reserved, mean over intervals."
        absent: "`fibres` not observed", unfinished: "not affected";
    DROP_SHARE "drop_share" "" "" Share:
        "Dropped packets over packets that entered the network (`sent` and `duplicated`). In a part of the run, the share is of the packets delivered or dropped in it."
        absent: "nothing was sent", unfinished: "not affected", measured;
    DROPS "drops" "packets" "reason" NotNegative:
        "Packets dropped, data and ACKs; each once, by the reason of its loss."
        absent: "never: each run has a row for each reason", unfinished: "not affected";
    SENT "sent" "packets" "" NotNegative:
        "Packets that entered the network, data and ACKs."
        absent: "never", unfinished: "packets sent so far";
    DELIVERED "delivered" "packets" "" NotNegative:
        "Packets that arrived at an endpoint, each once."
        absent: "never", unfinished: "packets delivered so far";
    DROPPED "dropped" "packets" "" NotNegative:
        "Packets dropped for any reason, of which no copy arrives; each once."
        absent: "never", unfinished: "not affected";
    IN_FLIGHT "in_flight" "packets" "" NotNegative:
        "Packets and copies in queues and on links at the end of the run."
        absent: "never", unfinished: "not affected";
    COPIED "copied" "packets" "" NotNegative:
        "Second copies of packets, sent by 1+1 protection or made by a link."
        absent: "no copies", unfinished: "not affected";
    DUPLICATED "duplicated" "packets" "" NotNegative:
        "Copies that count as separate packets: made by `duplication` of packets that 1+1 has not copied."
        absent: "none", unfinished: "not affected";
    COPIES_DISCARDED "copies_discarded" "packets" "" NotNegative:
        "Copies that ended without deciding the fate of their packet: at a selector, on one path of two, or as the second to arrive."
        absent: "none", unfinished: "copies that ended so far";
    MARKED "marked" "packets" "" NotNegative:
        "ECN marks that queues set; a packet counts once per queue that marks it."
        absent: "no marks", unfinished: "not affected";
    HOPS "packet_hops" "hops" "" NotNegative:
        "Transmissions of a packet by a port."
        absent: "never", unfinished: "not affected";
    EVENTS "events" "events" "" NotNegative:
        "Events that the engine processed; the only metric that depends on the engine."
        absent: "never", unfinished: "not affected";
    ANNOUNCEMENTS "announcements" "messages" "" NotNegative:
        "Link states that routers originated."
        absent: "no routing", unfinished: "not affected";
}

/// Name for all fibres of an observation together.
const ALL_FIBRES: &str = "all";

/// Value of a metric in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Metric.
    pub metric: Metric,
    /// Group, port, fibre or reason; empty for metrics with one value per run.
    pub of: String,
    /// Value; infinite if the run only shows a lower bound, `at_least`.
    pub value: f64,
    /// `value`, or its lower bound.
    pub at_least: f64,
}

/// Returns every metric of a run that has a value. If two observations record the same quantity, the first
/// counts.
#[must_use]
pub fn scalars(run: &Run, plan: &Plan) -> Vec<Scalar> {
    let mut found = Found::default();
    let window = plan.measure.unwrap_or(MeasurePlan { after: Time::ZERO, until: plan.stop });
    for series in &run.series {
        match series.kind {
            "goodput" => goodput(series, run, window, &mut found),
            "load" => load(series, plan, window, &mut found),
            "queue" => queue(series, window, &mut found),
            "completions" => {
                durations::of_series(&durations::FLOWS, series, plan, window, &mut found)
            }
            "operations" => {
                durations::of_series(&durations::OPERATIONS, series, plan, window, &mut found);
            }
            "outages" => outages(series, plan, &mut found),
            "datagrams" => datagrams(series, window, &mut found),
            "fibres" => fibres(series, &mut found),
            "sojourn" => sojourn(series, window, &mut found),
            _ => {}
        }
    }
    durations::of_run(run, plan, window, &mut found);
    // One row per reason in each run: missing rows would bias means over runs.
    for reason in DropReason::ALL.map(DropReason::name) {
        let dropped = run.drops.iter().find(|(name, _)| *name == reason);
        found.add(DROPS, reason, float(dropped.map_or(0, |&(_, count)| count)));
    }
    for (name, count) in &run.counts {
        if let Some(metric) = METRICS.iter().find(|metric| metric.name == *name) {
            found.add(*metric, "", float(*count));
        }
    }
    let (dropped, of) = match &run.measured {
        Some(counts) => {
            let dropped = float(counts.dropped_in_all());
            (Some(dropped), Some(dropped + float(counts.delivered)))
        }
        None => {
            let entered = found.of(SENT).map(|sent| sent + found.of(DUPLICATED).unwrap_or(0.0));
            (found.of(DROPPED), entered)
        }
    };
    if let (Some(dropped), Some(of)) = (dropped, of.filter(|&of| of > 0.0)) {
        found.add(DROP_SHARE, "", dropped / of);
    }
    if let Some(routing) = &run.routing {
        found.add(ANNOUNCEMENTS, "", float(routing.announcements));
    }
    let place = |scalar: &Scalar| METRICS.iter().position(|metric| *metric == scalar.metric);
    found.0.sort_by_key(place);
    found.0
}

#[derive(Default)]
struct Found(Vec<Scalar>);

impl Found {
    fn add(&mut self, metric: Metric, of: &str, value: f64) {
        self.estimate(metric, of, Estimate::exact(value));
    }

    fn estimate(&mut self, metric: Metric, of: &str, Estimate { value, at_least }: Estimate) {
        if !self.has(metric, of) {
            self.0.push(Scalar { metric, of: of.to_owned(), value, at_least });
        }
    }

    /// Returns whether a metric has a value for a group.
    fn has(&self, metric: Metric, of: &str) -> bool {
        self.0.iter().any(|one| one.metric == metric && one.of == of)
    }

    fn of(&self, metric: Metric) -> Option<f64> {
        self.0.iter().find(|one| one.metric == metric).map(|one| one.value)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and instants as real numbers, for people")]
fn float(count: u64) -> f64 {
    count as f64
}

fn seconds(ps: u64) -> f64 {
    float(ps) / 1e12
}

/// Returns the values of a column as real numbers; empty if the column does not exist.
fn column(series: &Series, name: &str) -> Vec<f64> {
    let column = series.columns.iter().find(|column| column.name == name);
    match column.map(|column| &column.values) {
        Some(Values::U64(values)) => values.iter().map(|&value| float(value)).collect(),
        Some(Values::U32(values)) => values.iter().map(|&value| f64::from(value)).collect(),
        Some(Values::U8(values)) => values.iter().map(|&value| f64::from(value)).collect(),
        Some(Values::Bool(values)) => {
            values.iter().map(|&value| f64::from(u8::from(value))).collect()
        }
        Some(Values::F64(values)) => values.clone(),
        None => Vec::new(),
    }
}

/// Iterates over the rows of an interval series: name, and values of a column.
fn rows<'a>(series: &'a Series, values: &'a [f64]) -> impl Iterator<Item = (&'a str, &'a [f64])> {
    let names = series.names.first().map_or(&[][..], |(_, names)| names);
    let length = values.len().checked_div(names.len()).unwrap_or(0);
    names
        .iter()
        .enumerate()
        .map(move |(row, name)| (name.as_str(), &values[row * length..(row + 1) * length]))
}

/// Returns the intervals of a series that lie in a part of the run.
fn intervals(window: MeasurePlan, series: &Series) -> Range<usize> {
    window.intervals(series.interval.unwrap_or(Duration::from_ps(u64::MAX)))
}

fn goodput(series: &Series, run: &Run, window: MeasurePlan, found: &mut Found) {
    let bytes = column(series, "bytes");
    for (group, bytes) in rows(series, &bytes) {
        let measured: f64 = bytes[intervals(window, series)].iter().sum();
        let lasted = seconds(window.lasts().as_ps());
        if lasted > 0.0 {
            found.add(GOODPUT, group, 8.0 * measured / lasted);
        }
        if let Some(active) = run.active.iter().find(|active| active.group == group) {
            let (from_s, to_s) = (seconds(active.from.as_ps()), seconds(active.to.as_ps()));
            found.add(ACTIVE_FROM, group, from_s);
            found.add(ACTIVE_TO, group, to_s);
            if to_s > from_s {
                found.add(ACTIVE, group, 8.0 * bytes.iter().sum::<f64>() / (to_s - from_s));
            }
        }
    }
}

fn load(series: &Series, plan: &Plan, window: MeasurePlan, found: &mut Found) {
    let bytes = column(series, "bytes");
    let ports = (0..plan.links.len()).flat_map(|link| [(link, 0), (link, 1)]);
    let ports: BTreeMap<String, DirectedLink> =
        ports.map(|port| (plan.port_name(port), port)).collect();
    for (name, bytes) in rows(series, &bytes) {
        let can = ports.get(name).map(|&port| capacity_bits(plan, port, window));
        if let Some(can) = can.filter(|&can| can > 0.0) {
            let measured: f64 = bytes[intervals(window, series)].iter().sum();
            // A transmission counts completely at its end: one that crosses a bound or a change of rate must
            // not raise the share above 1.
            found.add(UTILISATION, name, (8.0 * measured / can).min(1.0));
        }
    }
}

/// Returns the bits that the rate of a port allows in a part of the run, including scheduled changes of rate.
fn capacity_bits(plan: &Plan, port: DirectedLink, window: MeasurePlan) -> f64 {
    let mut changes: Vec<(Time, f64)> = Vec::new();
    for schedule in &plan.schedules {
        for step in &schedule.steps {
            let rates = step.changes.iter().filter(|(of, _)| *of == port);
            let rates = rates.filter_map(|(_, change)| match change {
                ChangePlan::Rate(rate) => Some(float(rate.bps())),
                _ => None,
            });
            for rate in rates {
                let mut at = Some(schedule.start + step.after);
                while let Some(change) = at.filter(|at| *at < window.until) {
                    changes.push((change, rate));
                    at = schedule.period.map(|period| change + period);
                }
            }
        }
    }
    changes.sort_by_key(|(at, _)| *at);
    let (mut bits, mut since) = (0.0, window.after);
    let mut rate = float(plan.links[port.0].directions[port.1].rate.bps());
    for (at, next) in changes.into_iter().chain([(window.until, 0.0)]) {
        bits += rate * seconds(at.saturating_since(since).as_ps());
        since = since.max(at);
        rate = next;
    }
    bits
}

fn queue(series: &Series, window: MeasurePlan, found: &mut Found) {
    let (means, most) = (column(series, "mean_packets"), column(series, "max_packets"));
    let interval = series.interval.map_or(u64::MAX, Duration::as_ps);
    for ((port, means), (_, most)) in rows(series, &means).zip(rows(series, &most)) {
        let measured = intervals(window, series);
        // The end of the run may cut the last interval.
        let length = |place: usize| {
            let from = interval.saturating_mul(place as u64);
            seconds(interval.min(series.stop.as_ps().saturating_sub(from)))
        };
        let area: f64 = measured.clone().map(|place| means[place] * length(place)).sum();
        let lasted: f64 = measured.clone().map(length).sum();
        if lasted > 0.0 {
            found.add(QUEUE, port, area / lasted);
            found.add(QUEUE_LONGEST, port, most[measured].iter().copied().fold(0.0, f64::max));
        }
    }
}

/// Returns the selected groups of a series with one row per flow: name, and indices of the rows.
fn by_group<'a>(series: &'a Series, plan: &Plan) -> Vec<(&'a str, Vec<usize>)> {
    let names = series.names.iter().find(|(list, _)| *list == "groups");
    let names = names.map_or(&[][..], |(_, names)| names);
    let of = column(series, "group");
    let observed = plan.observe.iter().find(|observed| observed.name == series.name);
    // Groups are compared by their numbers: there may be many flows.
    let ours = |group: usize| {
        (0..of.len()).filter(|&row| (of[row] - float(group as u64)).abs() < 0.5).collect()
    };
    let chosen = observed.map_or(&[][..], |observed| &observed.groups).iter();
    chosen.filter_map(|&group| Some((names.get(group)?.as_str(), ours(group)))).collect()
}

fn outages(series: &Series, plan: &Plan, found: &mut Found) {
    let (gaps, usual) = (column(series, "gap_ps"), column(series, "usual_gap_ps"));
    let (lost, ended) = (column(series, "lost_packets"), column(series, "ended"));
    for (name, ours) in by_group(series, plan) {
        let gap = |row: usize| Observation {
            seconds: (gaps[row] - usual[row]) / 1e12,
            ended: ended[row] > 0.5,
        };
        let gaps: Vec<Observation> =
            ours.into_iter().filter(|&row| lost[row] > 0.5).map(gap).collect();
        found.add(HIT, name, float(gaps.len() as u64));
        if let Some(times) = Survival::of(gaps) {
            found.estimate(OUTAGE, name, times.quantile(0.5));
            found.estimate(OUTAGE_LONGEST, name, times.longest());
        }
    }
}

fn datagrams(series: &Series, window: MeasurePlan, found: &mut Found) {
    let sent = column(series, "sent_packets");
    let Some(interval) = series.interval else { return };
    // A last interval cut by the end of the run does not count.
    let whole = usize::try_from(series.stop.as_ps() / interval.as_ps()).unwrap_or(usize::MAX);
    let Range { start, end } = intervals(window, series);
    for (group, counts) in rows(series, &sent) {
        let end = end.min(whole).min(counts.len());
        if let Some(estimate) = local_whittle(&counts[start.min(end)..end]) {
            found.add(HURST, group, estimate.hurst);
            found.add(HURST_ERROR, group, estimate.standard_error);
        }
    }
}

fn sojourn(series: &Series, window: MeasurePlan, found: &mut Found) {
    let (packets, means) = (column(series, "packets"), column(series, "mean_ps"));
    let longest = column(series, "longest_ps");
    let by_port = rows(series, &packets).zip(rows(series, &means)).zip(rows(series, &longest));
    for (((port, packets), (_, means)), (_, longest)) in by_port {
        let measured = intervals(window, series);
        let (packets, means, longest) =
            (&packets[measured.clone()], &means[measured.clone()], &longest[measured]);
        let sent = packets.iter().sum::<f64>();
        if sent > 0.0 {
            let sum: f64 = packets.iter().zip(means).map(|(packets, mean)| packets * mean).sum();
            found.add(SOJOURN, port, sum / sent / 1e12);
            let longest = longest.iter().copied().fold(0.0, f64::max);
            found.add(SOJOURN_LONGEST, port, longest / 1e12);
        }
    }
}

fn fibres(series: &Series, found: &mut Found) {
    let (bursts, lost) = (column(series, "bursts"), column(series, "lost"));
    let busy = column(series, "utilisation");
    let mut add = |fibre: &str, bursts: &[f64], lost: &[f64], busy: &[f64]| {
        let asked = bursts.iter().sum::<f64>();
        found.add(BURSTS, fibre, asked);
        if asked > 0.0 {
            found.add(BURST_LOSS, fibre, lost.iter().sum::<f64>() / asked);
        }
        if !busy.is_empty() {
            found.add(WAVELENGTHS, fibre, busy.iter().sum::<f64>() / float(busy.len() as u64));
        }
    };
    add(ALL_FIBRES, &bursts, &lost, &busy);
    for (((fibre, bursts), (_, lost)), (_, busy)) in
        rows(series, &bursts).zip(rows(series, &lost)).zip(rows(series, &busy))
    {
        add(fibre, bursts, lost, busy);
    }
}
