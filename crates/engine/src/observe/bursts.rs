//! Bursts, one by one.

use std::collections::BTreeSet;

use optcp_des::Key;
use optcp_net::{Packet, PortId};
use optcp_units::Time;

use super::listed::Listed;

/// What left an assembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentBurst {
    /// How many left the assembler before it, modulo 2^31.
    pub number: u32,
    /// The packets in it.
    pub packets: u32,
    /// The sum of their sizes.
    pub bytes: u64,
    /// Whether it is lost on its way.
    pub lost: bool,
}

/// A burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstRow {
    /// When it left its assembler.
    pub at: Time,
    /// The port in whose place the assembler stands.
    pub port: PortId,
    /// What left.
    pub burst: SentBurst,
    /// How many data segments of the watched flows are in it.
    pub segments: u32,
    /// How many of their ACKs.
    pub acks: u32,
}

/// The bursts of chosen assemblers, in the order in which they left.
#[derive(Clone, Debug)]
pub struct Bursts {
    /// By port: segments and ACKs that have been gathered; `None` where nobody looks.
    gathered: Vec<Option<[u32; 2]>>,
    /// By flow: whether its packets count.
    flows: Vec<bool>,
    rows: Listed<BurstRow>,
    /// Bursts that were lost after they had left: port and number.
    lost: BTreeSet<(PortId, u32)>,
}

impl Bursts {
    /// Watches the assemblers in the place of `ports`, and counts packets of `flows` in bursts.
    #[must_use]
    pub fn new(ports: &[bool], flows: Vec<bool>) -> Self {
        let gathered = ports.iter().map(|watched| watched.then_some([0; 2])).collect();
        Bursts { gathered, flows, rows: Listed::default(), lost: BTreeSet::new() }
    }

    pub(super) fn gathered(&mut self, port: PortId, packet: Packet) {
        let Some(counts) = &mut self.gathered[port as usize] else { return };
        if self.flows[packet.flow() as usize] {
            counts[usize::from(packet.is_ack())] += 1;
        }
    }

    pub(super) fn sent(&mut self, event: Key, port: PortId, burst: SentBurst) {
        let Some(counts) = &mut self.gathered[port as usize] else { return };
        let [segments, acks] = std::mem::take(counts);
        self.rows.add(event, BurstRow { at: event.time(), port, burst, segments, acks });
    }

    pub(super) fn lost(&mut self, port: PortId, number: u32) {
        if self.gathered[port as usize].is_some() {
            self.lost.insert((port, number));
        }
    }

    pub(super) fn finish(&mut self) {
        let lost = &self.lost;
        self.rows.change(|row| row.burst.lost |= lost.contains(&(row.port, row.burst.number)));
        self.rows.finish();
    }

    /// The rows, once the run has ended.
    #[must_use]
    pub fn rows(&self) -> &[BurstRow] {
        self.rows.rows()
    }
}
