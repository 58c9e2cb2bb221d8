//! Packets.

use optcp_units::Marking;

use crate::{Colour, FlowId, Label};

/// Initial time to live of packets: IANA's recommendation for IPv4.
pub const INITIAL_TTL: u8 = 64;

/// Size on the wire of a trimmed segment in bytes: the smallest Ethernet frame, as in NDP.
pub const TRIMMED_SIZE: u16 = 64;

/// Bits of the flow in a packet. Two bits of colour and eight of the flow label follow.
const FLOW_BITS: u32 = 22;
/// Bits before the flow label.
const LABEL_SHIFT: u32 = 24;
/// Maximum number of flows and sources.
pub const MOST_FLOWS: u32 = 1 << FLOW_BITS;

/// Data segment, ACK or datagram, moved by value: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Position on the path: the entry that the next node looks up.
    pub label: Label,
    /// Flow (low bits), then colour, then flow label (high bits).
    flow: u32,
    /// Segment number, datagram number or acknowledgement number.
    pub seq: u32,
    /// Options: a timestamp, or the number under which endpoints store the rest. For a copy, the number of the copied
    /// packet.
    pub options: u32,
    header: Header,
}

/// Size, time to live, kind, ECN bits and copy flag in one word, because nodes read and change them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(u32);

const TTL_SHIFT: u32 = 16;
const KIND_SHIFT: u32 = 24;
const MARKING_SHIFT: u32 = 26;
const MARKING_MASK: u32 = 31 << MARKING_SHIFT;
const COPY: u32 = 1 << 31;
const ONE_ROUTER: u32 = 1 << TTL_SHIFT;

#[expect(clippy::cast_possible_truncation, reason = "fields are extracted from the word")]
impl Header {
    const fn new(kind: Kind, size: u16) -> Self {
        let ttl = (INITIAL_TTL as u32) << TTL_SHIFT;
        Header(size as u32 | ttl | (kind.0 as u32) << KIND_SHIFT)
    }

    /// Returns the size on the wire in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn size(self) -> u16 {
        self.0 as u16
    }

    /// Returns how many more routers may forward the packet, including this one.
    #[inline(always)]
    #[must_use]
    pub const fn ttl(self) -> u8 {
        (self.0 >> TTL_SHIFT) as u8
    }

    #[inline(always)]
    const fn kind(self) -> Kind {
        Kind((self.0 >> KIND_SHIFT) as u8 & 3)
    }

    #[inline(always)]
    const fn marking(self) -> Marking {
        Marking::from_bits((self.0 >> MARKING_SHIFT) as u8)
    }

    #[inline(always)]
    const fn with(self, marking: Marking) -> Self {
        Header(self.0 & !MARKING_MASK | (marking.bits() as u32) << MARKING_SHIFT)
    }

    /// Returns the header behind `routers` routers, 0 or 1 (RFC 1812 section 5.3.1). The packet is lost if no time to
    /// live is left.
    #[inline(always)]
    #[must_use]
    pub const fn behind(self, routers: u8) -> Self {
        debug_assert!(self.ttl() > 0);
        Header(self.0 - routers as u32 * ONE_ROUTER)
    }

    /// Returns the header of a trimmed segment.
    const fn trimmed(self) -> Self {
        Header(self.0 & !0xffff | TRIMMED_SIZE as u32)
    }

    /// Returns the header before `routers` routers.
    #[inline(always)]
    #[must_use]
    pub const fn before(self, routers: u8) -> Self {
        Header(self.0 + routers as u32 * ONE_ROUTER)
    }
}

/// Kind of a packet. An enum would reserve invalid values whose checks cost more than moving the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind(u8);

impl Kind {
    const DATA: Kind = Kind(0);
    /// Datagram. Endpoints store all of its content except the number.
    const DATAGRAM: Kind = Kind(1);
    const ACK: Kind = Kind(2);
    /// ACK whose options are stored at the endpoints.
    const KEPT_ACK: Kind = Kind(3);
    /// Bit of the kinds with stored data.
    const KEPT: u8 = 1;
}

impl Packet {
    /// Creates a data segment.
    #[inline]
    #[must_use]
    pub const fn data(flow: FlowId, label: Label, seq: u32, size: u16, stamp: u32) -> Self {
        Self::new(Kind::DATA, flow, label, seq, size, stamp)
    }

    /// Creates an acknowledgement.
    #[inline]
    #[must_use]
    pub const fn ack(flow: FlowId, label: Label, seq: u32, size: u16, echo: u32) -> Self {
        Self::new(Kind::ACK, flow, label, seq, size, echo)
    }

    /// Creates an acknowledgement whose options are stored at the endpoints under the number `place`.
    #[inline]
    #[must_use]
    pub const fn ack_stored(flow: FlowId, label: Label, seq: u32, size: u16, place: u32) -> Self {
        Self::new(Kind::KEPT_ACK, flow, label, seq, size, place)
    }

    /// Creates a datagram whose content is stored at the endpoints under the number `place`.
    #[inline]
    #[must_use]
    pub const fn datagram(flow: FlowId, label: Label, seq: u32, size: u16, place: u32) -> Self {
        Self::new(Kind::DATAGRAM, flow, label, seq, size, place)
    }

    const fn new(
        kind: Kind,
        flow: FlowId,
        label: Label,
        seq: u32,
        size: u16,
        options: u32,
    ) -> Self {
        debug_assert!(flow.number() < MOST_FLOWS);
        Packet { label, flow: flow.number(), seq, options, header: Header::new(kind, size) }
    }

    /// Returns the packet with this flow label, which ECMP hashes.
    #[inline]
    #[must_use]
    pub const fn labelled(self, label: u8) -> Self {
        Packet { flow: (self.flow % (1 << LABEL_SHIFT)) | ((label as u32) << LABEL_SHIFT), ..self }
    }

    /// Returns the flow label.
    #[inline]
    #[must_use]
    pub const fn flow_label(self) -> u8 {
        (self.flow >> LABEL_SHIFT) as u8
    }

    /// Decrements the time to live at a router. Returns whether any is left (RFC 1812 section 5.3.1).
    pub fn pass_router(&mut self) -> bool {
        self.header = self.header.behind(1);
        self.ttl() > 0
    }

    /// Returns the header.
    #[inline(always)]
    #[must_use]
    pub const fn header(self) -> Header {
        self.header
    }

    /// Returns the size on the wire in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn size(self) -> u16 {
        self.header.size()
    }

    /// Returns how many more routers may forward the packet, including this one.
    #[inline(always)]
    #[must_use]
    pub const fn ttl(self) -> u8 {
        self.header.ttl()
    }

    /// Returns the ECN bits.
    #[inline]
    #[must_use]
    pub const fn marking(self) -> Marking {
        self.header.marking()
    }

    /// Returns the packet with these ECN bits.
    #[inline]
    #[must_use]
    pub const fn saying(self, marking: Marking) -> Self {
        Packet { header: self.header.with(marking), ..self }
    }

    /// Returns the segment cut to its header.
    #[must_use]
    pub const fn trimmed(self) -> Self {
        Packet { header: self.header.trimmed(), ..self }
    }

    /// Returns the packet with TCP's ECE flag set, unless it is a datagram.
    #[inline]
    #[must_use]
    pub const fn with_ece(self) -> Self {
        if self.header.kind().0 == Kind::DATAGRAM.0 {
            return self;
        }
        self.saying(self.marking().with_flag(Marking::ECE))
    }

    /// Returns the number of the copied packet if this is a copy that a bridge made.
    #[inline(always)]
    #[must_use]
    pub const fn copy_of(self) -> Option<u32> {
        if self.header.0 & COPY != 0 { Some(self.options) } else { None }
    }

    /// Returns a copy of the packet with this number.
    #[inline]
    #[must_use]
    pub const fn as_copy_of(self, number: u32) -> Self {
        Packet { options: number, header: Header(self.header.0 | COPY), ..self }
    }

    /// Returns the packet of which this is a copy, with its original options.
    #[inline]
    #[must_use]
    pub const fn without_copies(self, options: u32) -> Self {
        Packet { options, header: Header(self.header.0 & !COPY), ..self }
    }

    /// Returns the number under which endpoints store its options or content, if they do. Not valid for copies.
    #[inline]
    #[must_use]
    pub const fn stored_number(self) -> Option<u32> {
        if self.header.kind().0 & Kind::KEPT != 0 { Some(self.options) } else { None }
    }

    /// Returns the packet with another label.
    #[inline]
    #[must_use]
    pub const fn under(self, label: Label) -> Self {
        Packet { label, ..self }
    }

    /// Returns the packet with another label and header.
    #[inline]
    #[must_use]
    pub const fn onward(self, label: Label, header: Header) -> Self {
        Packet { label, header, ..self }
    }

    /// Returns the flow.
    #[inline]
    #[must_use]
    pub const fn flow(self) -> FlowId {
        FlowId::new(self.flow % MOST_FLOWS)
    }

    /// Returns the colour.
    #[inline]
    #[must_use]
    pub const fn colour(self) -> Colour {
        Colour::from_number((self.flow >> FLOW_BITS) % (1 << (LABEL_SHIFT - FLOW_BITS)))
    }

    /// Returns the packet with another colour.
    #[inline]
    #[must_use]
    pub const fn coloured(self, colour: Colour) -> Self {
        let others = self.flow & !(((1 << (LABEL_SHIFT - FLOW_BITS)) - 1) << FLOW_BITS);
        Packet { flow: others | (colour as u32) << FLOW_BITS, ..self }
    }

    /// Returns whether the packet is an acknowledgement.
    #[inline]
    #[must_use]
    pub const fn is_ack(self) -> bool {
        self.header.kind().0 & Kind::ACK.0 != 0
    }

    /// Returns flow, kind, ECN bits, colour and flow label in one number, for digests.
    #[inline]
    #[must_use]
    pub const fn fingerprint(self) -> u64 {
        let kind = (self.header.kind().0 as u32) << 30;
        let above = self.marking().bits() as u64 | (self.colour() as u64) << 5;
        let label = (self.flow_label() as u64) << 40;
        (self.flow().number() | kind) as u64 | above << 32 | label
    }
}
