//! Random scenarios over the whole schema. Most are valid; the others are repaired.
//!
//! All times are in units of the transmission time of a packet at the scenario's rate. A modem line
//! and a lightpath therefore have equally many packets, and timers, failures and intervals fall
//! among them. Whole units are common, so that many events have the same time.
//!
//! Each entry, each key and each dependent question draws within [`Maker::about`], from a separate
//! stream. The consequences of a choice therefore do not change other draws. A choice among members
//! of a registry is by name ([`Draw::pick`]), and does not depend on their number.

mod applications;
mod buckets;
mod faults;
mod forwarding;
mod leaf;
mod network;
mod optical;
mod planned;
mod senders;
mod subflows;
mod switches;
mod watching;

use toml::{Table, Value};

use crate::draw::Draw;
use crate::schema::Schema;

use network::Net;

/// State of the generation of a scenario.
struct Maker<'s> {
    draw: Draw,
    schema: &'s Schema,
    /// The rate around which links are drawn.
    rate_bps: u64,
    /// Transmission time of 1500 bytes at that rate, in picoseconds.
    unit_ps: u64,
    /// How long the run is, in units.
    units: u64,
    net: Net,
    /// Groups of flows and the paths that they have as lists of nodes; none with routing.
    groups: Vec<Group>,
    /// Of observations that have some: the kind and the interval, in picoseconds.
    intervals: Vec<(String, u64)>,
    table: Table,
}

/// A group of flows or sources.
#[derive(Clone)]
struct Group {
    name: String,
    datagrams: bool,
    /// The nodes and links of its path, if it has just one.
    path: Option<Vec<Leg>>,
    /// Whether its paths are found.
    found: bool,
}

/// A step of a path: the node that is left, the edge that is taken, and the node that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leg {
    from: usize,
    edge: usize,
    to: usize,
}

/// Returns the text of a scenario, as a table.
pub(crate) fn world(number: u64, schema: &Schema) -> Table {
    let mut draw = Draw::new(number);
    let usual = [64_000, 1_000_000, 10_000_000, 100_000_000, 10_000_000_000];
    let mut rate = draw.about("rate");
    let rate_bps = match rate.chance(6) {
        true => rate.pick(&[1, 1_000, 1_000_000_000_000]),
        false => rate.pick(&usual),
    };
    let longest = if draw.chance(20) { 1500 } else { 400 };
    let unit_ps = u64::try_from(12_000 * 1_000_000_000_000_u128 / u128::from(rate_bps))
        .expect("less than 2^64 ps");
    let mut maker = Maker {
        // No run is longer than 480 h.
        units: draw.between(30, longest).min(480 * 3600 * 1_000_000_000_000 / unit_ps),
        unit_ps,
        rate_bps,
        draw,
        schema,
        net: Net::default(),
        groups: Vec::new(),
        intervals: Vec::new(),
        table: Table::new(),
    };
    type Part<'s> = (&'static str, fn(&mut Maker<'s>));
    let parts: [Part<'_>; 18] = [
        ("top", Maker::top),
        ("tcp", Maker::tcp),
        ("network", Maker::network),
        ("marked QUIC", Maker::marked_quic),
        ("trimming", Maker::trimming),
        ("senders", Maker::senders),
        ("applications", Maker::applications),
        ("schedules", Maker::schedules),
        ("risks", Maker::risks),
        ("failures", Maker::failures),
        ("optical", Maker::optical),
        ("protection", Maker::protection),
        ("losses", Maker::losses),
        ("buckets", Maker::buckets),
        ("observe", Maker::observe),
        ("measure", Maker::measure),
        ("sweep", Maker::sweep),
        ("parameters", Maker::parameters),
    ];
    for (name, part) in parts {
        maker.about(name, part);
    }
    maker.table
}

impl Maker<'_> {
    /// Makes something from a separate stream: draws there do not change other draws.
    fn about<T>(&mut self, question: &str, make: impl FnOnce(&mut Self) -> T) -> T {
        let own = self.draw.about(question);
        let others = std::mem::replace(&mut self.draw, own);
        let made = make(self);
        self.draw = others;
        made
    }

    /// Makes a number of entries or parts in order, each from a separate stream.
    fn each(&mut self, question: &str, count: u64, mut make: impl FnMut(&mut Self, u64)) {
        (0..count).for_each(|number| self.about(question, |maker| make(maker, number)));
    }

    fn top(&mut self) {
        let stop = self.units * self.unit_ps;
        self.table.insert("stop".to_owned(), text(leaf::span(stop)));
        if self.draw.chance(30) {
            self.table.insert("title".to_owned(), text("a \"world\", drawn"));
        }
        let mut silence = self.draw.about("silence");
        if silence.chance(10) {
            let kinds = self.schema.words_of("WarningKind");
            self.table.insert("silence".to_owned(), texts(silence.some(&kinds)));
        }
        let mut end = self.draw.about("end_with_flows");
        if end.chance(10) {
            self.table.insert("end_with_flows".to_owned(), Value::Boolean(end.chance(50)));
        }
    }

    /// A table `t0` whose timers fall into the run, and some more with choices of all kinds.
    fn tcp(&mut self) {
        let mut tables = Table::new();
        let count = self.draw.between(1, 3);
        self.each("table", count, |maker, i| {
            let one = maker.table_of_tcp(i);
            tables.insert(format!("t{i}"), Value::Table(one));
        });
        self.table.insert("tcp".to_owned(), Value::Table(tables));
    }

    fn table_of_tcp(&mut self, i: u64) -> Table {
        let mut one = Table::new();
        if self.draw.chance(70) {
            one.insert("profile".to_owned(), self.leaf("TcpTable", "profile"));
        }
        let mut timers = self.draw.about("timers");
        if i == 0 || timers.chance(50) {
            let least = timers.between(5, 40).saturating_mul(self.unit_ps);
            one.insert("min_rto".to_owned(), text(leaf::span(least)));
            one.insert("initial_rto".to_owned(), text(leaf::span(least.saturating_mul(2))));
            one.insert("max_rto".to_owned(), text(leaf::span(least.saturating_mul(64))));
        }
        if self.draw.chance(30) || i > 0 {
            let keys = self.schema.keys("TcpTable");
            let count = self.draw.between(0, 8);
            self.each("key", count, |maker, _| {
                let key = maker.draw.pick(&keys);
                let value = maker.leaf("TcpTable", &key);
                one.insert(key, value);
            });
        }
        // Keys that go together only.
        let mut rates = self.draw.about("controls with rates");
        if rates.chance(12) {
            one.insert("profile".to_owned(), text("linux-6"));
            let congestion = rates.pick(&["bbr", "bbr3", "nv"]);
            let pacing = if congestion == "nv" { "none" } else { "rate" };
            one.insert("congestion".to_owned(), text(congestion));
            one.insert("pacing".to_owned(), text(pacing));
        }
        match self.draw.below(100) {
            0..12 => {
                one.insert("congestion".to_owned(), text("dctcp"));
                let ecn = self.draw.pick(&["rfc3168", "dctcp", "accurate"]);
                one.insert("ecn".to_owned(), text(ecn));
            }
            12..19 => {
                one.insert("congestion".to_owned(), text("prague"));
                one.insert("ecn".to_owned(), text("accurate"));
                one.insert("pacing".to_owned(), text("rate"));
            }
            // One of many, with timestamps, which some of them need.
            19..29 => {
                one.insert("congestion".to_owned(), self.leaf("TcpTable", "congestion"));
                one.insert("timestamps".to_owned(), Value::Boolean(true));
            }
            _ => {}
        }
        self.about("nscc", |maker| {
            if maker.draw.chance(6) {
                one.insert("profile".to_owned(), text("linux-6"));
                one.insert("congestion".to_owned(), text("nscc"));
                one.remove("pacing");
                maker.maybe(&mut one, "TcpTable", 70, &["nscc_base_rtt", "nscc_bdp"]);
            }
        });
        one
    }

    /// Senders of QUIC with ECN, most often where a queue marks: these keys rarely meet by chance.
    fn marked_quic(&mut self) {
        let marks = |queue: &Value| {
            let kind = queue.get("kind").and_then(Value::as_str);
            let chosen = queue.get("ecn").and_then(Value::as_bool) == Some(true);
            matches!(kind, Some("step" | "dualpi2")) || chosen
        };
        let links = self.table.get("links").and_then(Value::as_array).into_iter().flatten();
        let mut links = links.flat_map(|link| [Some(link), link.get("reverse")]).flatten();
        let has_any = links.any(|link| link.get("queue").is_some_and(marks));
        drop(links);
        if !self.draw.chance(if has_any { 40 } else { 3 }) {
            return;
        }
        let congestion = self.draw.pick(&["cubic", "reno", "vegas", "htcp"]);
        let own = self.draw.pick(&["as-asked", "as-asked", "as-asked", "accurate", "off"]);
        let ect_packets = self.leaf("TcpTable", "ect_packets");
        let tables = self.table.get_mut("tcp").and_then(Value::as_table_mut);
        let Some(one) = tables.and_then(|tables| tables.get_mut("t0")) else { return };
        let one = one.as_table_mut().expect("a table of TCP");
        one.insert("profile".to_owned(), text("quic"));
        one.insert("ecn".to_owned(), text("accurate"));
        one.insert("congestion".to_owned(), text(congestion));
        one.insert("receiver_ecn".to_owned(), text(own));
        one.insert("ect_packets".to_owned(), ect_packets);
        for key in ["pacing", "timestamps", "ack", "duplicate_acks", "recovery"] {
            one.remove(key);
        }
    }

    /// Senders that a queue may trim, where there is such a queue: these keys rarely meet by chance.
    fn trimming(&mut self) {
        let trims = |queue: &Value| queue.get("kind").and_then(Value::as_str) == Some("trim");
        let links = self.table.get("links").and_then(Value::as_array).into_iter().flatten();
        let mut links = links.flat_map(|link| [Some(link), link.get("reverse")]).flatten();
        let has_any = links.any(|link| link.get("queue").is_some_and(trims));
        drop(links);
        if !has_any || self.draw.chance(20) {
            return;
        }
        let tables = self.table.get_mut("tcp").and_then(Value::as_table_mut);
        for (_, one) in tables.into_iter().flatten() {
            let one = one.as_table_mut().expect("a table of TCP");
            one.insert("recovery".to_owned(), text("sack"));
            one.insert("loss_detection".to_owned(), text("trimmed"));
        }
    }

    /// Values that stand elsewhere as `$name` or in products.
    fn parameters(&mut self) {
        if !self.draw.chance(30) {
            return;
        }
        let mut parameters = Table::new();
        let draw = &mut self.draw;
        let mut replace = |name: String, value: &mut Value| {
            let Value::String(plain) = value else { return };
            let mut draw = draw.about(&name);
            if !draw.chance(30) || plain.contains(['$', '*', '(']) {
                return;
            }
            let reference = match draw.chance(30) {
                true => format!("1 * ${name}"),
                false => format!("${name}"),
            };
            let plain = std::mem::replace(plain, reference);
            parameters.insert(name, Value::String(plain));
        };
        for list in ["links", "flows", "failures", "losses", "traffic", "protection"] {
            let entries = self.table.get_mut(list).and_then(Value::as_array_mut);
            let entries = entries.into_iter().flatten().filter_map(Value::as_table_mut);
            for (number, entry) in entries.enumerate() {
                for key in ["rate", "delay", "queue", "at", "repair", "start", "jitter", "hold_off"]
                {
                    let value = entry.get_mut(key).into_iter();
                    value.for_each(|value| replace(format!("{list}_{number}_{key}"), value));
                }
            }
        }
        self.table.insert("parameters".to_owned(), Value::Table(parameters));
    }

    /// Adds an entry to a list of tables.
    fn push(&mut self, list: &str, entry: Table) {
        let entries = self.table.entry(list).or_insert_with(|| Value::Array(Vec::new()));
        entries.as_array_mut().expect("a list of tables").push(Value::Table(entry));
    }

    /// How many entries a list has.
    fn count(&self, list: &str) -> usize {
        self.table.get(list).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Puts a drawn value under some of the keys, if they are not there yet.
    fn maybe(&mut self, entry: &mut Table, table: &str, percent: u64, keys: &[&str]) {
        for &key in keys {
            self.about(key, |maker| {
                if maker.draw.chance(percent) && !entry.contains_key(key) {
                    let value = maker.leaf(table, key);
                    entry.insert(key.to_owned(), value);
                }
            });
        }
    }
}

fn text(text: impl Into<String>) -> Value {
    Value::String(text.into())
}

fn texts(list: impl IntoIterator<Item = String>) -> Value {
    Value::Array(list.into_iter().map(Value::String).collect())
}
