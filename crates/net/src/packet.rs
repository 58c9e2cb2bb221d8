//! Packets.

use crate::Label;

/// Index of a flow.
pub type FlowId = u32;

/// Index of a port.
pub type PortId = u32;

/// The time to live that hosts give their packets: IANA's recommendation for IPv4.
pub const INITIAL_TTL: u8 = 64;

/// A data segment or an ACK, moved by value: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Where it stands on its path: the entry that the next node looks up.
    pub label: Label,
    flow: FlowId,
    /// The segment's number, or the number that the ACK carries.
    pub seq: u32,
    /// What TCP's options say: a timestamp, or where the endpoints keep the rest.
    pub options: u32,
    /// Size on the wire in bytes.
    pub size: u16,
    /// How many more routers may forward it, this one included.
    pub ttl: u8,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Data,
    Ack,
    /// An ACK whose options the endpoints keep.
    KeptAck,
}

impl Packet {
    /// A data segment.
    #[must_use]
    pub const fn data(flow: FlowId, label: Label, seq: u32, size: u16, stamp: u32) -> Self {
        Self::new(Kind::Data, flow, label, seq, size, stamp)
    }

    /// An acknowledgment.
    #[must_use]
    pub const fn ack(flow: FlowId, label: Label, seq: u32, size: u16, echo: u32) -> Self {
        Self::new(Kind::Ack, flow, label, seq, size, echo)
    }

    /// An acknowledgment whose options the endpoints keep under the number `place`.
    #[must_use]
    pub const fn ack_kept(flow: FlowId, label: Label, seq: u32, size: u16, place: u32) -> Self {
        Self::new(Kind::KeptAck, flow, label, seq, size, place)
    }

    const fn new(
        kind: Kind,
        flow: FlowId,
        label: Label,
        seq: u32,
        size: u16,
        options: u32,
    ) -> Self {
        Packet { label, flow, seq, options, size, ttl: INITIAL_TTL, kind }
    }

    /// A router is to forward it: takes one from its time to live, and says whether any is left
    /// (RFC 1812 section 5.3.1).
    pub fn pass_router(&mut self) -> bool {
        self.ttl = self.ttl.saturating_sub(1);
        self.ttl > 0
    }

    /// Where the endpoints keep its options, if they do.
    #[must_use]
    pub const fn kept(self) -> Option<u32> {
        if let Kind::KeptAck = self.kind { Some(self.options) } else { None }
    }

    /// The same packet under another label.
    #[must_use]
    pub const fn under(self, label: Label) -> Self {
        Packet { label, ..self }
    }

    /// The flow it belongs to.
    #[must_use]
    pub const fn flow(self) -> FlowId {
        self.flow
    }

    /// Whether it is an acknowledgment.
    #[must_use]
    pub const fn is_ack(self) -> bool {
        !matches!(self.kind, Kind::Data)
    }

    /// Flow and kind in one number, for digests.
    #[must_use]
    pub const fn flow_and_kind(self) -> u32 {
        let kind = match self.kind {
            Kind::Data => 0,
            Kind::Ack => 1 << 31,
            Kind::KeptAck => 3 << 30,
        };
        self.flow | kind
    }
}
