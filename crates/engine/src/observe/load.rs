//! Transmitted bytes by port and interval, counted at the end of each transmission.

use optcp_des::Key;

use super::column::{Findings, Names, Values, column};
use super::intervals::Intervals;
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// Bytes, row by row.
#[derive(Clone, Debug)]
pub(super) struct Load {
    table: Intervals,
    bytes: Vec<u64>,
}

impl Observed for Load {
    const KEYS: Keys = Keys { links: Some(Links::Queues), interval: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Transmitted];

    fn new(watched: &Watched<'_>) -> Self {
        let table = Intervals::of_ports(watched);
        Load { bytes: table.filled(0), table }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Transmitted { port, packet, .. } = *record {
            self.table.add(&mut self.bytes, event.time(), port.number(), u64::from(packet.size()));
        }
    }

    fn findings(&self) -> Findings {
        Findings {
            names: vec![("ports", Names::ChosenLinks)],
            columns: vec![column("bytes", Values::U64(self.bytes.clone()))],
        }
    }
}
