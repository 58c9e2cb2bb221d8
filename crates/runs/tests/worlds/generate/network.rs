//! Nodes, links, bundles, fibres, bursts and routers.

mod bursts;
mod fabric;
mod topology;

use toml::{Table, Value};

use super::{Leg, Maker, leaf, text, texts};

/// A group of which each two members may be joined by schedule.
pub(super) const RACKS: &str = "P";

/// The network as paths see it.
#[derive(Default)]
pub(super) struct Net {
    pub(super) nodes: Vec<String>,
    pub(super) edges: Vec<Edge>,
    pub(super) routed: bool,
    /// The names of groups of nodes.
    pub(super) groups: Vec<String>,
    /// Templates of paths with groups in them.
    pub(super) templates: Vec<Vec<String>>,
    pub(super) bursts: bool,
    /// Fibres of a burst-switched core.
    pub(super) fibres: Vec<Value>,
    /// Whether routers have several next hops of equal cost.
    pub(super) fabric: bool,
    /// Edges that begin a path of a virtual output queue.
    pub(super) fed: Vec<usize>,
}

/// A link, or links, between two nodes.
pub(super) struct Edge {
    pub(super) ends: [usize; 2],
    /// Words for the connection that a path may contain between the two nodes; `None` is no word.
    pub(super) words: Vec<Option<String>>,
    /// The links by themselves.
    pub(super) links: Vec<Value>,
    pub(super) bundle: Option<String>,
    /// Whether packets travel over it in bursts.
    pub(super) bursts: bool,
    /// For a virtual output queue: the paths that serve it.
    pub(super) ways: Vec<String>,
    /// Whether it tells senders which of them serves it.
    pub(super) tells: bool,
}

impl Edge {
    /// A link that is named wherever it is meant.
    pub(super) fn named(ends: [usize; 2], name: String) -> Self {
        Edge {
            ends,
            words: vec![Some(name.clone())],
            links: vec![text(name)],
            bundle: None,
            bursts: false,
            ways: Vec::new(),
            tells: false,
        }
    }
}

impl Net {
    fn node(&mut self, name: impl Into<String>) -> usize {
        self.nodes.push(name.into());
        self.nodes.len() - 1
    }

    fn plain(&mut self, a: usize, b: usize, bursts: bool) {
        let ends = texts([self.nodes[a].clone(), self.nodes[b].clone()]);
        self.edges.push(Edge {
            ends: [a, b],
            words: vec![None],
            links: vec![ends],
            bundle: None,
            bursts,
            ways: Vec::new(),
            tells: false,
        });
    }

    fn joined(&self, a: usize, b: usize) -> bool {
        self.edges.iter().any(|edge| edge.ends == [a, b] || edge.ends == [b, a])
    }

    /// Nodes that are one step away, by edge.
    pub(super) fn next(&self, node: usize) -> impl Iterator<Item = Leg> {
        self.edges.iter().enumerate().filter_map(move |(edge, Edge { ends, .. })| match *ends {
            [from, to] if from == node => Some(Leg { from, edge, to }),
            [to, from] if from == node => Some(Leg { from, edge, to }),
            _ => None,
        })
    }
}

impl Maker<'_> {
    pub(super) fn network(&mut self) {
        // So many of twenty-one.
        let topologies = [
            (4, "chain"),
            (3, "mesh"),
            (3, "fabric"),
            (4, "hosts"),
            (2, "known"),
            (2, "racks"),
            (1, "leaves"),
            (2, "core"),
        ];
        let list = topologies.iter().flat_map(|&(share, name)| std::iter::repeat_n(name, share));
        let topology = self.draw.pick(&list.collect::<Vec<&str>>());
        self.about(topology, |maker| match topology {
            "chain" => maker.chain(),
            "mesh" => maker.mesh(),
            "fabric" => maker.fabric(),
            "hosts" => maker.hosts(),
            "known" => maker.known(),
            "racks" => maker.racks(),
            "leaves" => maker.leaves(),
            _ => maker.core(),
        });
        self.bundles();
        self.about("apart", Self::apart);
        self.about("routing", Self::routing);
        self.about("voqs", Self::voqs);
        self.about("switches", Self::switches);
    }

    /// Nodes that nothing leads to, and networks in parts.
    fn apart(&mut self) {
        if self.draw.chance(25) {
            let mut names = vec!["Alone".to_owned()];
            if self.draw.chance(50) {
                names.extend(["Far0", "Far1"].map(str::to_owned));
                let far = names[1..].iter().map(|name| self.net.node(name.clone())).collect();
                self.link(far);
            }
            self.net.node("Alone");
            self.nodes(&names);
        }
    }

    fn routing(&mut self) {
        let plain = self.net.templates.is_empty();
        let plain = plain && (!self.net.bursts || self.draw.chance(40));
        let plain = plain && self.net.edges.iter().all(|edge| edge.ways.is_empty());
        let spreads = plain && self.net.fabric;
        if spreads || (plain && self.draw.chance(65)) {
            self.net.routed = true;
            let bundled = self.net.edges.iter().any(|edge| edge.bundle.is_some());
            if !spreads && !bundled && !self.net.bursts && self.draw.chance(25) {
                return self.forwarding();
            }
            let mut routing = Table::new();
            let keys = ["repair", "protect", "detection", "detection_up", "hold_down", "converge"];
            self.maybe(&mut routing, "RoutingTable", 50, &keys);
            self.maybe(&mut routing, "RoutingTable", 50, &["flooding", "spf", "ttl", "hold"]);
            let spread = if spreads { 95 } else { 35 };
            self.maybe(&mut routing, "RoutingTable", spread, &["ecmp"]);
            if routing.contains_key("ecmp") {
                self.maybe(&mut routing, "RoutingTable", 40, &["ecmp_seed"]);
            }
            if self.draw.chance(60) {
                // Routers far apart in time send packets to and fro.
                let slowest = self.some_span(0, 5 * self.units);
                let update = format!("uniform(0 s, {})", leaf::span(slowest));
                routing.insert("update".to_owned(), text(update));
            }
            self.table.insert("routing".to_owned(), Value::Table(routing));
        }
    }

    fn nodes(&mut self, names: &[String]) {
        let mut entry = Table::new();
        entry.insert("names".to_owned(), texts(names.iter().cloned()));
        self.push("nodes", entry);
    }

    /// Returns the keys of a link.
    pub(super) fn line(&mut self) -> Table {
        self.about("link", Self::own_line)
    }

    fn own_line(&mut self) -> Table {
        let mut entry = Table::new();
        entry.insert("rate".to_owned(), text(self.speed()));
        entry.insert("delay".to_owned(), text(self.delay()));
        entry.insert("queue".to_owned(), self.managed_queue());
        self.maybe(&mut entry, "LinksEntry", 12, &["jitter", "cost"]);
        let mut spare = self.draw.about("spare");
        if spare.chance(5) {
            entry.insert("spare".to_owned(), text(self.speed()));
        }
        if entry.contains_key("jitter") {
            self.maybe(&mut entry, "LinksEntry", 40, &["overtaking"]);
        }
        if self.draw.chance(15) {
            let mut reverse = Table::new();
            self.maybe(&mut reverse, "Reverse", 40, &["rate", "delay", "jitter", "cost"]);
            if self.draw.chance(50) {
                reverse.insert("queue".to_owned(), self.rare_queue());
            }
            entry.insert("reverse".to_owned(), Value::Table(reverse));
        }
        entry
    }

    /// Links from each of these nodes to the next.
    fn link(&mut self, chain: Vec<usize>) {
        let mut entry = self.line();
        let names = texts(chain.iter().map(|&node| self.net.nodes[node].clone()));
        match self.draw.chance(15) {
            true => entry.insert("chains".to_owned(), Value::Array(vec![names])),
            false => entry.insert("chain".to_owned(), names),
        };
        self.push("links", entry);
        chain.windows(2).for_each(|pair| self.net.plain(pair[0], pair[1], false));
    }

    /// Links beside each other, which need a name.
    fn parallel(&mut self, a: usize, b: usize) {
        let mut entry = self.line();
        let name = format!("par{}", self.net.edges.len());
        let count = self.draw.between(1, 3);
        entry.insert("name".to_owned(), text(name.clone()));
        let mut names = vec![name.clone()];
        if count > 1 || self.draw.chance(30) {
            entry.insert("count".to_owned(), Value::Integer(i64::try_from(count).expect("small")));
            names = (0..count).map(|i| format!("{name}{i}")).collect();
        }
        let ends = [a, b].map(|node| self.net.nodes[node].clone());
        entry.insert("chain".to_owned(), texts(ends));
        self.push("links", entry);
        let links: Vec<Value> = names.iter().map(|name| text(name.clone())).collect();
        let words = names.into_iter().map(Some).collect();
        self.net.edges.push(Edge { words, links, ..Edge::named([a, b], name) });
    }

    fn bundles(&mut self) {
        for edge in 0..self.net.edges.len() {
            self.about("bundle", |maker| maker.bundle_of(edge));
        }
    }

    fn bundle_of(&mut self, edge: usize) {
        let named = self.net.edges[edge].words[0].is_some();
        if !named || !self.draw.chance(65) {
            return;
        }
        let name = format!("bun{edge}");
        let mut entry = Table::new();
        entry.insert("name".to_owned(), text(name.clone()));
        entry.insert("links".to_owned(), Value::Array(self.net.edges[edge].links.clone()));
        entry.insert("selection".to_owned(), self.leaf("BundleEntry", "selection"));
        self.maybe(&mut entry, "BundleEntry", 50, &["detection"]);
        self.push("bundles", entry);
        let edge = &mut self.net.edges[edge];
        edge.words.insert(0, Some(name.clone()));
        edge.bundle = Some(name);
    }

    fn chain(&mut self) {
        let count = self.draw.between(2, 6);
        let names: Vec<String> = (0..count).map(|i| format!("C{i}")).collect();
        let nodes: Vec<usize> = names.iter().map(|name| self.net.node(name.clone())).collect();
        self.nodes(&names);
        match self.draw.chance(50) {
            true => self.link(nodes.clone()),
            false => nodes.windows(2).for_each(|pair| match self.draw.chance(30) {
                true => self.parallel(pair[0], pair[1]),
                false => self.link(pair.to_vec()),
            }),
        }
        let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
        if nodes.len() > 2 && self.draw.chance(40) {
            self.link(vec![first, last]);
        }
    }

    fn mesh(&mut self) {
        let count = self.draw.index(6) + 3;
        let names: Vec<String> = (0..count).map(|i| format!("M{i}")).collect();
        names.iter().for_each(|name| _ = self.net.node(name.clone()));
        self.nodes(&names);
        for node in 1..count {
            let other = self.draw.index(node);
            match self.draw.chance(15) {
                true => self.parallel(other, node),
                false => self.link(vec![other, node]),
            }
        }
        for _ in 0..self.draw.index(count) + 1 {
            let (a, b) = (self.draw.index(count), self.draw.index(count));
            if a != b && !self.net.joined(a, b) {
                self.link(vec![a, b]);
            }
        }
    }

    /// Groups of hosts before a bottleneck.
    fn hosts(&mut self) {
        let hosts = self.draw.between(1, 4);
        let mut entry = Table::new();
        entry.insert("group".to_owned(), text("S"));
        if self.draw.chance(25) {
            let names: Vec<String> = (0..hosts).map(|i| format!("S{i}")).collect();
            entry.insert("names".to_owned(), texts(names));
        } else {
            let count = i64::try_from(hosts).expect("small");
            entry.insert("count".to_owned(), Value::Integer(count));
        }
        self.push("nodes", entry);
        let sources: Vec<usize> = (0..hosts).map(|i| self.net.node(format!("S{i}"))).collect();
        let (r, d) = (self.net.node("R"), self.net.node("D"));
        self.nodes(&["R", "D"].map(str::to_owned));
        self.net.groups.push("S".to_owned());
        let middle = hosts.is_multiple_of(2) && self.draw.chance(50);
        let mut entry = self.line();
        if middle {
            let mut group = Table::new();
            group.insert("group".to_owned(), text("M"));
            group.insert("count".to_owned(), Value::Integer(2));
            self.push("nodes", group);
            self.net.groups.push("M".to_owned());
            let members = self.leaf("LinksEntry", "members");
            let in_turn = members.as_str() == Some("in-turn");
            entry.insert("members".to_owned(), members);
            entry.insert("chain".to_owned(), texts(["S", "M"].map(str::to_owned)));
            self.push("links", entry);
            let between: Vec<usize> = (0..2).map(|i| self.net.node(format!("M{i}"))).collect();
            for (i, &source) in sources.iter().enumerate() {
                let place = if in_turn { i % 2 } else { i / (sources.len() / 2) };
                self.net.plain(source, between[place], false);
            }
            let mut entry = self.line();
            entry.insert("chain".to_owned(), texts(["M", "R"].map(str::to_owned)));
            self.push("links", entry);
            between.iter().for_each(|&node| self.net.plain(node, r, false));
            self.net.templates.push(["S", "M", "R", "D"].map(str::to_owned).to_vec());
        } else {
            entry.insert("chain".to_owned(), texts(["S", "R"].map(str::to_owned)));
            self.push("links", entry);
            sources.iter().for_each(|&node| self.net.plain(node, r, false));
            self.net.templates.push(["S", "R", "D"].map(str::to_owned).to_vec());
        }
        match self.draw.chance(25) {
            true => {
                self.net.templates.clear();
                self.parallel(r, d);
            }
            false => self.link(vec![r, d]),
        }
        if self.draw.chance(30) {
            let detour = self.net.node("E");
            self.nodes(&["E".to_owned()]);
            self.link(vec![r, detour, d]);
        }
    }

    /// A group of which each two members are linked, or have a virtual output queue between them.
    fn racks(&mut self) {
        let count = self.draw.between(2, 5);
        let mut group = Table::new();
        group.insert("group".to_owned(), text(RACKS));
        group.insert("count".to_owned(), Value::Integer(i64::try_from(count).expect("small")));
        self.push("nodes", group);
        self.net.groups.push(RACKS.to_owned());
        let racks: Vec<usize> = (0..count).map(|i| self.net.node(format!("{RACKS}{i}"))).collect();
        let pairs = racks.iter().enumerate();
        let pairs = pairs.flat_map(|(i, &a)| racks[i + 1..].iter().map(move |&b| [a, b]));
        let pairs: Vec<[usize; 2]> = pairs.collect();
        if self.draw.chance(60) {
            let mut entry = self.line();
            entry.insert("mesh".to_owned(), text(RACKS));
            self.push("links", entry);
            pairs.iter().for_each(|&[a, b]| self.net.plain(a, b, false));
            if self.draw.chance(50) {
                self.queues_of_mesh(&racks, &pairs);
            }
            return;
        }
        for (number, [a, b]) in pairs.into_iter().enumerate() {
            let ways = [0, 1].map(|_| vec![Leg { from: a, edge: self.circuit(a, b), to: b }]);
            self.voq(format!("rackvoq{number}"), &ways);
        }
    }

    /// Virtual output queues in front of links between each two nodes.
    fn queues_of_mesh(&mut self, racks: &[usize], pairs: &[[usize; 2]]) {
        let mut entry = Table::new();
        entry.insert("name".to_owned(), text("m"));
        entry.insert("mesh".to_owned(), text(RACKS));
        let served = self.draw.pick(&["none", "direct"]);
        entry.insert("served".to_owned(), text(served));
        entry.insert("queue".to_owned(), self.managed_queue());
        self.push("voqs", entry);
        for &[a, b] in pairs {
            let over = racks.iter().filter(|&&rack| rack != a && rack != b);
            let ways = over.map(|&rack| self.net.nodes[rack].clone());
            let ways = ways.chain(["direct".to_owned()]).collect();
            let name = format!("m-{}-{}", self.net.nodes[a], self.net.nodes[b]);
            self.net.edges.push(Edge { ways, ..Edge::named([a, b], name) });
        }
    }

    /// Fibres between burst switches, or a link that stands for them.
    fn core(&mut self) {
        self.net.bursts = true;
        let hosts = ["H0", "H1", "H2"].map(str::to_owned);
        let edges = ["E0", "E1", "E2"].map(str::to_owned);
        let count = self.draw.index(2) + 2;
        self.nodes(&hosts[..count]);
        self.nodes(&edges[..count]);
        let hosts: Vec<usize> = hosts[..count].iter().map(|h| self.net.node(h.clone())).collect();
        let ends: Vec<usize> = edges[..count].iter().map(|e| self.net.node(e.clone())).collect();
        for (&host, &end) in hosts.iter().zip(&ends) {
            self.link(vec![host, end]);
        }
        if self.draw.chance(35) {
            for pair in ends.windows(2) {
                let mut entry = self.line();
                entry.insert("queue".to_owned(), text("unlimited"));
                let names = pair.iter().map(|&node| self.net.nodes[node].clone());
                let names: Vec<String> = names.collect();
                entry.insert("chain".to_owned(), texts(names.clone()));
                self.push("links", entry);
                self.net.plain(pair[0], pair[1], true);
                let mut bursts = self.assembly();
                bursts.insert("link".to_owned(), texts(names));
                self.maybe(&mut bursts, "BurstsEntry", 50, &["loss_probability", "offset"]);
                if self.draw.chance(30) {
                    let mut reverse = Table::new();
                    self.maybe(&mut reverse, "ReverseBursts", 80, &["loss_probability"]);
                    bursts.insert("reverse".to_owned(), Value::Table(reverse));
                }
                self.push("bursts", bursts);
            }
            return;
        }
        self.nodes(&["X0".to_owned(), "X1".to_owned()]);
        let switches = ["X0", "X1"];
        let several = self.draw.between(1, 3);
        // Few wavelengths make bursts meet.
        let [preempts, single] =
            self.about("preemption", |maker| [80, 70].map(|percent| maker.draw.chance(percent)));
        let wavelengths = if preempts && single { 1 } else { several };
        let wavelengths = i64::try_from(wavelengths).expect("small");
        let fibre_rate = self.speed();
        let fibre = |maker: &mut Self, chain: Vec<String>| {
            let mut entry = Table::new();
            entry.insert("rate".to_owned(), text(fibre_rate.clone()));
            entry.insert("delay".to_owned(), text(maker.delay()));
            entry.insert("queue".to_owned(), text("unlimited"));
            entry.insert("wavelengths".to_owned(), Value::Integer(wavelengths));
            entry.insert("chain".to_owned(), texts(chain.clone()));
            maker.push("links", entry);
            maker.net.fibres.push(texts(chain));
        };
        let two = self.draw.chance(50);
        for (i, &end) in ends.iter().enumerate() {
            let switch = switches[if two { i % 2 } else { 0 }];
            let chain = vec![self.net.nodes[end].clone(), switch.to_owned()];
            fibre(self, chain);
        }
        if two {
            fibre(self, switches.map(str::to_owned).to_vec());
            // Second routes.
            if self.draw.chance(60) {
                for (i, &end) in ends.iter().enumerate() {
                    let chain = vec![self.net.nodes[end].clone(), switches[1 - i % 2].to_owned()];
                    fibre(self, chain);
                }
            }
        }
        let mut core = Table::new();
        if self.draw.chance(70) {
            let keys = ["scheduling", "conversion", "processing", "detection", "delay_line"];
            self.maybe(&mut core, "CoreTable", 60, &keys);
        }
        if preempts {
            core.insert("preemption".to_owned(), Value::Boolean(true));
        }
        if !core.is_empty() {
            self.table.insert("core".to_owned(), Value::Table(core));
        }
        let names: Vec<String> = ends.iter().map(|&end| self.net.nodes[end].clone()).collect();
        let mut bursts = self.assembly();
        self.maybe(&mut bursts, "BurstsEntry", 40, &["offset"]);
        self.maybe(&mut bursts, "BurstsEntry", 80, &["protection"]);
        if self.draw.chance(60) {
            bursts.insert("between".to_owned(), texts(names));
            for (i, &a) in ends.iter().enumerate() {
                ends[i + 1..].iter().for_each(|&b| self.net.plain(a, b, true));
            }
        } else {
            let mut path = vec![names[0].clone(), "X0".to_owned()];
            path.extend(two.then(|| "X1".to_owned()));
            path.push(names[1].clone());
            bursts.insert("path".to_owned(), texts(path));
            self.net.plain(ends[0], ends[1], true);
        }
        self.push("bursts", bursts);
        if preempts {
            self.about("rivals", |maker| maker.rivals([ends[0], ends[1]]));
        }
    }

    /// Returns a path without repeated nodes, from a random node on; `None` if it ends there.
    pub(super) fn walk(&mut self) -> Option<Vec<Leg>> {
        let mut at = self.draw.index(self.net.nodes.len());
        let (mut seen, mut path) = (vec![at], Vec::new());
        let longest = self.draw.index(5) + 1;
        while path.len() < longest {
            let ways: Vec<Leg> = self.net.next(at).filter(|hop| !seen.contains(&hop.to)).collect();
            if ways.is_empty() {
                break;
            }
            let hop = self.draw.pick(&ways);
            seen.push(hop.to);
            path.push(hop);
            at = hop.to;
        }
        (!path.is_empty()).then_some(path)
    }

    /// The shortest path that avoids some edges.
    pub(super) fn around(&self, from: usize, to: usize, avoid: &[usize]) -> Option<Vec<Leg>> {
        let mut came: Vec<Option<Leg>> = vec![None; self.net.nodes.len()];
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for hop in self.net.next(at) {
                let new = hop.to != from && came[hop.to].is_none();
                if new && !avoid.contains(&hop.edge) {
                    came[hop.to] = Some(hop);
                    queue.push_back(hop.to);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let hop = came[at]?;
            path.push(hop);
            at = hop.from;
        }
        path.reverse();
        Some(path)
    }

    /// A path as a scenario writes it.
    pub(super) fn written(&mut self, path: &[Leg]) -> Value {
        let mut words = vec![self.net.nodes[path[0].from].clone()];
        for hop in path {
            let word = self.draw.pick(&self.net.edges[hop.edge].words);
            words.extend(word);
            words.push(self.net.nodes[hop.to].clone());
        }
        texts(words)
    }
}
