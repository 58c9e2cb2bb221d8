//! Paths of an entry: listed, computed, or left to routing.

use std::collections::{BTreeMap, BTreeSet, btree_map};

use optcp_des::Streams;
use optcp_routing::{Bridged, Link, Routes, Topology, Tree, k_shortest};

use crate::library::Library;
use crate::plan::{DirectedLink, ForwardingPlan, LinkPlan, VoqPlan};
use crate::problem::Problems;
use crate::schema::{Chosen, Count, ListOr, Metric, PairsTable};
use crate::tree::{Step, place};

use super::draft::Draft;
use super::network::Network;
use super::pairs::{Pairs, pairs, pick};
use super::route::{Item, Route, Smaller};
use super::routing::delay_cost;

/// Path keys of an entry.
pub(super) struct Way<'e> {
    /// Section, and index of the entry in it.
    pub at: (&'static str, usize),
    pub group: &'e str,
    pub path: &'e Option<ListOr<Chosen>>,
    pub metric: Option<Metric>,
    pub paths: Option<Count>,
    pub via: Option<&'e str>,
    pub between: &'e Option<Vec<String>>,
    pub from: &'e Option<String>,
    pub to: &'e Option<String>,
    pub pairs: &'e Option<PairsTable>,
    /// Instead of these keys: pairs of nodes.
    pub given: Option<&'e [[usize; 2]]>,
    /// Number of flows per path.
    pub per_source: usize,
}

/// Paths of an entry.
pub(super) struct Ways {
    pub routes: Vec<Route>,
    /// Number of flows per path.
    pub each: usize,
    /// `true`: packets follow the routing.
    pub routed: bool,
    /// `true`: a flow is named after both ends.
    pub by_pair: bool,
    /// Relative probability of each route; empty if all are equal.
    pub weights: Vec<u64>,
    /// Number of routes drawn per run; `None` if all of them have flows.
    pub drawn: Option<u32>,
}

impl Ways {
    fn of(routes: Vec<Route>, each: usize) -> Self {
        Ways { routes, each, routed: false, by_pair: false, weights: Vec::new(), drawn: None }
    }
}

/// Returns the paths of an entry; `None` if a problem was reported.
pub(super) fn ways(
    way: &Way<'_>,
    plan: &Draft,
    network: &mut Network,
    shortest: Option<&Routes>,
    library: &Library,
    problems: &mut Problems<'_>,
) -> Option<Ways> {
    let (section, i) = way.at;
    let what = if section == "traffic" { "datagrams" } else { "flows" };
    let at = |key: &'static str| [Step::from(section), i.into(), key.into()];
    let chosen = match way.path {
        Some(ListOr::Found(chosen)) if *chosen != Chosen::Routed => Some(*chosen),
        _ => None,
    };
    for (key, given, fits) in [
        ("metric", way.metric.is_some(), chosen.is_some()),
        ("paths", way.paths.is_some(), chosen == Some(Chosen::Shortest)),
        ("via", way.via.is_some(), chosen == Some(Chosen::Valiant)),
    ] {
        if given && !fits {
            let label = match key {
                "paths" => "needs path = \"shortest\"",
                "via" => "needs path = \"valiant\"",
                _ => "needs a computed `path`",
            };
            problems.at(&at(key), format!("`{key}` is not used here")).label(label);
        }
    }
    let is_routed = |key: &'static str, problems: &mut Problems<'_>| {
        let unclear = chosen.is_none() && plan.routing.is_none() && plan.forwarding.is_none();
        if unclear {
            problems.at(&at(key), format!("{what} without a `path` need routing")).help(
                "write path = \"shortest\", the `path`, or a table `[routing]` or `[forwarding]`"
                    .to_owned(),
            );
        }
        !unclear
    };
    let ends = match (way.path, way.between, (way.from, way.to), way.pairs) {
        _ if way.given.is_some() => {
            let given = way.given.filter(|_| is_routed("group", problems))?;
            Pairs { ends: given.to_vec(), weights: Vec::new() }
        }
        (Some(ListOr::List(path)), None, (None, None), None) => {
            let routes = network.routes(path, &at("path"), problems)?;
            return Some(Ways::of(routes, way.per_source));
        }
        (None, Some(names), (None, None), None) => {
            let pairs = network.pairs(names, &at("between"), problems)?;
            let both = pairs.into_iter().flat_map(|[a, b]| [[a, b], [b, a]]);
            let direct = both.map(|[a, b]| network.direct(a, b, &at("between"), problems));
            let routes = direct.collect::<Option<_>>()?;
            return Some(Ways { by_pair: true, ..Ways::of(routes, way.per_source) });
        }
        (None | Some(ListOr::Found(_)), None, (Some(_), Some(_)), None)
        | (None | Some(ListOr::Found(_)), None, (None, None), Some(_)) => {
            if !is_routed(if way.pairs.is_some() { "pairs" } else { "from" }, problems) {
                return None;
            }
            match (way.pairs, way.from, way.to) {
                (Some(table), _, _) => pairs(table, &at("pairs"), network, library, problems)?,
                (None, Some(a), Some(b)) => {
                    let ends = network.ends([a, b], [&at("from"), &at("to")], problems)?;
                    Pairs { ends, weights: Vec::new() }
                }
                _ => return None,
            }
        }
        _ => {
            problems
                .at(place![section, i], format!("path of these {what} is not clear"))
                .label("needs exactly one of `path`, `between`, `from` and `to`, or `pairs`");
            return None;
        }
    };
    if network.incomplete {
        return None;
    }
    let place = at(match (way.given, way.pairs) {
        (Some(_), _) => "group",
        (None, Some(_)) => "pairs",
        (None, None) => "to",
    });
    let drawn = drawn_once(way, ends);
    let ends = drawn.pairs;
    let each_run = drawn.count;
    let hashed = chosen.filter(|chosen| matches!(chosen, Chosen::Ecmp | Chosen::Valiant));
    if let (Some(_), Some(hashed)) = (each_run, hashed) {
        problems
            .at(&at("path"), format!("`{}` with pairs drawn per run", hashed.name()))
            .label("the hash of a flow must be known before the run")
            .help("give `pairs` a `seed`, which draws them once for all runs".to_owned());
        return None;
    }
    let mut ways = Ways {
        by_pair: way.pairs.is_some() || way.given.is_some(),
        routed: chosen.is_none(),
        weights: Vec::new(),
        drawn: each_run,
        ..Ways::of(Vec::new(), way.per_source)
    };
    let mut finder = match chosen {
        Some(_) => {
            Some(Finder::new(network, way.metric.unwrap_or(Metric::Cost), &at("metric"), problems)?)
        }
        None => None,
    };
    let via = match chosen {
        Some(Chosen::Valiant) => network.via(way.via, &at("via"), &at("path"), problems)?,
        _ => Vec::new(),
    };
    for (number, &[a, b]) in ends.ends.iter().enumerate() {
        if a == b {
            let message = format!("{what} from `{}` to itself", network.name(a));
            problems.at(&place, message);
            return None;
        }
        let found = match (chosen, &mut finder) {
            (Some(chosen), Some(finder)) => {
                // One path per flow, because their hashes differ.
                let flows = if hashed.is_some() { way.per_source } else { 1 };
                let name = network.pair_name(&[a, b]);
                let key = |k: usize| format!("{}/{name}/{number}/{k}", way.group);
                let paths = way.paths.map_or(1, |paths| paths.0);
                let found = |k| finder.paths([a, b], chosen, (paths, &via), &key(k));
                (0..flows).flat_map(found).collect()
            }
            _ => match &plan.forwarding {
                Some(written) => first_route(network, written, [a, b]),
                None => routed(network, shortest?, [a, b]),
            },
        };
        if found.is_empty() {
            let message = format!("no path from `{}` to `{}`", network.name(a), network.name(b));
            let problem = problems.at(&place, message);
            if plan.forwarding.is_some() && chosen.is_none() {
                problem.label("the entries contain no path, or none for ACKs");
            }
            return None;
        }
        if let Some(&weight) = ends.weights.get(number) {
            ways.weights.extend(std::iter::repeat_n(weight, found.len()));
        }
        ways.routes.extend(found.iter().map(|hops| network.along(a, hops)));
    }
    if hashed.is_some() {
        ways.each = 1;
    }
    Some(ways)
}

/// Returns the path of routed packets without failures; empty without a path.
fn routed(network: &Network, routes: &Routes, [from, to]: [usize; 2]) -> Vec<Vec<DirectedLink>> {
    let (mut node, mut path) = (from, Vec::new());
    while let Some((link, direction)) = routes.next(node, to) {
        path.push((link, direction));
        node = network.links[link].ends[1 - direction];
    }
    if node == to { vec![path] } else { Vec::new() }
}

/// Returns the first path of static forwarding, if ACKs also have one at some time.
fn first_route(
    network: &Network,
    written: &ForwardingPlan,
    [from, to]: [usize; 2],
) -> Vec<Vec<DirectedLink>> {
    let far_end = |(link, direction): DirectedLink| network.links[link].ends[1 - direction];
    let first = |from, to| written.routes(far_end, from, to).into_iter().next();
    let there = first(from, to).filter(|_| first(to, from).is_some());
    there.map(|(_, hops)| hops).into_iter().collect()
}

/// Pairs with flows, or pairs from which each run draws.
struct Drawn {
    pairs: Pairs,
    count: Option<u32>,
}

/// Draws the pairs that are equal in all runs.
fn drawn_once(way: &Way<'_>, all: Pairs) -> Drawn {
    let table = way.pairs.as_ref();
    let Some(count) = table.and_then(|table| table.count) else {
        return Drawn { pairs: all, count: None };
    };
    let Some(seed) = table.and_then(|table| table.seed) else {
        return Drawn { pairs: all, count: Some(count.0) };
    };
    let mut stream = Streams::new(u64::from(seed.0)).stream("pairs");
    let one = |_| all.ends[pick(all.ends.len(), &all.weights, &mut stream)];
    Drawn {
        pairs: Pairs { ends: (0..count.0).map(one).collect(), weights: Vec::new() },
        count: None,
    }
}

/// Path computation in a network.
pub(super) struct Finder {
    pub topology: Topology,
    /// Shortest-path trees by destination, computed on request.
    trees: BTreeMap<usize, Tree>,
    /// Shortest-path trees with bridges, computed on request.
    bridged: Option<Bridged>,
}

impl Finder {
    /// Creates the computation for a metric; reports an undefined metric and returns `None`.
    pub(super) fn new(
        network: &Network,
        metric: Metric,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let mut links = network.links.clone();
        for (number, link) in links.iter_mut().enumerate() {
            for direction in [0, 1] {
                link.costs[direction] = match metric {
                    Metric::Cost => link.costs[direction],
                    Metric::Hops => 1,
                    Metric::Delay => {
                        let mut cost = 0_u32;
                        for hop in network.behind((number, direction)) {
                            let port = &network.links[hop.0].directions[hop.1];
                            let Some(delay) = delay_cost(&port.delay) else {
                                let name = &network.links[hop.0].name;
                                problems
                                    .at(place, format!("distributed delay of `{name}`"))
                                    .label("metric `delay` needs one fixed delay per link");
                                return None;
                            };
                            cost = cost.saturating_add(delay);
                        }
                        cost
                    }
                };
            }
        }
        // Packets do not use fibres but the links that bursts create over them. Circuits are reserved for
        // backups.
        let led = |link: usize| {
            network.bundles.iter().any(|bundle| bundle.has(link) && bundle.leader() != link)
        };
        // Links that serve virtual output queues are only used through them.
        let voqs = network.links.iter().filter_map(|link| link.voq.as_ref());
        let serving: BTreeSet<usize> = voqs.flat_map(VoqPlan::transmitters).collect();
        let usable = |(index, link): (usize, &LinkPlan)| {
            let circuit = !link.over.is_empty() && !network.is_burst_route(index);
            let usable = link.wavelengths.is_none() && !circuit && !led(index);
            let usable = usable && !serving.contains(&index);
            usable.then_some(Link { ends: link.ends, costs: link.costs })
        };
        let links = links.iter().enumerate().map(usable).collect();
        let topology = Topology::new(network.nodes.len(), links);
        Some(Finder { topology, trees: BTreeMap::new(), bridged: None })
    }

    /// Returns the shortest paths to a node.
    fn tree(&mut self, to: usize) -> &Tree {
        match self.trees.entry(to) {
            btree_map::Entry::Occupied(known) => known.into_mut(),
            btree_map::Entry::Vacant(new) => new.insert(Tree::new(&self.topology, to)),
        }
    }

    /// Returns the paths of a pair of nodes, possibly none.
    fn paths(
        &mut self,
        [from, to]: [usize; 2],
        chosen: Chosen,
        (count, via): (u32, &[usize]),
        key: &str,
    ) -> Vec<Vec<DirectedLink>> {
        let found = match chosen {
            Chosen::Shortest if count > 1 => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                return k_shortest(&self.topology, from, to, count);
            }
            Chosen::Shortest => {
                self.tree(to);
                self.trees[&to].path(&self.topology, from)
            }
            Chosen::ShortestPair => {
                self.tree(to);
                let shortest = self.trees[&to].path(&self.topology, from);
                let bridged = self.bridged.get_or_insert_with(|| Bridged::new(&self.topology));
                let [shorter, _] = bridged.pair(&self.topology, from, shortest);
                shorter
            }
            Chosen::Ecmp => self.hashed(from, to, key),
            Chosen::Valiant => self.over_one_of(via, [from, to], key),
            Chosen::Routed => Vec::new(),
        };
        if found.is_empty() { Vec::new() } else { vec![found] }
    }

    /// Returns the shortest path through one of these nodes, selected by a hash of the flow. Nodes that would
    /// lead to a repeated node are skipped. If none remains, as between hosts of one rack, returns the
    /// shortest path.
    fn over_one_of(
        &mut self,
        via: &[usize],
        [from, to]: [usize; 2],
        key: &str,
    ) -> Vec<DirectedLink> {
        let first = pick(via.len(), &[], &mut Streams::new(0).stream(key));
        self.tree(to);
        let mut reached = false;
        for &middle in via[first..].iter().chain(&via[..first]) {
            self.tree(middle);
            let there = self.trees[&middle].path(&self.topology, from);
            let on = self.trees[&to].path(&self.topology, middle);
            let on_the_way = middle == from || middle == to;
            if !on_the_way && (there.is_empty() || on.is_empty()) {
                continue;
            }
            reached = true;
            let mut passed = BTreeSet::from([from]);
            let mut once = |&(link, direction): &DirectedLink| {
                let ends = self.topology.links()[link].as_ref().map(|link| link.ends);
                ends.is_some_and(|ends| passed.insert(ends[1 - direction]))
            };
            if !on_the_way && there.iter().chain(&on).all(&mut once) {
                return [there, on].concat();
            }
        }
        if reached { self.trees[&to].path(&self.topology, from) } else { Vec::new() }
    }

    /// Returns the ECMP path: each node selects a next hop of minimum cost by a hash of its number
    /// and the flow.
    fn hashed(&mut self, from: usize, to: usize, key: &str) -> Vec<DirectedLink> {
        self.tree(to);
        let (topology, tree) = (&self.topology, &self.trees[&to]);
        let cost = |node: usize| tree.distance(node).map(|distance| distance.cost);
        let (mut node, mut path) = (from, Vec::new());
        while node != to {
            let next: Vec<_> = topology
                .adjacencies(node)
                .iter()
                .filter(|next| cost(next.to).map(|rest| rest + u64::from(next.cost)) == cost(node))
                .filter(|_| cost(node).is_some())
                .collect();
            if next.is_empty() {
                return Vec::new();
            }
            let mut stream = Streams::new(node as u64).stream(key);
            let taken = next[pick(next.len(), &[], &mut stream)];
            path.push(taken.hop);
            node = taken.to;
        }
        path
    }
}

impl Network {
    /// Returns the ports that a packet crosses behind a port. For a virtual output queue these are the ports
    /// of its initial path, or of its first one.
    fn behind(&self, port: DirectedLink) -> Vec<DirectedLink> {
        match &self.links[port.0].voq {
            None => vec![port],
            Some(voq) => voq.hops(voq.served[port.1].map_or(0, usize::from), port.1),
        }
    }

    /// Returns the group of intermediate nodes.
    fn via(
        &mut self,
        name: Option<&str>,
        via: &[Step<'_>],
        path: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<usize>> {
        let Some(name) = name else {
            problems
                .at(path, "`valiant` without intermediate nodes")
                .label("needs `via`, a group of nodes");
            return None;
        };
        self.group_named(name, via, problems)
    }

    /// Returns two nodes, or one pair per member of groups.
    pub(super) fn ends(
        &mut self,
        ends: [&str; 2],
        places: [&[Step<'_>]; 2],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<[usize; 2]>> {
        let [from, to] = ends.map(|name| [name.to_owned()]);
        let from = self.rows(&from, Smaller::Linked, places[0], problems)?;
        let to = self.rows(&to, Smaller::Linked, places[1], problems)?;
        if from.len() > 1 && to.len() > 1 && from.len() != to.len() {
            let (name, other) = (ends[1], ends[0]);
            let message = format!("`{name}` has {} members, `{other}` {}", to.len(), from.len());
            problems.at(places[1], message).label("groups are matched member by member");
            return None;
        }
        let mut pairs = Vec::new();
        for k in 0..from.len().max(to.len()) {
            let member = |rows: &[Vec<Item>]| match rows[k % rows.len()][..] {
                [Item::Node(node)] => Some(node),
                _ => None,
            };
            let (Some(a), Some(b)) = (member(&from), member(&to)) else {
                problems.at(places[0], "link in place of a node").label("expected a node");
                return None;
            };
            pairs.push([a, b]);
        }
        Some(pairs)
    }

    /// Returns the route from a node over hops of the graph in which a bundle is one link.
    pub(super) fn along(&self, from: usize, hops: &[DirectedLink]) -> Route {
        let mut route = Route { nodes: vec![from], hops: Vec::new(), bundles: BTreeMap::new() };
        for &(link, direction) in hops {
            let bundle = self.bundles.iter().position(|bundle| bundle.leader() == link);
            route.bundles.extend(bundle.map(|bundle| (route.hops.len(), bundle)));
            route.hops.push((link, direction));
            route.nodes.push(self.links[link].ends[1 - direction]);
        }
        route
    }
}
