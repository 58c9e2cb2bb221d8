//! Ways through the network, found from names.

use crate::nearest::{list, suggestion};
use crate::plan::Hop;
use crate::problem::Problems;
use crate::schema::LinkRef;
use crate::tree::{Step, place};

use super::network::Network;

/// What a name in a chain or path stands for.
pub(super) enum Item {
    Node(usize),
    Group(Vec<usize>),
    Link(usize),
}

/// A path that has been found in the network.
pub(super) struct Route {
    pub nodes: Vec<usize>,
    pub hops: Vec<Hop>,
}

impl Network {
    /// What the names stand for: one row of items, or one for each member of the groups among them.
    pub(super) fn rows(
        &mut self,
        names: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Vec<Item>>> {
        let mut items = Vec::new();
        let mut size: Option<(usize, &str)> = None;
        for (j, name) in names.iter().enumerate() {
            let here = [place, place![j]].concat();
            items.push(self.item(name, &here, problems)?);
            if let Some(Item::Group(members)) = items.last() {
                match size {
                    Some((count, other)) if count != members.len() => {
                        let have = members.len();
                        problems
                            .at(&here, format!("`{name}` has {have} members, `{other}` {count}"))
                            .label("groups on one path go member by member");
                        return None;
                    }
                    _ => size = Some((members.len(), name)),
                }
            }
        }
        let rows = size.map_or(1, |(count, _)| count);
        if rows == 0 {
            // That the group is empty has been reported.
            return None;
        }
        let row = |member: usize| {
            let item = |item: &Item| match item {
                Item::Node(node) => Item::Node(*node),
                Item::Group(members) => Item::Node(members[member]),
                Item::Link(link) => Item::Link(*link),
            };
            items.iter().map(item).collect()
        };
        Some((0..rows).map(row).collect())
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
        if self.reported.insert(name.to_owned()) {
            let names = self.group.keys().chain(&self.nodes).map(String::as_str);
            let help = suggestion(name, "nodes and groups", names);
            problems
                .at(place, format!("no node or group `{name}`"))
                .label("not in [[nodes]]")
                .help(help);
        }
        None
    }

    /// The routes along a list of names, one for each member of the groups among them; `None` if there
    /// is a problem, which has then been reported.
    pub(super) fn routes(
        &mut self,
        names: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Route>> {
        let rows = self.rows(names, place, problems)?;
        rows.iter().map(|row| self.route(row, place, problems)).collect()
    }

    fn route(
        &self,
        row: &[Item],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Route> {
        let mut route = Route { nodes: Vec::new(), hops: Vec::new() };
        let mut via: Option<usize> = None;
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
                    route.hops.push(self.hop(from, node, via.take(), &here, problems)?);
                    route.nodes.push(node);
                }
                (&Item::Link(link), Some(_)) if via.is_none() && j + 1 < row.len() => {
                    via = Some(link);
                }
                _ => {
                    problems
                        .at(&here, "a link's name stands between the two nodes that it links")
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

    /// The port from one node to the next.
    fn hop(
        &self,
        from: usize,
        to: usize,
        via: Option<usize>,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Hop> {
        let between = self.between.get(&(from.min(to), from.max(to)));
        let between = between.map_or(&[][..], Vec::as_slice);
        let name = |node: usize| self.nodes[node].as_str();
        let unnamed = || between.iter().find(|&&link| !self.links[link].named);
        let link = match (via, between) {
            (Some(link), _) => between.contains(&link).then_some(link),
            (None, [only]) => Some(*only),
            (None, _) => unnamed().copied(),
        };
        let Some(link) = link else {
            if self.incomplete {
                // The link may be one that could not be made; enough has been said. The problem that
                // was reported then keeps this scenario from being used.
                return None;
            }
            let (message, help) = match (via, between) {
                (Some(link), _) => {
                    let link = &self.links[link].name;
                    let message =
                        format!("`{link}` does not link `{}` and `{}`", name(from), name(to));
                    (message, None)
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

    /// "`A` is linked to `B`, `C`".
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

    /// The ports along a reference to a link, in the direction that it is written in.
    pub(super) fn referred(
        &mut self,
        link: &LinkRef,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Hop>> {
        match link {
            LinkRef::Ends(ends) => {
                let routes = self.routes(ends, place, problems)?;
                Some(routes.into_iter().flat_map(|route| route.hops).collect())
            }
            LinkRef::Name(name) => match self.link.get(name) {
                Some(&link) => Some(vec![(link, 0)]),
                None if self.incomplete => None,
                None => {
                    let names = self.links.iter().map(|link| link.name.as_str());
                    let help = suggestion(name, "links", names);
                    problems.at(place, format!("no link `{name}`")).help(help);
                    None
                }
            },
        }
    }

    /// One link, not one for each member of a group.
    pub(super) fn one_link(
        &mut self,
        link: &LinkRef,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<usize> {
        self.one_hop(link, place, problems).map(|(link, _)| link)
    }

    /// One port, in the direction in which the link is written.
    pub(super) fn one_hop(
        &mut self,
        link: &LinkRef,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Hop> {
        match self.referred(link, place, problems)?.as_slice() {
            [hop] => Some(*hop),
            _ => {
                problems.at(place, "several links where one is wanted").label("name one link");
                None
            }
        }
    }
}
