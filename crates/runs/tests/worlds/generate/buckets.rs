//! Token buckets.

use toml::{Table, Value};

use super::{Maker, text};

impl Maker<'_> {
    pub(super) fn buckets(&mut self) {
        if !self.draw.chance(25) {
            return;
        }
        let count = self.draw.between(1, 3);
        self.each("bucket", count, |maker, _| maker.bucket());
    }

    fn bucket(&mut self) {
        let mut entry = Table::new();
        entry.insert("link".to_owned(), self.some_port());
        let kind = self.draw.pick(&self.schema.words("BucketEntry", "kind"));
        let percent = self.draw.pick(&[2, 10, 30, 50, 80, 100, 200]);
        let bps =
            u64::try_from(u128::from(self.rate_bps) * percent / 100).expect("below 2^64").max(1);
        let burst = |maker: &mut Self| {
            let packets = maker.draw.pick(&[1, 2, 5, 20]);
            text(format!("{} B", maker.draw.between(1500, 1500 * packets)))
        };
        entry.insert("rate".to_owned(), text(format!("{bps} bps")));
        entry.insert("burst".to_owned(), burst(self));
        if kind == "trtcm" || self.draw.chance(30) {
            let peak = bps.saturating_mul(self.draw.pick(&[1, 2, 5]));
            entry.insert("peak".to_owned(), text(format!("{peak} bps")));
            entry.insert("peak_burst".to_owned(), burst(self));
        }
        let keys: &[&str] = match kind.as_str() {
            "policer" => &["at", "exceeding"],
            "trtcm" => &["at", "colour_aware", "green", "yellow", "red"],
            _ => &[],
        };
        self.maybe(&mut entry, "BucketEntry", 50, keys);
        entry.insert("kind".to_owned(), Value::String(kind));
        self.push("buckets", entry);
    }
}
