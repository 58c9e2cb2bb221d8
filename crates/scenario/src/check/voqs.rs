//! Virtual output queues.

use std::collections::BTreeMap;

use optcp_units::nearest::suggestion;

use crate::plan::{DirectedLink, LinkPlan, PortPlan, Spread, VoqPlan, WayPlan};
use crate::problem::Problems;
use crate::schema::{File, VoqEntry};
use crate::tree::{Step, place};

use super::bounds::{MOST, check_name};
use super::network::Network;
use super::{buffers, queues};

/// Name for no serving path.
const NONE: &str = "none";
/// Name of the direct path between two members of a mesh.
pub(super) const DIRECT: &str = "direct";
/// Maximum number of paths, which are numbered in a byte.
const MOST_WAYS: usize = 200;

impl Network {
    /// Creates the virtual output queues.
    pub(super) fn voqs(&mut self, file: &File, problems: &mut Problems<'_>) {
        let with = [
            ("[routing]", file.routing.is_some()),
            ("[[protection]]", !file.protection.is_empty()),
        ];
        for (other, given) in with {
            if given && !file.voqs.is_empty() {
                problems
                    .at(
                        place!["voqs", 0],
                        format!("virtual output queues in a scenario with {other}"),
                    )
                    .label("their flows need a `path` each, and no backup");
            }
        }
        for (i, entry) in file.voqs.iter().enumerate() {
            let stop = file.stop.0;
            queues::check(&entry.queue, stop, place!["voqs", i, "queue"], problems);
            if let Some(queue) = &entry.reverse.queue {
                queues::check(queue, stop, place!["voqs", i, "reverse", "queue"], problems);
            }
            check_name(&entry.name, place!["voqs", i, "name"], problems);
            let made = match (&entry.between, &entry.mesh) {
                (Some(between), None) => self.voq_between(i, entry, between, problems),
                (None, Some(group)) => self.voqs_of_mesh(i, entry, group, problems),
                _ => {
                    problems
                        .at(place!["voqs", i], "nodes of the queue are not clear")
                        .label("needs either `between` and `ways`, or `mesh`");
                    None
                }
            };
            if made.is_none() {
                self.incomplete = true;
            }
        }
    }

    /// Creates a queue between each pair of members of a group, with paths through the other members.
    fn voqs_of_mesh(
        &mut self,
        i: usize,
        entry: &VoqEntry,
        group: &str,
        problems: &mut Problems<'_>,
    ) -> Option<()> {
        let place = place!["voqs", i, "mesh"];
        let members = self.group_named(group, place, problems)?;
        if members.len() < 2 || members.len() > MOST_WAYS {
            problems
                .at(place, format!("`{group}` has {} members", members.len()))
                .label(format!("needs at least two, and at most {MOST_WAYS}"));
            return None;
        }
        if !entry.ways.is_empty() {
            problems
                .at(place!["voqs", i, "ways"], "`ways` is not used here")
                .label("the paths of a `mesh` are `direct` and one through each other member");
            return None;
        }
        let mut hops = BTreeMap::new();
        for &a in &members {
            for &b in members.iter().filter(|&&b| b != a) {
                let route = self.direct(a, b, place, problems)?;
                hops.insert((a, b), route.hops[0]);
            }
        }
        for (number, &a) in members.iter().enumerate() {
            for &b in &members[number + 1..] {
                let over = members.iter().filter(|&&over| over != a && over != b);
                let mut ways: Vec<WayPlan> = over
                    .map(|&over| WayPlan {
                        name: self.name(over).to_owned(),
                        hops: vec![hops[&(a, over)], hops[&(over, b)]],
                    })
                    .collect();
                ways.push(WayPlan { name: DIRECT.to_owned(), hops: vec![hops[&(a, b)]] });
                ways.sort_by(|one, other| one.name.cmp(&other.name));
                let name = format!("{}-{}-{}", entry.name, self.name(a), self.name(b));
                self.voq(i, entry, name, [a, b], ways, problems)?;
            }
        }
        Some(())
    }

    fn voq_between(
        &mut self,
        i: usize,
        entry: &VoqEntry,
        between: &[String; 2],
        problems: &mut Problems<'_>,
    ) -> Option<()> {
        let [Some(a), Some(b)] = [0, 1].map(|end| {
            let name = &between[end];
            let node = self.find_node(name);
            if node.is_none() && self.is_new_problem(name) {
                let help = suggestion(name, "nodes", self.nodes.iter().map(String::as_str));
                let place = place!["voqs", i, "between", end];
                problems.at(place, format!("unknown node `{name}`")).help(help);
            }
            node
        }) else {
            return None;
        };
        let ways = self.ways_of(i, entry, [a, b], problems)?;
        self.voq(i, entry, entry.name.clone(), [a, b], ways, problems)
    }

    /// Adds a queue.
    fn voq(
        &mut self,
        i: usize,
        entry: &VoqEntry,
        name: String,
        ends: [usize; 2],
        ways: Vec<WayPlan>,
        problems: &mut Problems<'_>,
    ) -> Option<()> {
        let taken = self.node.contains_key(&name)
            || self.group.contains_key(&name)
            || self.link.contains_key(&name)
            || self.parallel.contains_key(&name);
        if taken {
            let message = format!("duplicate name `{name}`");
            problems
                .at(place!["voqs", i, "name"], message)
                .label("names of nodes, links and virtual output queues must differ");
            return None;
        }
        if self.links.len() == MOST {
            problems.at(place!["voqs", i], format!("more than {MOST} links"));
            return None;
        }
        let notify = entry.notify.map(|notify| notify.0);
        let mut voq = VoqPlan { ways, served: [None; 2], notify };
        let there = served(&voq, &entry.served, place!["voqs", i, "served"], problems)?;
        let back = match &entry.reverse.served {
            None => there,
            Some(way) => served(&voq, way, place!["voqs", i, "reverse", "served"], problems)?,
        };
        voq.served = [there, back];
        // Queueing delays use the rate of the serving path, or of the first path.
        let port = |direction: usize| {
            let way = voq.served[direction].map_or(0, usize::from);
            let (link, to) = voq.hops(way, direction)[0];
            let queue = entry.reverse.queue.as_ref().filter(|_| direction == 1);
            let queue = queue.unwrap_or(&entry.queue);
            PortPlan {
                rate: self.links[link].directions[to].rate,
                delay: Spread::ZERO,
                jitter: Spread::ZERO,
                overtaking: false,
                queue: buffers::limit(queue),
                discipline: queues::discipline(queue),
            }
        };
        let directions = [port(0), port(1)];
        let link = self.join(LinkPlan {
            name,
            named: true,
            ends,
            directions,
            costs: [1, 1],
            shared_delay: true,
            over: Vec::new(),
            voq: Some(voq),
            wavelengths: None,
            spare: None,
            entry: None,
        });
        for way in [0, 1] {
            let (queue, place) = match &entry.reverse.queue {
                Some(queue) if way == 1 => (queue, place!["voqs", i, "reverse", "queue"]),
                _ => (&entry.queue, place!["voqs", i, "queue"]),
            };
            buffers::note(queue, (link, way), place, &mut self.relatives);
        }
        Some(())
    }

    fn ways_of(
        &mut self,
        i: usize,
        entry: &VoqEntry,
        [a, b]: [usize; 2],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<WayPlan>> {
        if entry.ways.is_empty() || entry.ways.len() > MOST_WAYS {
            let message = format!("virtual output queue with {} paths", entry.ways.len());
            problems
                .at(place!["voqs", i, "ways"], message)
                .label(format!("needs at least one, and at most {MOST_WAYS}"));
            return None;
        }
        let mut ways: Vec<WayPlan> = Vec::new();
        for (name, nodes) in &entry.ways {
            let place = [place!["voqs", i, "ways"], &[Step::from(name.as_str())]].concat();
            if name == NONE {
                problems
                    .at(&place, "path with the name `none`")
                    .label("`none` is reserved: no packet leaves the queue");
                return None;
            }
            let routes = self.routes(nodes, &place, problems)?;
            let [route] = &routes[..] else {
                problems.at(&place, "ambiguous path").label("a path consists of nodes");
                return None;
            };
            if route.nodes[0] != a || route.nodes[route.nodes.len() - 1] != b {
                let [a, b] = [a, b].map(|node| self.name(node));
                problems
                    .at(&place, format!("path `{name}` does not lead from `{a}` to `{b}`"))
                    .label("paths lead from one node of the queue to the other");
                return None;
            }
            let plain = |&(link, _): &DirectedLink| {
                let link = &self.links[link];
                link.voq.is_none() && link.over.is_empty() && link.wavelengths.is_none()
            };
            if !route.bundles.is_empty() || !route.hops.iter().all(plain) {
                problems
                    .at(&place, format!("path `{name}` consists not only of links"))
                    .label("no bundles, fibres or other virtual output queues");
                return None;
            }
            let hops = route.hops.clone();
            let first = [hops[0], hops[hops.len() - 1]];
            let taken = ways.iter().find(|other| {
                other.hops[0].0 == first[0].0 || other.hops[other.hops.len() - 1].0 == first[1].0
            });
            if let Some(other) = taken {
                let message = format!("paths `{}` and `{name}` share a transmitter", other.name);
                problems.at(&place, message).label("the first and last links of paths must differ");
                return None;
            }
            ways.push(WayPlan { name: name.clone(), hops });
        }
        Some(ways)
    }
}

/// Returns the number of the serving path; the inner `None` stands for no path.
#[expect(clippy::option_option, reason = "the outer one is a problem")]
pub(super) fn served(
    voq: &VoqPlan,
    name: &str,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) -> Option<Option<u8>> {
    if name == NONE {
        return Some(None);
    }
    let way = voq.way(name);
    if way.is_none() {
        let names = voq.ways.iter().map(|way| way.name.as_str()).chain([NONE]);
        let help = suggestion(name, "ways", names);
        problems.at(place, format!("unknown path `{name}`")).help(help);
    }
    way.map(Some)
}
