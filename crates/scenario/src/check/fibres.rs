//! Fibres, their burst switches, and the links that burst routes create.

use std::collections::BTreeMap;

use optcp_net::{Discipline, QueueKind};
use optcp_optical::switching::{Conversion, Scheduling};
use optcp_routing::Routes;
use optcp_units::Duration;

use crate::plan::{CorePlan, DirectedLink, LinkPlan, PortPlan, QueueLimit, Spread};
use crate::problem::Problems;
use crate::schema::{BurstsEntry, File, LinkRef};
use crate::tree::{Step, place};

use super::bounds::MOST;
use super::draft::Draft;
use super::network::Network;
use super::route::{Item, Route, Smaller};

/// Maximum number of wavelengths per fibre, far above any real band; each takes memory.
const MOST_WAVELENGTHS: u32 = 10_000;

/// Reads `[core]` and excludes fibres from the links that packets use.
pub(super) fn core(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for link in 0..network.links.len() {
        if network.links[link].wavelengths == Some(0) {
            problems.at(&network.wavelengths(link), "fibre without wavelengths");
            break;
        }
        if network.links[link].wavelengths.is_some_and(|count| count > MOST_WAVELENGTHS) {
            problems
                .at(&network.wavelengths(link), "too many wavelengths")
                .label(format!("at most {MOST_WAVELENGTHS}"));
            break;
        }
    }
    let has_fibres = network.links.iter().any(|link| link.wavelengths.is_some());
    if file.core.is_some() && !has_fibres && !network.incomplete {
        problems.at(place!["core"], "`[core]` without fibres").label("no link has `wavelengths`");
    }
    if has_fibres {
        let table = file.core.unwrap_or_default();
        plan.core = Some(CorePlan {
            scheduling: table.scheduling.unwrap_or(Scheduling::LaucVf),
            conversion: table.conversion.unwrap_or(Conversion::Full),
            processing: table.processing.map_or(Duration::ZERO, |processing| processing.0),
            detection: table.detection.map_or(Duration::ZERO, |detection| detection.0),
            preemption: table.preemption.unwrap_or(false),
            delay_line: table.delay_line.map_or(Duration::ZERO, |length| length.0),
        });
    }
    let routes: Vec<(usize, Vec<Route>)> = (0..)
        .zip(&file.bursts)
        .filter_map(|(i, entry)| Some((i, network.routes_of_bursts(i, entry, problems)?)))
        .collect();
    network.part_fibres();
    for (i, routes) in routes {
        for route in routes {
            network.add_burst_link(i, route, problems);
        }
    }
}

impl Network {
    /// Returns the place of a fibre's `wavelengths` in the file.
    pub(super) fn wavelengths(&self, link: usize) -> Vec<Step<'static>> {
        match self.links[link].entry {
            None => place!["topology", "wavelengths"].to_vec(),
            Some(i) => place!["links", i, "wavelengths"].to_vec(),
        }
    }

    /// Returns the routes over fibres of an entry; `None` if it has none, or if a problem was reported.
    fn routes_of_bursts(
        &mut self,
        i: usize,
        entry: &BurstsEntry,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Route>> {
        match (&entry.link, &entry.path, &entry.between) {
            (Some(_), None, None) => None,
            (None, Some(path), None) => {
                let place = place!["bursts", i, "path"];
                let routes = self.routes(path, place, problems)?;
                let hops = routes.iter().flat_map(|route| &route.hops);
                let mut links = hops.map(|&(link, _)| &self.links[link]);
                if let Some(link) = links.find(|link| link.wavelengths.is_none()) {
                    problems
                        .at(place, format!("`{}` is not a fibre", link.name))
                        .label("bursts need links with `wavelengths`");
                    return None;
                }
                Some(routes)
            }
            (None, None, Some(names)) => self.shortest_over_fibres(i, names, problems),
            _ => {
                problems
                    .at(place!["bursts", i], "route of bursts is not clear")
                    .label("needs exactly one of `link`, `path` and `between`");
                None
            }
        }
    }

    /// Returns the routes of minimum delay between all pairs of some nodes.
    fn shortest_over_fibres(
        &mut self,
        i: usize,
        names: &[String],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Route>> {
        let place = place!["bursts", i, "between"];
        let pairs = self.pairs(names, place, problems)?;
        let routes = Routes::new(&self.fibre_topology(place, problems, |_| true)?);
        let mut found = Vec::with_capacity(pairs.len());
        for [from, to] in pairs {
            let mut route = Route { nodes: vec![from], hops: Vec::new(), bundles: BTreeMap::new() };
            let mut node = from;
            while let Some((link, direction)) = routes.next(node, to) {
                node = self.links[link].ends[1 - direction];
                route.hops.push((link, direction));
                route.nodes.push(node);
            }
            if node != to {
                let (from, to) = (self.name(from), self.name(to));
                let message = format!("no path over fibres from `{from}` to `{to}`");
                problems.at(place, message).label("links with `wavelengths` are fibres");
                return None;
            }
            found.push(route);
        }
        Some(found)
    }

    /// Returns all pairs of the nodes that names and groups stand for, each pair once.
    pub(super) fn pairs(
        &mut self,
        names: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<[usize; 2]>> {
        let mut nodes: Vec<usize> = Vec::new();
        for (j, name) in names.iter().enumerate() {
            let here = [place, place![j]].concat();
            let one = std::slice::from_ref(name);
            for row in self.rows(one, Smaller::Linked, place, problems)? {
                let [Item::Node(node)] = row[..] else {
                    problems.at(&here, "link in place of a node").label("expected a node");
                    return None;
                };
                if nodes.contains(&node) {
                    problems.at(&here, format!("`{}` is listed twice", self.name(node)));
                    return None;
                }
                nodes.push(node);
            }
        }
        if nodes.len() < 2 {
            problems.at(place, "needs at least two nodes");
            return None;
        }
        if nodes.len().saturating_mul(nodes.len() - 1) > MOST {
            problems.at(place, format!("{} nodes make more than {MOST} pairs", nodes.len()));
            return None;
        }
        let behind = |n: usize| nodes[n + 1..].iter().copied();
        let pairs = nodes.iter().enumerate().flat_map(|(n, &a)| behind(n).map(move |b| [a, b]));
        Some(pairs.collect())
    }

    /// Removes fibres from the links that packets use.
    fn part_fibres(&mut self) {
        for (index, link) in self.links.iter().enumerate() {
            if link.wavelengths.is_none() {
                continue;
            }
            let [a, b] = link.ends;
            let ends = (a.min(b), a.max(b));
            self.fibre_between.entry(ends).or_default().push(index);
            let Some(all) = self.between.get_mut(&ends) else { continue };
            all.retain(|&other| other != index);
            if all.is_empty() {
                self.between.remove(&ends);
                for (node, other) in [(a, b), (b, a)] {
                    let beside = self.beside.get_mut(&node);
                    beside.into_iter().for_each(|all| all.retain(|&one| one != other));
                }
            }
        }
    }

    /// Returns the links that fail for a link reference: two nodes between which no packets travel except in bursts stand for
    /// the fibres between them.
    pub(super) fn referred_for_failure(
        &mut self,
        link: &LinkRef,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<DirectedLink>> {
        if let LinkRef::Ends(names) = link
            && let [Some(a), Some(b)] = [0, 1].map(|end| self.find_node(names.get(end)?))
            && names.len() == 2
            && self.fibre_between.contains_key(&(a.min(b), a.max(b)))
        {
            let links = self.between.get(&(a.min(b), a.max(b))).into_iter().flatten();
            if links.into_iter().all(|&link| self.is_burst_route(link)) {
                return self.referred_fibres(link, place, problems);
            }
        }
        self.referred(link, place, problems)
    }

    /// Returns whether a link stands for a route of bursts over fibres.
    pub(super) fn is_burst_route(&self, link: usize) -> bool {
        self.burst_links.iter().any(|&(_, of_bursts)| of_bursts == link)
    }

    /// Returns the fibres of a link reference, in the direction in which it is written.
    pub(super) fn referred_fibres(
        &mut self,
        link: &LinkRef,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<DirectedLink>> {
        let hops = match link {
            LinkRef::Name(_) => self.referred(link, place, problems)?,
            LinkRef::Ends(names) => {
                let [[a, b]] = self.pairs(names, place, problems)?[..] else {
                    problems.at(place, "groups in place of two nodes");
                    return None;
                };
                let fibres = self.fibre_between.get(&(a.min(b), a.max(b)));
                let fibres = fibres.map_or(&[][..], Vec::as_slice);
                fibres.iter().map(|&f| (f, usize::from(self.links[f].ends[0] != a))).collect()
            }
        };
        let none = hops.is_empty();
        if none || hops.iter().any(|&(link, _)| self.links[link].wavelengths.is_none()) {
            problems.at(place, "no fibres").label("links with `wavelengths` are fibres");
            return None;
        }
        Some(hops)
    }

    /// Adds the link that a route over fibres provides to packets.
    fn add_burst_link(&mut self, i: usize, route: Route, problems: &mut Problems<'_>) {
        let ends @ [a, b] = [route.nodes[0], route.nodes[route.nodes.len() - 1]];
        let place = place!["bursts", i];
        let [from, to] = ends.map(|node| self.nodes[node].clone());
        let between = (a.min(b), a.max(b));
        if self.between.contains_key(&between) {
            problems.at(place, format!("link between `{from}` and `{to}` exists already"));
            return;
        }
        if self.links.len() == MOST {
            problems.at(place, format!("more than {MOST} links"));
            self.incomplete = true;
            return;
        }
        let rate = |hop: DirectedLink| self.links[hop.0].directions[hop.1].rate;
        let ways = [0, 1].map(|way| route.hops.iter().map(move |&(l, d)| (l, d ^ way)));
        let [there, back] = ways.map(|mut way| {
            let first = way.next().map(rate)?;
            way.all(|hop| rate(hop) == first).then_some(first)
        });
        let (Some(there), Some(back)) = (there, back) else {
            problems
                .at(place, format!("fibres between `{from}` and `{to}` differ in `rate`"))
                .label("a burst has one rate from edge to edge");
            return;
        };
        let port = |rate| PortPlan {
            rate,
            delay: Spread::ZERO,
            jitter: Spread::ZERO,
            overtaking: false,
            queue: QueueLimit::Unlimited,
            discipline: Discipline::of(QueueKind::DropTail),
        };
        let link = self.join(LinkPlan {
            name: format!("bursts-{from}-{to}"),
            named: false,
            ends,
            directions: [port(there), port(back)],
            costs: [1, 1],
            shared_delay: true,
            over: route.hops,
            voq: None,
            wavelengths: None,
            spare: None,
            entry: None,
        });
        self.burst_links.push((i, link));
    }
}
