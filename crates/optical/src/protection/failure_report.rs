//! Failure reports: conversion of outages to the notifications of a node.

use optcp_units::{Duration, Time};

use super::{Outage, SwitchPoint, Timing};

/// Path that a failure report refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProtectionPath {
    Working,
    Backup,
}

/// Report that a link of a path has failed or was repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailureReport {
    pub(super) at: Time,
    pub(super) path: ProtectionPath,
    pub(super) failed: bool,
}

/// Returns all reports to a switch point in order of time. At the same time failures precede repairs, because a repair
/// concurrent with another failure does not restore the path.
pub(super) fn reports_to(
    point: &SwitchPoint,
    timing: Timing,
    working: &[Vec<Outage>],
    backup: &[Vec<Outage>],
) -> Vec<FailureReport> {
    let mut reports = Vec::new();
    for (path, delays, outages) in [
        (ProtectionPath::Working, &point.working_reports, working),
        (ProtectionPath::Backup, &point.backup_reports, backup),
    ] {
        for &(link, delay) in delays {
            for outage in &outages[link] {
                reports.extend(reports_of_outage(timing, path, *outage, delay));
            }
        }
    }
    reports.sort_by_key(|report| (report.at, !report.failed, report.path));
    reports
}

/// Returns the reports of an outage; none if it ends before it is declared.
fn reports_of_outage(
    timing: Timing,
    path: ProtectionPath,
    outage: Outage,
    delay: Duration,
) -> Vec<FailureReport> {
    let declared = timing.detection.failure_detected_at(outage.failure) + timing.hold_off;
    if outage.repair.is_some_and(|repair| repair < declared) {
        return Vec::new();
    }
    let failed = FailureReport { at: declared + delay, path, failed: true };
    let cleared = outage.repair.map(|repair| {
        let known = timing.detection.repair_detected_at(repair).max(declared);
        FailureReport { at: known + delay, path, failed: false }
    });
    std::iter::once(failed).chain(cleared).collect()
}
