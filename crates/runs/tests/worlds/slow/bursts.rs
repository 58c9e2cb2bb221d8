//! Contents and fate of bursts.

use std::collections::{BTreeMap, BTreeSet};

use optcp_optical::burst::BurstProtection;
use optcp_runs::Series;

use super::{Evidence, Row, called, equal, names, real, whole};
use crate::check::{BURSTS, Failure, failure};

impl Evidence<'_> {
    pub(super) fn bursts(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let port = called(series, "port", "ports");
        let (at, packets) = (whole(series, "time_ps"), whole(series, "packets"));
        let (bytes, lost) = (whole(series, "bytes"), whole(series, "lost"));
        let (segments, acks) = (whole(series, "segments"), whole(series, "acks"));
        for name in names(series, "ports") {
            let of_port: Vec<usize> =
                (0..at.len()).filter(|&i| port[i] == Some(name.as_str())).collect();
            let content = |&i: &usize| (at[i], packets[i], bytes[i], segments[i], acks[i]);
            let mut found: Vec<_> = of_port.iter().map(content).collect();
            let mut expected = Vec::new();
            for burst in self.carried(name)? {
                let ours = || burst.rows.iter().filter(|row| self.chosen(row.flow, groups));
                let segments = ours().filter(|row| !row.ack).count() as u64;
                let acks = ours().filter(|row| row.ack).count() as u64;
                let packets = burst.rows.len() as u64;
                expected.push((burst.at, packets, burst.bytes(), segments, acks));
            }
            found.sort_unstable();
            expected.sort_unstable();
            if found != expected {
                let detail = format!("{name}: {found:?}, expected {expected:?}");
                return failure("bursts", detail);
            }
            let lost_packets: u64 =
                of_port.iter().filter(|&&i| lost[i] == 1).map(|&i| packets[i]).sum();
            let dropped =
                self.rows.iter().filter(|row| is_of_burst(row) && self.port(row) == Some(name));
            let dropped = dropped.count() as u64;
            if lost_packets != dropped {
                let detail = format!("{name}: {lost_packets} in lost bursts, {dropped} dropped");
                return failure("bursts", detail);
            }
        }
        Ok(())
    }

    pub(super) fn segments_per_burst(
        &self,
        series: &Series,
        groups: &[usize],
    ) -> Result<(), Failure> {
        let mut expected: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for (place, name) in names(series, "ports").iter().enumerate() {
            for burst in self.carried(name)? {
                let mut ours = burst.rows;
                ours.retain(|row| !row.ack && self.chosen(row.flow, groups));
                *expected.entry((place, ours.len() as u64)).or_default() += 1;
            }
        }
        let (port, segments) = (whole(series, "port"), whole(series, "segments"));
        let number = whole(series, "bursts");
        let place = |port: u64| usize::try_from(port).expect("an index");
        let found: Vec<((usize, u64), u64)> =
            (0..port.len()).map(|i| ((place(port[i]), segments[i]), number[i])).collect();
        equal(series, "rows", &found, &expected.into_iter().collect::<Vec<_>>())
    }

    /// Bursts of each class with their losses. Packets of a lost burst are dropped at the same time.
    pub(super) fn burst_classes(&self, series: &Series) -> Result<(), Failure> {
        let (port, class) = (called(series, "port", "ports"), whole(series, "class"));
        let [bursts, bytes, lost, preempted] =
            ["bursts", "bytes", "lost", "preempted"].map(|name| whole(series, name));
        for name in names(series, "ports") {
            let mut expected: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
            for burst in self.carried(name)? {
                let [bursts, bytes] = expected.entry(u64::from(burst.class)).or_default();
                *bursts += 1;
                *bytes += burst.bytes();
            }
            let (plan, number) = self.burst_port(name);
            let own: Vec<usize> =
                (0..port.len()).filter(|&i| port[i] == Some(name.as_str())).collect();
            let found = own.iter().map(|&i| (class[i], [bursts[i], bytes[i]]));
            let found: Vec<_> = found.collect();
            if found != expected.into_iter().collect::<Vec<_>>() {
                return failure("burst-classes", format!("{name}: {found:?}"));
            }
            for &i in &own {
                let dropped = self.rows.iter().filter(|row| {
                    let class = class[i] == u64::from(self.burst_class(plan, row));
                    row.port == Some(number) && class && is_of_burst(row)
                });
                for (count, rows) in [
                    (lost[i], dropped.clone().collect::<Vec<_>>()),
                    (preempted[i], dropped.filter(|row| row.reason == Some("preempted")).collect()),
                ] {
                    let times: BTreeSet<u64> = rows.iter().map(|row| row.at).collect();
                    if !(times.len() as u64..=rows.len() as u64).contains(&count) {
                        let (name, class) = (series.kind, class[i]);
                        return failure(name, format!("class {class}: {count}, {rows:?}"));
                    }
                }
            }
            // The list of bursts has the same losses.
            let list = super::series(self.run, BURSTS);
            let of = called(list, "port", "ports");
            let all = whole(list, "lost").into_iter().zip(of);
            let all: u64 = all.filter(|(_, of)| *of == Some(name)).map(|(lost, _)| lost).sum();
            let by_class: u64 = own.iter().map(|&i| lost[i]).sum();
            if all != by_class {
                return failure("burst-classes", format!("{name}: {by_class} of {all} lost"));
            }
        }
        Ok(())
    }

    /// Bursts that found no wavelength, on fibres and in the list of bursts.
    pub(super) fn fibres(&self, series: &Series, all: bool) -> Result<(), Failure> {
        let busy = real(series, "utilisation");
        // The quotient of two rounded numbers may be beyond what it stands for by as much.
        let most = 1.0 + f64::EPSILON;
        if let Some(share) = busy.iter().find(|share| !(0.0..=most).contains(*share)) {
            return failure("fibres", format!("a utilisation of {share}"));
        }
        let sum = |name: &str| whole(series, name).iter().sum::<u64>();
        let contention = self.rows.iter().filter(|row| row.reason == Some("contention"));
        let dropped: u64 = contention.map(|row| row.bytes).sum();
        let copies =
            self.plan.bursts.iter().any(|one| one.protection == BurstProtection::OnePlusOne);
        if all && (sum("lost_bytes") < dropped || sum("lost_bytes") > dropped && !copies) {
            let detail = format!("{} bytes lost, {dropped} dropped", sum("lost_bytes"));
            return failure("fibres", detail);
        }
        if copies || self.plan.fibres_fail() || self.plan.core.is_some_and(|core| core.preemption) {
            return Ok(());
        }
        let (lost, asked) = ([sum("lost"), sum("lost_bytes")], sum("bursts"));
        // Fibres over which nobody sends bursts see none.
        let bursts = self.run.series.iter().find(|series| series.name == BURSTS);
        let of_bursts = bursts.map(|bursts| whole(bursts, "lost")).unwrap_or_default();
        let bytes = bursts.map(|bursts| whole(bursts, "bytes")).unwrap_or_default();
        let bytes = of_bursts.iter().zip(bytes).map(|(lost, bytes)| lost * bytes).sum();
        let (sent, expected) = (of_bursts.len() as u64, [of_bursts.iter().sum::<u64>(), bytes]);
        match all && (lost != expected || asked < sent) {
            true => failure(
                "fibres",
                format!("{lost:?} of {asked} lost; bursts: {expected:?} of {sent}"),
            ),
            false => Ok(()),
        }
    }
}

/// Whether a row tells of a packet that was lost with its burst.
fn is_of_burst(row: &Row<'_>) -> bool {
    let reasons = ["burst-lost", "contention", "preempted", "link-down", "lost-in-flight"];
    row.reason.is_some_and(|reason| reasons.contains(&reason))
}
