//! Packets.

use crate::Label;

/// Index of a flow.
pub type FlowId = u32;

/// Index of a port.
pub type PortId = u32;

/// A data segment or an ACK, moved by value: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Where it stands on its path: the entry that the next node looks up.
    pub label: Label,
    /// The flow, with the top bit set for an ACK.
    flow_and_kind: u32,
    /// The segment's number, or the number that the ACK carries.
    pub seq: u32,
    /// Size on the wire in bytes.
    pub size: u32,
    /// What TCP's options say: a timestamp, or where the endpoints keep the rest.
    pub options: u32,
}

const ACK_BIT: u32 = 1 << 31;
const KEPT_BIT: u32 = 1 << 30;

impl Packet {
    /// A data segment.
    #[must_use]
    pub const fn data(flow: FlowId, label: Label, seq: u32, size: u32, stamp: u32) -> Self {
        Packet { label, flow_and_kind: flow, seq, size, options: stamp }
    }

    /// An acknowledgment.
    #[must_use]
    pub const fn ack(flow: FlowId, label: Label, seq: u32, size: u32, echo: u32) -> Self {
        Packet { label, flow_and_kind: flow | ACK_BIT, seq, size, options: echo }
    }

    /// An acknowledgment whose options the endpoints keep under the number `place`.
    #[must_use]
    pub const fn ack_kept(flow: FlowId, label: Label, seq: u32, size: u32, place: u32) -> Self {
        Packet { label, flow_and_kind: flow | ACK_BIT | KEPT_BIT, seq, size, options: place }
    }

    /// Where the endpoints keep its options, if they do.
    #[must_use]
    pub const fn kept(self) -> Option<u32> {
        if self.flow_and_kind & KEPT_BIT == 0 { None } else { Some(self.options) }
    }

    /// The flow it belongs to.
    #[must_use]
    pub const fn flow(self) -> FlowId {
        self.flow_and_kind & !(ACK_BIT | KEPT_BIT)
    }

    /// Whether it is an acknowledgment.
    #[must_use]
    pub const fn is_ack(self) -> bool {
        self.flow_and_kind & ACK_BIT != 0
    }

    /// Flow and kind in one number, for digests.
    #[must_use]
    pub const fn flow_and_kind(self) -> u32 {
        self.flow_and_kind
    }
}
