//! Bursts and their losses by port and class.

use std::collections::BTreeMap;

use optcp_des::Key;
use optcp_net::DropReason;

use super::column::{Findings, Names, column, index, u8s, u32s, u64s};
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// Counters of the bursts of chosen assemblers by class.
#[derive(Clone, Debug)]
pub(super) struct BurstClasses {
    /// Row by port.
    ports: Vec<Option<u32>>,
    /// Counters by row of the port and class.
    counts: BTreeMap<(u32, u8), Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    bursts: u64,
    bytes: u64,
    /// Lost for any reason.
    lost: u64,
    /// Lost to bursts of higher classes.
    preempted: u64,
}

impl Observed for BurstClasses {
    const KEYS: Keys = Keys { links: Some(Links::Bursts), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::BurstSent, RecordKind::BurstLost];

    fn new(watched: &Watched<'_>) -> Self {
        BurstClasses { ports: watched.rows_of_ports(), counts: BTreeMap::new() }
    }

    #[inline]
    fn record(&mut self, _: Key, record: &Record) {
        let (Record::BurstSent { port, class, .. } | Record::BurstLost { port, class, .. }) =
            *record
        else {
            return;
        };
        let Some(port) = self.ports[port.index()] else { return };
        let counts = self.counts.entry((port, class)).or_default();
        match *record {
            Record::BurstSent { bytes, lost, .. } => {
                counts.bursts += 1;
                counts.bytes += bytes;
                counts.lost += u64::from(lost);
            }
            Record::BurstLost { reason, .. } => {
                counts.lost += 1;
                counts.preempted += u64::from(reason == DropReason::Preempted);
            }
            _ => {}
        }
    }

    fn findings(&self) -> Findings {
        let rows: Vec<(u32, u8, Counts)> =
            self.counts.iter().map(|(&(port, class), &counts)| (port, class, counts)).collect();
        Findings {
            names: vec![("ports", Names::ChosenLinks)],
            columns: vec![
                index("port", u32s(&rows, |row| row.0), "ports"),
                column("class", u8s(&rows, |row| row.1)),
                column("bursts", u64s(&rows, |row| row.2.bursts)),
                column("bytes", u64s(&rows, |row| row.2.bytes)),
                column("lost", u64s(&rows, |row| row.2.lost)),
                column("preempted", u64s(&rows, |row| row.2.preempted)),
            ],
        }
    }
}
