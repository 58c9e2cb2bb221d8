//! Forwarding at present, by label: the port that a packet takes, and whether it may go on behind it at once.

use optcp_net::{Label, LabelTable, Packet, PortId};

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

/// The number of a logical process, in which packets wait (`super::windows`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LpId(u8);

impl LpId {
    /// So many logical processes have a number.
    pub(super) const MOST: usize = 63;
    /// To be looked up for each packet: that of its endpoint, for one.
    pub(super) const LOOK_UP: LpId = LpId(63);
    /// None at all.
    pub(super) const NONE: LpId = LpId(u8::MAX);
    /// The only one, where there are no windows.
    pub(super) const ALL: LpId = LpId(0);

    pub(super) fn of(number: usize) -> Self {
        assert!(number < Self::MOST, "no more logical processes than have numbers");
        LpId(u8::try_from(number).expect("a small number"))
    }

    #[inline(always)]
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What is done with a packet under a label: into a port and under the next label on from there, unless
/// the port is [`Entry::DELIVER`], [`Entry::BUNDLE`], [`Entry::SPREAD`] or [`Entry::SPECIAL`].
///
/// In eight bytes, since the labels of a thousand paths do not stay in a first-level cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The port, and above it the logical process in which a packet waits under the next label.
    place: u32,
    /// The next label, the entrance of a bundle or the set of next hops; above it whether the node takes one from the time to
    /// live, and whether the packet goes on at once.
    onward: u32,
}

/// Ports are below.
const PORT: u32 = 1 << 26;
const LP_SHIFT: u32 = 26;
/// Labels and entrances are below.
const HOP: u32 = 1 << 29;
const AHEAD_SHIFT: u32 = 30;

impl Entry {
    /// The endpoint here takes it.
    pub(super) const DELIVER: PortId = PortId::new(PORT - 1);
    /// A port of a bundle.
    pub(super) const BUNDLE: PortId = PortId::new(PORT - 2);
    /// One of several labels at the same node, by the hash of the flow.
    pub(super) const SPREAD: PortId = PortId::new(PORT - 3);
    /// A gate or a bridge.
    pub(super) const SPECIAL: PortId = PortId::new(PORT - 4);

    /// Makes packets wait in a logical process under the next label.
    fn wait_in(&mut self, lp: LpId) {
        self.place = self.port().number() | u32::from(lp.0) << LP_SHIFT;
    }

    pub(super) fn new(port: PortId, next: u32, hops: u8, ahead: Ahead) -> Self {
        assert!(next < HOP, "fewer than 2^29 labels");
        assert!(port.number() < PORT, "fewer than 2^26 ports");
        Entry {
            place: port.number(),
            onward: next | (u32::from(hops) * HOP) | ((ahead as u32) << AHEAD_SHIFT),
        }
    }

    /// What the endpoint, a gate or a bridge does is not found here.
    pub(super) fn end(port: PortId) -> Self {
        Self::new(port, 0, 0, Ahead::Wait)
    }

    #[inline(always)]
    pub(super) fn port(self) -> PortId {
        PortId::new(self.place & (PORT - 1))
    }

    /// Whether the port is one.
    #[inline(always)]
    pub(super) fn is_port(self) -> bool {
        self.port() < Entry::SPECIAL
    }

    /// The logical process in which a packet waits under the next label; [`LpId::ALL`] without windows.
    #[inline(always)]
    pub(super) fn lp(self) -> LpId {
        LpId((self.place >> LP_SHIFT) as u8)
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

    /// Sets the logical process in which packets wait under each label; [`LpId::NONE`] where they are lost, which may be
    /// anywhere.
    pub(super) fn set_processes(&mut self, labels: &LabelTable, lp_of: impl Fn(Label) -> LpId) {
        for (number, entry) in (0..).zip(&mut self.entries) {
            let next = match entry.port() {
                Entry::BUNDLE => labels.entrance(entry.next()).next,
                _ if entry.is_port() => Label(entry.next()),
                _ => continue,
            };
            let lp = match lp_of(next) {
                LpId::NONE => lp_of(Label(number)),
                lp => lp,
            };
            entry.wait_in(lp);
        }
    }

    /// Makes packets under all labels wait in one event queue again. Asks no table of labels: that of another branch may be in force
    /// already, with fewer entrances.
    pub(super) fn forget_processes(&mut self) {
        for entry in &mut self.entries {
            if entry.port() == Entry::BUNDLE || entry.is_port() {
                entry.wait_in(LpId::ALL);
            }
        }
    }

    /// Whether an end of a flow or source, its receiver or its sender, may take packets early.
    pub(super) fn delivers_to(&self, flow: usize, receives: bool) -> bool {
        self.delivery[flow][usize::from(!receives)]
    }

    /// Whether packets under a label go on early behind the port that brings them.
    pub(super) fn is_eager(&self, label: Label) -> bool {
        self.eager[label.0 as usize]
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
        match self.at(packet.label).port() {
            Entry::DELIVER => self.delivers(packet),
            _ => self.eager[packet.label.0 as usize],
        }
    }
}
