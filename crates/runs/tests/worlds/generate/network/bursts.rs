//! Assembly of bursts, also by class.

use toml::{Table, Value};

use crate::generate::{Maker, leaf, text, texts};

impl Maker<'_> {
    pub(super) fn assembly(&mut self) -> Table {
        self.about("assembly", Self::own_assembly)
    }

    fn own_assembly(&mut self) -> Table {
        let mut bursts = Table::new();
        let assembly = self.leaf("BurstsEntry", "assembly");
        let word = assembly.as_str().unwrap_or_default().to_owned();
        bursts.insert("assembly".to_owned(), assembly);
        if word != "size" {
            let timer = self.some_span(5, 200);
            bursts.insert("timer".to_owned(), text(leaf::span(timer)));
        }
        if word == "adaptive" {
            self.about("adaptive", |maker| {
                if maker.draw.chance(60) {
                    let least = maker.some_span(0, 5);
                    bursts.insert("least_timer".to_owned(), text(leaf::span(least)));
                }
                if maker.draw.chance(60) {
                    let factor = i64::try_from(maker.draw.between(1, 100)).expect("small");
                    bursts.insert("factor".to_owned(), Value::Integer(factor));
                }
            });
        }
        if word == "size" || word == "hybrid" {
            let size = self.draw.between(40, 20_000);
            bursts.insert("size".to_owned(), text(format!("{size} B")));
        }
        self.about("classes", |maker| {
            if maker.draw.chance(85) {
                bursts.insert("classes".to_owned(), maker.burst_classes(&word));
            }
        });
        bursts
    }

    /// Some classes, with values that the assembly uses.
    fn burst_classes(&mut self, assembly: &str) -> Value {
        let numbers = self.draw.some(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let mut classes = Vec::new();
        for number in numbers {
            let mut class = Table::new();
            class.insert("class".to_owned(), Value::Integer(number));
            if assembly != "size" && self.draw.chance(50) {
                let timer = self.some_span(5, 200);
                class.insert("timer".to_owned(), text(leaf::span(timer)));
            }
            if matches!(assembly, "size" | "hybrid") && self.draw.chance(50) {
                let size = self.draw.between(40, 20_000);
                class.insert("size".to_owned(), text(format!("{size} B")));
            }
            if self.draw.chance(50) {
                let extra = self.some_span(0, 30);
                class.insert("extra_offset".to_owned(), text(leaf::span(extra)));
            }
            classes.push(Value::Table(class));
        }
        Value::Array(classes)
    }

    /// Adds sources of a low and a high class that load one route of bursts. Otherwise bursts rarely preempt.
    pub(super) fn rivals(&mut self, ends: [usize; 2]) {
        if !self.draw.chance(90) {
            return;
        }
        let path = ends.map(|end| self.net.nodes[end].clone());
        for class in [0, 6] {
            let mut entry = Table::new();
            entry.insert("group".to_owned(), text(format!("rival{class}")));
            entry.insert("path".to_owned(), texts(path.clone()));
            entry.insert("process".to_owned(), text("poisson"));
            let rate = (self.rate_bps * self.draw.between(20, 60) / 100).max(1);
            entry.insert("rate".to_owned(), text(format!("{rate} bps")));
            entry.insert("size".to_owned(), text("1000 B"));
            entry.insert("class".to_owned(), Value::Integer(class));
            self.push("traffic", entry);
        }
    }
}
