//! Bursts, one row per burst.

use std::collections::BTreeSet;

use optcp_des::Key;
use optcp_net::CLASSES;
use optcp_optical::burst::FlowClasses;
use optcp_units::Time;

use super::column::{Findings, Names, bools, column, index, times, u32s, u64s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// One burst.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Departure time from the assembler.
    at: Time,
    /// Index of the assembler's port among the chosen ones.
    port: u32,
    /// Number of earlier bursts of the assembler, modulo 2^31.
    number: u32,
    /// Number of packets.
    packets: u32,
    /// Sum of the packet sizes.
    bytes: u64,
    /// Whether the burst is lost.
    lost: bool,
    /// Number of data segments of the watched flows.
    segments: u32,
    /// Number of ACKs of the watched flows.
    acks: u32,
}

/// Bursts of chosen assemblers in the order of departure.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    /// Row by port.
    ports: Vec<Option<u32>>,
    /// Whether a flow is watched, by flow.
    flows: Vec<bool>,
    /// Classes of bursts, by row.
    classes: Vec<FlowClasses>,
    /// Segments and ACKs that the assembler has collected, by row and class.
    collected: Vec<[[u32; 2]; CLASSES]>,
    rows: Listed<Row>,
    /// Bursts lost after their departure: row of the port, and burst number.
    lost: BTreeSet<(u32, u32)>,
}

impl Observed for Bursts {
    const KEYS: Keys =
        Keys { groups: Some(Groups::Flows), links: Some(Links::Bursts), ..Keys::NONE };
    const TAKES: &'static [RecordKind] =
        &[RecordKind::Accepted, RecordKind::BurstSent, RecordKind::BurstLost];

    fn new(watched: &Watched<'_>) -> Self {
        Bursts {
            ports: watched.rows_of_ports(),
            flows: watched.flows(),
            classes: watched.burst_classes(),
            collected: vec![[[0; 2]; CLASSES]; watched.ports.len()],
            rows: Listed::default(),
            lost: BTreeSet::new(),
        }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let (Record::Accepted { port, .. }
        | Record::BurstSent { port, .. }
        | Record::BurstLost { port, .. }) = *record
        else {
            return;
        };
        let Some(port) = self.ports[port.index()] else { return };
        match *record {
            Record::Accepted { packet, .. } if self.flows[packet.flow().index()] => {
                let class = usize::from(self.classes[port as usize].of(packet.flow()));
                self.collected[port as usize][class][usize::from(packet.is_ack())] += 1;
            }
            Record::BurstSent { number, class, packets, bytes, lost, .. } => {
                let collected = &mut self.collected[port as usize][usize::from(class)];
                let [segments, acks] = std::mem::take(collected);
                let at = event.time();
                let row = Row { at, port, number, packets, bytes, lost, segments, acks };
                self.rows.add(event, row);
            }
            Record::BurstLost { number, .. } => {
                self.lost.insert((port, number));
            }
            _ => {}
        }
    }

    fn finish(&mut self, _: Time) {
        let lost = &self.lost;
        self.rows.finish();
        self.rows.change(|row| row.lost |= lost.contains(&(row.port, row.number)));
    }

    fn findings(&self) -> Findings {
        let rows = self.rows.rows();
        Findings {
            names: vec![("ports", Names::ChosenLinks)],
            columns: vec![
                times(rows, |row| row.at),
                index("port", u32s(rows, |row| row.port), "ports"),
                column("packets", u32s(rows, |row| row.packets)),
                column("bytes", u64s(rows, |row| row.bytes)),
                column("segments", u32s(rows, |row| row.segments)),
                column("acks", u32s(rows, |row| row.acks)),
                column("lost", bools(rows, |row| row.lost)),
            ],
        }
    }
}
