//! Histogram of the segments per burst.

use optcp_des::Key;
use optcp_net::CLASSES;
use optcp_optical::burst::FlowClasses;

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
    /// Classes of bursts, by row.
    classes: Vec<FlowClasses>,
    /// Histogram by row.
    histograms: Vec<Histogram>,
}

#[derive(Clone, Debug, Default)]
struct Histogram {
    /// Segments that the assembler has collected, by class.
    collected: [usize; CLASSES],
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
            classes: watched.burst_classes(),
            histograms: vec![Histogram::default(); watched.ports.len()],
        }
    }

    #[inline]
    fn record(&mut self, _: Key, record: &Record) {
        let (Record::Accepted { port, .. } | Record::BurstSent { port, .. }) = *record else {
            return;
        };
        let Some(row) = self.ports[port.index()] else { return };
        let histogram = &mut self.histograms[row as usize];
        match *record {
            Record::Accepted { packet, .. }
                if self.flows[packet.flow().index()] && !packet.is_ack() =>
            {
                let class = self.classes[row as usize].of(packet.flow());
                histogram.collected[usize::from(class)] += 1;
            }
            Record::BurstSent { class, .. } => histogram.close_burst(class),
            _ => {}
        }
    }

    fn findings(&self) -> Findings {
        let rows_of_port = |(port, histogram): (u32, &Histogram)| {
            let bursts: Vec<(u32, u64)> = (0..).zip(histogram.bursts.iter().copied()).collect();
            let nonzero = bursts.into_iter().filter(|&(_, count)| count > 0);
            nonzero.map(move |(segments, count)| (port, segments, count))
        };
        let rows: Vec<(u32, u32, u64)> =
            (0..).zip(&self.histograms).flat_map(rows_of_port).collect();
        Findings {
            names: vec![("ports", Names::ChosenLinks)],
            columns: vec![
                index("port", u32s(&rows, |row| row.0), "ports"),
                column("segments", u32s(&rows, |row| row.1)),
                column("bursts", u64s(&rows, |row| row.2)),
            ],
        }
    }
}

impl Histogram {
    /// Counts a burst of a class with its segments collected so far.
    fn close_burst(&mut self, class: u8) {
        let segments = std::mem::take(&mut self.collected[usize::from(class)]);
        if self.bursts.len() <= segments {
            self.bursts.resize(segments + 1, 0);
        }
        self.bursts[segments] += 1;
    }
}
