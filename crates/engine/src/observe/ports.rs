//! Packets accepted, dropped and queued by port and interval, from tallies.

use optcp_net::{PortId, Tally};
use optcp_units::{Duration, Time};

use super::column::Values::{F64, U64};
use super::column::{Findings, Names, column};
use super::observed::{Keys, Links, Observed, Watched};
use super::observer::Counters;
use super::readings::Readings;

/// Tallies of chosen ports at the ends of the intervals [`after` + i T, `after` + (i + 1) T).
#[derive(Clone, Debug)]
pub(super) struct Ports {
    ports: Vec<PortId>,
    readings: Readings<Tally>,
}

impl Observed for Ports {
    const KEYS: Keys =
        Keys { links: Some(Links::Queues), interval: true, after: true, ..Keys::NONE };
    const TALLIES: bool = true;

    fn new(watched: &Watched<'_>) -> Self {
        Ports { ports: watched.ports.to_vec(), readings: Readings::new(watched) }
    }

    fn next_reading(&self) -> Option<Time> {
        self.readings.next()
    }

    fn read(&mut self, counters: &dyn Counters) {
        self.readings.add(counters.port_tallies(&self.ports));
    }

    fn findings(&self) -> Findings {
        let readings = &self.readings;
        let longest = readings.rows(|_, _, _, after| after.longest);
        Findings {
            names: vec![("ports", Names::ChosenLinks)],
            columns: vec![
                column("packets", U64(readings.growth(|tally| tally.packets))),
                column("bytes", U64(readings.growth(|tally| tally.bytes))),
                column("dropped", U64(readings.growth(|tally| tally.dropped))),
                column("dropped_bytes", U64(readings.growth(|tally| tally.dropped_bytes))),
                column("mean_bytes", F64(readings.rows(mean_bytes))),
                column("longest_ps", U64(longest)),
                column("marked", U64(readings.growth(|tally| tally.marked))).later(),
            ],
        }
    }
}

/// Returns the mean queue length of an interval in bytes.
#[expect(clippy::cast_precision_loss, reason = "a mean of very many bytes and picoseconds")]
fn mean_bytes(_: usize, length: Duration, before: &Tally, after: &Tally) -> f64 {
    (after.byte_time - before.byte_time) as f64 / length.as_ps() as f64
}
