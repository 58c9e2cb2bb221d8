//! Networks from the library.

use toml::{Table, Value};

use crate::generate::{Maker, text, texts};

impl Maker<'_> {
    /// A network from the library: see `library` of the tests.
    pub(super) fn known(&mut self) {
        let mut entry = Table::new();
        let key = self.draw.pick(&["name", "file"]);
        entry.insert(key.to_owned(), text("towns"));
        entry.insert("rate".to_owned(), text(self.speed()));
        entry.insert("queue".to_owned(), self.rare_queue());
        self.about("of the file", |maker| {
            if maker.draw.chance(25) {
                entry.insert("rate".to_owned(), maker.leaf("TopologyTable", "rate"));
            }
            if is_of_file(&entry) && maker.draw.chance(80) {
                entry.insert("default_rate".to_owned(), text(maker.speed()));
            }
        });
        self.about("scale of the rates of the file", |maker| {
            if is_of_file(&entry) && maker.draw.chance(60) {
                entry.insert(
                    "rate_scale".to_owned(),
                    Value::Float(maker.draw.pick(&[0.5, 1.0, 2.5])),
                );
            }
        });
        self.maybe(&mut entry, "TopologyTable", 30, &["delay_per_km", "cost"]);
        self.maybe(&mut entry, "TopologyTable", 15, &["loss", "risks", "fibres"]);
        self.maybe(&mut entry, "TopologyTable", 60, &["delay"]);
        if self.draw.chance(70) {
            entry.insert("group".to_owned(), text("T"));
        }
        let towns: Vec<usize> =
            crate::check::TOWNS.iter().map(|&name| self.net.node(name)).collect();
        let fibres = self.draw.chance(20);
        if fibres {
            entry.insert("queue".to_owned(), text("unlimited"));
            entry.insert("wavelengths".to_owned(), Value::Integer(2));
            let mut bursts = self.assembly();
            let ends = [towns[0], towns[2]];
            bursts.insert("between".to_owned(), texts(ends.map(|t| self.net.nodes[t].clone())));
            self.maybe(&mut bursts, "BurstsEntry", 60, &["protection"]);
            self.push("bursts", bursts);
            let names =
                crate::check::ROADS.map(|road| road.map(|t| self.net.nodes[towns[t]].clone()));
            self.net.fibres.extend(names.map(texts));
            self.net.bursts = true;
            self.net.plain(ends[0], ends[1], true);
        }
        if self.draw.chance(20) {
            entry.insert("spare".to_owned(), text(self.speed()));
        }
        self.table.insert("topology".to_owned(), Value::Table(entry));
        for [a, b] in crate::check::ROADS.into_iter().filter(|_| !fibres) {
            self.net.plain(towns[a], towns[b], false);
        }
        for (host, &town) in ["Host0", "Host1"].iter().zip([&towns[0], &towns[2]]) {
            if fibres || self.draw.chance(30) {
                let node = self.net.node(*host);
                self.nodes(&[(*host).to_owned()]);
                self.link(vec![node, town]);
            }
        }
    }
}

/// Returns whether the rates come from the file.
fn is_of_file(entry: &Table) -> bool {
    entry["rate"].as_str().is_some_and(|rate| !rate.ends_with("bps"))
}
