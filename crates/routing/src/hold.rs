//! How much longer than they need routers keep the table that they have.
//!
//! # Models
//! A router that is ready for a link being down keeps its old table, and the backups in it, for a set time, so that the others
//! have theirs before: between two routers of which one has the new table and the other one the old one, packets may go to
//! and fro. With routers that act each in its own time those beside the failure hold theirs: packets that meet them take the
//! backup, which loops nowhere, until all routers further away have left the failed link. With routers that act all at
//! once all of them hold theirs.
//!
//! Nothing is held for the end of a failure. A router that has other news before it is ready holds nothing; one that has other
//! news while it holds ends that, and acts on both when it is ready for the other. So a link that is repaired in the
//! meantime changes no table of a router that holds.
//! # Source
//! RFC 8333 (local convergence delay, for links that go down; another change ends it). Routers that act all at once hold a path
//! as routers with loop-free paths of segments do for a time that is configured.
//! # Parameters
//! The time.
//! # Limits
//! What is held is the whole table. All routers hold for the same time. That the other end of a link says that it is down
//! too is no other news; that a second link is down is.

use optcp_units::{Duration, Time};

use crate::convergence::Announcement;

/// What a router has to act on.
struct FailureReport {
    announcement: usize,
    /// A link, and whether it works.
    change: (usize, bool),
    heard: Time,
    ready: Time,
    held: bool,
}

/// When each router acts on each announcement, if each does in its own time.
pub(crate) fn own(announced: &[Announcement], hold: Duration) -> Vec<Vec<Option<Time>>> {
    let mut acted: Vec<_> = announced.iter().map(|one| one.installed.clone()).collect();
    let mut beside: Vec<usize> =
        announced.iter().flat_map(|one| one.beside.iter().copied()).collect();
    beside.sort_unstable();
    beside.dedup();
    for router in beside {
        let news = |(announcement, one): (usize, &Announcement)| {
            Some(FailureReport {
                announcement,
                change: (one.link, one.up),
                heard: one.heard[router]?,
                ready: one.installed[router]?,
                held: one.beside.contains(&router),
            })
        };
        let news = announced.iter().enumerate().filter_map(news).collect();
        for (announcement, at) in after(news, hold) {
            acted[announcement][router] = Some(at);
        }
    }
    acted
}

/// The same, if all do when the last of them is ready.
pub(crate) fn synchronized(announced: &[Announcement], hold: Duration) -> Vec<Vec<Option<Time>>> {
    let news = |(announcement, one): (usize, &Announcement)| {
        let ready = *one.installed.iter().flatten().max()?;
        let change = (one.link, one.up);
        Some(FailureReport { announcement, change, heard: one.at, ready, held: !one.up })
    };
    let news = announced.iter().enumerate().filter_map(news).collect();
    let mut acted = vec![Vec::new(); announced.len()];
    for (announcement, at) in after(news, hold) {
        let installed = announced[announcement].installed.iter();
        acted[announcement] = installed.map(|own| own.map(|_| at)).collect();
    }
    acted
}

/// When somebody acts on each piece of news that somebody has.
fn after(mut news: Vec<FailureReport>, hold: Duration) -> Vec<(usize, Time)> {
    news.sort_by_key(|one| (one.heard, one.announcement));
    // From the last one on: what is held may end with what comes after it.
    let mut acted: Vec<Time> = news.iter().map(|one| one.ready).collect();
    for (place, one) in news.iter().enumerate().rev().filter(|(_, one)| one.held) {
        let other =
            |&later: &usize| news[later].heard > one.heard && news[later].change != one.change;
        let other = (place + 1..news.len()).find(other);
        acted[place] = match other.map(|later| (news[later].heard, acted[later])) {
            Some((heard, _)) if heard <= one.ready => one.ready,
            Some((heard, acted)) if heard <= one.ready + hold => acted,
            _ => one.ready + hold,
        };
    }
    news.iter().map(|one| one.announcement).zip(acted).collect()
}
