//! Datagrams by group and interval.

use optcp_des::Key;

use super::column::{Column, Findings, Names, Values, column};
use super::intervals::Intervals;
use super::observed::{Groups, Keys, Observed, Watched};
use super::record::{Record, RecordKind};

/// Datagram counts of each interval (i T, (i + 1) T], by the time of the event. All vectors are stored row by row.
#[derive(Clone, Debug)]
pub(super) struct Datagrams {
    table: Intervals,
    /// Packets sent by sources.
    sent: Vec<u64>,
    /// Bytes sent, on the wire.
    sent_bytes: Vec<u64>,
    /// Packets received by sinks, each counted once.
    arrived: Vec<u64>,
    /// Bytes received, on the wire.
    arrived_bytes: Vec<u64>,
    /// Lost packets, each counted once.
    lost: Vec<u64>,
    /// Sum of the one-way delays of received packets, in picoseconds.
    delay_ps: Vec<u64>,
    /// Maximum one-way delay, in picoseconds.
    longest_ps: Vec<u64>,
}

impl Observed for Datagrams {
    const KEYS: Keys = Keys { groups: Some(Groups::Datagrams), interval: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] =
        &[RecordKind::DatagramSent, RecordKind::DatagramArrived, RecordKind::Lost];

    fn new(watched: &Watched<'_>) -> Self {
        let table = Intervals::of_groups(watched);
        let zeros = || table.filled(0);
        Datagrams {
            sent: zeros(),
            sent_bytes: zeros(),
            arrived: zeros(),
            arrived_bytes: zeros(),
            lost: zeros(),
            delay_ps: zeros(),
            longest_ps: zeros(),
            table,
        }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let (table, at) = (&self.table, event.time());
        match *record {
            Record::DatagramSent { flow, size, .. } => {
                table.add(&mut self.sent, at, flow.number(), 1);
                table.add(&mut self.sent_bytes, at, flow.number(), u64::from(size));
            }
            Record::DatagramArrived { flow, size, delay, second: false, .. } => {
                let Some(row) = table.row(flow.number()) else { return };
                table.add(&mut self.arrived, at, flow.number(), 1);
                table.add(&mut self.arrived_bytes, at, flow.number(), u64::from(size));
                table.add(&mut self.delay_ps, at, flow.number(), delay.as_ps());
                let longest = &mut self.longest_ps[table.place(row, at)];
                *longest = (*longest).max(delay.as_ps());
            }
            Record::Lost { flow, .. } => table.add(&mut self.lost, at, flow.number(), 1),
            _ => {}
        }
    }

    fn findings(&self) -> Findings {
        let whole = |name, sums: &Vec<u64>| -> Column { column(name, Values::U64(sums.clone())) };
        Findings {
            names: vec![("groups", Names::ChosenGroups)],
            columns: vec![
                whole("sent_packets", &self.sent),
                whole("sent_bytes", &self.sent_bytes),
                whole("arrived_packets", &self.arrived),
                whole("arrived_bytes", &self.arrived_bytes),
                whole("lost_packets", &self.lost),
                whole("delay_sum_ps", &self.delay_ps),
                whole("longest_delay_ps", &self.longest_ps),
            ],
        }
    }
}
