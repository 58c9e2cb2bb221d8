//! Layers of routers with paths of equal cost, and datagrams to many destinations.

use toml::{Table, Value};

use crate::generate::{Group, Maker, text, texts};

impl Maker<'_> {
    /// Hosts in front of one link, and behind it layers of routers, each with links to routers of the next layer.
    pub(super) fn fabric(&mut self) {
        self.net.fabric = true;
        let mut layers: Vec<Vec<usize>> = Vec::new();
        let widths =
            [self.draw.between(1, 2), 1, 1, self.draw.between(2, 3), self.draw.between(1, 3)];
        for (layer, width) in widths.into_iter().enumerate() {
            let names: Vec<String> = (0..width).map(|i| format!("L{layer}x{i}")).collect();
            self.nodes(&names);
            layers.push(names.into_iter().map(|name| self.net.node(name)).collect());
        }
        for (layer, pair) in layers.windows(2).enumerate() {
            for &from in &pair[0] {
                for &to in &pair[1] {
                    if pair[1].len() == 1 || self.draw.chance(90) {
                        // The only link to the router that applies ECMP.
                        let disordered = layer == 1 && self.draw.about("disordered").chance(25);
                        self.line_of_fabric(from, to, disordered);
                    }
                }
            }
        }
        // Hosts beside a router of the middle: some of its ports have several feeders, others one.
        for i in 0..self.draw.between(0, 2) {
            let host = self.net.node(format!("X{i}"));
            self.nodes(&[format!("X{i}")]);
            let layer = self.draw.pick(&[2, 2, 3, 4]);
            let router = self.draw.pick(&layers[layer]);
            self.line_of_fabric(host, router, false);
        }
    }

    /// Two groups, with a link between each member of one and each member of the other.
    pub(super) fn leaves(&mut self) {
        let groups = [("leaf", self.draw.between(2, 4)), ("spine", self.draw.between(1, 3))];
        let members = groups.map(|(name, count)| {
            let mut group = Table::new();
            group.insert("group".to_owned(), text(name));
            group.insert("count".to_owned(), Value::Integer(i64::try_from(count).expect("small")));
            self.push("nodes", group);
            self.net.groups.push(name.to_owned());
            (0..count).map(|i| self.net.node(format!("{name}{i}"))).collect::<Vec<usize>>()
        });
        let mut entry = self.line();
        entry.insert("mesh".to_owned(), texts(groups.map(|(name, _)| name.to_owned())));
        self.push("links", entry);
        for &leaf in &members[0] {
            members[1].iter().for_each(|&spine| self.net.plain(leaf, spine, false));
        }
    }

    /// A link without costs, mostly with a deep queue; a few times several links. Packets overtake each other on it if it
    /// is `disordered`.
    fn line_of_fabric(&mut self, from: usize, to: usize, disordered: bool) {
        if !disordered && self.draw.chance(10) {
            return self.parallel(from, to);
        }
        let mut entry = self.line();
        for key in ["cost", "jitter", "overtaking"] {
            if self.draw.chance(90) {
                entry.remove(key);
            }
        }
        if disordered {
            self.maybe(&mut entry, "LinksEntry", 100, &["jitter"]);
            entry.insert("overtaking".to_owned(), Value::Boolean(true));
        }
        if self.draw.chance(70) {
            entry.insert("queue".to_owned(), text("1000 packets"));
        }
        let reverse = entry.get_mut("reverse").and_then(Value::as_table_mut);
        reverse.into_iter().for_each(|reverse| _ = reverse.remove("cost"));
        let ends = [from, to].map(|node| self.net.nodes[node].clone());
        entry.insert("chain".to_owned(), texts(ends));
        self.push("links", entry);
        self.net.plain(from, to, false);
    }

    /// Returns a node whose name begins like this, or any node without a match.
    fn node_called(&mut self, name: &str) -> String {
        let nodes = self.net.nodes.iter().filter(|node| node.starts_with(name));
        let nodes: Vec<String> = nodes.cloned().collect();
        if nodes.is_empty() { self.draw.pick(&self.net.nodes) } else { self.draw.pick(&nodes) }
    }

    /// Datagrams at a steady rate from the same hosts to routers and hosts of all layers.
    pub(in crate::generate) fn datagrams_of_fabric(&mut self) {
        let count = self.draw.between(2, 5);
        self.each("datagrams", count, Self::datagrams);
    }

    fn datagrams(&mut self, i: u64) {
        let mut entry = Table::new();
        let name = format!("f{i}");
        entry.insert("group".to_owned(), text(name.clone()));
        let from = self.draw.pick(&["L0", "L0", "L0", "X", "L"]);
        let to = self.draw.pick(&["L3", "L3", "L4", "L4", ""]);
        let [from, to] = [from, to].map(|name| text(self.node_called(name)));
        if self.draw.chance(50) {
            let mut pairs = Table::new();
            pairs.insert("from".to_owned(), from);
            pairs.insert("to".to_owned(), to);
            let count = i64::try_from(self.draw.between(2, 6)).expect("small");
            pairs.insert("count".to_owned(), Value::Integer(count));
            pairs.insert("seed".to_owned(), Value::Integer(7));
            entry.insert("pairs".to_owned(), Value::Table(pairs));
        } else {
            entry.insert("from".to_owned(), from);
            entry.insert("to".to_owned(), to);
        }
        let process = if self.draw.chance(70) { "constant" } else { "poisson" };
        entry.insert("process".to_owned(), text(process));
        let count = self.draw.between(5, self.units);
        entry.insert("rate".to_owned(), text(format!("{} packets/s", self.pace(count))));
        entry.insert("size".to_owned(), text(format!("{} B", self.draw.between(500, 1500))));
        self.maybe(&mut entry, "TrafficEntry", 30, &["start", "until"]);
        self.push("traffic", entry);
        self.groups.push(Group { name, datagrams: true, path: None, found: false });
    }
}
