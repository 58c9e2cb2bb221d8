//! Datagrams, by row and interval.

use optcp_net::Packet;
use optcp_units::{Duration, Time};

use super::IntervalSums;

/// What happened to datagrams in each interval, i being (i T, (i + 1) T], counted at the instant at which
/// it happened.
#[derive(Clone, Debug)]
pub struct Datagrams {
    sums: DatagramSums,
}

/// The sums, row after row.
#[derive(Clone, Debug)]
pub struct DatagramSums {
    /// Packets that sources sent.
    pub sent: IntervalSums,
    /// Their bytes on the wire.
    pub sent_bytes: IntervalSums,
    /// Packets that came to their sinks.
    pub arrived: IntervalSums,
    /// Their bytes on the wire.
    pub arrived_bytes: IntervalSums,
    /// Packets that were lost; with bridges, copies too.
    pub lost: IntervalSums,
    /// How long those that arrived were under way, added up, in picoseconds.
    pub delay_ps: IntervalSums,
    /// The longest of these times.
    pub longest_ps: Vec<u64>,
}

impl Datagrams {
    /// `rows[flow]` is the row, of `height`, that a source counts in, by its number as a flow; `None` for the others.
    #[must_use]
    pub fn new(rows: Vec<Option<u32>>, height: usize, interval: Duration, stop: Time) -> Self {
        let zero = IntervalSums::new(rows, height, interval, stop);
        let longest_ps = vec![0; zero.sums().len()];
        Datagrams {
            sums: DatagramSums {
                sent: zero.clone(),
                sent_bytes: zero.clone(),
                arrived: zero.clone(),
                arrived_bytes: zero.clone(),
                lost: zero.clone(),
                delay_ps: zero,
                longest_ps,
            },
        }
    }

    pub(super) fn sent(&mut self, at: Time, flow: u32, size: u16) {
        self.sums.sent.add(at, flow, 1);
        self.sums.sent_bytes.add(at, flow, u64::from(size));
    }

    pub(super) fn arrived(&mut self, at: Time, flow: u32, size: u16, delay: Duration) {
        let Some(row) = self.sums.arrived.table.row(flow) else { return };
        self.sums.arrived.add(at, flow, 1);
        self.sums.arrived_bytes.add(at, flow, u64::from(size));
        self.sums.delay_ps.add(at, flow, delay.as_ps());
        let longest = &mut self.sums.longest_ps[self.sums.arrived.table.place(row, at)];
        *longest = (*longest).max(delay.as_ps());
    }

    pub(super) fn lost(&mut self, at: Time, packet: Packet) {
        self.sums.lost.add(at, packet.flow(), 1);
    }

    /// The sums.
    #[must_use]
    pub fn sums(&self) -> &DatagramSums {
        &self.sums
    }
}
