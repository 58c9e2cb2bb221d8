//! Path outages of flows, compared with the packets.

use std::collections::{BTreeMap, BTreeSet};

use optcp_optical::protection::Revert;

use super::{Evidence, Row};
use crate::check::{Failure, failure};

impl Evidence<'_> {
    /// Checks path outages. A packet that is sent and arrives between two changes did not meet an
    /// outage of its path. A packet lost to a link that is down, or to a loop, is lost during an
    /// outage.
    pub(super) fn cut_off(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        // Packets of 1+1 have two paths, and packets of a bundle several. Emulated closures of
        // ports are not listed.
        let plan = self.plan;
        let several = |one: &optcp_scenario::plan::ProtectionPlan| {
            one.scheme.name() == "1+1" || one.revert == Revert::OpticalEmulated
        };
        if !plan.bundles.is_empty() || plan.protections.iter().any(several) {
            return Ok(());
        }
        let mut changes = BTreeSet::new();
        changes.extend(self.run.switches.iter().map(|one| one.at.as_ps()));
        changes.extend(self.run.routing.iter().flat_map(|of| &of.steps).map(|one| one.at.as_ps()));
        let written = self.plan.forwarding.iter().flat_map(|of| &of.entries);
        changes.extend(written.map(|one| one.at.as_ps()));
        for failed in &self.run.failed {
            changes.insert(failed.at.as_ps());
            changes.extend(failed.repair.map(|at| at.as_ps()));
        }
        let mut cuts: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
        for cut in self.run.path_outages.iter().filter(|cut| !cut.acks) {
            let (from, until) = (cut.from.as_ps(), cut.until.as_ps());
            if from >= until {
                return failure("a cut without length", format!("{cut:?}"));
            }
            // What happens at the very end is within what lasts up to there.
            let until = if until >= self.stop { u64::MAX } else { until };
            cuts.entry(&cut.flow).or_default().push((from, until));
        }
        let mut sent: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| !row.ack) {
            let first = *sent.entry((row.flow, row.seq)).or_insert(row.at);
            let within = |&(from, until): &(u64, u64)| from <= row.at && row.at < until;
            let mut of_flow = cuts.get(self.flows[row.flow].as_str()).into_iter().flatten();
            let cut = of_flow.find(|cut| within(cut));
            if first < row.at && changes.range(first + 1..=row.at).next().is_some() {
                continue;
            }
            // After a virtual output queue, one working path is enough.
            let behind = row.port.is_some_and(|port| self.is_behind_queue(port));
            // Routes of bursts count as working while their fibres fail.
            let behind = behind || row.port.is_some_and(|port| self.is_over_fibres(port));
            let lost = |row: &Row<'_>| {
                matches!(row.reason, Some("link-down" | "ttl-expired" | "no-route")) && !behind
            };
            match (row.event, cut) {
                ("arrived" | "arrived-trimmed", Some(&(from, _))) if from <= first => {
                    return failure("a way that leads nowhere", format!("{row:?}, from {from}"));
                }
                ("dropped", None) if lost(row) => {
                    return failure("lost on a way that leads on", format!("{row:?}"));
                }
                ("dropped", Some(_)) if lost(row) => _ = seen.insert("cuts".to_owned()),
                _ => {}
            }
        }
        Ok(())
    }
}
