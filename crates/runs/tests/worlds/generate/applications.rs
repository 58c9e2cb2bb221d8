//! Applications.

use toml::{Table, Value};

use super::{Group, Maker, leaf, text, texts};

impl Maker<'_> {
    pub(super) fn applications(&mut self) {
        if !self.draw.chance(18) {
            return;
        }
        let count = self.draw.between(1, 2);
        self.each("application", count, |maker, i| maker.application(format!("a{i}")));
    }

    fn application(&mut self, name: String) {
        let mut entry = Table::new();
        entry.insert("group".to_owned(), text(name.clone()));
        let kinds = self.schema.words("ApplicationEntry", "kind");
        let kind = self.draw.pick(&kinds);
        entry.insert("kind".to_owned(), text(kind.clone()));
        let collective =
            matches!(kind.as_str(), "ring-all-reduce" | "tree-all-reduce" | "all-to-all");
        self.about("hosts", |maker| match collective {
            true => {
                if !maker.net.groups.is_empty() {
                    let group = maker.draw.pick(&maker.net.groups);
                    entry.insert("among".to_owned(), text(group));
                }
            }
            false => {
                for key in ["from", "to"] {
                    let grouped = !maker.net.groups.is_empty() && maker.draw.chance(40);
                    let hosts = match grouped {
                        true => maker.draw.pick(&maker.net.groups),
                        false => maker.draw.pick(&maker.net.nodes),
                    };
                    entry.insert(key.to_owned(), text(hosts));
                }
            }
        });
        self.about("path", |maker| {
            if maker.draw.chance(50) || !maker.net.routed {
                let word = maker.draw.pick(&maker.schema.words("ApplicationEntry", "path"));
                if word != "routed" {
                    maker.maybe(&mut entry, "ApplicationEntry", 60, &["metric"]);
                }
                entry.insert("path".to_owned(), text(word));
            }
        });
        let table = self.about("tcp", |maker| {
            maker.draw.pick(&["t0", "t1", "t2", "rfc", "linux-6"]).to_owned()
        });
        entry.insert("tcp".to_owned(), text(table));
        self.class(&mut entry);
        self.about("rounds", |maker| {
            if maker.draw.chance(80) {
                let rounds = i64::try_from(maker.draw.between(1, 6)).expect("small");
                entry.insert("rounds".to_owned(), Value::Integer(rounds));
            }
        });
        let times: &[&str] =
            if collective { &["start", "think"] } else { &["start", "think", "service"] };
        for &key in times {
            self.about(key, |maker| {
                if maker.draw.chance(50) {
                    let delay = maker.delay();
                    entry.insert(key.to_owned(), text(delay));
                }
            });
        }
        if !collective {
            self.about("request", |maker| {
                if maker.draw.chance(50) {
                    let bytes = maker.draw.between(1, 4000);
                    entry.insert("request".to_owned(), text(format!("{bytes} B")));
                }
            });
        }
        self.about("data", |maker| match kind.as_str() {
            "page" => maker.page(&mut entry),
            "video" => maker.video(&mut entry),
            _ if maker.draw.chance(50) => {
                let bytes = maker.draw.between(1, 40_000);
                entry.insert("size".to_owned(), text(format!("{bytes} B")));
            }
            _ => {
                let kinds = maker.schema.words("SizesTable", "kind");
                let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
                let sizes = maker.sizes(&kinds, 20_000);
                entry.insert("sizes".to_owned(), Value::Table(sizes));
            }
        });
        self.push("applications", entry);
        self.groups.push(Group { name, datagrams: false, path: None, found: true });
    }

    /// Objects, which may need those before them.
    fn page(&mut self, entry: &mut Table) {
        let count = self.draw.between(1, 4);
        let objects = (0..count).map(|number| {
            let mut object = Table::new();
            object.insert("name".to_owned(), text(format!("object{number}")));
            let bytes = self.draw.between(1, 20_000);
            object.insert("size".to_owned(), text(format!("{bytes} B")));
            if self.draw.chance(30) {
                object.insert("count".to_owned(), Value::Integer(2));
            }
            if number > 0 && self.draw.chance(70) {
                let earlier = self.draw.below(number);
                object.insert("after".to_owned(), texts([format!("object{earlier}")]));
            }
            Value::Table(object)
        });
        let objects = objects.collect();
        entry.insert("objects".to_owned(), Value::Array(objects));
        if self.draw.chance(60) {
            let most = i64::try_from(self.draw.between(1, count)).expect("small");
            entry.insert("connections".to_owned(), Value::Integer(most));
        }
    }

    /// Chunks of a few packets, and a buffer of a few chunks.
    fn video(&mut self, entry: &mut Table) {
        let rate = self.speed();
        entry.insert("rate".to_owned(), text(rate));
        let chunk = self.draw.between(1, 8) * self.unit_ps;
        let [buffer, startup] = [self.draw.between(2, 6), self.draw.between(1, 3)];
        for (key, chunks) in [("chunk", 1), ("buffer", buffer.max(startup)), ("startup", startup)] {
            if self.draw.chance(90) {
                entry.insert(key.to_owned(), text(leaf::span(chunks * chunk)));
            }
        }
    }
}
