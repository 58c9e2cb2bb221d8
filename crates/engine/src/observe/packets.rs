//! Packet events, one row per event.

use std::ops::Range;

use optcp_des::Key;
use optcp_net::{Colour, DropReason, FlowId, Packet, PortId};
use optcp_tcp::SackBlocks;
use optcp_units::{Marking, Time};

use super::column::{Findings, Names, bools, column, index, times, u8s, u32s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// Event of a packet.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum PacketEvent {
    /// A sender sent a new segment, or a source a datagram.
    Sent = 0,
    /// A sender retransmitted a segment.
    Resent = 1,
    /// A segment arrived at its receiver, or a datagram at its sink.
    Arrived = 2,
    /// An ACK arrived at its sender.
    Acked = 3,
    /// A port accepted the packet.
    Queued = 4,
    /// A port finished the transmission.
    Transmitted = 5,
    /// The packet was dropped.
    Dropped = 6,
    /// A queue marked the packet.
    Marked = 7,
    /// A queue cut the segment to its header.
    Trimmed = 8,
    /// The header of a trimmed segment arrived at its receiver.
    ArrivedTrimmed = 9,
}

impl PacketEvent {
    /// Names in results, by number.
    const NAMES: [&'static str; 10] = [
        "sent",
        "resent",
        "arrived",
        "acked",
        "queued",
        "transmitted",
        "dropped",
        "marked",
        "trimmed",
        "arrived-trimmed",
    ];
}

/// One event.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: Time,
    event: PacketEvent,
    flow: FlowId,
    /// Whether the packet is an ACK.
    ack: bool,
    /// Segment number or ACK number.
    seq: u32,
    /// Size on the wire in bytes.
    size: u16,
    /// Port; `None` for events at endpoints.
    port: Option<PortId>,
    /// Reason of a drop.
    reason: Option<DropReason>,
    /// Index of the SACK blocks in [`Packets::sacks`].
    sack: Option<u32>,
    /// ECN bits of the headers; for packets marked at a port, the bits before.
    marking: Marking,
    colour: Colour,
    /// Data number of a segment sent on a subflow, from 1; zero for other rows.
    data: u32,
}

/// Events of chosen flows: at their endpoints, all drops, and the events of chosen ports.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    flows: Vec<bool>,
    /// Whether queueing and transmission are listed, by port.
    ports: Vec<bool>,
    /// Observation period.
    window: Range<Time>,
    rows: Listed<Row>,
    /// SACK blocks, stored separately because few rows have any.
    sacks: Vec<SackBlocks>,
}

impl Observed for Packets {
    const KEYS: Keys = Keys {
        groups: Some(Groups::Both),
        links: Some(Links::Named),
        after: true,
        until: true,
        ..Keys::NONE
    };
    const TAKES: &'static [RecordKind] = &[
        RecordKind::Sent,
        RecordKind::Acknowledged,
        RecordKind::Arrived,
        RecordKind::DatagramSent,
        RecordKind::DatagramArrived,
        RecordKind::Accepted,
        RecordKind::Transmitted,
        RecordKind::Dropped,
        RecordKind::Marked,
        RecordKind::Trimmed,
        RecordKind::ArrivedTrimmed,
    ];

    fn new(watched: &Watched<'_>) -> Self {
        let ports = watched.rows_of_ports().iter().map(Option::is_some).collect();
        let until = watched.until.map_or(Time::MAX, |until| Time::ZERO + until);
        let window = Time::ZERO + watched.after..until;
        let (rows, sacks) = (Listed::default(), Vec::new());
        Packets { flows: watched.flows(), ports, window, rows, sacks }
    }

    fn record(&mut self, key: Key, record: &Record) {
        let at = key.time();
        if !self.window.contains(&at) {
            return;
        }
        let endpoint = |event, flow, ack, seq, size, marking| Row {
            at,
            event,
            flow,
            ack,
            seq,
            size,
            port: None,
            reason: None,
            sack: None,
            marking,
            colour: Colour::Green,
            data: 0,
        };
        let at_port = |event, port, packet: Packet| Row {
            port: Some(port),
            colour: packet.colour(),
            ..endpoint(
                event,
                packet.flow(),
                packet.is_ack(),
                packet.seq,
                packet.size(),
                packet.marking(),
            )
        };
        let row = match *record {
            Record::Sent { flow, seq, again, size, marking, data } => {
                let event = if again { PacketEvent::Resent } else { PacketEvent::Sent };
                Row { data, ..endpoint(event, flow, false, seq, size, marking) }
            }
            Record::DatagramSent { flow, seq, size, marking } => {
                endpoint(PacketEvent::Sent, flow, false, seq, size, marking)
            }
            Record::Arrived { flow, seq, size, marking, .. }
            | Record::DatagramArrived { flow, seq, size, marking, .. } => {
                endpoint(PacketEvent::Arrived, flow, false, seq, size, marking)
            }
            Record::Acknowledged { flow, seq, size, sack, marking } if self.lists(flow) => {
                let sack = sack.map(|blocks| self.keep(blocks));
                Row { sack, ..endpoint(PacketEvent::Acked, flow, true, seq, size, marking) }
            }
            Record::Dropped { port, packet, reason } => {
                Row { reason: Some(reason), ..at_port(PacketEvent::Dropped, port, packet) }
            }
            Record::Marked { port, packet } => at_port(PacketEvent::Marked, port, packet),
            Record::Trimmed { port, packet } => at_port(PacketEvent::Trimmed, port, packet),
            Record::ArrivedTrimmed { flow, seq, size, marking } => {
                endpoint(PacketEvent::ArrivedTrimmed, flow, false, seq, size, marking)
            }
            Record::Accepted { port, packet } if self.ports[port.index()] => {
                at_port(PacketEvent::Queued, port, packet)
            }
            Record::Transmitted { port, packet, .. } if self.ports[port.index()] => {
                at_port(PacketEvent::Transmitted, port, packet)
            }
            _ => return,
        };
        if self.lists(row.flow) {
            self.rows.add(key, row);
        }
    }

    fn finish(&mut self, _: Time) {
        self.rows.finish();
        // Engines process flows in different orders. Indices follow the order of the sorted rows.
        let mut in_order = Vec::with_capacity(self.sacks.len());
        self.rows.change(|row| {
            if let Some(place) = &mut row.sack {
                in_order.push(self.sacks[*place as usize]);
                *place = u32::try_from(in_order.len() - 1).expect("as many as before");
            }
        });
        self.sacks = in_order;
    }

    fn findings(&self) -> Findings {
        let rows = self.rows.rows();
        let reason = |row: &Row| row.reason.map_or(u32::MAX, |reason| reason as u32);
        Findings {
            names: vec![
                ("flows", Names::Flows),
                ("ports", Names::Ports),
                ("events", Names::these(&PacketEvent::NAMES)),
                ("reasons", Names::these(&DropReason::ALL.map(DropReason::name))),
                ("sacks", Names::These(self.sacks.iter().map(blocks).collect())),
                (
                    "markings",
                    Names::These(Marking::all().map(|marking| marking.to_string()).collect()),
                ),
            ],
            columns: vec![
                times(rows, |row| row.at),
                index("event", u8s(rows, |row| row.event as u8), "events"),
                index("flow", u32s(rows, |row| row.flow.number()), "flows"),
                column("ack", bools(rows, |row| row.ack)),
                column("seq", u32s(rows, |row| row.seq)),
                index("port", u32s(rows, |row| row.port.map_or(u32::MAX, PortId::number)), "ports"),
                column("bytes", u32s(rows, |row| u32::from(row.size))),
                index("reason", u32s(rows, reason), "reasons"),
                index("sack", u32s(rows, |row| row.sack.unwrap_or(u32::MAX)), "sacks"),
                index("marking", u8s(rows, |row| row.marking.bits()), "markings").later(),
                column("colour", u8s(rows, |row| row.colour as u8)).later(),
                column("data_seq", u32s(rows, |row| row.data)).later(),
            ],
        }
    }
}

impl Packets {
    /// Returns whether packets of a flow are listed. Packets from outside are not: their content is not simulated.
    #[inline]
    fn lists(&self, flow: FlowId) -> bool {
        self.flows.get(flow.index()).copied().unwrap_or(false)
    }

    fn keep(&mut self, blocks: SackBlocks) -> u32 {
        self.sacks.push(blocks);
        u32::try_from(self.sacks.len() - 1).expect("fewer than 2^32 ACKs are listed")
    }
}

/// Formats half-open ranges of segments in the order of the option.
fn blocks(sack: &SackBlocks) -> String {
    let texts =
        sack.as_slice().iter().map(|(from, to)| format!("{}:{}", from.number(), to.number()));
    texts.collect::<Vec<_>>().join(" ")
}
