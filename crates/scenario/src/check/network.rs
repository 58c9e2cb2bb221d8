//! Nodes and links.

use std::collections::{BTreeMap, BTreeSet};

use crate::nearest::suggestion;
use crate::plan::{Hop, LinkPlan, PortPlan, QueueLimit, Spread};
use crate::problem::Problems;
use crate::schema::{File, LinkRef, LinksEntry};
use crate::tree::{Step, place};

use super::{MOST, check_name};

/// The nodes and links found so far, with their names.
#[derive(Default)]
pub(super) struct Network {
    pub nodes: Vec<String>,
    pub links: Vec<LinkPlan>,
    /// The entry of `[[links]]` that each link comes from, for messages.
    pub entry_of: Vec<usize>,
    node: BTreeMap<String, usize>,
    group: BTreeMap<String, Vec<usize>>,
    link: BTreeMap<String, usize>,
    /// Links by their ends, the smaller index first.
    between: BTreeMap<(usize, usize), Vec<usize>>,
    /// Unknown names already reported: one mistake, one message.
    reported: BTreeSet<String>,
    /// Some links could not be made, so that one that is missing says nothing.
    incomplete: bool,
}

/// What a name in a chain or path stands for.
enum Item {
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
    /// Names the nodes.
    pub(super) fn nodes(&mut self, file: &File, problems: &mut Problems<'_>) {
        for (i, entry) in file.nodes.iter().enumerate() {
            let before = self.nodes.len();
            match (&entry.names, &entry.group, entry.count) {
                (Some(_), _, Some(_)) => {
                    problems.at(place!["nodes", i, "count"], "`count` goes with `group` only");
                }
                (Some(names), _, None) => {
                    for (j, name) in names.iter().enumerate() {
                        self.add_node(name.clone(), place!["nodes", i, "names", j], problems);
                    }
                }
                (None, Some(group), Some(count)) => {
                    let count = usize::try_from(count.0).unwrap_or(usize::MAX);
                    let place = place!["nodes", i, "count"];
                    if self.nodes.len().saturating_add(count) > MOST {
                        problems.at(place, format!("more than {MOST} nodes"));
                        self.incomplete = true;
                        return;
                    }
                    for member in 0..count {
                        self.add_node(format!("{group}{member}"), place, problems);
                    }
                }
                (None, _, _) => {
                    problems
                        .at(place!["nodes", i], "these nodes have no names")
                        .label("needs `names`, or `group` and `count`");
                    self.incomplete = true;
                    // Known by name, so that only this is reported.
                    self.reported.extend(entry.group.clone());
                    continue;
                }
            }
            let Some(group) = &entry.group else { continue };
            let place = place!["nodes", i, "group"];
            check_name(group, place, problems);
            let members: Vec<usize> = (before..self.nodes.len()).collect();
            if members.is_empty() {
                problems.at(place!["nodes", i, "count"], format!("group `{group}` has no members"));
                self.incomplete = true;
            }
            if self.node.contains_key(group) || self.group.contains_key(group) {
                problems.at(place, format!("there is already a node or group `{group}`"));
            }
            self.group.insert(group.clone(), members);
        }
    }

    fn add_node(&mut self, name: String, place: &[Step<'_>], problems: &mut Problems<'_>) {
        check_name(&name, place, problems);
        if self.node.contains_key(&name) || self.group.contains_key(&name) {
            problems.at(place, format!("there is already a node or group `{name}`"));
            return;
        }
        self.node.insert(name.clone(), self.nodes.len());
        self.nodes.push(name);
    }

    /// Makes the links of all chains.
    pub(super) fn links(&mut self, file: &File, problems: &mut Problems<'_>) {
        for (i, entry) in file.links.iter().enumerate() {
            check_queues(i, entry, problems);
            check_delays(i, entry, problems);
            let before = self.links.len();
            match (&entry.chain, &entry.chains) {
                (Some(chain), None) => {
                    self.chain(i, entry, chain, place!["links", i, "chain"], problems);
                }
                (None, Some(chains)) => {
                    for (j, chain) in chains.iter().enumerate() {
                        self.chain(i, entry, chain, place!["links", i, "chains", j], problems);
                    }
                }
                _ => {
                    problems
                        .at(place!["links", i], "these links have no ends")
                        .label("needs either `chain` or `chains`");
                    self.incomplete = true;
                }
            }
            if self.links.len() > MOST {
                problems.at(place!["links", i], format!("more than {MOST} links"));
                return;
            }
            if let Some(name) = &entry.name {
                let place = place!["links", i, "name"];
                check_name(name, place, problems);
                if self.links.len() > before + 1 {
                    let made = self.links.len() - before;
                    problems.at(place, format!("one name for {made} links"));
                }
                if self.node.contains_key(name) || self.group.contains_key(name) {
                    problems.at(place, format!("there is already a node or group `{name}`"));
                }
            }
        }
    }

    fn chain(
        &mut self,
        i: usize,
        entry: &LinksEntry,
        chain: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) {
        let Some(rows) = self.rows(chain, place, problems) else {
            self.incomplete = true;
            return;
        };
        if chain.len() < 2 {
            problems.at(place, "a chain has at least two nodes");
            self.incomplete = true;
            return;
        }
        // A link between two nodes that are not groups is in every row, and made once.
        let mut made: BTreeSet<(usize, usize)> = BTreeSet::new();
        for row in &rows {
            for (j, pair) in row.windows(2).enumerate() {
                let (&Item::Node(a), &Item::Node(b)) = (&pair[0], &pair[1]) else {
                    problems
                        .at(&[place, place![j]].concat(), "a link in a chain of nodes")
                        .label("only nodes and groups make a chain");
                    self.incomplete = true;
                    return;
                };
                let ends = (a.min(b), a.max(b));
                let both_fixed = rows.len() > 1 && made.contains(&ends);
                if both_fixed
                    || self.add_link(i, entry, [a, b], &[place, place![j + 1]].concat(), problems)
                {
                    made.insert(ends);
                    continue;
                }
                return;
            }
        }
    }

    /// Adds a link; false if it cannot be.
    fn add_link(
        &mut self,
        i: usize,
        entry: &LinksEntry,
        [a, b]: [usize; 2],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> bool {
        let (from, to) = (&self.nodes[a], &self.nodes[b]);
        if a == b {
            problems.at(place, format!("a link from `{from}` to itself"));
            return false;
        }
        let default = format!("{from}-{to}");
        let name = entry.name.clone().unwrap_or(default);
        let ends = (a.min(b), a.max(b));
        let parallel = self.between.get(&ends).map_or(&[][..], Vec::as_slice);
        let twin = parallel.iter().any(|&link| !self.links[link].named) && entry.name.is_none();
        if twin || self.link.contains_key(&name) {
            let message = match entry.name {
                None => format!("there is already a link between `{from}` and `{to}`"),
                Some(_) => format!("there is already a link `{name}`"),
            };
            problems.at(place, message).help("parallel links need a `name` each".to_owned());
            return false;
        }
        let port = PortPlan { rate: entry.rate.0, delay: entry.delay.0, queue: entry.queue.0 };
        let back = PortPlan {
            rate: entry.reverse.rate.map_or(port.rate, |rate| rate.0),
            delay: entry.reverse.delay.map_or(port.delay, |delay| delay.0),
            queue: entry.reverse.queue.map_or(port.queue, |queue| queue.0),
        };
        let index = self.links.len();
        self.link.insert(name.clone(), index);
        self.between.entry(ends).or_default().push(index);
        self.entry_of.push(i);
        self.links.push(LinkPlan {
            name,
            named: entry.name.is_some(),
            ends: [a, b],
            directions: [port, back],
            shared_delay: entry.reverse.delay.is_none(),
        });
        true
    }

    /// What the names stand for: one row of items, or one for each member of the groups among them.
    fn rows(
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
                    let list = crate::nearest::list(&names);
                    (message, Some(format!("put one of {list} between the two nodes")))
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
                format!(
                    "`{}` is linked to {}{more}",
                    self.nodes[node],
                    crate::nearest::list(&names)
                )
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
        match self.referred(link, place, problems)?.as_slice() {
            [(link, _)] => Some(*link),
            _ => {
                problems.at(place, "several links where one is wanted").label("name one link");
                None
            }
        }
    }

    /// The names of the nodes, for messages.
    pub(super) fn name(&self, node: usize) -> &str {
        &self.nodes[node]
    }
}

fn check_queues(i: usize, entry: &LinksEntry, problems: &mut Problems<'_>) {
    let queues = [
        (Some(entry.queue), place!["links", i, "queue"]),
        (entry.reverse.queue, place!["links", i, "reverse", "queue"]),
    ];
    for (queue, place) in queues {
        let empty = match queue.map(|queue| queue.0) {
            Some(QueueLimit::Packets(packets)) => packets == 0,
            Some(QueueLimit::Bytes(bytes)) => bytes.count() == 0,
            Some(QueueLimit::Unlimited) | None => false,
        };
        if empty {
            problems
                .at(place, "a queue that holds nothing passes nothing")
                .label("must hold a packet: the one in transmission counts");
        }
    }
}

fn check_delays(i: usize, entry: &LinksEntry, problems: &mut Problems<'_>) {
    let delays = [
        (Some(entry.delay), place!["links", i, "delay"]),
        (entry.reverse.delay, place!["links", i, "reverse", "delay"]),
    ];
    for (delay, place) in delays {
        if let Some(delay) = delay {
            check_spread(delay.0, place, problems);
        }
    }
}

/// Reports a distribution whose ends are in the wrong order.
pub(super) fn check_spread<T: Ord + std::fmt::Display>(
    spread: Spread<T>,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) {
    if let Spread::Uniform { low, high } = spread
        && low > high
    {
        problems.at(place, format!("`uniform({low}, {high})` has its ends in the wrong order"));
    }
}
