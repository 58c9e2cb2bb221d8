//! Metrics, computed again from packets and from rows of flows: plainly, and by other ways than the reducers take.

use std::collections::{BTreeMap, BTreeSet};

use optcp_runs::Series;
use optcp_scenario::Scenario;
use optcp_scenario::plan::{ChangePlan, ObserveKind};
use optcp_store::{METRICS, Scalar, scalars};

use super::{Evidence, called, names, real, whole};
use crate::check::{Failure, count, failure};

/// Relative difference of numbers that differ by rounding only.
const ROUNDING: f64 = 1e-9;

/// Value and lower bound of a metric, by its name and subject.
type Expected = BTreeMap<(&'static str, String), (f64, f64)>;

/// A duration in seconds, and whether its end was observed.
type Lasted = (f64, bool);

impl Evidence<'_> {
    /// Compares every metric that packets and rows tell with what the reducers say, and holds all to their bounds.
    pub(super) fn metrics(
        &self,
        scenario: &Scenario,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), Failure> {
        let found = scalars(self.run, scenario.plan());
        let mut known = BTreeSet::new();
        for one in &found {
            let what = format!("metric {}", one.metric.name);
            let (low, high) = one.metric.bounds.ends();
            let high = high * (1.0 + ROUNDING);
            let bounded = (low..=high).contains(&one.value) && one.at_least.is_finite();
            if !bounded || one.at_least > one.value + one.value.abs() * ROUNDING {
                return failure(&what, format!("{one:?} is out of bounds"));
            }
            if one.value.is_finite() && !near(one.value, one.at_least) {
                return failure(&what, format!("{one:?}: a number has a lower bound of its own"));
            }
            if !known.insert((one.metric.name, &one.of)) {
                return failure(&what, format!("{} twice", one.of));
            }
            let censored = if one.value.is_infinite() { ", censored" } else { "" };
            seen.insert(format!("{what}{censored}"));
        }
        for ((name, of), (value, at_least)) in self.expected() {
            let one = found.iter().find(|one| one.metric.name == name && one.of == of);
            let equal = |one: &Scalar| near(one.value, value) && near(one.at_least, at_least);
            if !one.is_some_and(equal) {
                let expected = format!("expected {value}, at least {at_least}");
                return failure(&format!("metric {name}"), format!("{of}: {one:?}, {expected}"));
            }
        }
        Ok(())
    }

    fn expected(&self) -> Expected {
        let mut expected = Expected::new();
        let mut add = |name: &str, of: &str, number: (f64, f64)| {
            let metric = METRICS.iter().find(|metric| metric.name == name).expect("a metric");
            expected.entry((metric.name, of.to_owned())).or_insert(number);
        };
        let exact = |value: f64| (value, value);
        let lasted_s = (self.measured().1 - self.measured().0) as f64 / 1e12;
        for (observed, series) in self.plan.observe.iter().zip(&self.run.series) {
            match observed.kind {
                ObserveKind::Goodput if self.may_discard => {}
                ObserveKind::Goodput => {
                    for group in names(series, "groups") {
                        let came = self.progress().into_iter();
                        let mine = came.filter(|&(at, flow, _)| {
                            self.is_measured(at) && self.group(flow) == group
                        });
                        let bytes: u64 = mine.map(|(_, _, bytes)| bytes).sum();
                        add("goodput_bps", group, exact(8.0 * bytes as f64 / lasted_s));
                    }
                }
                ObserveKind::Load => {
                    for name in names(series, "ports") {
                        let port = self.ports.iter().position(|port| port == name);
                        let Some(port) = port.filter(|&port| self.listed[port]) else { continue };
                        let sent = self.rows.iter().filter(|row| {
                            (row.event, row.port) == ("transmitted", Some(port))
                                && self.is_measured(row.at)
                        });
                        let bytes: u64 = sent.map(|row| row.bytes).sum();
                        add(
                            "utilisation",
                            name,
                            exact((8.0 * bytes as f64 / self.can_send_bits(port)).min(1.0)),
                        );
                    }
                }
                ObserveKind::Queue => {
                    for (row, name) in names(series, "ports").iter().enumerate() {
                        if let Some((mean, most)) = self.queue_length(series, row) {
                            add("queue_mean_packets", name, exact(mean));
                            add("queue_max_packets", name, exact(most));
                        }
                    }
                }
                ObserveKind::Sojourn => {
                    for name in names(series, "ports") {
                        let port = self.ports.iter().position(|port| port == name);
                        if !port.is_some_and(|port| self.listed[port]) {
                            continue;
                        }
                        let waits = self.sojourns(name).into_iter();
                        let waits = waits.filter(|(at, _)| self.is_measured(*at));
                        let waits: Vec<u64> = waits.map(|(_, wait)| wait).collect();
                        if let Some(longest) = waits.iter().max() {
                            let sum: u128 = waits.iter().map(|&wait| u128::from(wait)).sum();
                            add(
                                "sojourn_mean_s",
                                name,
                                exact(sum as f64 / waits.len() as f64 / 1e12),
                            );
                            add("sojourn_longest_s", name, exact(*longest as f64 / 1e12));
                        }
                    }
                }
                ObserveKind::Completions | ObserveKind::Operations => {
                    let operations = observed.kind == ObserveKind::Operations;
                    let [name, counted] = match operations {
                        true => ["operation", "operations"],
                        false => ["completion", "flows"],
                    };
                    for (group, flows) in self.by_group(series, &observed.groups) {
                        let plan = self.plan;
                        let ours = |group_of: usize| plan.groups[group_of] == group;
                        let listed = match operations {
                            true => plan.applications.iter().any(|one| ours(one.group)),
                            false => plan
                                .flows
                                .iter()
                                .any(|one| ours(one.group) && one.application.is_none()),
                        };
                        if !listed {
                            continue;
                        }
                        let (at, start) = (whole(series, "time_ps"), whole(series, "start_ps"));
                        let finished = whole(series, "finished");
                        let aborted = match operations {
                            true => vec![0; finished.len()],
                            false => whole(series, "aborted"),
                        };
                        let flows =
                            flows.into_iter().filter(|&row| self.starts_measured(start[row]));
                        let (gave_up, rows): (Vec<usize>, Vec<usize>) =
                            flows.partition(|&row| aborted[row] == 1);
                        let lasted = |row: &usize| (at[*row] - start[*row]) as f64 / 1e12;
                        let mut times: Vec<Lasted> =
                            rows.iter().map(|row| (lasted(row), finished[*row] == 1)).collect();
                        // None of the others takes longer than a flow that was aborted.
                        let longest = rows.iter().chain(&gave_up).map(lasted).fold(0.0, f64::max);
                        times.extend(gave_up.iter().map(|_| (longest, false)));
                        if self.run_may_abort() && !operations {
                            add("aborted_flows", group, exact(gave_up.len() as f64));
                        }
                        let ended = times.iter().filter(|(_, ended)| *ended).count();
                        add(&format!("completed_{counted}"), group, exact(ended as f64));
                        let open = times.len() - ended;
                        add(&format!("unfinished_{counted}"), group, exact(open as f64));
                        if times.is_empty() {
                            continue;
                        }
                        add(&format!("{name}_mean_s"), group, mean(&times));
                        for (quantile_of, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
                            let name = format!("{name}_{quantile_of}_s");
                            add(&name, group, quantile(&times, share));
                        }
                    }
                }
                ObserveKind::Outages => {
                    for (group, flows) in self.by_group(series, &observed.groups) {
                        let (gap, usual) = (whole(series, "gap_ps"), whole(series, "usual_gap_ps"));
                        let (lost, ended) = (whole(series, "lost_packets"), whole(series, "ended"));
                        let hit = flows.into_iter().filter(|&row| lost[row] > 0);
                        let gap = |row| (gap[row] as f64 - usual[row] as f64) / 1e12;
                        let times: Vec<Lasted> =
                            hit.map(|row| (gap(row), ended[row] == 1)).collect();
                        add("hit_flows", group, exact(times.len() as f64));
                        if times.is_empty() {
                            continue;
                        }
                        add("outage_p50_s", group, quantile(&times, 0.5));
                        add("outage_longest_s", group, quantile(&times, 1.0));
                    }
                }
                _ => {}
            }
        }
        // Packets that 1+1 copies are counted elsewhere.
        if self.plan.protections.iter().any(|one| one.scheme.bridges()) {
            return expected;
        }
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        let dropped = |part: bool| {
            let dropped = self.rows.iter().filter(|row| row.event == "dropped");
            dropped.filter(move |row| !part || self.is_measured(row.at))
        };
        for row in dropped(false) {
            *reasons.entry(row.reason.unwrap_or("none")).or_default() += 1;
        }
        for (reason, number) in reasons {
            add("drops", reason, exact(number as f64));
        }
        let ends = ["arrived", "arrived-trimmed", "acked"];
        let came = self.rows.iter().filter(|row| ends.contains(&row.event));
        let (lost, of) = match self.plan.measure {
            None => {
                let entered = count(self.run, "sent") + count(self.run, "duplicated");
                (dropped(false).count() as u64, entered)
            }
            Some(_) => {
                let lost = dropped(true).count() as u64;
                (lost, lost + came.filter(|row| self.is_measured(row.at)).count() as u64)
            }
        };
        if of > 0 {
            add("drop_share", "", exact(lost as f64 / of as f64));
        }
        expected
    }

    /// Returns the number of bits that the rate of a port allows in the measured part, from change
    /// to change.
    fn can_send_bits(&self, port: usize) -> f64 {
        let (after, until) = self.measured();
        let mut rate = self.plan.links[port / 2].directions[port % 2].rate.bps();
        let mut rates: Vec<(u64, u64)> = vec![(0, rate)];
        for changed in self.changes.iter().filter(|changed| changed.port == port) {
            if let ChangePlan::Rate(new) = changed.what {
                rate = new.bps();
            }
            rates.push((changed.at, rate));
        }
        let ends = rates.iter().skip(1).map(|(at, _)| *at).chain([u64::MAX]);
        let inside =
            |from: u64, to: u64| to.min(until).saturating_sub(from.max(after)) as f64 / 1e12;
        rates.iter().zip(ends).map(|((from, rate), to)| *rate as f64 * inside(*from, to)).sum()
    }

    /// The part of the run that metrics cover.
    fn measured(&self) -> (u64, u64) {
        let whole = (0, self.plan.stop.as_ps());
        self.plan.measure.map_or(whole, |part| (part.after.as_ps(), part.until.as_ps()))
    }

    fn is_measured(&self, at: u64) -> bool {
        let (after, until) = self.measured();
        (at > after || after == 0) && at <= until
    }

    /// Whether any connection has a limit of its retransmissions.
    fn run_may_abort(&self) -> bool {
        let configs = self.plan.flows.iter().filter_map(|flow| Some(&self.plan.tcp[flow.tcp?].1));
        configs.into_iter().any(|config| {
            config.retries.is_some()
                || config.user_timeout.as_ps() > 0
                || config.handshake && config.syn_retries.is_some()
        })
    }

    fn starts_measured(&self, at: u64) -> bool {
        let (after, until) = self.measured();
        (after..=until).contains(&at)
    }

    /// The rows of each chosen group, which has a name.
    fn by_group(&self, series: &Series, groups: &[usize]) -> Vec<(&str, Vec<usize>)> {
        let of = called(series, "group", "groups");
        let rows = |name: &str| (0..of.len()).filter(|&row| of[row] == Some(name)).collect();
        groups
            .iter()
            .map(|&group| self.plan.groups[group].as_str())
            .map(|name| (name, rows(name)))
            .collect()
    }

    /// The mean and the largest length of a queue, from the intervals that lie in the measured part.
    fn queue_length(&self, series: &Series, row: usize) -> Option<(f64, f64)> {
        let intervals = super::Intervals::of(series);
        let (means, most) = (real(series, "mean_packets"), whole(series, "max_packets"));
        let (after, until) = self.measured();
        let inside: Vec<(f64, f64, u64)> = (0..intervals.count)
            .map(|index| (index, intervals.ends(index)))
            .filter(|(_, (from, to))| *from >= after && *to <= until && to > from)
            .map(|(index, (from, to))| {
                let place = row * intervals.count + index;
                ((to - from) as f64, means[place], most[place])
            })
            .collect();
        let lasted: f64 = inside.iter().map(|(lasted, _, _)| lasted).sum();
        let area: f64 = inside.iter().map(|(lasted, mean, _)| lasted * mean).sum();
        let most = inside.iter().map(|(_, _, most)| *most).max()?;
        Some((area / lasted, most as f64))
    }
}

fn near(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
}

/// Shares of durations in their order, by redistribution to the right (B. Efron, Proc. 5th Berkeley Symp. 4 (1967) 831-853):
/// one whose end was not observed hands its share in equal parts to all that come after it.
fn redistributed(times: &[Lasted]) -> Vec<(Lasted, f64)> {
    let mut order = times.to_vec();
    order.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    let mut shares = vec![1.0 / order.len() as f64; order.len()];
    for place in 0..order.len() {
        let after = order.len() - place - 1;
        if !order[place].1 && after > 0 {
            let part = shares[place] / after as f64;
            shares[place] = 0.0;
            shares[place + 1..].iter_mut().for_each(|share| *share += part);
        }
    }
    order.into_iter().zip(shares).collect()
}

/// The smallest duration that a share of all does not exceed, and its lower bound.
fn quantile(times: &[Lasted], share: f64) -> (f64, f64) {
    let mut below = 0.0;
    let order = redistributed(times);
    for ((seconds, ended), part) in &order {
        below += part;
        if below >= share - ROUNDING {
            return (if *ended { *seconds } else { f64::INFINITY }, *seconds);
        }
    }
    unreachable!("all shares make one")
}

/// The mean, and its lower bound.
fn mean(times: &[Lasted]) -> (f64, f64) {
    let order = redistributed(times);
    let restricted = order.iter().map(|((seconds, _), share)| seconds * share).sum();
    let cut = order.iter().any(|((_, ended), share)| !ended && *share > 0.0);
    (if cut { f64::INFINITY } else { restricted }, restricted)
}
