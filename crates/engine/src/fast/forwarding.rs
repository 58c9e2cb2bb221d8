//! Forwarding at present, by label: the port that a packet takes, and whether it may go on behind it at once.

use optcp_net::{Label, Packet, PortId};

/// Whether a packet goes on behind a port at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// No: it waits for its turn.
    Wait,
    /// Yes.
    Go,
    /// It is delivered there: as its endpoint may.
    Deliver,
}

/// What is done with a packet under a label: into a port and under the next label on from there, unless
/// the port is [`Entry::DELIVER`], [`Entry::BUNDLE`], [`Entry::SPREAD`] or [`Entry::SPECIAL`].
///
/// In eight bytes, since the labels of a thousand paths do not stay in a first-level cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) port: PortId,
    /// The next label, the entrance of a bundle or the set of next hops; above it whether the node takes one from the time to
    /// live, and whether the packet goes on at once.
    onward: u32,
}

/// Labels and entrances are below.
const HOP: u32 = 1 << 29;
const AHEAD_SHIFT: u32 = 30;

impl Entry {
    /// The endpoint here takes it.
    pub(super) const DELIVER: PortId = PortId::new(u32::MAX);
    /// A port of a bundle.
    pub(super) const BUNDLE: PortId = PortId::new(u32::MAX - 1);
    /// One of several labels at the same node, by the hash of the flow.
    pub(super) const SPREAD: PortId = PortId::new(u32::MAX - 2);
    /// A gate or a bridge.
    pub(super) const SPECIAL: PortId = PortId::new(u32::MAX - 3);

    pub(super) fn new(port: PortId, next: u32, hops: u8, ahead: Ahead) -> Self {
        assert!(next < HOP, "fewer than 2^29 labels");
        Entry { port, onward: next | (u32::from(hops) * HOP) | ((ahead as u32) << AHEAD_SHIFT) }
    }

    /// What the endpoint, a gate or a bridge does is not found here.
    pub(super) fn end(port: PortId) -> Self {
        Self::new(port, 0, 0, Ahead::Wait)
    }

    /// Whether the port is one.
    #[inline(always)]
    pub(super) fn is_port(self) -> bool {
        self.port < Entry::SPECIAL
    }

    /// The number of the label behind the port, or of the entrance to a bundle.
    #[inline(always)]
    pub(super) fn next(self) -> u32 {
        self.onward & (HOP - 1)
    }

    /// What the node takes from the time to live of a packet that came through a port.
    #[inline(always)]
    pub(super) fn hops(self) -> u8 {
        u8::from(self.onward & HOP != 0)
    }

    #[inline(always)]
    pub(super) fn ahead(self) -> Ahead {
        match self.onward >> AHEAD_SHIFT {
            0 => Ahead::Wait,
            1 => Ahead::Go,
            _ => Ahead::Deliver,
        }
    }
}

/// The entries of all labels at present.
#[derive(Clone, Debug, Default)]
pub(super) struct Forwarding {
    entries: Vec<Entry>,
    /// By label: whether a packet under it may be forwarded early.
    eager: Vec<bool>,
    /// By flow and source: whether its receiver or sink, and its sender, may take packets early.
    delivery: Vec<[bool; 2]>,
}

impl Forwarding {
    pub(super) fn new(entries: Vec<Entry>, eager: Vec<bool>, delivery: Vec<[bool; 2]>) -> Self {
        Forwarding { entries, eager, delivery }
    }

    #[inline]
    pub(super) fn at(&self, label: Label) -> Entry {
        self.entries[label.0 as usize]
    }

    /// Whether a packet that will be delivered may be so early.
    #[inline]
    pub(super) fn delivers(&self, packet: Packet) -> bool {
        self.delivery[packet.flow().index()][usize::from(packet.is_ack())]
    }

    /// Whether a packet that has been forwarded, and is under the next label, may go on early.
    #[inline]
    pub(super) fn goes_on(&self, ahead: Ahead, packet: Packet) -> bool {
        match ahead {
            Ahead::Wait => false,
            Ahead::Go => true,
            Ahead::Deliver => self.delivers(packet),
        }
    }

    /// Whether a packet behind a port may go on early.
    pub(super) fn ahead(&self, packet: Packet) -> bool {
        match self.at(packet.label).port {
            Entry::DELIVER => self.delivers(packet),
            _ => self.eager[packet.label.0 as usize],
        }
    }
}
