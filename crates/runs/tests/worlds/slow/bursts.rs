//! Contents and fate of bursts.

use std::collections::BTreeMap;

use optcp_optical::burst::BurstProtection;
use optcp_runs::Series;

use super::{Evidence, Row, called, equal, names, real, whole};
use crate::check::{BURSTS, Failure, failure};

impl Evidence<'_> {
    /// Returns the rows of each burst of a port, in the order of the list of all bursts.
    pub(super) fn carried(&self, port: &str, bursts: &[u64]) -> Vec<Vec<Row<'_>>> {
        let gathered = self.rows.iter().filter(|row| row.event == "queued");
        let mut gathered = gathered.filter(|row| self.port(row).is_some_and(|name| name == port));
        let of = |&packets: &u64| {
            let packets = usize::try_from(packets).expect("a number of packets");
            gathered.by_ref().take(packets).copied().collect()
        };
        bursts.iter().map(of).collect()
    }

    pub(super) fn bursts(&self, series: &Series, groups: &[usize]) -> Result<(), Failure> {
        let port = called(series, "port", "ports");
        let (at, packets) = (whole(series, "time_ps"), whole(series, "packets"));
        let (bytes, lost) = (whole(series, "bytes"), whole(series, "lost"));
        let (segments, acks) = (whole(series, "segments"), whole(series, "acks"));
        for name in names(series, "ports") {
            let of_port: Vec<usize> =
                (0..at.len()).filter(|&i| port[i] == Some(name.as_str())).collect();
            let sizes: Vec<u64> = of_port.iter().map(|&i| packets[i]).collect();
            for (&i, rows) in of_port.iter().zip(self.carried(name, &sizes)) {
                let ours = || rows.iter().filter(|row| self.chosen(row.flow, groups));
                let expected = (
                    packets[i],
                    rows.iter().map(|row| row.bytes).sum::<u64>(),
                    ours().filter(|row| !row.ack).count() as u64,
                    ours().filter(|row| row.ack).count() as u64,
                );
                let found = (rows.len() as u64, bytes[i], segments[i], acks[i]);
                if found != expected || rows.iter().any(|row| row.at > at[i]) {
                    let detail = format!("{name}, at {}: {found:?}, expected {expected:?}", at[i]);
                    return failure("bursts", detail);
                }
            }
            let lost_packets: u64 =
                of_port.iter().filter(|&&i| lost[i] == 1).map(|&i| packets[i]).sum();
            let dropped = self.rows.iter().filter(|row| {
                let reasons = ["burst-lost", "contention", "link-down", "lost-in-flight"];
                let in_burst = row.reason.is_some_and(|reason| reasons.contains(&reason));
                in_burst && self.port(row) == Some(name)
            });
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
        let bursts = super::series(self.run, BURSTS);
        let (packets, port) = (whole(bursts, "packets"), called(bursts, "port", "ports"));
        let mut expected: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for (place, name) in names(series, "ports").iter().enumerate() {
            let sizes: Vec<u64> = (0..packets.len())
                .filter(|&i| port[i] == Some(name.as_str()))
                .map(|i| packets[i])
                .collect();
            for rows in self.carried(name, &sizes) {
                let ours = rows.iter().filter(|row| !row.ack && self.chosen(row.flow, groups));
                *expected.entry((place, ours.count() as u64)).or_default() += 1;
            }
        }
        let (port, segments) = (whole(series, "port"), whole(series, "segments"));
        let number = whole(series, "bursts");
        let place = |port: u64| usize::try_from(port).expect("an index");
        let found: Vec<((usize, u64), u64)> =
            (0..port.len()).map(|i| ((place(port[i]), segments[i]), number[i])).collect();
        equal(series, "rows", &found, &expected.into_iter().collect::<Vec<_>>())
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
        if copies || self.plan.fibres_fail() {
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
