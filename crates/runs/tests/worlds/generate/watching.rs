//! Observations.

use optcp_engine::observe::Links;
use optcp_scenario::plan::ObserveKind;
use toml::{Table, Value};

use super::{Maker, leaf, text, texts};

impl Maker<'_> {
    pub(super) fn observe(&mut self) {
        let kinds = self.schema.words("ObserveEntry", "kind");
        let everything = self.draw.chance(50);
        for kind in kinds {
            self.about(&kind, |maker| {
                if maker.draw.chance(35) || everything {
                    maker.observation(format!("o-{kind}"), &kind);
                }
            });
        }
    }

    /// Sets the measured part of the run, whose ends are often ends of intervals.
    pub(super) fn measure(&mut self) {
        if !self.draw.chance(20) {
            return;
        }
        // By kind: an additional kind does not change the windows of others.
        let interval = match self.intervals.is_empty() {
            true => self.unit_ps,
            false => self.draw.pick(&self.intervals).1,
        };
        let whole = self.units * self.unit_ps / interval;
        let after = self.draw.between(0, whole.saturating_sub(1));
        let until = self.draw.between(after + 1, whole.max(after + 1));
        let mut window = Table::new();
        for (key, at) in [("after", after), ("until", until)] {
            if self.draw.chance(80) {
                window.insert(key.to_owned(), text(leaf::span(at * interval)));
            }
        }
        self.table.insert("measure".to_owned(), Value::Table(window));
    }

    fn observation(&mut self, name: String, kind: &str) {
        let mut entry = Table::new();
        entry.insert("name".to_owned(), text(name));
        entry.insert("kind".to_owned(), text(kind));
        let registered = ObserveKind::ALL.iter().find(|registered| registered.name() == kind);
        let keys = registered.expect("a kind of the schema").keys();
        if keys.interval {
            let parts = self.draw.between(1, 25);
            // Ends of intervals are often ends of transmissions.
            let interval = match self.draw.chance(40) {
                true => self.units.div_ceil(parts) * self.unit_ps,
                false => {
                    let odd = self.draw.between(0, self.unit_ps);
                    (self.units * self.unit_ps / parts).saturating_sub(odd).max(1)
                }
            };
            entry.insert("interval".to_owned(), text(leaf::span(interval)));
            self.intervals.push((kind.to_owned(), interval));
        }
        if keys.after && self.draw.chance(40) {
            let after = self.some_span(0, self.units * 5);
            entry.insert("after".to_owned(), text(leaf::span(after)));
        }
        if keys.until && self.draw.chance(40) {
            let until = self.some_span(self.units * 5 + 1, self.units * 20);
            entry.insert("until".to_owned(), text(leaf::span(until)));
        }
        let of_links = keys.links.filter(|&which| which != Links::Fibres);
        if let Some(which) = of_links
            && self.draw.chance(35)
        {
            let bursts = which == Links::Bursts;
            let fitting: Vec<Value> = (self.net.edges.iter())
                .filter(|edge| edge.bursts == bursts || which == Links::All)
                .flat_map(|edge| edge.links.clone())
                .collect();
            let links = self.draw.some(&fitting);
            entry.insert("links".to_owned(), Value::Array(links));
        }
        if let Some(which) = keys.groups
            && self.draw.chance(35)
        {
            let fitting: Vec<String> = (self.groups.iter())
                .filter(|group| which.include(group.datagrams))
                .map(|group| group.name.clone())
                .collect();
            entry.insert("groups".to_owned(), texts(self.draw.some(&fitting)));
        }
        self.push("observe", entry);
    }
}
