//! Flows and sources of datagrams.

use toml::{Table, Value};

use super::network::Edge;
use super::{Group, Leg, Maker, leaf, text, texts};

impl Maker<'_> {
    pub(super) fn senders(&mut self) {
        if self.net.fabric {
            self.about("fabric", Self::datagrams_of_fabric);
        }
        let count = self.draw.between(1, 3);
        self.each("flows", count, |maker, i| maker.flows(format!("g{i}")));
        let mut traffic = self.draw.about("sources");
        let count = if traffic.chance(40) { traffic.between(1, 2) } else { 0 };
        self.each("traffic", count, |maker, i| maker.traffic(format!("d{i}")));
    }

    fn flows(&mut self, name: String) {
        let mut entry = Table::new();
        entry.insert("group".to_owned(), text(name.clone()));
        if self.about("multipath", |maker| maker.subflows(&name, &mut entry)) {
            return;
        }
        let (path, found) = self.about("route", |maker| maker.route(&mut entry, "FlowsEntry"));
        let tables = ["t0", "t0", "t1", "t2", "rfc", "linux-6", "ns2-2001"];
        let announced = path.iter().flatten().filter(|leg| self.net.edges[leg.edge].tells).count();
        let table = self.about("tcp", |maker| match maker.draw.chance(70) && announced == 1 {
            true => maker.divided(),
            false => maker.draw.pick(&tables).to_owned(),
        });
        entry.insert("tcp".to_owned(), text(table));
        self.maybe(&mut entry, "FlowsEntry", 60, &["size"]);
        self.about("start", |maker| {
            if maker.draw.chance(50) {
                let at = maker.some_span(0, 3 * maker.units);
                entry.insert("start".to_owned(), text(leaf::span(at)));
            }
        });
        if self.draw.chance(20) {
            entry.insert("per_source".to_owned(), Value::Integer(2));
        }
        self.about("what is sent", |maker| maker.sent(&mut entry));
        self.class(&mut entry);
        let listed = self.about("list", |maker| maker.listed(&mut entry));
        let (path, found) = listed.map_or((path, found), |found| (None, found));
        self.push("flows", entry);
        self.groups.push(Group { name, datagrams: false, path, found });
    }

    /// Flows of a list, which the tests' library reads from its name, instead of the others. Returns whether
    /// their paths are found.
    fn listed(&mut self, entry: &mut Table) -> Option<bool> {
        let divided = entry["tcp"].as_str().is_some_and(|table| table.starts_with("divided"));
        if !self.draw.chance(8) || divided || self.net.nodes.len() < 2 {
            return None;
        }
        let kept = ["group", "tcp", "class"];
        entry.retain(|key, _| kept.contains(&key));
        Some(self.rows(entry, "FlowsEntry", "tcp"))
    }

    /// Sources of a list instead of the others. Returns whether their paths are found.
    fn listed_sources(&mut self, entry: &mut Table) -> Option<bool> {
        if !self.draw.chance(10) || self.net.nodes.len() < 2 {
            return None;
        }
        let kept = ["group", "rate", "ecn", "class"];
        entry.retain(|key, _| kept.contains(&key));
        entry.insert("process".to_owned(), text(self.draw.pick(&["constant", "poisson"])));
        if self.draw.chance(70) {
            let size = self.draw.between(29, 1500);
            entry.insert("size".to_owned(), text(format!("{size} B")));
        } else {
            let mut sizes = Table::new();
            sizes.insert("kind".to_owned(), text("exponential"));
            let mean = self.draw.between(100, 700);
            sizes.insert("mean".to_owned(), text(format!("{mean} B")));
            entry.insert("sizes".to_owned(), Value::Table(sizes));
        }
        Some(self.rows(entry, "TrafficEntry", "udp"))
    }

    /// Adds a list of random rows to an entry. Returns whether their paths are found.
    fn rows(&mut self, entry: &mut Table, table: &str, protocol: &str) -> bool {
        let count = self.draw.between(1, 6);
        let rows = (0..count).map(|_| {
            let from = self.draw.index(self.net.nodes.len());
            let step = 1 + self.draw.index(self.net.nodes.len() - 1);
            let to = (from + step) % self.net.nodes.len();
            let [from, to] = [from, to].map(|node| self.net.nodes[node].as_str());
            let start = self.draw.below(self.units) * self.unit_ps;
            format!("{start};{from};{to};{};{protocol}", self.draw.between(1, 40_000))
        });
        entry.insert("list".to_owned(), text(rows.collect::<Vec<_>>().join("|")));
        let found = !self.net.routed || self.draw.chance(50);
        if found {
            let path = self.draw.pick(&["shortest", "shortest-pair", "ecmp"]);
            entry.insert("path".to_owned(), text(path));
            self.maybe(entry, table, 40, &["metric"]);
        }
        found
    }

    /// Arrivals of flows, or writes of each; else flows are what they are.
    fn sent(&mut self, entry: &mut Table) {
        if self.draw.chance(25) {
            let rate = if self.draw.chance(20) { "load" } else { "arrivals" };
            let much = match rate {
                "load" => Value::Float(self.decimal(1, 9, 1)),
                _ => self.leaf("FlowsEntry", "arrivals"),
            };
            entry.insert(rate.to_owned(), much);
            self.maybe(entry, "FlowsEntry", 30, &["until"]);
            entry.remove("per_source");
            if self.draw.chance(50) {
                entry.remove("size");
                let kinds = self.schema.words("SizesTable", "kind");
                let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
                let sizes = self.sizes(&kinds, 20_000);
                entry.insert("sizes".to_owned(), Value::Table(sizes));
            } else {
                let segments = self.draw.between(1, 20);
                entry.insert("size".to_owned(), text(format!("{segments} segments")));
            }
        } else if self.draw.chance(15) {
            entry.remove("size");
            let writes = self.writes();
            entry.insert("writes".to_owned(), writes);
        }
    }

    /// A table of senders that keep networks apart, with what else concerns losses and round trips.
    fn divided(&mut self) -> String {
        let mut one = Table::new();
        one.insert("profile".to_owned(), text(self.draw.pick(&["linux-6", "rfc"])));
        one.insert("recovery".to_owned(), text("sack"));
        one.insert("path_state".to_owned(), text("per-network"));
        let keys = [
            "loss_detection",
            "rate_reduction",
            "tail_loss_probe",
            "frto",
            "measurement",
            "limited_transmit",
            "after_timeout",
            "window_validation",
            "reduction_basis",
            "handshake",
        ];
        self.maybe(&mut one, "TcpTable", 25, &keys);
        let least = self.draw.between(2, 40).saturating_mul(self.unit_ps);
        one.insert("min_rto".to_owned(), text(leaf::span(least)));
        one.insert("initial_rto".to_owned(), text(leaf::span(least.saturating_mul(2))));
        one.insert("max_rto".to_owned(), text(leaf::span(least.saturating_mul(64))));
        if self.draw.chance(40) {
            let controls = ["reno", "cubic", "vegas", "bic", "retcp", "htcp"];
            one.insert("congestion".to_owned(), text(self.draw.pick(&controls)));
        }
        let name = format!("divided{}", self.groups.len());
        let tables = self.table.get_mut("tcp").and_then(Value::as_table_mut);
        tables.expect("there are tables").insert(name.clone(), Value::Table(one));
        name
    }

    pub(super) fn class(&mut self, entry: &mut Table) {
        let mut class = self.draw.about("class");
        if class.chance(20) {
            let class = i64::try_from(class.below(8)).expect("small");
            entry.insert("class".to_owned(), Value::Integer(class));
        }
        // Only different classes show that bursts keep them apart.
        let mut class = self.draw.about("class of bursts");
        if self.net.bursts && class.chance(85) {
            let class = i64::try_from(class.below(8)).expect("small");
            entry.insert("class".to_owned(), Value::Integer(class));
        }
    }

    pub(super) fn writes(&mut self) -> Value {
        let mut after = 0;
        let writes = (0..self.draw.between(1, 3)).map(|_| {
            let mut write = Table::new();
            write.insert("after".to_owned(), text(leaf::span(after * self.unit_ps)));
            let segments = self.draw.between(1, 20);
            write.insert("size".to_owned(), text(format!("{segments} segments")));
            after += self.draw.between(1, self.units);
            Value::Table(write)
        });
        Value::Array(writes.collect())
    }

    fn traffic(&mut self, name: String) {
        let mut entry = Table::new();
        entry.insert("group".to_owned(), text(name.clone()));
        let (path, found) = self.about("route", |maker| maker.route(&mut entry, "TrafficEntry"));
        let process = self.leaf("TrafficEntry", "process");
        let word = process.as_str().unwrap_or_default().to_owned();
        entry.insert("process".to_owned(), process);
        entry.insert("rate".to_owned(), self.leaf("TrafficEntry", "rate"));
        let always: &[&str] = match word.as_str() {
            "on-off" => &["hurst", "superposed", "on", "off"],
            "fractal-renewal" if self.draw.about("onset").chance(50) => &["hurst", "onset"],
            "fractal-renewal" => &["hurst", "superposed"],
            "fractional-noise" => &["hurst", "slot"],
            _ => &[],
        };
        self.maybe(&mut entry, "TrafficEntry", 100, always);
        if word == "fractional-noise" {
            self.maybe(&mut entry, "TrafficEntry", 40, &["dispersion"]);
        }
        self.about("sizes", |maker| {
            if maker.draw.chance(70) {
                let size = maker.draw.between(1, 1500);
                entry.insert("size".to_owned(), text(format!("{size} B")));
            } else {
                let sizes = maker.sizes(&["exponential"], 700);
                entry.insert("sizes".to_owned(), Value::Table(sizes));
            }
        });
        self.maybe(&mut entry, "TrafficEntry", 30, &["start", "until", "ecn"]);
        self.class(&mut entry);
        let listed = self.about("list", |maker| maker.listed_sources(&mut entry));
        let (path, found) = listed.map_or((path, found), |found| (None, found));
        self.push("traffic", entry);
        self.groups.push(Group { name, datagrams: true, path, found });
    }

    pub(super) fn sizes(&mut self, kinds: &[&str], mean: u64) -> Table {
        let mut sizes = Table::new();
        let kind = self.draw.pick(kinds);
        sizes.insert("kind".to_owned(), text(kind));
        if matches!(kind, "exponential" | "pareto") {
            let mean = self.draw.between(mean / 10, mean);
            sizes.insert("mean".to_owned(), text(format!("{mean} B")));
        }
        if kind == "pareto" {
            sizes.insert("shape".to_owned(), Value::Float(self.decimal(11, 25, 1)));
        }
        if kind == "points" {
            let points = self.points();
            sizes.insert("points".to_owned(), points);
            if self.draw.chance(70) {
                return sizes;
            }
        }
        if kind != "exponential" {
            let largest = self.draw.between(140_000, 500_000);
            sizes.insert("largest".to_owned(), text(format!("{largest} B")));
        } else if mean < 1500 && self.draw.chance(40) {
            sizes.insert("smallest".to_owned(), text(format!("{} B", self.draw.between(20, 60))));
            sizes.insert("largest".to_owned(), text("1500 B"));
        }
        sizes
    }

    /// Sizes with per cents; some come twice.
    fn points(&mut self) -> Value {
        let (mut size, mut percent) = (self.draw.between(0, 3000), self.draw.between(0, 40));
        let mut points = Vec::new();
        while percent < 100 {
            points.push((size, percent));
            size += self.draw.pick(&[0, 500, 20_000]);
            percent += self.draw.between(0, 60);
        }
        points.push((size + 1, 100));
        let point = |(size, percent)| {
            let percent = i64::try_from(percent).expect("small");
            Value::Array(vec![text(format!("{size} B")), Value::Integer(percent)])
        };
        Value::Array(points.into_iter().map(point).collect())
    }

    /// Pairs of nodes, and how their paths are found.
    fn pairs(&mut self, entry: &mut Table, table: &str) {
        let mut pairs = Table::new();
        let mut groups: Vec<String> = self.net.groups.clone();
        let towns = self.table.get("topology").and_then(|table| table.get("group"));
        groups.extend(towns.and_then(Value::as_str).map(str::to_owned));
        let mut node = || {
            let place = self.draw.index(self.net.nodes.len());
            self.net.nodes[place].clone()
        };
        let (from, to) = (node(), node());
        if !groups.is_empty() && self.draw.chance(60) {
            pairs.insert("among".to_owned(), text(self.draw.pick(&groups)));
        } else {
            let from = if groups.is_empty() || self.draw.chance(50) {
                from
            } else {
                self.draw.pick(&groups)
            };
            pairs.insert("from".to_owned(), text(from));
            pairs.insert("to".to_owned(), text(to));
        }
        if self.draw.chance(60) {
            let count = i64::try_from(self.draw.between(1, 4)).expect("small");
            pairs.insert("count".to_owned(), Value::Integer(count));
            if table == "TrafficEntry" || self.draw.chance(50) {
                pairs.insert("seed".to_owned(), Value::Integer(7));
            }
        }
        // These know the nodes of a topology.
        let known = self.table.contains_key("topology");
        if known && self.draw.chance(60) {
            let from = if self.draw.chance(50) {
                ("matrix", "matrix.csv")
            } else {
                ("weights", "demands")
            };
            pairs.insert(from.0.to_owned(), text(from.1));
            let hosts = ["Host0", "Host1"].map(str::to_owned);
            let stand_for_towns = hosts.iter().all(|host| self.net.nodes.contains(host));
            if from.0 == "weights" && stand_for_towns && self.draw.chance(50) {
                pairs.remove("among");
                for (key, host) in ["from", "to"].into_iter().zip(hosts) {
                    pairs.insert(key.to_owned(), text(host));
                }
            } else if let Some(towns) = groups.last() {
                pairs.remove("from");
                pairs.remove("to");
                pairs.insert("among".to_owned(), text(towns.clone()));
            }
        } else {
            self.maybe(&mut pairs, "PairsTable", 50, &["weights"]);
        }
        entry.insert("pairs".to_owned(), Value::Table(pairs));
    }

    /// Where packets go: the path, if it is one, and whether paths are found.
    fn route(&mut self, entry: &mut Table, table: &str) -> (Option<Vec<Leg>>, bool) {
        let known = self.table.contains_key("topology");
        let percent = if known {
            60
        } else if self.net.routed {
            15
        } else {
            25
        };
        if self.draw.chance(percent) {
            self.about("ends", |maker| match maker.draw.chance(70) {
                true => maker.pairs(entry, table),
                false => maker.ends(entry),
            });
            if self.draw.chance(70) || !self.net.routed {
                let words = self.schema.words_of("Chosen");
                let word = self.draw.pick(&words);
                if word == "shortest" && self.draw.chance(30) {
                    entry.insert("paths".to_owned(), Value::Integer(2));
                }
                if word == "valiant" && !self.net.groups.is_empty() {
                    let via = self.draw.pick(&self.net.groups);
                    entry.insert("via".to_owned(), text(via));
                }
                if word != "routed" {
                    self.maybe(entry, table, 80, &["metric"]);
                }
                entry.insert("path".to_owned(), text(word));
            }
            return (None, true);
        }
        if self.net.routed {
            self.ends(entry);
            return (None, false);
        }
        (self.path(entry), false)
    }

    pub(super) fn ends(&mut self, entry: &mut Table) {
        let mut node = || {
            let place = self.draw.index(self.net.nodes.len());
            text(self.net.nodes[place].clone())
        };
        let (from, to) = (node(), node());
        entry.insert("from".to_owned(), from);
        entry.insert("to".to_owned(), to);
    }

    /// A path written node by node.
    fn path(&mut self, entry: &mut Table) -> Option<Vec<Leg>> {
        if !self.net.templates.is_empty() && self.draw.chance(50) {
            let template = self.draw.pick(&self.net.templates);
            entry.insert("path".to_owned(), texts(template));
            return None;
        }
        if self.draw.chance(8) {
            let edge = self.draw.index(self.net.edges.len());
            let ends = self.net.edges[edge].ends.map(|node| self.net.nodes[node].clone());
            entry.insert("between".to_owned(), texts(ends));
            return None;
        }
        // In scenarios with bursts or virtual output queues, most paths should use them.
        let special = |edge: &Edge| edge.bursts || !edge.ways.is_empty();
        let wanted = self.net.edges.iter().any(special);
        for _ in 0..6 {
            let path = self.walk()?;
            let passes = path.iter().any(|hop| special(&self.net.edges[hop.edge]));
            if passes || !wanted || self.draw.chance(20) {
                let written = self.written(&path);
                entry.insert("path".to_owned(), written);
                return Some(path);
            }
        }
        None
    }
}
