//! Connections over several subflows.

use toml::{Table, Value};

use super::{Group, Leg, Maker, leaf, text};

impl Maker<'_> {
    /// Adds a group of connections in some scenarios. Returns whether it did.
    pub(super) fn subflows(&mut self, name: &str, entry: &mut Table) -> bool {
        if !self.draw.chance(12) {
            return false;
        }
        let mut table = Table::new();
        let paths = match self.draw.chance(25) {
            true => {
                self.ends(entry);
                vec![None, None]
            }
            false => {
                let Some(paths) = self.paths() else { return false };
                let written = paths.iter().map(|path| self.written(path)).collect();
                table.insert("paths".to_owned(), Value::Array(written));
                paths.into_iter().map(Some).collect()
            }
        };
        self.maybe(&mut table, "MultipathTable", 80, &["scheduler"]);
        self.maybe(&mut table, "MultipathTable", 60, &["opportunistic_retransmission"]);
        entry.insert("multipath".to_owned(), Value::Table(table));
        let of_subflows = self.about("tcp", |maker| match maker.draw.chance(70) {
            true => maker.coupled(),
            false => maker.draw.pick(&["t0", "rfc", "linux-6"]).to_owned(),
        });
        entry.insert("tcp".to_owned(), text(of_subflows));
        self.maybe(entry, "FlowsEntry", 60, &["size"]);
        self.about("start", |maker| {
            if maker.draw.chance(50) {
                let at = maker.some_span(0, 3 * maker.units);
                entry.insert("start".to_owned(), text(leaf::span(at)));
            }
        });
        if self.draw.chance(20) {
            entry.insert("per_source".to_owned(), Value::Integer(2));
        }
        if self.draw.chance(20) {
            entry.remove("size");
            let writes = self.writes();
            entry.insert("writes".to_owned(), writes);
        }
        self.class(entry);
        self.push("flows", entry.clone());
        let group = |name, path| Group { name, datagrams: false, path, found: false };
        for (number, path) in (1..).zip(paths) {
            self.groups.push(group(format!("{name}.{number}"), path));
        }
        self.groups.push(group(name.to_owned(), None));
        true
    }

    /// Returns two or three paths with the same ends, of which some are equal.
    fn paths(&mut self) -> Option<Vec<Vec<Leg>>> {
        let first = self.walk()?;
        let (from, to) = (first[0].from, first[first.len() - 1].to);
        let edges: Vec<usize> = first.iter().map(|leg| leg.edge).collect();
        let other = self.around(from, to, &edges).filter(|path| !path.is_empty());
        let mut paths = vec![first.clone(), other.unwrap_or_else(|| first.clone())];
        if self.draw.chance(25) {
            paths.push(first);
        }
        Some(paths)
    }

    /// A table of senders, most of them with coupled windows, and often with a small receive window.
    fn coupled(&mut self) -> String {
        let mut one = Table::new();
        one.insert("profile".to_owned(), text(self.draw.pick(&["rfc", "linux-6"])));
        let controls = ["lia", "olia", "balia", "lia", "olia", "balia", "reno", "cubic"];
        one.insert("congestion".to_owned(), text(self.draw.pick(&controls)));
        let least = self.draw.between(2, 40).saturating_mul(self.unit_ps);
        one.insert("min_rto".to_owned(), text(leaf::span(least)));
        one.insert("initial_rto".to_owned(), text(leaf::span(least.saturating_mul(2))));
        one.insert("max_rto".to_owned(), text(leaf::span(least.saturating_mul(64))));
        if self.draw.chance(40) {
            let segments = self.draw.between(2, 20);
            one.insert("window_limit".to_owned(), text(format!("{segments} segments")));
        }
        self.maybe(
            &mut one,
            "TcpTable",
            25,
            &["handshake", "recovery", "tail_loss_probe", "pacing"],
        );
        let name = format!("coupled{}", self.groups.len());
        let tables = self.table.get_mut("tcp").and_then(Value::as_table_mut);
        tables.expect("there are tables").insert(name.clone(), Value::Table(one));
        name
    }
}
