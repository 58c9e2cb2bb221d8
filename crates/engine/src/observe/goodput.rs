//! Goodput: new in-order bytes at receivers, by group and interval (the gmpls paper's equation 4).

use optcp_des::Key;
use optcp_units::Time;

use super::column::{Findings, Names, Values, column};
use super::intervals::Intervals;
use super::observed::{Groups, Keys, Observed, Watched};
use super::record::{Record, RecordKind};

/// Bytes, row by row.
#[derive(Clone, Debug)]
pub(super) struct Goodput {
    table: Intervals,
    bytes: Vec<u64>,
    /// Time of the last new bytes, by row.
    last: Vec<Time>,
}

impl Observed for Goodput {
    const KEYS: Keys = Keys { groups: Some(Groups::Flows), interval: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Progress];

    fn new(watched: &Watched<'_>) -> Self {
        let table = Intervals::of_groups(watched);
        let last = vec![Time::ZERO; watched.groups.len()];
        Goodput { bytes: table.filled(0), table, last }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Progress { flow, bytes } = *record {
            self.table.add(&mut self.bytes, event.time(), flow.number(), bytes);
            if let Some(row) = self.table.row(flow.number()) {
                self.last[row as usize] = event.time();
            }
        }
    }

    fn findings(&self) -> Findings {
        Findings {
            names: vec![("groups", Names::ChosenGroups)],
            columns: vec![column("bytes", Values::U64(self.bytes.clone()))],
        }
    }

    fn last_progress(&self) -> &[Time] {
        &self.last
    }
}
