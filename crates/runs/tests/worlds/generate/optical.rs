//! Fibres under the links, and recovery of lightpaths.

use toml::{Table, Value};

use super::{Maker, leaf, text, texts};

impl Maker<'_> {
    /// Lays some links over fibres: a ring of all nodes and another optical node, with a chord.
    pub(super) fn optical(&mut self) {
        let of_file = self.table.get("topology").is_some_and(|entry| entry.get("fibres").is_some());
        if !of_file && !self.draw.chance(15) {
            return;
        }
        let mut optical = Table::new();
        if !of_file {
            let fibres = self.ring();
            optical.insert("fibres".to_owned(), Value::Array(fibres));
            self.over();
        }
        self.maybe(&mut optical, "OpticalTable", 75, &["recovery"]);
        if optical.get("recovery").and_then(Value::as_str).is_some_and(|word| word != "none") {
            let keys =
                ["detection", "computation", "set_up", "signal_processing", "wait_to_restore"];
            for key in keys {
                let mut draw = self.draw.about(key);
                if draw.chance(60) {
                    let span = self.about(key, |maker| maker.some_span(0, 100));
                    optical.insert(key.to_owned(), text(leaf::span(span)));
                }
            }
        }
        self.maybe(&mut optical, "OpticalTable", 20, &["delay_per_km"]);
        if of_file && optical.is_empty() {
            return;
        }
        self.table.insert("optical".to_owned(), Value::Table(optical));
        let count = self.draw.between(0, 3);
        self.each("cut", count, |maker, _| {
            let mut entry = Table::new();
            let risk = maker.draw.pick(&["fibre0", "fibre1", "duct"]);
            entry.insert("risk".to_owned(), text(risk));
            let [at, down] = [maker.instant(), maker.some_span(0, 5 * maker.units)];
            entry.insert("at".to_owned(), text(leaf::span(at)));
            if maker.draw.chance(60) {
                let repair = at.saturating_add(down);
                entry.insert("repair".to_owned(), text(leaf::span(repair)));
            }
            maker.maybe(&mut entry, "FailureEntry", 20, &["packets", "later"]);
            maker.push("failures", entry);
        });
    }

    fn ring(&mut self) -> Vec<Value> {
        let mut nodes = self.net.nodes.clone();
        nodes.push("Amplifier".to_owned());
        let next = |at: usize| (at + 1) % nodes.len();
        let mut pairs: Vec<[usize; 2]> = (0..nodes.len()).map(|at| [at, next(at)]).collect();
        if nodes.len() > 3 {
            pairs.push([0, nodes.len() / 2]);
        }
        let mut fibres = Vec::new();
        self.each("fibre", pairs.len() as u64, |maker, i| {
            let pair = pairs[usize::try_from(i).expect("a small number")];
            let mut entry = Table::new();
            entry.insert("ends".to_owned(), texts(pair.map(|at| nodes[at].clone())));
            if i < 2 || maker.draw.chance(50) {
                entry.insert("name".to_owned(), text(format!("fibre{i}")));
            }
            let delay = maker.some_span(0, 40);
            match maker.draw.chance(30) {
                true => entry.insert("km".to_owned(), Value::Float(maker.decimal(1, 9000, 1))),
                false => entry.insert("delay".to_owned(), text(leaf::span(delay))),
            };
            if i == 0 || maker.draw.chance(20) {
                entry.insert("duct".to_owned(), text("duct"));
            }
            if maker.draw.chance(20) {
                let count = maker.draw.between(1, 6);
                entry.insert("wavelengths".to_owned(), Value::Integer(count.cast_signed()));
            }
            fibres.push(Value::Table(entry));
        });
        fibres
    }

    /// Puts links over fibres, whose optical nodes have the names of the nodes.
    fn over(&mut self) {
        let mut draw = self.draw.about("links over fibres");
        let links = self.table.get_mut("links").and_then(Value::as_array_mut);
        for entry in links.into_iter().flatten().filter_map(Value::as_table_mut) {
            if draw.chance(30) || entry.contains_key("wavelengths") {
                continue;
            }
            entry.remove("delay");
            if let Some(reverse) = entry.get_mut("reverse").and_then(Value::as_table_mut) {
                reverse.remove("delay");
            }
            entry.insert("over".to_owned(), text("shortest"));
        }
    }
}
