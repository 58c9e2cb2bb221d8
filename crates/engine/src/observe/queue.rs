//! Queue length over time.

use optcp_des::Key;
use optcp_net::PortId;
use optcp_units::Time;

use super::column::{Findings, Names, Values, column};
use super::intervals::Intervals;
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// Time-weighted mean and maximum queue length per interval, in packets, including the one in transmission.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    table: Intervals,
    /// Packets times picoseconds.
    areas: Vec<u128>,
    maximum: Vec<u32>,
    /// Current length of each port, and the time until which its area has been added.
    now: Vec<(u32, Time)>,
}

impl Queue {
    fn over(table: Intervals) -> Self {
        let now = vec![(0, Time::ZERO); table.entities()];
        Queue { maximum: table.filled(0), areas: table.filled(0), table, now }
    }

    fn change(&mut self, at: Time, port: PortId, length: u32) {
        let Some(row) = self.table.row(port.number()) else { return };
        self.settle(at, port, row);
        self.now[port.index()].0 = length;
        let maximum = &mut self.maximum[self.table.place(row, at)];
        *maximum = (*maximum).max(length);
    }

    /// Adds the area since the last change, interval by interval.
    fn settle(&mut self, at: Time, port: PortId, row: u32) {
        let (length, from) = self.now[port.index()];
        self.table.spread(row, (from, at), |place, span| {
            self.areas[place] += u128::from(length) * u128::from(span.as_ps());
            self.maximum[place] = self.maximum[place].max(length);
        });
        self.now[port.index()].1 = at;
    }

    /// Returns the mean lengths, row by row.
    fn means(&self) -> Vec<f64> {
        let lengths = self.table.lengths_ps().cycle();
        self.areas.iter().zip(lengths).map(|(&area, ps)| area as f64 / ps as f64).collect()
    }
}

impl Observed for Queue {
    const KEYS: Keys = Keys { links: Some(Links::Queues), interval: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::QueueLength];

    fn new(watched: &Watched<'_>) -> Self {
        Queue::over(Intervals::of_ports(watched))
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::QueueLength { port, packets } = *record {
            self.change(event.time(), port, packets);
        }
    }

    fn finish(&mut self, at: Time) {
        for port in PortId::all().take(self.table.entities()) {
            if let Some(row) = self.table.row(port.number()) {
                self.settle(at, port, row);
            }
        }
    }

    fn findings(&self) -> Findings {
        Findings {
            names: vec![("ports", Names::ChosenLinks)],
            columns: vec![
                column("mean_packets", Values::F64(self.means())),
                column("max_packets", Values::U32(self.maximum.clone())),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;

    #[test]
    fn lengths_are_weighted_by_time_across_intervals() {
        let ms = |m: u64| Time::ZERO + Duration::from_ms(m);
        let table = Intervals::new(vec![None, Some(0)], 1, Duration::from_ms(10), ms(25));
        let mut queue = Queue::over(table);
        queue.change(ms(5), PortId::new(1), 4);
        queue.change(ms(5), PortId::new(0), 9);
        queue.change(ms(12), PortId::new(1), 6);
        queue.change(ms(15), PortId::new(1), 0);
        queue.change(ms(22), PortId::new(1), 5);
        queue.finish(ms(25));
        // 4 for 5 ms; 4 for 2 ms and 6 for 3 ms; 5 for 3 ms of the remaining 5 ms.
        assert_eq!(queue.means(), [2.0, 2.6, 3.0]);
        assert_eq!(queue.maximum, [4, 6, 5]);
    }
}
