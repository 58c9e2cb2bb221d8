//! FIB changes of routers while links fail and are repaired.
//!
//! # Model
//! A FIB entry depends on two sets: the links considered working at the last installation, and the
//! adjacent links whose failure the router detects. It is the shortest path over the former, or the
//! repair path while the next hop is among the latter. A transient failure therefore changes
//! entries of adjacent routers and restores them. With equal-cost multipath, an entry has all next
//! hops of minimum cost. A failed next hop is removed from the set immediately, because the others
//! are loop-free alternates. Only a single next hop has a repair path.
//!
//! # References
//! RFC 5714 sections 4 and 5.2; RFC 5286 section 3.1 for the other members of a set; Mao, Wen and Yeung (ICC
//! 2012), Fig. 1. Simultaneous action is the synchronized update of RFC 5715 section 6.8.
//!
//! # Parameters
//! `Forwarding`: mechanism, and single or multiple next hops; `Converge`: independent or simultaneous action;
//! `hold` of [`Timing`]: see [`crate::hold`].
//!
//! # Limitations
//! - A router without a path to a destination keeps its entry, and so does one whose next hops have all
//!   failed.
//! - A repair path whose first link has also failed is not used. Packets in a tunnel are not repaired again.
//!   Both are lost at the failed link.
//! - A tunnel is set up when the repair path is computed and does not follow later changes.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::{Time, registry};

use crate::backup::{Mechanism, Protect, Repair};
use crate::convergence::{Announcement, Failure, Timing, announcements, link_detections};
use crate::hold;
use crate::repair::Repairs;
use crate::{DirectedLink, Routes, Topology};

registry! {
    /// Order in which routers update their FIBs.
    pub enum Converge ("convergence") {
        "synchronized" => Synchronized: "all routers when the last one is ready; no loops", "Mao, Wen and Yeung, ICC 2012, Fig. 1; RFC 5715, section 6.8";
        "own" => Own: "each router when it is ready; inconsistent FIBs may cause loops", "RFC 5715, section 2";
    }
}

/// FIB entry: treatment of packets for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Forward along the known shortest path.
    Next(DirectedLink),
    /// Distribute over several next hops of equal cost.
    Ecmp(Vec<DirectedLink>),
    /// Forward along the repair path.
    Backup(Repair),
}

/// Forwarding method of every router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forwarding {
    /// Fast-reroute mechanism.
    pub mechanism: Mechanism,
    /// Element that repair paths avoid.
    pub protect: Protect,
    /// `true`: all next hops of equal cost are used, not only one.
    pub multipath: bool,
}

impl Forwarding {
    /// Returns the next hops of a router for a destination without detected failures; empty if there is no
    /// path.
    #[must_use]
    pub fn next_hops(
        self,
        topology: &Topology,
        routes: &Routes,
        router: usize,
        destination: usize,
    ) -> Vec<DirectedLink> {
        match self.multipath {
            true => routes.to(destination).next_hops(topology, router),
            false => routes.next(router, destination).into_iter().collect(),
        }
    }
}

/// Cause of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The router detects the failure of an adjacent link.
    Failure,
    /// The router detects the repair.
    Repair,
    /// The router acts on a report.
    Convergence,
}

/// Change of a FIB entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Time.
    pub at: Time,
    /// Router.
    pub router: usize,
    /// Destination.
    pub destination: usize,
    /// New entry.
    pub entry: Entry,
    /// Cause.
    pub cause: Cause,
}

/// All FIB changes of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Reports in order of time.
    pub announcements: Vec<Announcement>,
    /// Changes in order of time.
    pub changes: Vec<Change>,
}

/// Event on which a router acts.
enum Event {
    Detects { hop: DirectedLink, down: bool },
    Installs { announcement: usize },
}

/// Router.
#[derive(Clone, Default)]
struct Router {
    /// Links that were reported as failed.
    reported: BTreeSet<usize>,
    /// Latest report of each link on which it has acted.
    latest: BTreeMap<usize, usize>,
    /// Adjacent links whose failure it detects.
    detected: BTreeSet<DirectedLink>,
    /// FIB, by destination.
    table: Vec<Option<Entry>>,
}

/// Computes the reactions of routers to failures. Calls `go_on` at each step; `None` if cancelled.
#[must_use]
pub fn timeline(
    topology: &Topology,
    failures: &[Failure],
    timing: &Timing,
    forwarding: Forwarding,
    converge: Converge,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Timeline> {
    let announced = announcements(topology, failures, timing, go_on)?;
    let mut events: Vec<(Time, usize, Event)> = Vec::new();
    for detection in link_detections(failures, timing) {
        let (link, direction) = detection.hop;
        let Some(ends) = topology.links()[link].map(|link| link.ends) else { continue };
        let hop = detection.hop;
        let mut detect =
            |at, down| events.push((at, ends[direction], Event::Detects { hop, down }));
        detect(detection.down, true);
        if let Some(up) = detection.up {
            detect(up, false);
        }
    }
    let acted = match converge {
        Converge::Own => hold::own(&announced, timing.hold),
        Converge::Synchronized => hold::synchronized(&announced, timing.hold),
    };
    for (announcement, acted) in acted.into_iter().enumerate() {
        for (router, at) in acted.into_iter().enumerate() {
            events.extend(at.map(|at| (at, router, Event::Installs { announcement })));
        }
    }
    // The sort must be stable: detections precede installations, and reports stay in order.
    events.sort_by_key(|&(at, router, _)| (at, router));

    let mut views: BTreeMap<BTreeSet<usize>, Repairs> = BTreeMap::new();
    let first = view(&mut views, topology, &BTreeSet::new());
    let mut routers: Vec<Router> = (0..topology.nodes())
        .map(|router| {
            let next = |to| Router::default().entry(first, forwarding, router, to);
            Router { table: (0..topology.nodes()).map(next).collect(), ..Router::default() }
        })
        .collect();
    let mut changes = Vec::new();
    for same in events.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        if !go_on() {
            return None;
        }
        let (at, index) = (same[0].0, same[0].1);
        let router = &mut routers[index];
        let cause = same.iter().map(|(.., event)| router.take(event, &announced)).max();
        let view = view(&mut views, topology, &router.reported);
        for destination in 0..topology.nodes() {
            let entry = router.entry(view, forwarding, index, destination);
            if entry.is_some() && entry != router.table[destination] {
                router.table[destination].clone_from(&entry);
                changes.extend(entry.zip(cause).map(|(entry, cause)| Change {
                    at,
                    router: index,
                    destination,
                    entry,
                    cause,
                }));
            }
        }
    }
    Some(Timeline { announcements: announced, changes })
}

/// Returns the network without the failed links, computed once.
fn view<'v>(
    views: &'v mut BTreeMap<BTreeSet<usize>, Repairs>,
    topology: &Topology,
    down: &BTreeSet<usize>,
) -> &'v Repairs {
    let left = || Repairs::new(topology.without(down.iter().copied()));
    views.entry(down.clone()).or_insert_with(left)
}

impl Router {
    /// Records an event.
    fn take(&mut self, event: &Event, announced: &[Announcement]) -> Cause {
        match *event {
            Event::Detects { hop, down: true } => {
                self.detected.insert(hop);
                Cause::Failure
            }
            Event::Detects { hop, down: false } => {
                self.detected.remove(&hop);
                Cause::Repair
            }
            Event::Installs { announcement } => {
                let Announcement { link, up, .. } = announced[announcement];
                // A report that a newer one has overtaken is ignored.
                if self.latest.get(&link).is_none_or(|&latest| latest < announcement) {
                    self.latest.insert(link, announcement);
                    if up {
                        self.reported.remove(&link)
                    } else {
                        self.reported.insert(link)
                    };
                }
                Cause::Convergence
            }
        }
    }

    /// Returns the current entry for a destination; `None` if no path is known.
    fn entry(
        &self,
        view: &Repairs,
        forwarding: Forwarding,
        router: usize,
        destination: usize,
    ) -> Option<Entry> {
        let (topology, routes) = (view.topology(), view.routes());
        let all = forwarding.next_hops(topology, routes, router, destination);
        let next = match all[..] {
            [] => return None,
            [next] if self.detected.contains(&next) => next,
            [next] => return Some(Entry::Next(next)),
            _ => return Some(self.left(all)),
        };
        let Forwarding { mechanism, protect, .. } = forwarding;
        let backup = view.find(mechanism, protect, router, destination);
        let usable = backup.filter(|backup| !self.detected.contains(&backup.hops[0]));
        Some(usable.map_or(Entry::Next(next), Entry::Backup))
    }

    /// Returns the entry for several next hops of equal cost: those without detected failure, or all of them.
    fn left(&self, all: Vec<DirectedLink>) -> Entry {
        let left: Vec<DirectedLink> =
            all.iter().copied().filter(|hop| !self.detected.contains(hop)).collect();
        match left[..] {
            [] => Entry::Ecmp(all),
            [hop] => Entry::Next(hop),
            _ => Entry::Ecmp(left),
        }
    }
}
