//! Packet events, one by one.

use optcp_des::Key;
use optcp_net::{DropReason, Packet, PortId};
use optcp_tcp::SackBlocks;
use optcp_units::Time;

use super::Record;
use super::listed::Listed;

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketEvent {
    /// A sender sent a segment for the first time, or a source a datagram.
    Sent = 0,
    /// A sender sent a segment again.
    Resent = 1,
    /// A segment came to its receiver, or a datagram to its sink.
    Arrived = 2,
    /// An ACK came to its sender.
    Acked = 3,
    /// A port took it.
    Queued = 4,
    /// A port sent its last bit.
    Transmitted = 5,
    /// It was lost.
    Dropped = 6,
}

impl PacketEvent {
    /// Names in results, in the order of their numbers.
    pub const NAMES: [&'static str; 7] =
        ["sent", "resent", "arrived", "acked", "queued", "transmitted", "dropped"];
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRow {
    /// When.
    pub at: Time,
    /// What.
    pub event: PacketEvent,
    /// Of which flow.
    pub flow: u32,
    /// Whether it concerns an ACK.
    pub ack: bool,
    /// The segment, or the number that the ACK carries.
    pub seq: u32,
    /// Its size on the wire in bytes.
    pub size: u16,
    /// At which port; `None` for events at endpoints.
    pub port: Option<PortId>,
    /// Why it was lost, if it was.
    pub reason: Option<DropReason>,
    /// What SACK reports in it, as a place in [`Packets::sacks`].
    pub sack: Option<u32>,
}

/// Events of chosen flows: at their endpoints, every loss, and what chosen ports do.
#[derive(Clone, Debug)]
pub struct Packets {
    flows: Vec<bool>,
    ports: Vec<bool>,
    rows: Listed<PacketRow>,
    /// Apart from the rows: few of them have any.
    sacks: Vec<SackBlocks>,
}

impl Packets {
    /// Watches the flows that are marked; queueing and transmission at the ports that are marked.
    #[must_use]
    pub fn new(flows: Vec<bool>, ports: Vec<bool>) -> Self {
        Packets { flows, ports, rows: Listed::default(), sacks: Vec::new() }
    }

    /// Whether queueing and transmission at a port are listed.
    pub(super) fn watches(&self, port: PortId) -> bool {
        self.ports[port as usize]
    }

    pub(super) fn add(&mut self, key: Key, record: Record) {
        let at = key.time();
        let endpoint = |event, flow, ack, seq, size| PacketRow {
            at,
            event,
            flow,
            ack,
            seq,
            size,
            port: None,
            reason: None,
            sack: None,
        };
        let at_port = |event, port, packet: Packet| PacketRow {
            port: Some(port),
            ..endpoint(event, packet.flow(), packet.is_ack(), packet.seq, packet.size())
        };
        let row = match record {
            Record::Sent { flow, seq, again: false, size } => {
                endpoint(PacketEvent::Sent, flow, false, seq, size)
            }
            Record::Sent { flow, seq, again: true, size } => {
                endpoint(PacketEvent::Resent, flow, false, seq, size)
            }
            Record::DatagramSent { flow, seq, size } => {
                endpoint(PacketEvent::Sent, flow, false, seq, size)
            }
            Record::Arrived { flow, seq, size }
            | Record::DatagramArrived { flow, seq, size, .. } => {
                endpoint(PacketEvent::Arrived, flow, false, seq, size)
            }
            Record::Acknowledged { flow, seq, size, sack } if self.flows[flow as usize] => {
                let sack = sack.map(|blocks| self.keep(blocks));
                PacketRow { sack, ..endpoint(PacketEvent::Acked, flow, true, seq, size) }
            }
            Record::Dropped { port, packet, reason } => {
                PacketRow { reason: Some(reason), ..at_port(PacketEvent::Dropped, port, packet) }
            }
            Record::Accepted { port, packet } if self.ports[port as usize] => {
                at_port(PacketEvent::Queued, port, packet)
            }
            Record::Transmitted { port, packet } if self.ports[port as usize] => {
                at_port(PacketEvent::Transmitted, port, packet)
            }
            Record::Accepted { .. }
            | Record::Transmitted { .. }
            | Record::Acknowledged { .. }
            | Record::QueueLength { .. }
            | Record::Progress { .. }
            | Record::Updated { .. }
            | Record::BurstSent { .. }
            | Record::BurstLost { .. }
            | Record::FibreAsked { .. } => return,
        };
        if self.flows[row.flow as usize] {
            self.rows.add(key, row);
        }
    }

    fn keep(&mut self, blocks: SackBlocks) -> u32 {
        self.sacks.push(blocks);
        u32::try_from(self.sacks.len() - 1).expect("fewer than 2^32 ACKs are listed")
    }

    /// What SACK reports in the rows that say so.
    #[must_use]
    pub fn sacks(&self) -> &[SackBlocks] {
        &self.sacks
    }

    /// The run has ended.
    pub(super) fn finish(&mut self) {
        self.rows.finish();
        // Kernels come to different flows in different orders: places are those in the order of the rows.
        let mut in_order = Vec::with_capacity(self.sacks.len());
        self.rows.change(|row| {
            if let Some(place) = &mut row.sack {
                in_order.push(self.sacks[*place as usize]);
                *place = u32::try_from(in_order.len() - 1).expect("as many as before");
            }
        });
        self.sacks = in_order;
    }

    /// Rows in order of time, once the run has ended.
    #[must_use]
    pub fn rows(&self) -> &[PacketRow] {
        self.rows.rows()
    }
}
