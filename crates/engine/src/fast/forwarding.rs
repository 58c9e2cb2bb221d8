//! Current forwarding by label: the output port of a packet and whether it may continue immediately behind it.

use optcp_net::{Label, LabelTable, Packet, PortId};

/// Whether a packet continues immediately behind a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// The packet waits for its event.
    Wait,
    /// The packet continues.
    Go,
    /// The packet is delivered there; the endpoint decides.
    Deliver,
}

/// Number of the logical process in which packets wait (`super::windows`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LpId(u8);

impl LpId {
    /// Maximum number of logical processes.
    pub(super) const MAX: usize = 63;
    /// Placeholder: the process must be looked up per packet, for example by its endpoint.
    pub(super) const LOOK_UP: LpId = LpId(63);
    /// Placeholder for no process.
    pub(super) const NONE: LpId = LpId(u8::MAX);
    /// The only process of a run without windows.
    pub(super) const ALL: LpId = LpId(0);

    pub(super) fn of(number: usize) -> Self {
        assert!(number < Self::MAX, "at most `LpId::MAX` logical processes");
        LpId(u8::try_from(number).expect("a small number"))
    }

    #[inline(always)]
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Forwarding entry of a label: output port and next label, unless the port is [`Entry::DELIVER`], [`Entry::BUNDLE`],
/// [`Entry::ECMP`] or [`Entry::SPECIAL`].
///
/// It has eight bytes because the labels of a thousand paths would otherwise exceed a first-level cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Port (low bits) and logical process in which a packet waits under the next label (high bits).
    place: u32,
    /// Next label, bundle hop or ECMP set (low bits); whether the node decrements the time to live, and [`Ahead`] (high
    /// bits).
    onward: u32,
}

/// Exclusive upper bound of port numbers.
const PORT: u32 = 1 << 26;
const LP_SHIFT: u32 = 26;
/// Exclusive upper bound of labels and bundle hops.
const HOP: u32 = 1 << 29;
const AHEAD_SHIFT: u32 = 30;

impl Entry {
    /// Delivery to the local endpoint.
    pub(super) const DELIVER: PortId = PortId::new(PORT - 1);
    /// One of the ports of a bundle.
    pub(super) const BUNDLE: PortId = PortId::new(PORT - 2);
    /// One of several labels at the same node, by the hash of the flow (ECMP).
    pub(super) const ECMP: PortId = PortId::new(PORT - 3);
    /// Selector or bridge.
    pub(super) const SPECIAL: PortId = PortId::new(PORT - 4);

    /// Sets the logical process in which packets wait under the next label.
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

    /// Creates an entry that is handled elsewhere: an endpoint, selector or bridge.
    pub(super) fn end(port: PortId) -> Self {
        Self::new(port, 0, 0, Ahead::Wait)
    }

    #[inline(always)]
    pub(super) fn port(self) -> PortId {
        PortId::new(self.place & (PORT - 1))
    }

    /// Returns whether the entry has an output port.
    #[inline(always)]
    pub(super) fn is_port(self) -> bool {
        self.port() < Entry::SPECIAL
    }

    /// Returns the logical process in which a packet waits under the next label; [`LpId::ALL`] without windows.
    #[inline(always)]
    pub(super) fn lp(self) -> LpId {
        LpId((self.place >> LP_SHIFT) as u8)
    }

    /// Returns the number of the label behind the port, or of the bundle hop.
    #[inline(always)]
    pub(super) fn next(self) -> u32 {
        self.onward & (HOP - 1)
    }

    /// Returns the decrement of the time to live for a packet that arrived over a link.
    #[inline(always)]
    pub(super) fn hops(self) -> u8 {
        u8::from(self.onward & HOP != 0)
    }

    /// Returns whether a packet continues immediately under the next label.
    #[inline(always)]
    pub(super) fn ahead(self) -> Ahead {
        match self.onward >> AHEAD_SHIFT {
            0 => Ahead::Wait,
            1 => Ahead::Go,
            _ => Ahead::Deliver,
        }
    }
}

/// Current entries of all labels.
#[derive(Clone, Debug, Default)]
pub(super) struct Forwarding {
    entries: Vec<Entry>,
    /// Whether packets of a label may be forwarded early, by label.
    eager: Vec<bool>,
    /// Whether the receiver (or sink) and the sender may take packets early, by flow and source.
    delivery: Vec<[bool; 2]>,
}

impl Forwarding {
    pub(super) fn new(entries: Vec<Entry>, eager: Vec<bool>, delivery: Vec<[bool; 2]>) -> Self {
        Forwarding { entries, eager, delivery }
    }

    #[inline(always)]
    pub(super) fn at(&self, label: Label) -> Entry {
        self.entries[label.0 as usize]
    }

    /// Returns whether a packet may be delivered early.
    #[inline(always)]
    pub(super) fn delivers(&self, packet: Packet) -> bool {
        self.delivery[packet.flow().index()][usize::from(packet.is_ack())]
    }

    /// Sets the logical process in which packets of each label wait. [`LpId::NONE`] marks labels whose packets are
    /// lost; any process may handle these.
    pub(super) fn set_processes(&mut self, labels: &LabelTable, lp_of: impl Fn(Label) -> LpId) {
        for (number, entry) in (0..).zip(&mut self.entries) {
            let next = match entry.port() {
                Entry::BUNDLE => labels.bundle_hop(entry.next()).next,
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

    /// Makes all packets wait in one event queue again.
    ///
    /// The label table is not used: after a branch it may have fewer bundle hops than the entries.
    pub(super) fn clear_processes(&mut self) {
        for entry in &mut self.entries {
            if entry.port() == Entry::BUNDLE || entry.is_port() {
                entry.wait_in(LpId::ALL);
            }
        }
    }

    /// Returns whether an end of a flow or source may take packets early.
    pub(super) fn delivers_to(&self, flow: usize, receives: bool) -> bool {
        self.delivery[flow][usize::from(!receives)]
    }

    /// Returns whether packets of a label continue early behind the port over which they arrive.
    pub(super) fn is_eager(&self, label: Label) -> bool {
        self.eager[label.0 as usize]
    }

    /// Returns whether a packet that an entry forwards may continue early under its next label.
    #[inline(always)]
    pub(super) fn continues_early(&self, entry: Entry, packet: Packet) -> bool {
        // Compared as numbers, because the compiler matches a decoded `Ahead` twice.
        let ahead = entry.onward >> AHEAD_SHIFT;
        ahead == Ahead::Go as u32 || (ahead == Ahead::Deliver as u32 && self.delivers(packet))
    }

    /// Returns whether a packet behind a port may continue early.
    pub(super) fn ahead(&self, packet: Packet) -> bool {
        match self.at(packet.label).port() {
            Entry::DELIVER => self.delivers(packet),
            _ => self.eager[packet.label.0 as usize],
        }
    }
}
