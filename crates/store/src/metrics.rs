//! What a run comes to: each metric's one definition.

use optcp_runs::{Run, Series, Values};
use optcp_scenario::Plan;
use optcp_traffic::hurst::local_whittle;

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name, in tables, files, the API and the docs.
    pub name: &'static str,
    /// Its unit; empty for a share or a pure number.
    pub unit: &'static str,
    /// Of what there is one each, in a run.
    pub of: &'static str,
    /// Its definition.
    pub summary: &'static str,
}

macro_rules! metrics {
    ($( $CONST:ident $name:literal $unit:literal $of:literal $summary:literal; )+) => {
        $( const $CONST: Metric = Metric { name: $name, unit: $unit, of: $of, summary: $summary }; )+
        /// Every metric, in the order of tables.
        pub const METRICS: &[Metric] = &[$( $CONST ),+];
    };
}

metrics! {
    GOODPUT "goodput_bps" "bit/s" "group" "Newly acknowledged in-order payload over the whole run, from 0 to its end.";
    ACTIVE "active_goodput_bps" "bit/s" "group" "The same payload over the time in which the group was active: from the start of its first flow to the end of its last, or of the run.";
    ACTIVE_FROM "active_from_s" "s" "group" "When its first flow started.";
    ACTIVE_TO "active_to_s" "s" "group" "When the last of its flows had all of its data in order at the receiver; the run's end if one never had.";
    MEAN "completion_mean_s" "s" "group" "Mean completion time of the flows that ended, from start to the last in-order byte.";
    P50 "completion_p50_s" "s" "group" "Their median.";
    P95 "completion_p95_s" "s" "group" "Their 95th percentile.";
    P99 "completion_p99_s" "s" "group" "Their 99th percentile.";
    ENDED "completed_flows" "flows" "group" "Flows that ended.";
    UNFINISHED "unfinished_flows" "flows" "group" "Flows that had started and did not end.";
    OUTAGE "outage_p50_s" "s" "group" "Of flows that lost packets to a failure, how much longer the longest gap without new in-order bytes was than is usual: their median.";
    OUTAGE_LONGEST "outage_longest_s" "s" "group" "The longest of these times.";
    HIT "hit_flows" "flows" "group" "Flows that lost packets to a failure.";
    UTILISATION "utilisation" "" "port" "Bits whose transmission ended in the run, over what the port's rate allows.";
    HURST "hurst" "" "group" "Hurst parameter of the packets sent an interval, by the local Whittle method.";
    HURST_ERROR "hurst_error" "" "group" "The asymptotic standard error of that estimate.";
    SOJOURN "sojourn_mean_s" "s" "port" "Mean time that the packets which it sent had waited in its queue, from arrival until the first bit left.";
    SOJOURN_LONGEST "sojourn_longest_s" "s" "port" "The longest of these times.";
    BURSTS "bursts" "bursts" "fibre" "Bursts that asked for a wavelength.";
    BURST_LOSS "burst_loss" "" "fibre" "The share of them that got none.";
    WAVELENGTHS "wavelength_utilisation" "" "fibre" "The share of time that wavelengths were reserved, mean over intervals.";
    DROP_SHARE "drop_share" "" "" "Dropped packets over those sent.";
    DROPS "drops" "packets" "reason" "Packets dropped, data and ACKs.";
    SENT "sent" "packets" "" "Packets that entered the network, data and ACKs.";
    DELIVERED "delivered" "packets" "" "Packets that arrived.";
    DROPPED "dropped" "packets" "" "Packets dropped for any reason.";
    IN_FLIGHT "in_flight" "packets" "" "Packets in flight when the run ended.";
    COPIED "copied" "packets" "" "Second copies of packets, that 1+1 protection sends or a link makes.";
    MARKED "marked" "packets" "" "Packets that queues marked, each time one did; none where no queue has.";
    HOPS "packet_hops" "hops" "" "Transmissions of a packet by a port.";
    EVENTS "events" "events" "" "Events that the kernel took.";
    ANNOUNCEMENTS "announcements" "messages" "" "Link states that routers originated.";
}

/// The fibres of an observation together.
const ALL_FIBRES: &str = "all";

/// A metric's value in a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) metric: Metric,
    pub(crate) of: String,
    pub(crate) value: f64,
}

/// Every metric of a run that has a value; where two observations see the same thing, the first counts.
pub(crate) fn scalars(run: &Run, plan: &Plan) -> Vec<Scalar> {
    let mut found = Found::default();
    for series in &run.series {
        match series.kind {
            "goodput" => goodput(series, run, &mut found),
            "load" => load(series, plan, &mut found),
            "completions" => completions(series, plan, &mut found),
            "outages" => outages(series, plan, &mut found),
            "datagrams" => datagrams(series, &mut found),
            "fibres" => fibres(series, &mut found),
            "sojourn" => sojourn(series, &mut found),
            _ => {}
        }
    }
    for (reason, count) in &run.drops {
        found.add(DROPS, reason, float(*count));
    }
    for (name, count) in &run.counts {
        if let Some(metric) = METRICS.iter().find(|metric| metric.name == *name) {
            found.add(*metric, "", float(*count));
        }
    }
    if let (Some(dropped), Some(sent)) =
        (found.of(DROPPED), found.of(SENT).filter(|&sent| sent > 0.0))
    {
        found.add(DROP_SHARE, "", dropped / sent);
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
        if !self.0.iter().any(|one| one.metric == metric && one.of == of) {
            self.0.push(Scalar { metric, of: of.to_owned(), value });
        }
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

/// The values of a column, as real numbers; empty where there is none of the name.
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

/// The rows of a kind with intervals: each name with its values in a column.
fn rows<'a>(series: &'a Series, values: &'a [f64]) -> impl Iterator<Item = (&'a str, &'a [f64])> {
    let names = series.names.first().map_or(&[][..], |(_, names)| names);
    let length = values.len().checked_div(names.len()).unwrap_or(0);
    names
        .iter()
        .enumerate()
        .map(move |(row, name)| (name.as_str(), &values[row * length..(row + 1) * length]))
}

fn goodput(series: &Series, run: &Run, found: &mut Found) {
    let bytes = column(series, "bytes");
    for (group, bytes) in rows(series, &bytes) {
        let bits = 8.0 * bytes.iter().sum::<f64>();
        let whole_s = seconds(series.stop.as_ps());
        if whole_s > 0.0 {
            found.add(GOODPUT, group, bits / whole_s);
        }
        if let Some(active) = run.active.iter().find(|active| active.group == group) {
            let (from_s, to_s) = (seconds(active.from.as_ps()), seconds(active.to.as_ps()));
            found.add(ACTIVE_FROM, group, from_s);
            found.add(ACTIVE_TO, group, to_s);
            if to_s > from_s {
                found.add(ACTIVE, group, bits / (to_s - from_s));
            }
        }
    }
}

fn load(series: &Series, plan: &Plan, found: &mut Found) {
    let bytes = column(series, "bytes");
    let ports = (0..plan.links.len()).flat_map(|link| [(link, 0), (link, 1)]);
    let rates: std::collections::BTreeMap<String, f64> = ports
        .map(|port| (plan.port_name(port), float(plan.links[port.0].directions[port.1].rate.bps())))
        .collect();
    for (port, bytes) in rows(series, &bytes) {
        let can = rates.get(port).map(|rate| rate * seconds(series.stop.as_ps()));
        if let Some(can) = can.filter(|&can| can > 0.0) {
            found.add(UTILISATION, port, 8.0 * bytes.iter().sum::<f64>() / can);
        }
    }
}

/// The chosen groups of a series with a row a flow: each name with the places of its rows.
fn by_group<'a>(series: &'a Series, plan: &Plan) -> Vec<(&'a str, Vec<usize>)> {
    let names = series.names.iter().find(|(list, _)| *list == "groups");
    let names = names.map_or(&[][..], |(_, names)| names);
    let of = column(series, "group");
    let observed = plan.observe.iter().find(|observed| observed.name == series.name);
    // Flows are many: what compares groups is a whole number in both.
    let ours = |group: usize| {
        (0..of.len()).filter(|&row| (of[row] - float(group as u64)).abs() < 0.5).collect()
    };
    let chosen = observed.map_or(&[][..], |observed| &observed.groups).iter();
    chosen.filter_map(|&group| Some((names.get(group)?.as_str(), ours(group)))).collect()
}

fn completions(series: &Series, plan: &Plan, found: &mut Found) {
    let (ends, starts) = (column(series, "time_ps"), column(series, "start_ps"));
    let finished = column(series, "finished");
    for (name, ours) in by_group(series, plan) {
        let (ended, left): (Vec<usize>, Vec<usize>) =
            ours.into_iter().partition(|&row| finished[row] > 0.5);
        let mut times: Vec<f64> =
            ended.iter().map(|&row| (ends[row] - starts[row]) / 1e12).collect();
        times.sort_by(f64::total_cmp);
        found.add(ENDED, name, float(times.len() as u64));
        found.add(UNFINISHED, name, float(left.len() as u64));
        if !times.is_empty() {
            found.add(MEAN, name, times.iter().sum::<f64>() / float(times.len() as u64));
            for (metric, share) in [(P50, 0.5), (P95, 0.95), (P99, 0.99)] {
                found.add(metric, name, quantile(&times, share));
            }
        }
    }
}

fn outages(series: &Series, plan: &Plan, found: &mut Found) {
    let (gaps, usual) = (column(series, "gap_ps"), column(series, "usual_gap_ps"));
    let lost = column(series, "lost_packets");
    for (name, ours) in by_group(series, plan) {
        let hit = ours.into_iter().filter(|&row| lost[row] > 0.5);
        let mut times: Vec<f64> = hit.map(|row| (gaps[row] - usual[row]) / 1e12).collect();
        times.sort_by(f64::total_cmp);
        found.add(HIT, name, float(times.len() as u64));
        if let Some(&longest) = times.last() {
            found.add(OUTAGE, name, quantile(&times, 0.5));
            found.add(OUTAGE_LONGEST, name, longest);
        }
    }
}

/// The quantile of sorted values, linear between two of them (type 7 of Hyndman and Fan, 1996).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place among values, from 0 to their number"
)]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * float(sorted.len() as u64 - 1);
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + part * (sorted[above] - sorted[below])
}

fn datagrams(series: &Series, found: &mut Found) {
    let sent = column(series, "sent_packets");
    let Some(interval) = series.interval else { return };
    // A last interval that the run's end cuts is none.
    let whole = usize::try_from(series.stop.as_ps() / interval.as_ps()).unwrap_or(usize::MAX);
    for (group, counts) in rows(series, &sent) {
        if let Some(estimate) = local_whittle(&counts[..whole.min(counts.len())]) {
            found.add(HURST, group, estimate.hurst);
            found.add(HURST_ERROR, group, estimate.standard_error);
        }
    }
}

fn sojourn(series: &Series, found: &mut Found) {
    let (packets, means) = (column(series, "packets"), column(series, "mean_ps"));
    let longest = column(series, "longest_ps");
    let by_port = rows(series, &packets).zip(rows(series, &means)).zip(rows(series, &longest));
    for (((port, packets), (_, means)), (_, longest)) in by_port {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        // By hand: place 0.95 * 3 = 2.85 of 1, 2, 4, 8.
        assert!((quantile(&[1.0, 2.0, 4.0, 8.0], 0.95) - 7.4).abs() < 1e-12);
        assert!((quantile(&[3.0], 0.99) - 3.0).abs() < 1e-12);
        assert!((quantile(&[1.0, 2.0, 4.0, 8.0], 0.5) - 3.0).abs() < 1e-12);
    }
}
