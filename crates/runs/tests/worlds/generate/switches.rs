//! Switches with queues at their inputs.

use toml::{Table, Value};

use super::{Maker, text};

impl Maker<'_> {
    pub(super) fn switches(&mut self) {
        let others = self.net.bursts || self.net.edges.iter().any(|edge| !edge.ways.is_empty());
        if others || !self.draw.chance(20) {
            return;
        }
        let count = self.draw.between(1, 2);
        self.each("switch", count, |maker, _| {
            let node = match maker.net.groups.is_empty() || maker.draw.chance(70) {
                true => maker.draw.pick(&maker.net.nodes),
                false => maker.draw.pick(&maker.net.groups),
            };
            let mut entry = Table::new();
            entry.insert("node".to_owned(), text(node));
            maker.about("queue", |maker| {
                if maker.draw.chance(60) {
                    entry.insert("queue".to_owned(), text(maker.queue()));
                }
            });
            maker.about("cell", |maker| {
                if maker.draw.chance(60) {
                    let bytes = maker.draw.pick(&[40, 64, 64, 400, 1500, 9000]);
                    entry.insert("cell".to_owned(), text(format!("{bytes} B")));
                }
            });
            maker.about("speed_up", |maker| {
                if maker.draw.chance(60) {
                    let number = maker.draw.pick(&[0.5, 1.0, 1.5, 2.0, 3.25]);
                    entry.insert("speed_up".to_owned(), Value::Float(number));
                }
            });
            maker.about("rate", |maker| {
                if maker.draw.chance(30) {
                    entry.insert("rate".to_owned(), text(maker.speed()));
                }
            });
            maker.about("iterations", |maker| {
                if maker.draw.chance(50) {
                    let count = i64::try_from(maker.draw.between(1, 4)).expect("small");
                    entry.insert("iterations".to_owned(), Value::Integer(count));
                }
            });
            maker.maybe(&mut entry, "SwitchEntry", 50, &["fifo"]);
            maker.push("switches", entry);
        });
    }
}
