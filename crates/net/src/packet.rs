//! Packets.

use optcp_units::Marking;

use crate::{FlowId, Label};

/// The time to live that hosts give their packets: IANA's recommendation for IPv4.
pub const INITIAL_TTL: u8 = 64;

/// A data segment, an ACK or a datagram, moved by value: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Where it stands on its path: the entry that the next node looks up.
    pub label: Label,
    flow: FlowId,
    /// The segment's or the datagram's number, or the number that the ACK carries.
    pub seq: u32,
    /// What TCP's options say: a timestamp, or where the endpoints keep the rest. Of a copy: the number of its packet.
    pub options: u32,
    header: Header,
}

/// The size of a packet, its time to live, its kind, what it says of congestion and whether it is a copy, in one word:
/// what nodes look at and change is moved at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(u32);

const TTL_SHIFT: u32 = 16;
const KIND_SHIFT: u32 = 24;
const MARKING_SHIFT: u32 = 26;
const MARKING_MASK: u32 = 31 << MARKING_SHIFT;
const COPY: u32 = 1 << 31;
const ONE_ROUTER: u32 = 1 << TTL_SHIFT;

#[expect(clippy::cast_possible_truncation, reason = "fields are cut out of the word on purpose")]
impl Header {
    const fn new(kind: Kind, size: u16) -> Self {
        let ttl = (INITIAL_TTL as u32) << TTL_SHIFT;
        Header(size as u32 | ttl | (kind.0 as u32) << KIND_SHIFT)
    }

    /// Size on the wire in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn size(self) -> u16 {
        self.0 as u16
    }

    /// How many more routers may forward the packet, this one included.
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

    /// What it is behind so many routers, none or one (RFC 1812 section 5.3.1). A packet with nothing left of
    /// its time to live is no longer there.
    #[inline(always)]
    #[must_use]
    pub const fn behind(self, routers: u8) -> Self {
        debug_assert!(self.ttl() > 0);
        Header(self.0 - routers as u32 * ONE_ROUTER)
    }

    /// What it is before so many routers.
    #[inline(always)]
    #[must_use]
    pub const fn before(self, routers: u8) -> Self {
        Header(self.0 + routers as u32 * ONE_ROUTER)
    }
}

/// Not an enum: values that it cannot have would stand for what is no packet, and taking that apart
/// costs more than moving the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind(u8);

impl Kind {
    const DATA: Kind = Kind(0);
    /// Of what it says, the endpoints keep all but its number.
    const DATAGRAM: Kind = Kind(1);
    const ACK: Kind = Kind(2);
    /// An ACK whose options the endpoints keep.
    const KEPT_ACK: Kind = Kind(3);
    /// What marks kinds of which the endpoints keep something.
    const KEPT: u8 = 1;
}

impl Packet {
    /// A data segment.
    #[inline]
    #[must_use]
    pub const fn data(flow: FlowId, label: Label, seq: u32, size: u16, stamp: u32) -> Self {
        Self::new(Kind::DATA, flow, label, seq, size, stamp)
    }

    /// An acknowledgment.
    #[inline]
    #[must_use]
    pub const fn ack(flow: FlowId, label: Label, seq: u32, size: u16, echo: u32) -> Self {
        Self::new(Kind::ACK, flow, label, seq, size, echo)
    }

    /// An acknowledgment whose options the endpoints keep under the number `place`.
    #[inline]
    #[must_use]
    pub const fn ack_kept(flow: FlowId, label: Label, seq: u32, size: u16, place: u32) -> Self {
        Self::new(Kind::KEPT_ACK, flow, label, seq, size, place)
    }

    /// A datagram, of which the endpoints keep what it says under the number `place`.
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
        Packet { label, flow, seq, options, header: Header::new(kind, size) }
    }

    /// A router is to forward it: takes one from its time to live, and says whether any is left
    /// (RFC 1812 section 5.3.1).
    pub fn pass_router(&mut self) -> bool {
        self.header = self.header.behind(1);
        self.ttl() > 0
    }

    /// Size, time to live, kind and what it says of congestion.
    #[inline(always)]
    #[must_use]
    pub const fn header(self) -> Header {
        self.header
    }

    /// Size on the wire in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn size(self) -> u16 {
        self.header.size()
    }

    /// How many more routers may forward it, this one included.
    #[inline(always)]
    #[must_use]
    pub const fn ttl(self) -> u8 {
        self.header.ttl()
    }

    /// What it says of congestion.
    #[inline]
    #[must_use]
    pub const fn marking(self) -> Marking {
        self.header.marking()
    }

    /// The same packet, saying this of congestion.
    #[inline]
    #[must_use]
    pub const fn saying(self, marking: Marking) -> Self {
        Packet { header: self.header.with(marking), ..self }
    }

    /// The same packet with TCP's flag ECE set, if it is one of TCP.
    #[inline]
    #[must_use]
    pub const fn with_ece(self) -> Self {
        if self.header.kind().0 == Kind::DATAGRAM.0 {
            return self;
        }
        self.saying(self.marking().with_flag(Marking::ECE))
    }

    /// The number of the packet of which this is a copy, if a bridge has copied it.
    #[inline(always)]
    #[must_use]
    pub const fn copy_of(self) -> Option<u32> {
        if self.header.0 & COPY != 0 { Some(self.options) } else { None }
    }

    /// A copy of the packet with this number.
    #[inline]
    #[must_use]
    pub const fn as_copy_of(self, number: u32) -> Self {
        Packet { options: number, header: Header(self.header.0 | COPY), ..self }
    }

    /// The packet of which this is a copy, with its own options.
    #[inline]
    #[must_use]
    pub const fn without_copies(self, options: u32) -> Self {
        Packet { options, header: Header(self.header.0 & !COPY), ..self }
    }

    /// Where the endpoints keep its options, or what a datagram says, if they do. Not for copies.
    #[inline]
    #[must_use]
    pub const fn kept(self) -> Option<u32> {
        if self.header.kind().0 & Kind::KEPT != 0 { Some(self.options) } else { None }
    }

    /// The same packet under another label.
    #[inline]
    #[must_use]
    pub const fn under(self, label: Label) -> Self {
        Packet { label, ..self }
    }

    /// The same packet under another label and with another header.
    #[inline]
    #[must_use]
    pub const fn onward(self, label: Label, header: Header) -> Self {
        Packet { label, header, ..self }
    }

    /// The flow it belongs to.
    #[inline]
    #[must_use]
    pub const fn flow(self) -> FlowId {
        self.flow
    }

    /// Whether it is an acknowledgment.
    #[inline]
    #[must_use]
    pub const fn is_ack(self) -> bool {
        self.header.kind().0 & Kind::ACK.0 != 0
    }

    /// Flow, kind and what it says of congestion in one number, for digests.
    #[inline]
    #[must_use]
    pub const fn fingerprint(self) -> u64 {
        let kind = (self.header.kind().0 as u32) << 30;
        (self.flow.number() | kind) as u64 | (self.marking().bits() as u64) << 32
    }
}
