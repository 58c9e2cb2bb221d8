//! Delayed FIB installation: routers keep their old FIB longer than necessary.
//!
//! # Model
//! A router that is ready for a failed link keeps its old FIB and repair paths for a fixed time.
//! Other routers install their FIBs first. Between a router with a new FIB and one with an old FIB,
//! packets may loop. If routers act independently, only those adjacent to the failure hold their
//! FIB. Packets that reach them use the repair path, which is loop-free, until all distant routers
//! avoid the failed link. If all routers act at once, all of them hold.
//!
//! Nothing is held after a repair. A router that receives another report before it is ready does not hold.
//! One that receives a report while holding stops holding, and acts on both when it is ready for the second.
//! A link that is repaired in the meantime therefore changes no FIB of a holding router.
//!
//! # References
//! RFC 8333 (local convergence delay, for failed links; another change ends it). For routers that act at
//! once, the configured time of routers with loop-free segment-routed paths.
//!
//! # Parameters
//! `hold`: the time.
//!
//! # Limitations
//! The whole FIB is held, for the same time in all routers. The report of a link's other end is not another
//! report; a second failed link is.

use optcp_units::{Duration, Time};

use crate::convergence::Announcement;

/// Report that a router has to act on.
struct FailureReport {
    announcement: usize,
    /// Link, and whether it works.
    change: (usize, bool),
    received_at: Time,
    ready: Time,
    held: bool,
}

/// Returns the time at which each router acts on each report, if routers act independently.
pub(crate) fn own(announced: &[Announcement], hold: Duration) -> Vec<Vec<Option<Time>>> {
    let mut acted: Vec<_> = announced.iter().map(|one| one.installed.clone()).collect();
    let mut detecting_routers: Vec<usize> =
        announced.iter().flat_map(|one| one.detecting_routers.iter().copied()).collect();
    detecting_routers.sort_unstable();
    detecting_routers.dedup();
    for router in detecting_routers {
        let report = |(announcement, one): (usize, &Announcement)| {
            Some(FailureReport {
                announcement,
                change: (one.link, one.up),
                received_at: one.received_at[router]?,
                ready: one.installed[router]?,
                held: one.detecting_routers.contains(&router),
            })
        };
        let reports = announced.iter().enumerate().filter_map(report).collect();
        for (announcement, at) in after(reports, hold) {
            acted[announcement][router] = Some(at);
        }
    }
    acted
}

/// Returns the time at which all routers act on each report, if they act when the last one is ready.
pub(crate) fn synchronized(announced: &[Announcement], hold: Duration) -> Vec<Vec<Option<Time>>> {
    let report = |(announcement, one): (usize, &Announcement)| {
        let ready = *one.installed.iter().flatten().max()?;
        let change = (one.link, one.up);
        Some(FailureReport { announcement, change, received_at: one.at, ready, held: !one.up })
    };
    let reports = announced.iter().enumerate().filter_map(report).collect();
    let mut acted = vec![Vec::new(); announced.len()];
    for (announcement, at) in after(reports, hold) {
        let installed = announced[announcement].installed.iter();
        acted[announcement] = installed.map(|own| own.map(|_| at)).collect();
    }
    acted
}

/// Returns the times of action for a sequence of reports.
fn after(mut reports: Vec<FailureReport>, hold: Duration) -> Vec<(usize, Time)> {
    reports.sort_by_key(|one| (one.received_at, one.announcement));
    // Processed backwards, because a later report may end a hold.
    let mut acted: Vec<Time> = reports.iter().map(|one| one.ready).collect();
    for (place, one) in reports.iter().enumerate().rev().filter(|(_, one)| one.held) {
        let other = |&later: &usize| {
            reports[later].received_at > one.received_at && reports[later].change != one.change
        };
        let other = (place + 1..reports.len()).find(other);
        acted[place] = match other.map(|later| (reports[later].received_at, acted[later])) {
            Some((received, _)) if received <= one.ready => one.ready,
            Some((received, acted)) if received <= one.ready + hold => acted,
            _ => one.ready + hold,
        };
    }
    reports.iter().map(|one| one.announcement).zip(acted).collect()
}
