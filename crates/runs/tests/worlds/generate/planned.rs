//! Virtual output queues, and scheduled changes.

use toml::{Table, Value};

use super::network::{Edge, RACKS};
use super::{Leg, Maker, leaf, text, texts};

impl Maker<'_> {
    /// Adds virtual output queues over existing paths of the network, or over new ones.
    pub(super) fn voqs(&mut self) {
        if self.net.routed || !self.draw.chance(45) {
            return;
        }
        // Paths of the previous queue, which another queue may share or continue.
        let mut before: Vec<Vec<Leg>> = Vec::new();
        let count = self.draw.between(1, 3);
        self.each("voq", count, |maker, number| {
            let ways = match maker.draw.below(10) {
                0..4 if !before.is_empty() => before.clone(),
                4..7 if !before.is_empty() => vec![maker.prefix(&before)],
                _ => {
                    let Some(path) = maker.walk() else { return };
                    vec![path]
                }
            };
            if let Some(ways) = maker.other_ways(ways) {
                maker.voq(format!("voq{number}"), &ways);
                before = ways;
            }
        });
    }

    /// The beginning of a way.
    fn prefix(&mut self, ways: &[Vec<Leg>]) -> Vec<Leg> {
        let way = self.draw.pick(ways);
        let length = self.draw.index(way.len()) + 1;
        way[..length].to_vec()
    }

    /// Returns more paths between the ends of the first one; `None` if one does not consist of
    /// links only.
    fn other_ways(&mut self, mut ways: Vec<Vec<Leg>>) -> Option<Vec<Vec<Leg>>> {
        let plain = |edge: &Edge| !edge.bursts && edge.ways.is_empty();
        let of_links = |way: &Vec<Leg>| way.iter().all(|leg| plain(&self.net.edges[leg.edge]));
        if !ways.iter().all(of_links) {
            return None;
        }
        let (from, to) = (ways[0][0].from, ways[0][ways[0].len() - 1].to);
        while ways.len() < 4 && self.draw.chance(if ways.len() == 1 { 90 } else { 30 }) {
            let taken = ways.iter().flat_map(|way| [way[0].edge, way[way.len() - 1].edge]);
            let special = (0..self.net.edges.len()).filter(|&edge| !plain(&self.net.edges[edge]));
            let avoid: Vec<usize> = taken.chain(special).collect();
            let around = self.around(from, to, &avoid);
            let way = match around.filter(|_| self.draw.chance(70)) {
                Some(way) => way,
                None => vec![Leg { from, edge: self.circuit(from, to), to }],
            };
            ways.push(way);
        }
        Some(ways)
    }

    /// One more link between two nodes.
    pub(super) fn circuit(&mut self, a: usize, b: usize) -> usize {
        let mut entry = self.line();
        let name = format!("light{}a", self.net.edges.len());
        entry.insert("name".to_owned(), text(name.clone()));
        entry.insert("chain".to_owned(), texts([a, b].map(|node| self.net.nodes[node].clone())));
        self.push("links", entry);
        self.net.edges.push(Edge::named([a, b], name));
        self.net.edges.len() - 1
    }

    pub(super) fn voq(&mut self, name: String, ways: &[Vec<Leg>]) {
        let ends = [ways[0][0].from, ways[0][ways[0].len() - 1].to];
        let mut entry = Table::new();
        entry.insert("name".to_owned(), text(name.clone()));
        let words = ends.map(|node| self.net.nodes[node].clone());
        entry.insert("between".to_owned(), texts(words.clone()));
        let mut written = Table::new();
        for (number, way) in ways.iter().enumerate() {
            self.net.fed.push(way[0].edge);
            let path = self.of_links(way);
            written.insert(format!("way{number}"), path);
        }
        let ways: Vec<String> = written.keys().cloned().collect();
        entry.insert("ways".to_owned(), Value::Table(written));
        entry.insert("served".to_owned(), self.served(&ways));
        entry.insert("queue".to_owned(), self.managed_queue());
        let tells = self.draw.chance(50);
        if tells {
            // Often sooner than a round trip, and at once.
            let after = if self.draw.chance(40) { 0 } else { self.some_span(0, 20) };
            entry.insert("notify".to_owned(), text(leaf::span(after)));
        }
        if self.draw.chance(40) {
            let mut reverse = Table::new();
            if self.draw.chance(70) {
                reverse.insert("served".to_owned(), self.served(&ways));
            }
            if self.draw.chance(70) {
                let queue = self.about("queue", Self::disciplined_queue);
                reverse.insert("queue".to_owned(), queue);
            }
            entry.insert("reverse".to_owned(), Value::Table(reverse));
        }
        self.push("voqs", entry);
        // Groups reach it, too.
        for mut template in self.net.templates.clone() {
            if let Some(place) = template.windows(2).position(|pair| *pair == words) {
                template.insert(place + 1, name.clone());
                self.net.templates.push(template);
            }
        }
        self.net.edges.push(Edge { ways, tells, ..Edge::named(ends, name) });
    }

    /// A path that names no bundle.
    fn of_links(&mut self, path: &[Leg]) -> Value {
        let mut words = vec![self.net.nodes[path[0].from].clone()];
        for leg in path {
            let edge = &self.net.edges[leg.edge];
            let links: Vec<&Option<String>> =
                edge.words.iter().filter(|&word| *word != edge.bundle || word.is_none()).collect();
            words.extend(self.draw.pick(&links).clone());
            words.push(self.net.nodes[leg.to].clone());
        }
        texts(words)
    }

    fn served(&mut self, ways: &[String]) -> Value {
        match self.draw.chance(15) {
            true => text("none"),
            false => text(self.draw.pick(ways)),
        }
    }

    pub(super) fn schedules(&mut self) {
        let of_voqs = |edge: &&Edge| !edge.ways.is_empty();
        let voqs = self.net.edges.iter().filter(of_voqs).count();
        if self.net.groups.iter().any(|group| group == RACKS) && self.draw.chance(85) {
            self.about("generated", |maker| maker.generated(voqs > 0));
        }
        if !self.draw.chance(if voqs > 0 { 85 } else { 20 }) {
            return;
        }
        let count = self.draw.between(1, 3);
        self.each("schedule", count, |maker, _| maker.schedule(voqs));
    }

    fn schedule(&mut self, voqs: usize) {
        let mut entry = Table::new();
        let period = match self.draw.chance(70) {
            true => self.some_span(20, 3 * self.units).max(2 * self.unit_ps),
            false => self.units * self.unit_ps,
        };
        if self.draw.chance(80) {
            entry.insert("period".to_owned(), text(leaf::span(period)));
        }
        if self.draw.chance(30) {
            let start = self.some_span(0, 5 * self.units);
            entry.insert("start".to_owned(), text(leaf::span(start)));
        }
        if self.draw.chance(15) {
            if self.draw.chance(50) {
                self.opportunities(&mut entry);
            } else {
                let trace = self.trace(period);
                entry.insert("file".to_owned(), text(trace));
                if self.draw.chance(50) {
                    entry.insert("form".to_owned(), text("changes"));
                }
                self.maybe(&mut entry, "ScheduleEntry", 50, &["delays"]);
            }
            self.push("schedules", entry);
            return;
        }
        // Several changes at one time are common.
        let instants: Vec<u64> = (0..3).map(|_| self.within(period)).collect();
        let mut changes: Vec<Value> = Vec::new();
        let count = self.draw.between(1, 6);
        self.each("change", count, |maker, _| {
            let at = match maker.draw.chance(60) {
                true => maker.draw.pick(&instants),
                false => maker.within(period),
            };
            changes.push(Value::Table(maker.change(at, voqs)));
        });
        self.about("reopened", |maker| changes.extend(maker.reopened(period)));
        let moved = |change: &Value| change.get("delay").is_some();
        if changes.iter().any(moved) {
            self.maybe(&mut entry, "ScheduleEntry", 50, &["delays"]);
        }
        entry.insert("changes".to_owned(), Value::Array(changes));
        self.push("schedules", entry);
    }

    /// At the start of a path of a virtual output queue, the transmitter often holds for a time
    /// while packets wait.
    fn reopened(&mut self, period: u64) -> Vec<Value> {
        if self.net.fed.is_empty() || !self.draw.chance(40) {
            return Vec::new();
        }
        let fed = self.draw.pick(&self.net.fed);
        let links = self.net.edges[fed].links.clone();
        let link = self.draw.pick(&links);
        let mut instants = [0; 2].map(|_| self.within(period));
        instants.sort_unstable();
        let change = |(at, does): (u64, &str)| {
            let fields =
                [("at", text(leaf::span(at))), ("link", link.clone()), ("transmitter", text(does))];
            Value::Table(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        instants.into_iter().zip(["holds", "sends"]).map(change).collect()
    }

    /// Circuits that come in turn.
    fn generated(&mut self, voqs: bool) {
        let members = self.net.nodes.iter().filter(|name| name.starts_with(RACKS)).count() as u64;
        let mut generator = Table::new();
        let kind = self.leaf("GeneratorEntry", "kind");
        let rotor = kind.as_str() == Some("rotor");
        generator.insert("kind".to_owned(), kind);
        generator.insert("among".to_owned(), text(RACKS));
        for key in ["day", "night"] {
            let span = self.some_span(1, self.units / 4 + 2);
            generator.insert(key.to_owned(), text(leaf::span(span.max(1))));
        }
        if rotor {
            let fit: Vec<u64> = (1..=members).filter(|one| members.is_multiple_of(*one)).collect();
            let switches = self.draw.about("switches").pick(&fit);
            let switches = i64::try_from(switches).expect("small");
            generator.insert("switches".to_owned(), Value::Integer(switches));
            self.maybe(&mut generator, "GeneratorEntry", 60, &["phases"]);
        }
        let of_mesh = self.net.edges.iter().any(|edge| edge.ways.iter().any(|way| way == "direct"));
        if of_mesh && self.draw.chance(80) {
            generator.insert("two_hops".to_owned(), Value::Boolean(true));
        } else if voqs {
            let [day, other] = if of_mesh { ["direct", "none"] } else { ["way0", "way1"] };
            generator.insert("served".to_owned(), text(day));
            if self.draw.chance(60) {
                generator.insert("otherwise".to_owned(), text(other));
            }
        }
        let mut entry = Table::new();
        entry.insert("generator".to_owned(), Value::Table(generator));
        if self.draw.chance(30) {
            let start = self.some_span(0, 5 * self.units);
            entry.insert("start".to_owned(), text(leaf::span(start)));
        }
        self.push("schedules", entry);
    }

    /// Returns the contents of a trace file, which the tests' library reads from its name.
    fn trace(&mut self, period: u64) -> String {
        let rows = (0..self.draw.between(1, 4)).map(|_| {
            let edge = self.draw.index(self.net.edges.len());
            let name = match &self.net.edges[edge].links[0] {
                Value::String(name) => name.clone(),
                _ => self.net.edges[edge].ends.map(|node| self.net.nodes[node].clone()).join("-"),
            };
            let (key, value) = match self.net.edges[edge].ways.is_empty() {
                true => ("delay", leaf::span(self.some_span(0, self.units / 2))),
                false => ("served", "none".to_owned()),
            };
            format!("at={};link={name};{key}={value}", leaf::span(self.within(period)))
        });
        rows.collect::<Vec<String>>().join("|")
    }

    /// A trace of mahimahi, as the library of the tests reads it from its name.
    fn opportunities(&mut self, entry: &mut Table) {
        entry.remove("period");
        let mut ms: Vec<u64> = (0..self.draw.between(1, 6)).map(|_| self.draw.below(4)).collect();
        ms.sort_unstable();
        ms.push(ms[ms.len() - 1].max(1));
        let file: Vec<String> = ms.iter().map(u64::to_string).collect();
        entry.insert("file".to_owned(), text(file.join("|")));
        entry.insert("form".to_owned(), text("mahimahi"));
        let edge = self.draw.index(self.net.edges.len());
        let links = self.net.edges[edge].links.clone();
        entry.insert("link".to_owned(), self.draw.pick(&links));
        self.maybe(entry, "ScheduleEntry", 90, &["direction"]);
    }

    /// Returns a time within a period, often a whole number of units.
    fn within(&mut self, period: u64) -> u64 {
        match self.draw.chance(60) {
            true => self.draw.below(period.div_ceil(self.unit_ps)) * self.unit_ps,
            false => self.draw.below(period),
        }
    }

    fn change(&mut self, at: u64, voqs: usize) -> Table {
        let mut entry = Table::new();
        entry.insert("at".to_owned(), text(leaf::span(at)));
        self.maybe(&mut entry, "ChangeEntry", 50, &["direction"]);
        let of_voq = voqs > 0 && self.draw.chance(60);
        let fitting: Vec<usize> = (0..self.net.edges.len())
            .filter(|&edge| self.net.edges[edge].ways.is_empty() != of_voq)
            .collect();
        let edge = self.draw.pick(&fitting);
        let links = self.net.edges[edge].links.clone();
        entry.insert("link".to_owned(), self.draw.pick(&links));
        let ways = self.net.edges[edge].ways.clone();
        if of_voq {
            if self.draw.chance(85) {
                entry.insert("served".to_owned(), self.served(&ways));
            }
            self.maybe(&mut entry, "ChangeEntry", 20, &["queue"]);
        } else {
            let keys = ["rate", "delay", "queue", "transmitter", "state", "ece"];
            self.maybe(&mut entry, "ChangeEntry", 35, &keys);
            self.maybe(&mut entry, "ChangeEntry", 20, &["loss"]);
        }
        let said = ["served", "rate", "delay", "queue", "transmitter", "state", "ece", "loss"];
        if !said.iter().any(|key| entry.contains_key(*key)) {
            let key = if of_voq { "queue" } else { "transmitter" };
            self.maybe(&mut entry, "ChangeEntry", 100, &[key]);
        }
        entry
    }
}
