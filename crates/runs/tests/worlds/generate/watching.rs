//! What is measured.

use toml::{Table, Value};

use super::{Maker, leaf, text, texts};

impl Maker<'_> {
    pub(super) fn observe(&mut self) {
        let kinds = self.schema.words("ObserveEntry", "kind");
        let everything = self.draw.chance(50);
        for (i, kind) in kinds.into_iter().enumerate() {
            if everything || self.draw.chance(35) {
                self.observation(format!("o{i}"), &kind);
            }
        }
    }

    fn observation(&mut self, name: String, kind: &str) {
        let mut entry = Table::new();
        entry.insert("name".to_owned(), text(name));
        entry.insert("kind".to_owned(), text(kind));
        let by_interval =
            ["goodput", "load", "queue", "ports", "fibres", "datagrams"].contains(&kind);
        if by_interval {
            let parts = self.draw.between(1, 25);
            // Often the ends of intervals are those of transmissions.
            let interval = match self.draw.chance(40) {
                true => self.units.div_ceil(parts) * self.unit_ps,
                false => {
                    let odd = self.draw.between(0, self.unit_ps);
                    (self.units * self.unit_ps / parts).saturating_sub(odd).max(1)
                }
            };
            entry.insert("interval".to_owned(), text(leaf::span(interval)));
        }
        if ["ports", "fibres"].contains(&kind) && self.draw.chance(40) {
            let after = self.some_span(0, self.units * 5);
            entry.insert("after".to_owned(), text(leaf::span(after)));
        }
        let of_links =
            ["load", "queue", "drops", "ports", "packets", "bursts", "segments-per-burst"];
        if of_links.contains(&kind) && self.draw.chance(35) {
            let bursts = kind.contains("burst");
            let fitting: Vec<Value> = (self.net.edges.iter())
                .filter(|edge| edge.bursts == bursts || kind == "drops")
                .flat_map(|edge| edge.links.clone())
                .collect();
            let links = self.draw.some(&fitting);
            entry.insert("links".to_owned(), Value::Array(links));
        }
        let datagrams = kind == "datagrams";
        let of_groups = ["load", "queue", "drops", "ports", "fibres"];
        if !of_groups.contains(&kind) && self.draw.chance(35) {
            let fitting: Vec<String> = (self.groups.iter())
                .filter(|group| group.datagrams == datagrams || kind == "packets")
                .map(|group| group.name.clone())
                .collect();
            entry.insert("groups".to_owned(), texts(self.draw.some(&fitting)));
        }
        self.push("observe", entry);
    }
}
