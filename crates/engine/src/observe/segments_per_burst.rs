//! Histogram of the segments per burst.

use optcp_des::Key;

use super::column::{Findings, Names, column, index, u32s, u64s};
use super::observed::{Groups, Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// Number of bursts of chosen assemblers by number of data segments of chosen flows.
#[derive(Clone, Debug)]
pub(super) struct SegmentsPerBurst {
    /// Row by port.
    ports: Vec<Option<u32>>,
    /// Whether segments of a flow count, by flow.
    flows: Vec<bool>,
    /// Histogram by row.
    counted: Vec<Counted>,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    gathered: usize,
    /// Number of bursts by number of segments.
    bursts: Vec<u64>,
}

impl Observed for SegmentsPerBurst {
    const KEYS: Keys =
        Keys { groups: Some(Groups::Flows), links: Some(Links::Bursts), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Accepted, RecordKind::BurstSent];

    fn new(watched: &Watched<'_>) -> Self {
        SegmentsPerBurst {
            ports: watched.rows_of_ports(),
            flows: watched.flows(),
            counted: vec![Counted::default(); watched.ports.len()],
        }
    }

    #[inline]
    fn record(&mut self, _: Key, record: &Record) {
        let (Record::Accepted { port, .. } | Record::BurstSent { port, .. }) = *record else {
            return;
        };
        let Some(row) = self.ports[port.index()] else { return };
        let counted = &mut self.counted[row as usize];
        match *record {
            Record::Accepted { packet, .. } => {
                if self.flows[packet.flow().index()] && !packet.is_ack() {
                    counted.gathered += 1;
                }
            }
            _ => counted.leave(),
        }
    }

    fn findings(&self) -> Findings {
        let of_port = |(port, counted): (u32, &Counted)| {
            let bursts: Vec<(u32, u64)> = (0..).zip(counted.bursts.iter().copied()).collect();
            let some = bursts.into_iter().filter(|&(_, count)| count > 0);
            some.map(move |(segments, count)| (port, segments, count))
        };
        let rows: Vec<(u32, u32, u64)> = (0..).zip(&self.counted).flat_map(of_port).collect();
        Findings {
            names: vec![("ports", Names::ChosenPorts)],
            columns: vec![
                index("port", u32s(&rows, |row| row.0), "ports"),
                column("segments", u32s(&rows, |row| row.1)),
                column("bursts", u64s(&rows, |row| row.2)),
            ],
        }
    }
}

impl Counted {
    /// Counts a burst with the segments collected so far.
    fn leave(&mut self) {
        let segments = std::mem::take(&mut self.gathered);
        if self.bursts.len() <= segments {
            self.bursts.resize(segments + 1, 0);
        }
        self.bursts[segments] += 1;
    }
}
