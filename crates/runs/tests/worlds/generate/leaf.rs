//! Values of one key, drawn from the types that the schema allows.

use optcp_net::QueueKind;
use toml::{Table, Value};

use super::{Maker, text};
use crate::schema::Takes;

/// A duration of so many picoseconds, in the largest unit in which it is whole.
pub(super) fn span(ps: u64) -> String {
    let units = [
        (3_600_000_000_000_000, "h"),
        (60_000_000_000_000, "min"),
        (1_000_000_000_000, "s"),
        (1_000_000_000, "ms"),
        (1_000_000, "us"),
        (1_000, "ns"),
    ];
    let whole = units.iter().find(|(unit, _)| ps > 0 && ps.is_multiple_of(*unit));
    match whole {
        Some((unit, name)) => format!("{} {name}", ps / unit),
        None => format!("{ps} ps"),
    }
}

impl Maker<'_> {
    /// A duration from `low` to `high` tenths of a unit: often of whole units, sometimes none, seldom endless.
    pub(super) fn some_span(&mut self, low: u64, high: u64) -> u64 {
        match self.draw.below(100) {
            // Both bounds may lie within one unit.
            0..40 if low.div_ceil(10) <= high / 10 => {
                let units = self.draw.between(low.div_ceil(10), high / 10);
                units.saturating_mul(self.unit_ps)
            }
            0..88 => {
                let tenth = self.unit_ps / 10;
                self.draw.between(low.saturating_mul(tenth), high.saturating_mul(tenth))
            }
            88..96 => low.saturating_mul(self.unit_ps / 10),
            96..99 => self.units * self.unit_ps,
            _ => self.draw.pick(&[1, 3_600_000_000_000_000, 1 << 62, u64::MAX]),
        }
    }

    /// A time within the run.
    pub(super) fn instant(&mut self) -> u64 {
        self.some_span(0, 10 * self.units)
    }

    pub(super) fn delay(&mut self) -> String {
        let low = self.some_span(0, 60);
        let [half, whole] = [span(low / 2), span(low)];
        match self.draw.below(20) {
            0..3 => format!("uniform({half}, {whole})"),
            3 => format!("choice({half}, {whole}, {half})"),
            4 => format!("normal({half}, {half}, {whole})"),
            5 => format!("exponential({half}, {whole})"),
            6 => match self.draw.chance(50) {
                true => format!("lognormal({half}, {whole}, {whole})"),
                false => format!("pareto({half}, 1.5, {whole})"),
            },
            _ => whole,
        }
    }

    pub(super) fn speed(&mut self) -> String {
        let percent = self.draw.pick(&[10, 50, 80, 100, 100, 100, 200, 333]);
        let bps = u64::try_from(u128::from(self.rate_bps) * percent / 100).expect("below 2^64");
        match bps.max(1) {
            bps if bps % 1_000_000 == 0 => format!("{} Mbps", bps / 1_000_000),
            bps => format!("{bps} bps"),
        }
    }

    pub(super) fn queue(&mut self) -> String {
        match self.draw.below(10) {
            0 => "unlimited".to_owned(),
            1 | 2 => format!("{} B", self.draw.between(1500, 60_000)),
            3 => "1 packets".to_owned(),
            _ => format!("{} packets", self.draw.between(2, 40)),
        }
    }

    /// A queue, and now and then its discipline.
    pub(super) fn managed_queue(&mut self) -> Value {
        self.about("queue", |maker| match maker.draw.chance(70) {
            true => text(maker.queue()),
            false => maker.disciplined_queue(),
        })
    }

    /// A queue for a key that few scenarios have, so that each discipline occurs there.
    pub(super) fn rare_queue(&mut self) -> Value {
        self.about("queue", |maker| match maker.draw.chance(15) {
            true => text(maker.queue()),
            false => maker.disciplined_queue(),
        })
    }

    /// A queue under a discipline.
    pub(super) fn disciplined_queue(&mut self) -> Value {
        let word = self.draw.pick(&self.schema.words("QueueTable", "kind"));
        let registered = QueueKind::ALL.iter().find(|kind| kind.name() == word);
        let kind = *registered.expect("a kind of the schema");
        let mut queue = Table::new();
        queue.insert("kind".to_owned(), text(kind.name()));
        queue.insert("limit".to_owned(), text(self.queue()));
        let names: Vec<&str> = kind.parameters().iter().map(|parameter| parameter.name).collect();
        self.maybe(&mut queue, "QueueTable", 60, &names);
        // Thresholds in order, and short enough to matter.
        if matches!(kind, QueueKind::Red) {
            let (min, unit) =
                (self.draw.between(1, 3), self.draw.pick(&[("packets", 1), ("B", 1500)]));
            queue.insert("min".to_owned(), text(format!("{} {}", min * unit.1, unit.0)));
            queue.insert("max".to_owned(), text(format!("{} {}", (min + 2) * unit.1, unit.0)));
            queue.insert("weight".to_owned(), Value::Float(self.decimal(1, 100, 2)));
        }
        if matches!(kind, QueueKind::FqCodel) {
            let flows = i64::try_from(self.draw.between(1, 16)).expect("small");
            queue.insert("flows".to_owned(), Value::Integer(flows));
        }
        if matches!(kind, QueueKind::Step | QueueKind::Trim) {
            queue.insert(
                "threshold".to_owned(),
                text(format!("{} packets", self.draw.between(0, 4))),
            );
        }
        let mut marks = self.draw.about("marks of a trimming queue");
        if matches!(kind, QueueKind::Trim) && marks.chance(60) {
            let threshold = format!("{} packets", marks.between(0, 3));
            queue.insert("mark_threshold".to_owned(), text(threshold));
        }
        Value::Table(queue)
    }

    /// A number with `places` decimal places, from `low` to `high` of the last of them.
    pub(super) fn decimal(&mut self, low: u64, high: u64, places: u32) -> f64 {
        let power = 10_u32.pow(places);
        let whole = u32::try_from(self.draw.between(low, high)).expect("a small number");
        f64::from(whole) / f64::from(power)
    }

    /// So many a second that about `count` come in the run.
    pub(super) fn pace(&mut self, count: u64) -> String {
        // Millionths of one a second.
        let length_ps = u128::from(self.units) * u128::from(self.unit_ps);
        let rate = (u128::from(count) * 1_000_000_000_000_000_000 / length_ps).max(1);
        format!("{}.{:06}", rate / 1_000_000, rate % 1_000_000)
    }

    /// A value for a key, as the schema says.
    pub(super) fn leaf(&mut self, table: &str, key: &str) -> Value {
        self.about(key, |maker| match maker.schema.takes(table, key) {
            Takes::Words(words) => text(maker.draw.pick(&words)),
            Takes::Bool => Value::Boolean(maker.draw.chance(50)),
            Takes::Called(name) => maker.called(&name),
            Takes::Else => panic!("`{key}` of {table} is no simple value"),
        })
    }

    fn called(&mut self, name: &str) -> Value {
        match name {
            "Span" => {
                let ps = self.some_span(0, 100);
                text(span(ps))
            }
            "Delay" => text(self.delay()),
            "Speed" => text(self.speed()),
            "LinkRate" => match self.draw.chance(20) {
                true => {
                    text(self.draw.pick(&["file", "attribute:capacity", "attribute:width Gbps"]))
                }
                false => text(self.speed()),
            },
            "LinkDelay" => match self.draw.chance(20) {
                true => text(self.draw.pick(&["file", "attribute:latency ms"])),
                false => text(self.delay()),
            },
            "Queue" => text(self.queue()),
            "QueueEntry" => self.managed_queue(),
            "Size" => text(match self.draw.chance(5) {
                true => self.draw.pick(&["0 B", "1 B", "65535 B", "65536 B", "1 GB"]).to_owned(),
                false => format!("{} B", self.draw.between(20, 1460)),
            }),
            "Count" => match self.draw.chance(5) {
                true => Value::Integer(self.draw.pick(&[0, 1, 200, 65_535])),
                false => Value::Integer(i64::try_from(self.draw.between(0, 6)).expect("small")),
            },
            "Limit" => match self.draw.chance(20) {
                true => text("unlimited"),
                false => text(format!("{} packets", self.draw.between(1, 40))),
            },
            "LinkCost" if self.draw.chance(20) => {
                text(self.draw.pick(&["file", "attribute:metric"]))
            }
            "FromFile" => text("file"),
            "Cost" | "LinkCost" => match self.draw.chance(20) {
                true => text("delay"),
                false => Value::Integer(i64::try_from(self.draw.between(1, 4)).expect("small")),
            },
            "Probability" => Value::Float(match self.draw.below(10) {
                0 => 0.0,
                1 => 1.0,
                _ => self.decimal(1, 200, 3),
            }),
            "Real" => Value::Float(self.decimal(51, 99, 2)),
            "Volume" => text(match self.draw.below(10) {
                0..3 => "greedy".to_owned(),
                3..5 => format!("{} B", self.draw.between(1, 60_000)),
                _ => format!("{} segments", self.draw.between(1, 80)),
            }),
            "Pace" => {
                let count = self.draw.between(1, self.units);
                text(format!("{} packets/s", self.pace(count)))
            }
            "FlowPace" => {
                let count = self.draw.pick(&[1, 1, 2, 5, 20]);
                text(format!("{} flows/s", self.pace(count)))
            }
            other => panic!("nothing is known of values called {other}"),
        }
    }
}
