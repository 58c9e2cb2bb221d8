//! Written forwarding tables: shortest paths at first, and then arbitrary changes.

use toml::{Table, Value};

use super::{Leg, Maker, leaf, text};

impl Maker<'_> {
    pub(super) fn forwarding(&mut self) {
        let mut entries = Vec::new();
        for to in 0..self.net.nodes.len() {
            for (node, way) in self.towards(to) {
                let legs = if self.draw.chance(75) { 1 } else { way.len().min(3) };
                entries.push(self.entry(None, node, to, &way[..legs]));
            }
        }
        for _ in 0..self.draw.between(0, 8) {
            let [node, to] = [0; 2].map(|_| self.draw.index(self.net.nodes.len()));
            let at = self.some_span(0, 8 * self.units).min(self.units * self.unit_ps);
            // Often on, sometimes into a loop, sometimes nowhere.
            let steps: Vec<Leg> = self.net.next(node).collect();
            let mut way: Vec<Leg> = Vec::new();
            if !steps.is_empty() && self.draw.chance(75) {
                way.push(self.draw.pick(&steps));
                let beyond: Vec<Leg> =
                    self.net.next(way[0].to).filter(|leg| leg.to != node).collect();
                if !beyond.is_empty() && self.draw.chance(30) {
                    way.push(self.draw.pick(&beyond));
                }
            }
            if node != to {
                entries.push(self.entry(Some(at), node, to, &way));
            }
        }
        if self.draw.chance(40) && !self.net.edges.is_empty() {
            entries.extend(self.circle());
        }
        let mut table = Table::new();
        if self.draw.chance(30) {
            let row = |entry: &Table| {
                let fields = entry.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
                fields.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(";")
            };
            let rows: Vec<String> = entries.iter().map(row).collect();
            table.insert("file".to_owned(), text(rows.join("|")));
        } else {
            let entries = entries.into_iter().map(Value::Table).collect();
            table.insert("entries".to_owned(), Value::Array(entries));
        }
        self.table.insert("forwarding".to_owned(), Value::Table(table));
    }

    /// Two nodes that send what is for others to each other.
    fn circle(&mut self) -> Vec<Table> {
        let edge = self.draw.index(self.net.edges.len());
        let [a, b] = self.net.edges[edge].ends;
        let at = self.some_span(0, 3 * self.units).min(self.units * self.unit_ps / 2);
        let mut found = Vec::new();
        for to in (0..self.net.nodes.len()).filter(|to| ![a, b].contains(to)) {
            for (from, to_next) in [(a, b), (b, a)] {
                let leg = Leg { from, edge, to: to_next };
                found.push(self.entry(Some(at), from, to, &[leg]));
            }
        }
        found
    }

    fn entry(&mut self, at: Option<u64>, node: usize, to: usize, way: &[Leg]) -> Table {
        let mut entry = Table::new();
        if let Some(at) = at {
            entry.insert("at".to_owned(), text(leaf::span(at)));
        }
        entry.insert("node".to_owned(), text(self.net.nodes[node].clone()));
        entry.insert("to".to_owned(), text(self.net.nodes[to].clone()));
        let mut words = Vec::new();
        for leg in way {
            words.extend(self.draw.pick(&self.net.edges[leg.edge].words));
            words.push(self.net.nodes[leg.to].clone());
        }
        let next = if words.is_empty() { "none".to_owned() } else { words.join(" > ") };
        entry.insert("next".to_owned(), text(next));
        entry
    }

    /// Returns a path with the fewest hops from each node that has one.
    fn towards(&self, to: usize) -> Vec<(usize, Vec<Leg>)> {
        let mut found: Vec<(usize, Vec<Leg>)> = vec![(to, Vec::new())];
        let mut next = 0;
        while next < found.len() {
            let (node, way) = found[next].clone();
            next += 1;
            for leg in self.net.next(node) {
                if !found.iter().any(|(known, _)| *known == leg.to) {
                    let back = Leg { from: leg.to, edge: leg.edge, to: node };
                    found.push((leg.to, std::iter::once(back).chain(way.clone()).collect()));
                }
            }
        }
        found.split_off(1)
    }
}
