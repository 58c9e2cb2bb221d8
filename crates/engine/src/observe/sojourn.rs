//! How long packets waited in queues.
//!
//! # Models
//! The time from a packet's arrival in a queue until its first bit is sent: what CoDel holds near its target.
//! # Source
//! RFC 8289 section 3.1.
//! # Limits
//! Packets that are lost in the queue, and those that wait when the run ends, are not in it.

use optcp_des::Key;
use optcp_units::Time;

use super::column::{Findings, Names, Values, column};
use super::intervals::Intervals;
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// The quantiles, with the names of their columns.
const QUANTILES: [(&str, u64); 3] = [("p50_ps", 50), ("p95_ps", 95), ("p99_ps", 99)];

/// Of the packets whose last bit was sent in an interval: how long they had waited, row after row.
#[derive(Clone, Debug)]
pub(super) struct Sojourn {
    table: Intervals,
    packets: Vec<u64>,
    /// In picoseconds.
    sums: Vec<u128>,
    longest: Vec<u64>,
    quantiles: [Vec<u64>; QUANTILES.len()],
    /// By row, where the interval stands in which its port sent last, and how long each packet of it had waited.
    now: Vec<(usize, Vec<u64>)>,
}

impl Sojourn {
    fn over(table: Intervals) -> Self {
        Sojourn {
            packets: table.filled(0),
            sums: table.filled(0),
            longest: table.filled(0),
            quantiles: QUANTILES.map(|_| table.filled(0)),
            now: vec![(0, Vec::new()); table.height()],
            table,
        }
    }

    /// A packet of an interval had waited so long; a port sends in the order of time.
    fn add(&mut self, row: usize, place: usize, waited: u64) {
        if self.now[row].0 != place {
            self.settle(row);
            self.now[row].0 = place;
        }
        self.now[row].1.push(waited);
    }

    /// An interval of a row is complete.
    fn settle(&mut self, row: usize) {
        let (place, waits) = &mut self.now[row];
        let Some(last) = waits.len().checked_sub(1) else { return };
        waits.sort_unstable();
        self.packets[*place] = waits.len() as u64;
        self.sums[*place] = waits.iter().map(|&wait| u128::from(wait)).sum();
        self.longest[*place] = waits[last];
        for (values, (_, percent)) in self.quantiles.iter_mut().zip(QUANTILES) {
            values[*place] = quantile(waits, percent);
        }
        waits.clear();
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean of very many picoseconds")]
    fn means(&self) -> Vec<f64> {
        let mean = |(&sum, &packets): (&u128, &u64)| match packets {
            0 => 0.0,
            packets => sum as f64 / packets as f64,
        };
        self.sums.iter().zip(&self.packets).map(mean).collect()
    }
}

/// The least of sorted values that so many percent do not exceed (type 1 of Hyndman and Fan, 1996): a value that was
/// there, in whole picoseconds.
fn quantile(sorted: &[u64], percent: u64) -> u64 {
    let place = (sorted.len() as u128 * u128::from(percent)).div_ceil(100);
    sorted[usize::try_from(place).map_or(0, |place| place.saturating_sub(1))]
}

impl Observed for Sojourn {
    const KEYS: Keys = Keys { links: Some(Links::Queues), interval: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Transmitted];

    fn new(watched: &Watched<'_>) -> Self {
        Sojourn::over(Intervals::of_ports(watched))
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Transmitted { port, waited, .. } = *record
            && let Some(row) = self.table.row(port.number())
        {
            self.add(row as usize, self.table.place(row, event.time()), waited.as_ps());
        }
    }

    fn finish(&mut self, _: Time) {
        (0..self.now.len()).for_each(|row| self.settle(row));
    }

    fn findings(&self) -> Findings {
        let whole = |name, values: &Vec<u64>| column(name, Values::U64(values.clone()));
        let quantiles = QUANTILES.iter().zip(&self.quantiles);
        Findings {
            names: vec![("ports", Names::ChosenPorts)],
            columns: [
                whole("packets", &self.packets),
                column("mean_ps", Values::F64(self.means())),
            ]
            .into_iter()
            .chain(quantiles.map(|((name, _), values)| whole(name, values)))
            .chain([whole("longest_ps", &self.longest)])
            .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;

    #[test]
    fn quantiles_are_values_that_were_there() {
        let ms = |m: u64| Time::ZERO + Duration::from_ms(m);
        let table = Intervals::new(vec![None, Some(0)], 1, Duration::from_ms(10), ms(25));
        let place = |at| table.place(0, at);
        let (first, last) = (place(ms(10)), place(ms(25)));
        let mut sojourn = Sojourn::over(table);
        // 1 to 40 in another order: 20 of them are at most 20, 38 at most 38, 39.6 of them means 40.
        (1..=40).rev().for_each(|wait| sojourn.add(0, first, wait));
        sojourn.add(0, last, 7);
        sojourn.finish(ms(25));
        assert_eq!(sojourn.packets, [40, 0, 1]);
        assert_eq!(sojourn.means(), [20.5, 0.0, 7.0]);
        assert_eq!(sojourn.quantiles, [[20, 0, 7], [38, 0, 7], [40, 0, 7]].map(Vec::from));
        assert_eq!(sojourn.longest, [40, 0, 7]);
    }
}
