//! Delay statistics by port and interval: count, mean, quantiles and maximum.

use optcp_net::PortId;
use optcp_units::Time;

use super::column::{Findings, Names, Values, column};
use super::intervals::Intervals;

/// Quantiles with their column names.
const QUANTILES: [(&str, u64); 3] = [("p50_ps", 50), ("p95_ps", 95), ("p99_ps", 99)];

/// Delays in picoseconds, row by row.
#[derive(Clone, Debug)]
pub(super) struct Quantiles {
    table: Intervals,
    packets: Vec<u64>,
    sums: Vec<u128>,
    longest: Vec<u64>,
    quantiles: [Vec<u64>; QUANTILES.len()],
    /// Delays of intervals that are still open, by place of the table.
    open: Vec<Vec<u64>>,
    /// Place of the last delay, by row.
    last: Vec<Option<usize>>,
    /// Whether delays of a row arrive in order of time, so that an interval is complete when the next one begins.
    in_order: bool,
}

impl Quantiles {
    /// Creates empty statistics whose delays may arrive in any order.
    pub(super) fn over(table: Intervals) -> Self {
        Quantiles {
            packets: table.filled(0),
            sums: table.filled(0),
            longest: table.filled(0),
            quantiles: QUANTILES.map(|_| table.filled(0)),
            open: table.filled(Vec::new()),
            last: vec![None; table.height()],
            table,
            in_order: false,
        }
    }

    /// Creates empty statistics whose delays arrive in order of time for each port.
    pub(super) fn in_order(table: Intervals) -> Self {
        Quantiles { in_order: true, ..Self::over(table) }
    }

    /// Adds a packet's delay at a time, if the port is chosen.
    #[inline]
    pub(super) fn add(&mut self, port: PortId, now: Time, time: u64) {
        if let Some(row) = self.table.row(port.number()) {
            let place = self.table.place(row, now);
            self.put(row as usize, place, time);
        }
    }

    fn put(&mut self, row: usize, place: usize, time: u64) {
        if self.in_order
            && let Some(before) = self.last[row].replace(place)
            && before != place
        {
            self.settle(before);
        }
        self.open[place].push(time);
    }

    /// Closes an interval of a row.
    fn settle(&mut self, place: usize) {
        let times = &mut self.open[place];
        let Some(last) = times.len().checked_sub(1) else { return };
        times.sort_unstable();
        self.packets[place] = times.len() as u64;
        self.sums[place] = times.iter().map(|&time| u128::from(time)).sum();
        self.longest[place] = times[last];
        for (values, (_, percent)) in self.quantiles.iter_mut().zip(QUANTILES) {
            values[place] = quantile(times, percent);
        }
        *times = Vec::new();
    }

    /// Closes all intervals.
    pub(super) fn finish(&mut self) {
        (0..self.open.len()).for_each(|place| self.settle(place));
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean of very many picoseconds")]
    fn means(&self) -> Vec<f64> {
        let mean = |(&sum, &packets): (&u128, &u64)| match packets {
            0 => 0.0,
            packets => sum as f64 / packets as f64,
        };
        self.sums.iter().zip(&self.packets).map(mean).collect()
    }

    /// Returns the columns.
    pub(super) fn findings(&self) -> Findings {
        let whole = |name, values: &Vec<u64>| column(name, Values::U64(values.clone()));
        let quantiles = QUANTILES.iter().zip(&self.quantiles);
        Findings {
            names: vec![("ports", Names::ChosenLinks)],
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

/// Returns the smallest of the sorted values that is at least as large as `percent` % of them (type 1 of Hyndman and
/// Fan, 1996).
fn quantile(sorted: &[u64], percent: u64) -> u64 {
    let place = (sorted.len() as u128 * u128::from(percent)).div_ceil(100);
    sorted[usize::try_from(place).map_or(0, |place| place.saturating_sub(1))]
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;

    #[test]
    fn quantiles_are_observed_values() {
        let ms = |m: u64| Time::ZERO + Duration::from_ms(m);
        for in_order in [true, false] {
            let table = Intervals::new(vec![None, Some(0)], 1, Duration::from_ms(10), ms(25));
            let mut times = Quantiles { in_order, ..Quantiles::over(table) };
            let port = PortId::new(1);
            // A permutation of 1 to 40: 20 values are at most 20, 38 are at most 38; 39.6 values are rounded up to 40.
            (1..=40).rev().for_each(|time| times.add(port, ms(10), time));
            times.add(port, ms(25), 7);
            times.add(PortId::new(0), ms(25), 9);
            times.finish();
            assert_eq!(times.packets, [40, 0, 1]);
            assert_eq!(times.means(), [20.5, 0.0, 7.0]);
            assert_eq!(times.quantiles, [[20, 0, 7], [38, 0, 7], [40, 0, 7]].map(Vec::from));
            assert_eq!(times.longest, [40, 0, 7]);
        }
    }

    /// Delays of one port do not close an interval of another.
    #[test]
    fn ports_are_independent() {
        let ms = |m: u64| Time::ZERO + Duration::from_ms(m);
        let table = Intervals::new(vec![Some(0), Some(1)], 2, Duration::from_ms(10), ms(20));
        let mut times = Quantiles::in_order(table);
        for (port, time) in [(0, 1), (1, 2), (0, 3)] {
            times.add(PortId::new(port), ms(5), time);
        }
        times.finish();
        assert_eq!(times.packets, [2, 0, 1, 0]);
    }
}
