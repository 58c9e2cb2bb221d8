//! From outages to what a node hears of them.

use optcp_units::{Duration, Time};

use super::{Outage, SwitchPoint, Timing};

/// One of the two ways that a node chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Working,
    Backup,
}

/// What a node hears: a link of a way failed, or works again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailureReport {
    pub(super) at: Time,
    pub(super) way: Way,
    pub(super) failed: bool,
}

/// Everything that a point hears, in order of time. At one instant failures come first: a repair at
/// the instant of another fault is no repair of the way.
pub(super) fn of(
    point: &SwitchPoint,
    timing: Timing,
    working: &[Vec<Outage>],
    backup: &[Vec<Outage>],
) -> Vec<FailureReport> {
    let mut news = Vec::new();
    for (way, delays, outages) in [
        (Way::Working, &point.working_reports, working),
        (Way::Backup, &point.backup_reports, backup),
    ] {
        for &(link, delay) in delays {
            for outage in &outages[link] {
                news.extend(of_outage(timing, way, *outage, delay));
            }
        }
    }
    news.sort_by_key(|news| (news.at, !news.failed, news.way));
    news
}

/// An outage that is over before it counts is no news at all.
fn of_outage(timing: Timing, way: Way, outage: Outage, delay: Duration) -> Vec<FailureReport> {
    let declared = timing.detection.of_failure(outage.failure) + timing.hold_off;
    if outage.repair.is_some_and(|repair| repair < declared) {
        return Vec::new();
    }
    let failed = FailureReport { at: declared + delay, way, failed: true };
    let cleared = outage.repair.map(|repair| {
        let known = timing.detection.of_repair(repair).max(declared);
        FailureReport { at: known + delay, way, failed: false }
    });
    std::iter::once(failed).chain(cleared).collect()
}
