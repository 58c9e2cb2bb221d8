//! Failures, protection and losses.

use toml::{Table, Value};

use super::{Group, Maker, leaf, text, texts};

impl Maker<'_> {
    /// A link, not a virtual output queue.
    fn some_link(&mut self) -> Value {
        let of_links = |edge: &usize| self.net.edges[*edge].ways.is_empty();
        let edges: Vec<usize> = (0..self.net.edges.len()).filter(of_links).collect();
        let edge = self.draw.pick(&edges);
        let links = self.net.edges[edge].links.clone();
        self.draw.pick(&links)
    }

    /// A link, or a virtual output queue.
    pub(super) fn some_port(&mut self) -> Value {
        let queues: Vec<Value> = (self.net.edges.iter())
            .filter(|edge| !edge.ways.is_empty())
            .flat_map(|edge| edge.links.clone())
            .collect();
        match !queues.is_empty() && self.draw.chance(30) {
            true => self.draw.pick(&queues),
            false => self.some_link(),
        }
    }

    pub(super) fn risks(&mut self) {
        let count = self.draw.below(3);
        self.each("risk", count, Self::risk);
    }

    fn risk(&mut self, i: u64) {
        let mut entry = Table::new();
        entry.insert("name".to_owned(), text(format!("risk{i}")));
        let known = self.table.contains_key("topology");
        if known && self.draw.chance(30) {
            let node = self.draw.pick(&["every", "Kiel"]);
            entry.insert("leaving".to_owned(), text(node));
            entry.insert("within_degrees".to_owned(), Value::Float(self.decimal(0, 1800, 1)));
        } else if known && self.draw.chance(60) {
            // Failures name the first one.
            let near = match i > 0 && self.draw.chance(50) {
                true => "every".to_owned(),
                false => self.draw.pick(&self.net.nodes),
            };
            entry.insert("near".to_owned(), text(near));
            entry.insert("within_km".to_owned(), Value::Float(self.decimal(0, 900, 1)));
        } else {
            let links = (0..self.draw.between(1, 3)).map(|_| self.some_link()).collect();
            entry.insert("links".to_owned(), Value::Array(links));
        }
        self.push("risks", entry);
    }

    /// The first risk, or the duct in which the two links of Kiel leave it, which are 45 degrees apart.
    fn some_risk(&mut self) -> String {
        let risks = self.table.get("risks").and_then(Value::as_array);
        let duct = risks.into_iter().flatten().find_map(|risk| {
            let within = risk.get("within_degrees").and_then(Value::as_float)?;
            let name = risk.get("name").and_then(Value::as_str)?;
            (within > 46.0).then(|| format!("{name}-Kiel-Hamburg-Muenchen"))
        });
        duct.unwrap_or_else(|| "risk0".to_owned())
    }

    pub(super) fn failures(&mut self) {
        if !self.draw.chance(60) {
            return;
        }
        // Several failures at one time are common.
        let instants = [0; 2].map(|_| self.about("instant", Self::instant));
        let count = self.draw.between(1, 4);
        self.each("failure", count, |maker, _| maker.failure(instants));
    }

    fn failure(&mut self, instants: [u64; 2]) {
        let mut entry = Table::new();
        match self.draw.below(10) {
            0 => {
                let node = self.draw.index(self.net.nodes.len());
                entry.insert("node".to_owned(), text(self.net.nodes[node].clone()));
            }
            1 | 2 => {
                let mut links = vec![self.some_link(), self.some_link()];
                let bundles: Vec<String> =
                    self.net.edges.iter().filter_map(|edge| edge.bundle.clone()).collect();
                if !bundles.is_empty() && self.draw.chance(50) {
                    links = vec![text(self.draw.pick(&bundles))];
                }
                entry.insert("links".to_owned(), Value::Array(links));
            }
            3 | 4 if self.count("risks") > 0 => {
                let risk = self.some_risk();
                entry.insert("risk".to_owned(), text(risk));
            }
            _ => _ = entry.insert("link".to_owned(), self.some_link()),
        }
        self.about("fibres", |maker| {
            let fibres = maker.net.fibres.clone();
            if fibres.is_empty() || entry.contains_key("node") {
                return;
            }
            if entry.contains_key("link") {
                entry.insert("link".to_owned(), maker.draw.pick(&fibres));
            } else if entry.contains_key("links") {
                let links = fibres.into_iter().filter(|_| maker.draw.chance(40)).collect();
                entry.insert("links".to_owned(), Value::Array(links));
            }
        });
        if self.draw.chance(15) {
            for key in ["mtbf", "mttr"] {
                let mean = self.some_span(1, 5 * self.units).max(1);
                entry.insert(key.to_owned(), text(leaf::span(mean)));
            }
            self.push("failures", entry);
            return;
        }
        let at = self.draw.pick(&instants);
        entry.insert("at".to_owned(), text(leaf::span(at)));
        if self.draw.chance(60) {
            let down = self.some_span(0, 5 * self.units);
            let repair = match self.draw.chance(10) {
                true => instants[1],
                false => at.saturating_add(down),
            };
            entry.insert("repair".to_owned(), text(leaf::span(repair)));
        }
        self.maybe(&mut entry, "FailureEntry", 20, &["packets", "direction", "later"]);
        self.push("failures", entry);
    }

    pub(super) fn protection(&mut self) {
        // Flows over virtual output queues have no backup.
        if self.count("voqs") > 0 {
            return;
        }
        if self.table.contains_key("routing") && self.draw.chance(30) {
            self.about("links", Self::protected_links);
        }
        for group in self.groups.clone() {
            self.about(&group.name.clone(), |maker| maker.protected(group));
        }
    }

    /// A backup of a group's path, now and then.
    fn protected(&mut self, group: Group) {
        if group.found && self.draw.chance(60) {
            self.found_backup(group.name);
            return;
        }
        let Some(path) = group.path.filter(|_| self.draw.chance(50)) else { return };
        let first = self.draw.index(path.len());
        let last = first + self.draw.index(path.len() - first);
        let part = &path[first..=last];
        let avoid: Vec<usize> = part.iter().map(|hop| hop.edge).collect();
        let Some(backup) = self.around(part[0].from, path[last].to, &avoid) else { return };
        let mut entry = Table::new();
        entry.insert("flows".to_owned(), text(group.name));
        let backup = self.written(&backup);
        entry.insert("backup".to_owned(), backup);
        if self.draw.chance(50) {
            let edge = &self.net.edges[self.draw.pick(&avoid)];
            let link = match &edge.bundle {
                Some(bundle) => text(bundle.clone()),
                None => edge.links[0].clone(),
            };
            entry.insert("link".to_owned(), link);
        }
        self.maybe(&mut entry, "ProtectionEntry", 80, &["scheme"]);
        self.timing(&mut entry);
        self.push("protection", entry);
    }

    fn found_backup(&mut self, group: String) {
        let mut entry = Table::new();
        entry.insert(
            "flows".to_owned(),
            if self.draw.chance(30) { texts([group]) } else { text(group) },
        );
        let words = self.schema.words_of("Disjoint");
        entry.insert("backup".to_owned(), text(self.draw.pick(&words)));
        self.maybe(&mut entry, "ProtectionEntry", 50, &["metric"]);
        self.maybe(&mut entry, "ProtectionEntry", 80, &["scheme"]);
        self.timing(&mut entry);
        self.about("segments", |maker| {
            let keeps =
                entry["backup"].as_str() == Some("p-cycle") || entry.contains_key("resequencing");
            if maker.draw.chance(25) && !keeps {
                entry.insert("scheme".to_owned(), text("segment"));
                maker.maybe(&mut entry, "ProtectionEntry", 90, &["segment_links"]);
            }
        });
        if entry["backup"].as_str() == Some("p-cycle") {
            entry.insert("scheme".to_owned(), text("local"));
            self.about("cycle", |maker| maker.cycle(&mut entry));
        }
        self.push("protection", entry);
    }

    /// Links for all that routers send over them.
    fn protected_links(&mut self) {
        let routing = self.table.get("routing").and_then(Value::as_table);
        if routing
            .and_then(|table| table.get("ttl"))
            .is_some_and(|ttl| ttl.as_str() == Some("pipe"))
        {
            return;
        }
        let mut entry = Table::new();
        let words = ["auto", "link-disjoint", "p-cycle", "risk-disjoint"];
        entry.insert("backup".to_owned(), text(self.draw.pick(&words)));
        if entry["backup"].as_str() == Some("p-cycle") {
            self.about("cycle", |maker| maker.cycle(&mut entry));
        }
        self.maybe(&mut entry, "ProtectionEntry", 50, &["metric"]);
        if !self.net.edges.is_empty() && self.draw.chance(50) {
            let edges: Vec<usize> = (0..self.net.edges.len()).collect();
            let edge = &self.net.edges[self.draw.pick(&edges)];
            let link = match &edge.bundle {
                Some(bundle) => text(bundle.clone()),
                None => edge.links[0].clone(),
            };
            entry.insert("link".to_owned(), link);
        }
        // Options for a single link.
        if self.draw.chance(60) {
            let schemes = ["local", "1:1", "1+1", "restoration"];
            entry.insert("scheme".to_owned(), text(self.draw.pick(&schemes)));
        }
        self.timing(&mut entry);
        if entry.get("revert").and_then(Value::as_str) == Some("optical-emulated") {
            entry.insert("revert".to_owned(), text("electrical"));
        }
        self.push("protection", entry);
    }

    /// A cycle over some link.
    fn cycle(&mut self, entry: &mut Table) {
        let edges: Vec<usize> = (0..self.net.edges.len()).collect();
        if edges.is_empty() {
            return;
        }
        let edge = self.draw.pick(&edges);
        let hop = (0..self.net.nodes.len())
            .flat_map(|node| self.net.next(node))
            .find(|hop| hop.edge == edge);
        let Some(hop) = hop else { return };
        let Some(rest) = self.around(hop.to, hop.from, &[edge]) else { return };
        let nodes = rest
            .iter()
            .map(|hop| self.net.nodes[hop.from].clone())
            .chain([self.net.nodes[hop.from].clone()]);
        entry.insert("cycle".to_owned(), texts(nodes));
    }

    /// Draws the scheme, the delays, and the behaviour after a repair.
    fn timing(&mut self, entry: &mut Table) {
        let delay = |maker: &mut Self| {
            let span = maker.some_span(0, 200);
            text(leaf::span(span))
        };
        match self.draw.below(4) {
            0 => {
                let mut hello = Table::new();
                let interval = self.some_span(10, 200);
                hello.insert("interval".to_owned(), text(leaf::span(interval)));
                self.maybe(&mut hello, "HelloEntry", 50, &["multiplier"]);
                entry.insert("hello".to_owned(), Value::Table(hello));
            }
            1 => {
                let mut each = Table::new();
                each.insert("data".to_owned(), delay(self));
                each.insert("ack".to_owned(), delay(self));
                entry.insert("switch_delay".to_owned(), Value::Table(each));
            }
            _ => _ = entry.insert("switch_delay".to_owned(), delay(self)),
        }
        let keys = ["hold_off", "signal_processing", "computation", "capacity", "revert"];
        self.maybe(entry, "ProtectionEntry", 35, &keys);
        self.maybe(entry, "ProtectionEntry", 30, &["wait_to_restore"]);
        let reserves = entry.get("capacity").and_then(Value::as_str) == Some("reserved");
        if reserves && self.draw.chance(50) {
            entry.insert("rate".to_owned(), text(self.speed()));
        }
        if entry.get("scheme").and_then(Value::as_str) == Some("1+1")
            && entry.contains_key("flows")
            && self.draw.about("resequencing").chance(80)
        {
            let wait = self.about("resequencing wait", |maker| maker.some_span(0, 1000));
            for key in ["switch_delay", "hello", "hold_off", "revert", "wait_to_restore"] {
                entry.remove(key);
            }
            entry.insert("resequencing".to_owned(), text(leaf::span(wait)));
            return;
        }
        let commands = self.about("commands", Self::commands);
        if !commands.is_empty() {
            entry.insert("commands".to_owned(), Value::Array(commands));
        }
    }

    /// Commands of the operator, in any order of time.
    fn commands(&mut self) -> Vec<Value> {
        if !self.draw.chance(30) {
            return Vec::new();
        }
        let words = self.schema.words_of("Command");
        let count = self.draw.between(1, 4);
        let command = |maker: &mut Self| {
            let at = maker.about("instant", Self::instant);
            let word = maker.draw.pick(&words);
            let entries = [("at", leaf::span(at)), ("command", word)];
            Value::Table(
                entries.into_iter().map(|(key, value)| (key.to_owned(), text(value))).collect(),
            )
        };
        (0..count).map(|number| self.about(&format!("command{number}"), command)).collect()
    }

    pub(super) fn losses(&mut self) {
        if !self.draw.chance(45) {
            return;
        }
        let count = self.draw.between(1, 2);
        self.each("loss", count, |maker, _| maker.loss());
    }

    fn loss(&mut self) {
        let mut entry = Table::new();
        entry.insert("link".to_owned(), self.some_port());
        let kinds =
            ["scripted", "independent", "duplication", "corruption", "gilbert-elliott", "periodic"];
        match self.draw.pick(&kinds) {
            "scripted" => {
                let tcp: Vec<String> = (self.groups.iter())
                    .filter(|group| !group.datagrams)
                    .map(|group| group.name.clone())
                    .collect();
                entry.insert("flows".to_owned(), text(self.draw.pick(&tcp)));
                let segments = (0..self.draw.between(1, 6))
                    .map(|_| i64::try_from(self.draw.below(30)).expect("small"));
                let segments: Vec<Value> = segments.map(Value::Integer).collect();
                entry.insert("segments".to_owned(), Value::Array(segments));
                if self.draw.chance(50) {
                    entry.insert("kind".to_owned(), text("scripted"));
                }
                if self.draw.chance(30) {
                    entry.insert("transmission".to_owned(), Value::Integer(2));
                }
            }
            "independent" => {
                entry.insert("kind".to_owned(), text("independent"));
                entry.insert("probability".to_owned(), self.leaf("LossesEntry", "probability"));
                self.maybe(&mut entry, "LossesEntry", 40, &["packets"]);
            }
            "duplication" => {
                entry.insert("kind".to_owned(), text("duplication"));
                entry.insert("probability".to_owned(), self.leaf("LossesEntry", "probability"));
                self.maybe(&mut entry, "LossesEntry", 40, &["packets"]);
            }
            "corruption" => {
                entry.insert("kind".to_owned(), text("corruption"));
                if self.draw.chance(50) {
                    let rate = Value::Float(self.decimal(1, 500, 6));
                    entry.insert("bit_error_rate".to_owned(), rate);
                } else {
                    let probability = self.leaf("LossesEntry", "probability");
                    entry.insert("probability".to_owned(), probability);
                }
                self.maybe(&mut entry, "LossesEntry", 40, &["packets"]);
            }
            "gilbert-elliott" => {
                entry.insert("kind".to_owned(), text("gilbert-elliott"));
                for key in ["good_to_bad", "bad_to_good"] {
                    entry.insert(key.to_owned(), self.leaf("LossesEntry", key));
                }
                let keys = ["loss_in_good", "loss_in_bad", "packets"];
                self.maybe(&mut entry, "LossesEntry", 40, &keys);
            }
            _ => {
                entry.insert("kind".to_owned(), text("periodic"));
                let period = i64::try_from(self.draw.between(1, 60)).expect("small");
                entry.insert("period".to_owned(), Value::Integer(period));
                self.maybe(&mut entry, "LossesEntry", 40, &["packets"]);
            }
        }
        self.push("losses", entry);
    }

    /// Adds a swept parameter, chosen from the keys of the scenario.
    pub(super) fn sweep(&mut self) {
        if !self.draw.chance(40) {
            return;
        }
        let mut axes: Vec<(String, &str, &str)> =
            vec![("links.0.queue".to_owned(), "LinksEntry", "queue")];
        let lists = [
            ("failures", "FailureEntry", "at"),
            ("failures", "FailureEntry", "repair"),
            ("failures", "FailureEntry", "link"),
            ("protection", "ProtectionEntry", "switch_delay"),
            ("protection", "ProtectionEntry", "scheme"),
            ("losses", "LossesEntry", "probability"),
            ("flows", "FlowsEntry", "start"),
            ("flows", "FlowsEntry", "size"),
            ("traffic", "TrafficEntry", "until"),
            ("bundles", "BundleEntry", "selection"),
            ("bursts", "BurstsEntry", "offset"),
            ("voqs", "VoqEntry", "queue"),
            ("schedules", "ScheduleEntry", "period"),
        ];
        // Schemes along a path do not go with links alone.
        let of_links = self.table.contains_key("routing") && self.count("protection") > 0;
        for (list, table, key) in lists {
            if self.count(list) > 0 && !(of_links && key == "scheme") {
                axes.push((format!("{list}.0.{key}"), table, key));
            }
        }
        if self.table.contains_key("routing") {
            axes.push(("routing.hold_down".to_owned(), "RoutingTable", "hold_down"));
            axes.push(("routing.repair".to_owned(), "RoutingTable", "repair"));
        }
        axes.push(("tcp.t0.recovery".to_owned(), "TcpTable", "recovery"));
        if self.draw.chance(15) {
            let choice = |settings: Vec<(&str, Value)>| {
                Value::Table(
                    settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
                )
            };
            let other = self.leaf("TcpTable", "recovery");
            let queue = self.leaf("LinksEntry", "queue");
            let settings = vec![("tcp.t0.recovery", other), ("links.0.queue", queue)];
            let choices = Table::from_iter([
                ("plain".to_owned(), choice(Vec::new())),
                ("other".to_owned(), choice(settings)),
            ]);
            let sweep = Table::from_iter([("choice".to_owned(), Value::Table(choices))]);
            self.table.insert("sweep".to_owned(), Value::Table(sweep));
            return;
        }
        let (path, table, key) = self.draw.pick(&axes);
        let values = match key {
            "link" if self.draw.chance(60) => {
                text(self.draw.pick(&["every", "every carrying g0", "every matching *"]))
            }
            "link" => texts([]),
            _ => {
                let count = self.draw.between(2, 3);
                Value::Array((0..count).map(|_| self.axis_value(table, key)).collect())
            }
        };
        if values.as_array().is_none_or(|list| !list.is_empty()) {
            self.table.insert("sweep".to_owned(), Value::Table(Table::from_iter([(path, values)])));
        }
    }

    fn axis_value(&mut self, table: &str, key: &str) -> Value {
        match key {
            "at" | "repair" | "until" => {
                let at = self.instant();
                text(leaf::span(at))
            }
            "switch_delay" => {
                let span = self.some_span(0, 300);
                text(leaf::span(span))
            }
            _ => self.leaf(table, key),
        }
    }
}
