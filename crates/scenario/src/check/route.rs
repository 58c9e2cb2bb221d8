//! Paths through the network, from names.

use std::collections::BTreeMap;

use crate::plan::{BundlePlan, DirectedLink, FlowPlan};
use crate::problem::Problems;
use crate::schema::{LinkRef, MembersKind};
use crate::tree::{Step, place};
use optcp_units::nearest::{list, suggestion};

use super::network::Network;

/// Meaning of a name in a chain or path.
pub(super) enum Item {
    Node(usize),
    Group(Vec<usize>),
    Link(usize),
    Bundle(usize),
}

/// Method that assigns the nodes of a smaller group to the members of a larger one.
#[derive(Clone, Copy)]
pub(super) enum Smaller {
    /// Fixed rule, for creating links.
    Of(MembersKind),
    /// Existing links to the adjacent nodes, for finding a path.
    Linked,
}

/// Path in the network.
#[derive(Clone)]
pub(super) struct Route {
    pub nodes: Vec<usize>,
    pub hops: Vec<DirectedLink>,
    /// Bundles by position in `hops`. The port at that position is the first one of the bundle.
    pub bundles: BTreeMap<usize, usize>,
}

impl Network {
    /// Resolves names into one row of items, or one row per member of the largest group.
    pub(super) fn rows(
        &mut self,
        names: &[String],
        smaller: Smaller,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Vec<Item>>> {
        let mut items = Vec::new();
        for (j, name) in names.iter().enumerate() {
            items.push(self.item(name, &[place, place![j]].concat(), problems)?);
        }
        let groups = || {
            items.iter().enumerate().filter_map(|(j, item)| match item {
                Item::Group(members) => Some((j, members.len())),
                Item::Node(_) | Item::Link(_) | Item::Bundle(_) => None,
            })
        };
        if groups().any(|(_, count)| count == 0) {
            // An empty group has been reported already.
            return None;
        }
        let (largest, rows) =
            groups().rev().max_by_key(|&(_, count)| count).map_or((0, 1), |(j, count)| (j, count));
        if let Some((j, count)) = groups().find(|&(_, count)| rows % count != 0) {
            let (name, other) = (&names[j], &names[largest]);
            problems
                .at(
                    &[place, place![j]].concat(),
                    format!("`{name}` has {count} members, `{other}` {rows}"),
                )
                .label("one of the numbers must be a multiple of the other");
            return None;
        }
        let row = |member: usize| {
            let item = |item: &Item| match (item, smaller) {
                (Item::Group(members), _) if members.len() == rows => Item::Node(members[member]),
                (Item::Group(members), Smaller::Of(MembersKind::InBlocks)) => {
                    Item::Node(members[member / (rows / members.len())])
                }
                (Item::Group(members), Smaller::Of(MembersKind::InTurn)) => {
                    Item::Node(members[member % members.len()])
                }
                (Item::Group(members), Smaller::Linked) => Item::Group(members.clone()),
                (Item::Node(node), _) => Item::Node(*node),
                (Item::Link(link), _) => Item::Link(*link),
                (Item::Bundle(bundle), _) => Item::Bundle(*bundle),
            };
            items.iter().map(item).collect()
        };
        let mut found: Vec<Vec<Item>> = (0..rows).map(row).collect();
        for row in &mut found {
            self.linked(row, names, place, problems)?;
        }
        Some(found)
    }

    /// Replaces each group by its only member that is linked to the adjacent nodes.
    fn linked(
        &self,
        row: &mut [Item],
        names: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<()> {
        let node = |item: Option<&Item>| match item {
            Some(&Item::Node(node)) => Some(node),
            _ => None,
        };
        // Both directions are scanned, because groups may be adjacent to each other.
        let there_and_back: Vec<usize> = (0..row.len()).chain((0..row.len()).rev()).collect();
        for j in there_and_back {
            let Item::Group(members) = &row[j] else { continue };
            let place = |item: &&Item| matches!(item, Item::Node(_) | Item::Group(_));
            let before = row[..j].iter().rev().find(place);
            let behind = row[j + 1..].iter().find(place);
            let beside: Vec<usize> = [node(before), node(behind)].into_iter().flatten().collect();
            if let [only] = self.linked_to(members, &beside)[..] {
                row[j] = Item::Node(only);
            }
        }
        let left = row.iter().position(|item| matches!(item, Item::Group(_)));
        let Some(j) = left else { return Some(()) };
        if !self.incomplete {
            let name = &names[j];
            problems
                .at(&[place, place![j]].concat(), format!("node of group `{name}` is not clear"))
                .label("several of its nodes are linked to the neighbours in the path");
        }
        None
    }

    /// Returns the members that are linked to all of these nodes; empty if no nodes are given.
    fn linked_to(&self, members: &[usize], nodes: &[usize]) -> Vec<usize> {
        let neighbours = |node: &usize| self.beside.get(node).map_or(&[][..], Vec::as_slice);
        let Some(fewest) = nodes.iter().min_by_key(|node| neighbours(node).len()) else {
            return Vec::new();
        };
        let linked = |a: usize, b: usize| self.between.contains_key(&(a.min(b), a.max(b)));
        let candidates = neighbours(fewest).iter().copied();
        candidates
            .filter(|node| members.binary_search(node).is_ok())
            .filter(|&node| nodes.iter().all(|&other| linked(node, other)))
            .collect()
    }

    fn item(
        &mut self,
        name: &str,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Item> {
        if let Some(&node) = self.node.get(name) {
            return Some(Item::Node(node));
        }
        if let Some(members) = self.group.get(name) {
            return Some(Item::Group(members.clone()));
        }
        if let Some(&link) = self.link.get(name) {
            return Some(Item::Link(link));
        }
        if let Some(&bundle) = self.bundle.get(name) {
            return Some(Item::Bundle(bundle));
        }
        if let Some(links) = self.parallel.get(name) {
            let names: Vec<&str> =
                links.iter().map(|&link| self.links[link].name.as_str()).collect();
            problems
                .at(place, format!("`{name}` stands for several links"))
                .help(format!("name one of {}, or a bundle of them", list(&names)));
            return None;
        }
        if let Some(node) = self.find_node(name) {
            return Some(Item::Node(node));
        }
        if self.is_new_problem(name) {
            let names = self.group.keys().chain(&self.nodes).map(String::as_str);
            let help = suggestion(name, "nodes and groups", names);
            problems
                .at(place, format!("unknown node or group `{name}`"))
                .label("not in [[nodes]]")
                .help(help);
        }
        None
    }

    /// Returns the routes along a list of names, one per member of its groups; `None` if a problem was
    /// reported.
    pub(super) fn routes(
        &mut self,
        names: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Route>> {
        let rows = self.rows(names, Smaller::Linked, place, problems)?;
        rows.iter().map(|row| self.route(row, place, problems)).collect()
    }

    /// Returns the route over the link between two nodes.
    pub(super) fn direct(
        &self,
        from: usize,
        to: usize,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Route> {
        self.route(&[Item::Node(from), Item::Node(to)], place, problems)
    }

    fn route(
        &self,
        row: &[Item],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Route> {
        let mut route = Route { nodes: Vec::new(), hops: Vec::new(), bundles: BTreeMap::new() };
        let mut via: Option<&Item> = None;
        for (j, item) in row.iter().enumerate() {
            let here = [place, place![j]].concat();
            match (item, route.nodes.last()) {
                (&Item::Node(node), None) => route.nodes.push(node),
                (&Item::Node(node), Some(&from)) => {
                    if let Some(first) = route.nodes.iter().position(|&other| other == node) {
                        let name = &self.nodes[node];
                        let message = match first == 0 && j + 1 == row.len() {
                            true => format!("the path ends where it starts, at `{name}`"),
                            false => format!("the path visits `{name}` twice"),
                        };
                        problems.at(&here, message);
                        return None;
                    }
                    let via = via.take();
                    if let Some(bundle) = self.bundle_on(from, node, via) {
                        route.bundles.insert(route.hops.len(), bundle);
                    }
                    route.hops.push(self.hop(from, node, via, &here, problems)?);
                    route.nodes.push(node);
                }
                (Item::Link(_) | Item::Bundle(_), Some(_))
                    if via.is_none() && j + 1 < row.len() =>
                {
                    via = Some(item);
                }
                _ => {
                    problems
                        .at(&here, "a link name must stand between the two nodes of the link")
                        .label("expected a node");
                    return None;
                }
            }
        }
        if route.hops.is_empty() {
            problems.at(place, "a path has at least two nodes");
            return None;
        }
        Some(route)
    }

    /// Returns the bundle from one node to the next: the named one, or the only one if it contains all links.
    fn bundle_on(&self, from: usize, to: usize, via: Option<&Item>) -> Option<usize> {
        match via {
            Some(&Item::Bundle(bundle)) => Some(bundle),
            Some(_) => None,
            None => {
                let between = self.between.get(&(from.min(to), from.max(to)))?;
                let with = |bundle: &BundlePlan| between.iter().all(|&link| bundle.has(link));
                self.bundles.iter().position(with)
            }
        }
    }

    /// Returns the port from one node to the next; the first one of a bundle.
    fn hop(
        &self,
        from: usize,
        to: usize,
        via: Option<&Item>,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<DirectedLink> {
        let between = self.between.get(&(from.min(to), from.max(to)));
        let between = between.map_or(&[][..], Vec::as_slice);
        let name = |node: usize| self.nodes[node].as_str();
        let via = match (via, self.bundle_on(from, to, via)) {
            (Some(&Item::Link(link)), _) => Some(link),
            (_, Some(bundle)) => Some(self.bundles[bundle].members[0].0),
            (_, None) => None,
        };
        let unnamed = || between.iter().find(|&&link| !self.links[link].named);
        let link = match (via, between) {
            (Some(link), _) => between.contains(&link).then_some(link),
            (None, [only]) => Some(*only),
            (None, _) => unnamed().copied(),
        };
        let Some(link) = link else {
            if self.incomplete {
                // The link may be missing because of a problem that was reported. That problem already
                // rejects the scenario.
                return None;
            }
            let (message, help) = match (via, between) {
                (Some(link), _) => {
                    let link = &self.links[link].name;
                    let message =
                        format!("`{link}` does not link `{}` and `{}`", name(from), name(to));
                    (message, None)
                }
                (None, []) if self.fibre_between.contains_key(&(from.min(to), from.max(to))) => {
                    let message =
                        format!("only a fibre between `{}` and `{}`", name(from), name(to));
                    let help = "[[bursts]] with `between` or `path` sends packets over fibres";
                    (message, Some(help.to_owned()))
                }
                (None, []) => {
                    let message = format!("no link between `{}` and `{}`", name(from), name(to));
                    (message, Some(self.neighbours(from)))
                }
                (None, several) => {
                    let message =
                        format!("several links between `{}` and `{}`", name(from), name(to));
                    let names: Vec<&str> =
                        several.iter().map(|&link| self.links[link].name.as_str()).collect();
                    let names = list(&names);
                    (message, Some(format!("put one of {names} between the two nodes")))
                }
            };
            problems.at(place, message).help(help);
            return None;
        };
        Some((link, usize::from(self.links[link].ends[0] != from)))
    }

    /// Returns a text such as "`A` is linked to `B`, `C`".
    fn neighbours(&self, node: usize) -> String {
        const SHOWN: usize = 8;
        let ends = self.links.iter().map(|link| link.ends);
        let mut names: Vec<&str> = ends
            .filter(|ends| ends.contains(&node))
            .map(|ends| self.nodes[ends[usize::from(ends[0] == node)]].as_str())
            .take(SHOWN + 1)
            .collect();
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        names.truncate(SHOWN);
        match names.is_empty() {
            true => format!("`{}` has no links", self.nodes[node]),
            false => {
                format!("`{}` is linked to {}{more}", self.nodes[node], list(&names))
            }
        }
    }

    /// Returns the ports of a link reference, in the direction in which it is written.
    pub(super) fn referred(
        &mut self,
        link: &LinkRef,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<DirectedLink>> {
        match link {
            LinkRef::Ends(ends) => {
                let routes = self.routes(ends, place, problems)?;
                Some(routes.iter().flat_map(|route| self.every_port(route)).collect())
            }
            LinkRef::Name(name) => self.named(name, place, problems),
        }
    }

    /// Returns the ports of a route, with all ports of each bundle.
    pub(super) fn every_port(&self, route: &Route) -> Vec<DirectedLink> {
        let mut ports = Vec::new();
        for (place, &hop) in route.hops.iter().enumerate() {
            match route.bundles.get(&place).map(|&bundle| &self.bundles[bundle]) {
                Some(bundle) => {
                    ports.extend(bundle.ports(usize::from(bundle.ends[0] != route.nodes[place])));
                }
                None => ports.push(hop),
            }
        }
        ports
    }

    /// Returns whether data of a flow may use a port.
    pub(super) fn may_pass(&self, flow: &FlowPlan, hop: DirectedLink) -> bool {
        let in_bundle = |(&place, &bundle): (&usize, &usize)| {
            let bundle = &self.bundles[bundle];
            bundle.ports(bundle.way(&self.links, flow.hops[place])).any(|port| port == hop)
        };
        flow.routed || flow.hops.contains(&hop) || flow.bundles.iter().any(in_bundle)
    }

    /// Returns the ports of a link, of parallel links or of a bundle, in the direction in which they are
    /// written.
    fn named(
        &self,
        name: &str,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<DirectedLink>> {
        if let Some(&link) = self.link.get(name) {
            return Some(vec![(link, 0)]);
        }
        if let Some(links) = self.parallel.get(name) {
            return Some(links.iter().map(|&link| (link, 0)).collect());
        }
        if let Some(&bundle) = self.bundle.get(name) {
            return Some(self.bundles[bundle].members.clone());
        }
        if !self.incomplete {
            let names = self.parallel.keys().chain(self.bundle.keys()).map(String::as_str);
            let names = names.chain(self.links.iter().map(|link| link.name.as_str()));
            let help = suggestion(name, "links", names);
            problems.at(place, format!("unknown link `{name}`")).help(help);
        }
        None
    }
}
