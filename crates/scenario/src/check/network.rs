//! Nodes and links.

use optcp_units::nearest::suggestion;
use optcp_units::{Duration, Rate};
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{BundlePlan, DirectedLink, LinkPlan, PortPlan, Shape, Spread};
use crate::problem::Problems;
use crate::schema::{Delay, File, LinksEntry, MembersKind};
use crate::tree::{Step, place};

use super::bounds::{MOST, check_name};
use super::link_values::Columns;
use super::places::Place;
use super::route::{Item, Smaller};
use super::{buffers, queues};

/// Nodes and links found so far, with their names.
#[derive(Default)]
pub(super) struct Network {
    pub nodes: Vec<String>,
    pub links: Vec<LinkPlan>,
    /// Queue limits that depend on the rate of their port.
    pub relatives: buffers::Relatives,
    pub node: BTreeMap<String, usize>,
    /// Topology nodes by their names in the file, if these differ, and by aliases.
    pub own_name: BTreeMap<String, usize>,
    pub group: BTreeMap<String, Vec<usize>>,
    pub link: BTreeMap<String, usize>,
    /// Parallel links by their common name.
    pub parallel: BTreeMap<String, Vec<usize>>,
    /// Links for packets by their ends, the smaller index first.
    pub between: BTreeMap<(usize, usize), Vec<usize>>,
    /// Fibres by their ends, the smaller index first.
    pub fibre_between: BTreeMap<(usize, usize), Vec<usize>>,
    /// Links created by bursts, each with its entry of `[[bursts]]`.
    pub burst_links: Vec<(usize, usize)>,
    pub bundles: Vec<BundlePlan>,
    pub bundle: BTreeMap<String, usize>,
    /// Number of topology nodes, which come first.
    pub of_topology: usize,
    /// Demands of the topology: two nodes and a weight.
    pub demands: Vec<(usize, usize, u64)>,
    /// Values of topology links from the file.
    pub of_file: Columns,
    /// Link attributes in the topology file that look like rates, which are ignored.
    pub rates_not_read: Vec<String>,
    /// Notes on elements of the topology file that were left out or added, as sentences.
    pub topology_notes: Vec<String>,
    /// Coordinates of topology nodes by index; see [`super::places`].
    pub places: Vec<Option<Place>>,
    /// Distinct neighbours of each node.
    pub beside: BTreeMap<usize, Vec<usize>>,
    /// Unknown names already reported: one message per mistake.
    pub reported: BTreeSet<String>,
    /// Groups of nodes with a reported problem. Unknown names of the group or its members are not reported
    /// again.
    refused: BTreeSet<String>,
    /// `true`: some links could not be created, so that a missing link is not reported.
    pub incomplete: bool,
}

impl Network {
    /// Creates the nodes.
    pub(super) fn nodes(&mut self, file: &File, problems: &mut Problems<'_>) {
        for (i, entry) in file.nodes.iter().enumerate() {
            let before = self.nodes.len();
            match (&entry.names, &entry.group, entry.count) {
                (Some(_), _, Some(_)) => {
                    problems.at(place!["nodes", i, "count"], "`count` without `group`");
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
                        self.refused.insert(group.clone());
                        continue;
                    }
                    for member in 0..count {
                        self.add_node(format!("{group}{member}"), place, problems);
                    }
                }
                (None, _, _) => {
                    problems
                        .at(place!["nodes", i], "nodes without names")
                        .label("needs `names`, or `group` and `count`");
                    self.incomplete = true;
                    self.refused.extend(entry.group.clone());
                    continue;
                }
            }
            let Some(group) = &entry.group else { continue };
            let place = place!["nodes", i, "group"];
            if before == self.nodes.len() {
                problems.at(place!["nodes", i, "count"], format!("group `{group}` has no members"));
                self.incomplete = true;
            }
            self.add_group(group, before, place, problems);
        }
    }

    /// Returns whether an unknown name is a new problem.
    pub(super) fn is_new_problem(&mut self, name: &str) -> bool {
        let group = name.trim_end_matches(|c: char| c.is_ascii_digit());
        !self.refused.contains(name)
            && !self.refused.contains(group)
            && self.reported.insert(name.to_owned())
    }

    /// Adds the nodes from number `first` on as a group.
    pub(super) fn add_group(
        &mut self,
        group: &str,
        first: usize,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) {
        check_name(group, place, problems);
        if self.node.contains_key(group) || self.group.contains_key(group) {
            problems.at(place, format!("node or group `{group}` exists already"));
        }
        self.group.insert(group.to_owned(), (first..self.nodes.len()).collect());
    }

    /// Returns the node with a name, or with this name in the topology file.
    pub(super) fn find_node(&self, name: &str) -> Option<usize> {
        self.node.get(name).or_else(|| self.own_name.get(name)).copied()
    }

    pub(super) fn add_node(
        &mut self,
        name: String,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) {
        check_name(&name, place, problems);
        if self.node.contains_key(&name) || self.group.contains_key(&name) {
            problems.at(place, format!("node or group `{name}` exists already"));
            return;
        }
        self.node.insert(name.clone(), self.nodes.len());
        self.nodes.push(name);
    }

    /// Creates the links of all chains.
    pub(super) fn links(&mut self, file: &File, problems: &mut Problems<'_>) {
        for (i, entry) in file.links.iter().enumerate() {
            queues::check(&entry.queue, file.stop.0, place!["links", i, "queue"], problems);
            if let Some(queue) = &entry.reverse.queue {
                let place = place!["links", i, "reverse", "queue"];
                queues::check(queue, file.stop.0, place, problems);
            }
            check_delays(i, entry, file, problems);
            let before = self.links.len();
            match (&entry.chain, &entry.chains, &entry.mesh) {
                (Some(chain), None, None) => {
                    self.chain(i, entry, chain, place!["links", i, "chain"], problems);
                }
                (None, Some(chains), None) => {
                    for (j, chain) in chains.iter().enumerate() {
                        self.chain(i, entry, chain, place!["links", i, "chains", j], problems);
                    }
                }
                (None, None, Some(groups)) => self.mesh(i, entry, groups, problems),
                _ => {
                    problems
                        .at(place!["links", i], "links without ends")
                        .label("needs exactly one of `chain`, `chains` and `mesh`");
                    self.incomplete = true;
                }
            }
            self.link_names(i, entry, before, problems);
        }
    }

    /// Checks name and count of an entry whose links start at number `before`.
    fn link_names(
        &mut self,
        i: usize,
        entry: &LinksEntry,
        before: usize,
        problems: &mut Problems<'_>,
    ) {
        let made: Vec<usize> = (before..self.links.len()).collect();
        let Some(name) = &entry.name else {
            if entry.count.is_some() {
                problems
                    .at(place!["links", i, "count"], "parallel links without a name")
                    .help("for example: name = \"fibre\", for fibre0, fibre1, ...".to_owned());
            }
            return;
        };
        let place = place!["links", i, "name"];
        check_name(name, place, problems);
        if self.node.contains_key(name) || self.group.contains_key(name) {
            problems.at(place, format!("node or group `{name}` exists already"));
        }
        match entry.count {
            Some(count) if count.0 == 0 => {
                problems.at(place!["links", i, "count"], format!("`{name}` has no links"));
                self.incomplete = true;
            }
            Some(_) if self.link.contains_key(name) || self.parallel.contains_key(name) => {
                problems.at(place, format!("link `{name}` exists already"));
            }
            Some(_) => {
                self.parallel.insert(name.clone(), made);
            }
            None if made.len() > 1 => {
                problems.at(place, format!("one name for {} links", made.len()));
            }
            None => {}
        }
    }

    /// Returns the members of a group.
    pub(super) fn group_named(
        &mut self,
        name: &str,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<usize>> {
        let members = self.group.get(name).cloned();
        if members.is_none() && self.is_new_problem(name) {
            let help = suggestion(name, "groups", self.group.keys().map(String::as_str));
            problems.at(place, format!("unknown group `{name}`")).help(help);
        }
        members
    }

    fn chain(
        &mut self,
        i: usize,
        entry: &LinksEntry,
        chain: &[String],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) {
        let members = entry.members.unwrap_or(MembersKind::InBlocks);
        let Some(rows) = self.rows(chain, Smaller::Of(members), place, problems) else {
            self.incomplete = true;
            return;
        };
        if chain.len() < 2 {
            problems.at(place, "a chain has at least two nodes");
            self.incomplete = true;
            return;
        }
        let one_chain = entry.chains.as_ref().is_none_or(|chains| chains.len() == 1);
        if entry.count.is_some() && !(one_chain && rows.len() == 1 && chain.len() == 2) {
            problems
                .at(place!["links", i, "count"], "`count` with several pairs of nodes")
                .label("needs one chain of two nodes");
            self.incomplete = true;
            return;
        }
        // A link between two single nodes occurs in every row but is created once.
        let mut made: BTreeSet<(usize, usize)> = BTreeSet::new();
        for row in &rows {
            for (j, pair) in row.windows(2).enumerate() {
                let (&Item::Node(a), &Item::Node(b)) = (&pair[0], &pair[1]) else {
                    problems
                        .at(&[place, place![j]].concat(), "link in a chain of nodes")
                        .label("a chain consists of nodes and groups");
                    self.incomplete = true;
                    return;
                };
                let ends = (a.min(b), a.max(b));
                let both_fixed = rows.len() > 1 && made.contains(&ends);
                let here = [place, place![j + 1]].concat();
                if both_fixed || self.add_links(i, entry, [a, b], &here, problems) {
                    made.insert(ends);
                    continue;
                }
                return;
            }
        }
    }

    /// Adds a link, or the number of parallel links of the entry; returns `false` if that is not possible.
    fn add_links(
        &mut self,
        i: usize,
        entry: &LinksEntry,
        ends: [usize; 2],
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> bool {
        let (Some(name), Some(count)) = (&entry.name, entry.count) else {
            return self.add_link(Some(i), entry, ends, place, problems);
        };
        (0..count.0).all(|number| {
            let name = Some(format!("{name}{number}"));
            let one = LinksEntry { name, count: None, ..entry.clone() };
            self.add_link(Some(i), &one, ends, place, problems)
        })
    }

    /// Adds a link; returns `false` if that is not possible.
    pub(super) fn add_link(
        &mut self,
        i: Option<usize>,
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
        if self.links.len() == MOST {
            problems.at(place, format!("more than {MOST} links"));
            self.incomplete = true;
            return false;
        }
        let default = format!("{from}-{to}");
        let name = entry.name.clone().unwrap_or(default);
        let ends = (a.min(b), a.max(b));
        let parallel = self.between.get(&ends).map_or(&[][..], Vec::as_slice);
        let twin = parallel.iter().any(|&link| !self.links[link].named) && entry.name.is_none();
        if twin || self.link.contains_key(&name) || self.parallel.contains_key(&name) {
            let message = match entry.name {
                None => format!("link between `{from}` and `{to}` exists already"),
                Some(_) => format!("link `{name}` exists already"),
            };
            problems.at(place, message).help("give each parallel link a `name`".to_owned());
            return false;
        }
        let port = PortPlan {
            rate: entry.rate.0,
            delay: entry.delay.as_ref().map_or(Spread::ZERO, |delay| delay.0.clone()),
            jitter: additional_delay(entry.jitter.as_ref()),
            overtaking: entry.overtaking == Some(true),
            queue: buffers::limit(&entry.queue),
            discipline: queues::discipline(&entry.queue),
        };
        let back = entry.reverse.queue.as_ref().unwrap_or(&entry.queue);
        let back = PortPlan {
            rate: entry.reverse.rate.map_or(port.rate, |rate| rate.0),
            delay: entry.reverse.delay.as_ref().map_or(&port.delay, |delay| &delay.0).clone(),
            jitter: (entry.reverse.jitter.as_ref())
                .map_or_else(|| port.jitter.clone(), |jitter| additional_delay(Some(jitter))),
            overtaking: port.overtaking,
            queue: buffers::limit(back),
            discipline: queues::discipline(back),
        };
        let queue = entry.reverse.queue.as_ref();
        let link = self.join(LinkPlan {
            name,
            named: entry.name.is_some(),
            ends: [a, b],
            directions: [port, back],
            costs: [1, 1],
            shared_delay: entry.reverse.delay.is_none(),
            over: Vec::new(),
            voq: None,
            wavelengths: entry.wavelengths.map(|count| count.0),
            spare: entry.spare.map(|spare| spare.0),
            entry: i,
        });
        for (way, queue) in [(0, None), (1, queue)] {
            let place = match (i, queue) {
                (None, _) => place!["topology", "queue"],
                (Some(i), None) => place!["links", i, "queue"],
                (Some(i), Some(_)) => place!["links", i, "reverse", "queue"],
            };
            let queue = queue.unwrap_or(&entry.queue);
            buffers::note(queue, (link, way), place, &mut self.relatives);
        }
        true
    }

    /// Adds a link with a new name for packets, and returns its number.
    pub(super) fn join(&mut self, link: LinkPlan) -> usize {
        let (number, [a, b]) = (self.links.len(), link.ends);
        self.link.insert(link.name.clone(), number);
        let links = self.between.entry((a.min(b), a.max(b))).or_default();
        links.push(number);
        if links.len() == 1 {
            self.beside.entry(a).or_default().push(b);
            self.beside.entry(b).or_default().push(a);
        }
        self.links.push(link);
        number
    }

    /// Adds a circuit over ports with the properties of the replaced port, and with `rate` if given. Its
    /// reverse direction is not used.
    pub(super) fn add_circuit(
        &mut self,
        name: String,
        ends: [usize; 2],
        over: Vec<DirectedLink>,
        (link, direction): DirectedLink,
        rate: Option<Rate>,
    ) -> usize {
        let replaced = &self.links[link].directions[direction];
        let rate = rate.unwrap_or(replaced.rate);
        let queue = match self.relatives.contains_key(&(link, direction)) {
            true => buffers::scaled(replaced.queue, replaced.rate, rate),
            false => replaced.queue,
        };
        let port = PortPlan {
            rate,
            queue,
            delay: Spread::ZERO,
            jitter: Spread::ZERO,
            overtaking: false,
            ..replaced.clone()
        };
        self.links.push(LinkPlan {
            name,
            named: true,
            ends,
            directions: [port.clone(), port],
            costs: [1, 1],
            shared_delay: true,
            over,
            voq: None,
            wavelengths: None,
            spare: None,
            entry: self.links[link].entry,
        });
        self.links.len() - 1
    }

    /// Returns the topology node for a node: itself, or the only node to which a host is linked.
    pub(super) fn stands_for(&self, node: usize) -> Option<usize> {
        if node < self.of_topology {
            return Some(node);
        }
        let beside = self.beside.get(&node).map_or(&[][..], Vec::as_slice);
        let mut cities = beside.iter().copied().filter(|&other| other < self.of_topology);
        let city = cities.next()?;
        cities.all(|other| other == city).then_some(city)
    }

    /// Returns the number of each node: position in its group, or among all nodes if it has no group.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..).take(self.nodes.len()).collect();
        for members in self.group.values() {
            for (number, &member) in (0..).zip(members) {
                numbers[member] = number;
            }
        }
        numbers
    }

    /// Returns "A-B" for the first and the last node of a path.
    pub(super) fn pair_name(&self, nodes: &[usize]) -> String {
        format!("{}-{}", self.name(nodes[0]), self.name(nodes[nodes.len() - 1]))
    }

    /// Returns the name of a node, for messages.
    pub(super) fn name(&self, node: usize) -> &str {
        &self.nodes[node]
    }
}

fn check_delays(i: usize, entry: &LinksEntry, file: &File, problems: &mut Problems<'_>) {
    let place = place!["links", i];
    match (&entry.delay, &entry.over) {
        (None, None) => {
            problems.at(place, "`delay` is missing").label("this needs `delay`, or `over`");
        }
        (Some(_), Some(_)) => {
            problems
                .at(place!["links", i, "delay"], "`delay` is not used here")
                .label("fibres of `over` set the delay");
        }
        (None, Some(_)) if entry.reverse.delay.is_some() => {
            problems
                .at(place!["links", i, "reverse", "delay"], "`delay` is not used here")
                .label("fibres of `over` set the delay");
        }
        _ => {}
    }
    let delays = [
        (entry.delay.as_ref(), place!["links", i, "delay"]),
        (entry.reverse.delay.as_ref(), place!["links", i, "reverse", "delay"]),
        (entry.jitter.as_ref(), place!["links", i, "jitter"]),
        (entry.reverse.jitter.as_ref(), place!["links", i, "reverse", "jitter"]),
    ];
    for (delay, place) in delays {
        if let Some(delay) = delay {
            check_spread(&delay.0, false, place, problems);
        }
    }
    let mut changes = file.schedules.iter().flat_map(|schedule| &schedule.changes);
    let moves = entry.jitter.is_some()
        || entry.reverse.jitter.is_some()
        || changes.any(|change| change.delay.is_some())
        || file.schedules.iter().any(|schedule| schedule.file.is_some());
    if entry.overtaking == Some(true) && !moves {
        problems
            .at(
                place!["links", i, "overtaking"],
                "`overtaking` needs `jitter` or a scheduled delay",
            )
            .help("for example: jitter = \"exponential(2 ms)\"".to_owned());
    }
}

/// Returns a checked value; zero if the key is missing. See [`check_spread`].
pub(super) fn checked(
    written: Option<&Delay>,
    bounded: bool,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) -> Spread {
    let spread = written.map_or(Spread::ZERO, |delay| delay.0.clone());
    check_spread(&spread, bounded, place, problems);
    spread
}

/// Returns the additional delay of packets: a plain duration means a uniform distribution up to it.
fn additional_delay(jitter: Option<&Delay>) -> Spread {
    match jitter.map(|jitter| &jitter.0) {
        None | Some(&Spread::Fixed(Duration::ZERO)) => Spread::ZERO,
        Some(&Spread::Fixed(high)) => Spread::Uniform { low: Duration::ZERO, high },
        Some(other) => other.clone(),
    }
}

/// Reports an invalid distribution; with `bounded`, also one without a maximum.
pub(super) fn check_spread(
    spread: &Spread,
    bounded: bool,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) {
    let label = match spread {
        Spread::Uniform { low, high } if low > high => {
            problems.at(place, format!("`{spread}`: the minimum exceeds the maximum"));
            return;
        }
        Spread::Cut { mean, .. } if *mean == Duration::ZERO => "the mean must be above zero",
        Spread::Cut { mean, most: Some(most), .. } if most < mean => {
            "the maximum must not be below the mean"
        }
        Spread::Cut { shape: Shape::Pareto(shape), .. } if !(*shape > 1.0 && *shape < 100.0) => {
            "the shape must be above 1 (finite mean) and below 100"
        }
        _ if bounded && spread.most().is_none() => {
            let message = format!("`{spread}` has no maximum");
            problems.at(place, message).label("add it as the last argument");
            return;
        }
        _ => return,
    };
    problems.at(place, format!("invalid distribution `{spread}`")).label(label);
}
