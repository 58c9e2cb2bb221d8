//! What routers do to their forwarding tables while links fail and come back.
//!
//! # Models
//! An entry of a table says where a router sends packets of one destination. It follows from the links
//! that the router believes to be there, as it last installed them, and from those beside it that it
//! sees fail: the shortest path over the former, or its backup while the next hop of that path is among
//! the latter. A transient failure thus changes entries beside it and changes them back. With
//! equal-cost multipath an entry has all next hops of the least cost; one that the router sees fail is
//! taken out of the set at once, since the others are alternates that do not loop, and only where there
//! is one has it a backup.
//! # Source
//! RFC 5714 sections 4 and 5.2; RFC 5286 section 3.1 for the other members of a set; Mao, Wen and Yeung
//! (ICC 2012), Fig. 1. Acting all at once is the synchronized update of RFC 5715 section 6.8.
//! # Parameters
//! `Forwarding`: which backups, and whether several next hops; `Converge`: whether routers act each in
//! its own time or all at once; `hold` of [`Timing`]: see [`crate::hold`].
//! # Limits
//! A router without a way to a destination keeps its entry, and so does one that sees all next hops of
//! a set fail. A backup whose first link is seen to fail too is not used, and packets in a tunnel are not repaired a second time: both are lost at the failed
//! link. A tunnel is laid when the backup is computed and does not follow later changes within it.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::{Time, registry};

use crate::backup::{Mechanism, Protect, Repair};
use crate::convergence::{Announcement, Failure, Timing, announcements, sightings};
use crate::hold;
use crate::repair::repair;
use crate::{DirectedLink, Routes, Topology};

registry! {
    /// When routers act on an announcement.
    pub enum Converge ("convergence") {
        "synchronized" => Synchronized: "all at once when the last is ready, so that packets never loop", "Mao, Wen and Yeung, ICC 2012, Fig. 1; RFC 5715, section 6.8";
        "own" => Own: "each when it is ready, so that packets may loop between routers that disagree", "RFC 5715, section 2";
    }
}

/// What a router does with packets of a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Sends them on along the shortest path that it knows.
    Next(DirectedLink),
    /// Spreads them over several next hops of equal cost.
    Ecmp(Vec<DirectedLink>),
    /// Sends them along its backup.
    Backup(Repair),
}

/// How every router forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forwarding {
    /// How it finds backups.
    pub mechanism: Mechanism,
    /// What backups avoid.
    pub protect: Protect,
    /// Whether it uses all next hops of equal cost, and not one of them.
    pub multipath: bool,
}

impl Forwarding {
    /// The next hops that a router uses for a destination while it sees none of them fail; none where there is no way.
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

/// Why an entry changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The router sees a link beside it fail.
    Failure,
    /// The router sees it work again.
    Repair,
    /// The router acts on an announcement.
    Convergence,
}

/// A router rewrites an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The router.
    pub router: usize,
    /// Whose packets it concerns.
    pub destination: usize,
    /// What it does with them from now on.
    pub entry: Entry,
    /// Why.
    pub cause: Cause,
}

/// All that happens to the tables of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// What is announced, in order of time.
    pub announcements: Vec<Announcement>,
    /// What is rewritten, in order of time.
    pub changes: Vec<Change>,
}

/// Something that a router has to act on.
enum Event {
    Sees { hop: DirectedLink, down: bool },
    Installs { announcement: usize },
}

/// A state of the network and its shortest paths.
struct View {
    topology: Topology,
    routes: Routes,
}

/// One router.
#[derive(Clone, Default)]
struct Router {
    /// The links that it has been told are down.
    told: BTreeSet<usize>,
    /// The latest announcement of each link that it has acted on.
    latest: BTreeMap<usize, usize>,
    /// The links beside it that it sees down.
    seen: BTreeSet<DirectedLink>,
    /// Its table, by destination.
    table: Vec<Option<Entry>>,
}

/// What routers do about failures. Asks at each step whether to go on; `None` if not.
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
    for sighting in sightings(failures, timing) {
        let (link, direction) = sighting.hop;
        let Some(ends) = topology.links()[link].map(|link| link.ends) else { continue };
        let hop = sighting.hop;
        let mut see = |at, down| events.push((at, ends[direction], Event::Sees { hop, down }));
        see(sighting.down, true);
        if let Some(up) = sighting.up {
            see(up, false);
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
    // Stable: what is seen comes before what is installed, and announcements stay in order.
    events.sort_by_key(|&(at, router, _)| (at, router));

    let mut views: BTreeMap<BTreeSet<usize>, View> = BTreeMap::new();
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
        let view = view(&mut views, topology, &router.told);
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

/// The network without the links that are down, computed once.
fn view<'v>(
    views: &'v mut BTreeMap<BTreeSet<usize>, View>,
    topology: &Topology,
    down: &BTreeSet<usize>,
) -> &'v View {
    views.entry(down.clone()).or_insert_with(|| {
        let topology = topology.without(down.iter().copied());
        View { routes: Routes::new(&topology), topology }
    })
}

impl Router {
    /// Takes note of an event.
    fn take(&mut self, event: &Event, announced: &[Announcement]) -> Cause {
        match *event {
            Event::Sees { hop, down: true } => {
                self.seen.insert(hop);
                Cause::Failure
            }
            Event::Sees { hop, down: false } => {
                self.seen.remove(&hop);
                Cause::Repair
            }
            Event::Installs { announcement } => {
                let Announcement { link, up, .. } = announced[announcement];
                // Old news that was overtaken is not news.
                if self.latest.get(&link).is_none_or(|&latest| latest < announcement) {
                    self.latest.insert(link, announcement);
                    if up {
                        self.told.remove(&link)
                    } else {
                        self.told.insert(link)
                    };
                }
                Cause::Convergence
            }
        }
    }

    /// What it does with packets of a destination now; `None` if it knows no way.
    fn entry(
        &self,
        view: &View,
        forwarding: Forwarding,
        router: usize,
        destination: usize,
    ) -> Option<Entry> {
        let (topology, routes) = (&view.topology, &view.routes);
        let all = forwarding.next_hops(topology, routes, router, destination);
        let next = match all[..] {
            [] => return None,
            [next] if self.seen.contains(&next) => next,
            [next] => return Some(Entry::Next(next)),
            _ => return Some(self.left(all)),
        };
        let Forwarding { mechanism, protect, .. } = forwarding;
        let backup = repair(topology, routes, mechanism, protect, router, destination);
        let usable = backup.filter(|backup| !self.seen.contains(&backup.hops[0]));
        Some(usable.map_or(Entry::Next(next), Entry::Backup))
    }

    /// The same with several next hops of equal cost: those that it does not see fail, or all of them.
    fn left(&self, all: Vec<DirectedLink>) -> Entry {
        let left: Vec<DirectedLink> =
            all.iter().copied().filter(|hop| !self.seen.contains(hop)).collect();
        match left[..] {
            [] => Entry::Ecmp(all),
            [hop] => Entry::Next(hop),
            _ => Entry::Ecmp(left),
        }
    }
}
