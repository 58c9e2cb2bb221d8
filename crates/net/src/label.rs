//! Forwarding by label swapping.

use crate::multipath::key;
use crate::{
    Action, BundleId, FlowId, Label, Multipath, Packet, PortId, Selector, SelectorId, Side,
};

/// What a node does with a packet that arrives under a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Hands it to the endpoint at this node.
    Deliver,
    /// Sends it through a port, under the label that the next node knows.
    Forward {
        /// The port.
        port: PortId,
        /// The label beyond it.
        next: Label,
    },
    /// The same inside a tunnel of the pipe model: the time to live of the packet inside is untouched.
    Tunnel {
        /// The port.
        port: PortId,
        /// The label beyond it.
        next: Label,
    },
    /// Takes it if its side is selected: a [`SelectorInput`] of the table, by number.
    SelectorInput(u32),
    /// Sends it through two ports: a [`Bridge`] of the table, by number.
    Bridge(u32),
    /// Sends it through one port of a bundle: an [`BundleHop`] of the table, by number.
    Bundle(u32),
    /// Handles it as under another label, at the same node: an entry that others share.
    Goto(Label),
    /// Handles it under the label, at the same node, that the hash of its flow chooses: a [`Multipath`] of the table, by
    /// number.
    Ecmp(u32),
    /// Has no route for it: the packet is lost, which is told of this port of the node.
    Discard(PortId),
    /// Behind a queue that is served over one of several ways at a time: the port of each and the label beyond it, by number in
    /// the table. No packet arrives under it; the transmitter that takes one out of the queue looks it up.
    Ways(u32),
}

/// What a non-merging node does with packets of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectorInput {
    /// Which selector decides.
    pub selector: SelectorId,
    /// The side from which packets come to this gate.
    pub side: Side,
    /// The port by which they came.
    pub port: PortId,
    /// The label behind the gate.
    pub next: Label,
}

/// A path comes to a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleHop {
    /// The bundle.
    pub bundle: BundleId,
    /// The number of the subnetwork to which the path leads, from zero.
    pub destination: u32,
    /// The label beyond the bundle, whichever of its links the packet takes.
    pub next: Label,
}

/// Two ways at once, each a port and the label beyond it.
pub type Bridge = [(PortId, Label); 2];

/// One table for the whole network, one entry per (path, node). A protection switch rewrites
/// entries, each at its own instant: constant time, per node and direction by construction, and a
/// path may pass a node twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelTable {
    hops: Vec<Hop>,
    gates: Vec<SelectorInput>,
    bridges: Vec<Bridge>,
    entrances: Vec<BundleHop>,
    multipaths: Vec<Multipath>,
    ways: Vec<Vec<(PortId, Label)>>,
    /// By flow, then by source: what routers hash. None where nothing is spread.
    keys: Vec<u64>,
    selectors: Vec<Selector>,
}

impl LabelTable {
    /// Adds an entry and returns its label.
    ///
    /// # Panics
    /// Beyond 2^32 entries.
    pub fn add(&mut self, hop: Hop) -> Label {
        let label = u32::try_from(self.hops.len()).expect("fewer than 2^32 labels");
        self.hops.push(hop);
        Label(label)
    }

    /// What is done with a packet under `label`.
    #[must_use]
    pub fn hop(&self, label: Label) -> Hop {
        self.hops[label.0 as usize]
    }

    /// Rewrites an entry.
    pub fn set(&mut self, label: Label, hop: Hop) {
        self.hops[label.0 as usize] = hop;
    }

    /// Adds a selector.
    ///
    /// # Panics
    /// Beyond 2^32 selectors.
    pub fn add_selector(&mut self) -> SelectorId {
        self.selectors.push(Selector::default());
        SelectorId::try_from(self.selectors.len() - 1).expect("fewer than 2^32 selectors")
    }

    /// Adds a gate and returns its label.
    ///
    /// # Panics
    /// Beyond 2^32 gates.
    pub fn add_gate(&mut self, gate: SelectorInput) -> Label {
        self.gates.push(gate);
        self.add(Hop::SelectorInput(
            u32::try_from(self.gates.len() - 1).expect("fewer than 2^32 gates"),
        ))
    }

    /// Adds a bridge and returns what an entry does that sends both ways.
    ///
    /// # Panics
    /// Beyond 2^32 bridges.
    pub fn add_bridge(&mut self, bridge: Bridge) -> Hop {
        self.bridges.push(bridge);
        Hop::Bridge(u32::try_from(self.bridges.len() - 1).expect("fewer than 2^32 bridges"))
    }

    /// The two ways of a bridge.
    #[must_use]
    pub fn bridge(&self, number: u32) -> Bridge {
        self.bridges[number as usize]
    }

    /// Adds the entrance of a bundle and returns what an entry does that sends packets into it.
    ///
    /// # Panics
    /// Beyond 2^32 entrances.
    pub fn add_entrance(&mut self, entrance: BundleHop) -> Hop {
        self.entrances.push(entrance);
        let number = u32::try_from(self.entrances.len() - 1);
        Hop::Bundle(number.expect("fewer than 2^32 entrances"))
    }

    /// An entrance.
    #[inline]
    #[must_use]
    pub fn entrance(&self, number: u32) -> BundleHop {
        self.entrances[number as usize]
    }

    /// Adds next hops of equal cost and returns what an entry does that spreads flows over them.
    ///
    /// # Panics
    /// Without next hops, and beyond 2^32 such sets.
    pub fn add_multipath(&mut self, multipath: Multipath) -> Hop {
        assert!(!multipath.next_hops.is_empty(), "a set of next hops has one at least");
        self.multipaths.push(multipath);
        let number = u32::try_from(self.multipaths.len() - 1);
        Hop::Ecmp(number.expect("fewer than 2^32 sets of next hops"))
    }

    /// Adds the ways of a queue, in their order, and returns what the entry behind the queue does.
    ///
    /// # Panics
    /// Beyond 2^32 such entries.
    pub fn add_ways(&mut self, ways: Vec<(PortId, Label)>) -> Hop {
        self.ways.push(ways);
        Hop::Ways(u32::try_from(self.ways.len() - 1).expect("fewer than 2^32 queues' entries"))
    }

    /// The label under which a packet from a queue goes on through the port of a way.
    ///
    /// # Panics
    /// If `label` is not behind a queue with such a way.
    #[inline]
    #[must_use]
    pub fn beyond(&self, label: Label, way: u8) -> Label {
        let Hop::Ways(number) = self.hop(label) else {
            unreachable!("what waits in a queue of several ways is under their label")
        };
        self.ways[number as usize][usize::from(way)].1
    }

    /// Says what routers hash of each flow, then of each source.
    pub fn set_keys(&mut self, keys: Vec<u64>) {
        self.keys = keys;
    }

    /// Whether routers hash the same of all flows here and there.
    #[must_use]
    pub fn same_keys(&self, other: &LabelTable) -> bool {
        self.keys == other.keys
    }

    /// A packet comes to where flows are spread: the label that it is handled under there.
    ///
    /// # Panics
    /// If its flow has no key.
    #[inline]
    #[must_use]
    pub fn spread(&self, number: u32, packet: Packet) -> Label {
        self.spread_by(number, key(self.keys[packet.flow().index()], packet.is_ack()))
    }

    /// What routers hash of a flow's data or of its ACKs; zero where nothing is spread.
    #[must_use]
    pub fn key(&self, flow: FlowId, acks: bool) -> u64 {
        self.keys.get(flow.index()).map_or(0, |&of_flow| key(of_flow, acks))
    }

    /// The label that what has this key is handled under where flows are spread.
    #[inline]
    #[must_use]
    pub fn spread_by(&self, number: u32, key: u64) -> Label {
        self.multipaths[number as usize].choose(key)
    }

    /// A gate.
    #[must_use]
    pub fn gate(&self, number: u32) -> SelectorInput {
        self.gates[number as usize]
    }

    /// The label behind a gate, if a packet that came now would pass; none does.
    #[must_use]
    pub fn may_pass(&self, number: u32) -> Option<Label> {
        let gate = self.gates[number as usize];
        let mut selector = self.selectors[gate.selector as usize];
        selector.admits(gate.side).then_some(gate.next)
    }

    /// A packet comes to a gate: the label behind it.
    ///
    /// # Errors
    /// The port by which it came, if its side is not selected.
    pub fn pass(&mut self, number: u32) -> Result<Label, PortId> {
        let gate = self.gates[number as usize];
        let selected = self.selectors[gate.selector as usize].admits(gate.side);
        if selected { Ok(gate.next) } else { Err(gate.port) }
    }

    /// Carries out an action that concerns labels or selectors; others do nothing here.
    pub fn apply(&mut self, action: Action) {
        match action {
            Action::SetHop(label, hop) => self.set(label, hop),
            Action::Expect(id, side) => self.selectors[id as usize].expect(side),
            Action::Select(id, side) => self.selectors[id as usize].select(side),
            Action::PortDown(_)
            | Action::PortClosed(_)
            | Action::PortUp(_)
            | Action::SetDelay(..)
            | Action::TakeOut(..)
            | Action::PutBack(..) => {}
        }
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hops.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    /// Takes over what the selectors of another table have come to.
    pub fn continue_selectors(&mut self, other: &LabelTable) {
        for (ours, theirs) in self.selectors.iter_mut().zip(&other.selectors) {
            *ours = *theirs;
        }
    }

    /// Whether `label` does the same here and there, its gate or bridge included.
    #[must_use]
    pub fn same_at(&self, other: &LabelTable, label: Label) -> bool {
        let index = label.0 as usize;
        let (Some(&ours), Some(theirs)) = (self.hops.get(index), other.hops.get(index)) else {
            return false;
        };
        ours == *theirs && self.same_behind(other, ours)
    }

    /// Whether what a hop names, a gate, a bridge, an entrance, a set of next hops or of ways, is the same here and there.
    #[must_use]
    pub fn same_behind(&self, other: &LabelTable, hop: Hop) -> bool {
        match hop {
            Hop::Deliver
            | Hop::Forward { .. }
            | Hop::Tunnel { .. }
            | Hop::Goto(_)
            | Hop::Discard(_) => true,
            Hop::SelectorInput(n) => self.gates.get(n as usize) == other.gates.get(n as usize),
            Hop::Bridge(n) => self.bridges.get(n as usize) == other.bridges.get(n as usize),
            Hop::Bundle(n) => self.entrances.get(n as usize) == other.entrances.get(n as usize),
            Hop::Ecmp(n) => self.multipaths.get(n as usize) == other.multipaths.get(n as usize),
            Hop::Ways(n) => self.ways.get(n as usize) == other.ways.get(n as usize),
        }
    }

    /// The ports and labels to which what is done leads; for a bundle the label alone.
    #[must_use]
    pub fn leads_to(&self, hop: Hop) -> Vec<(Option<PortId>, Label)> {
        match hop {
            Hop::Deliver | Hop::Discard(_) => Vec::new(),
            Hop::Forward { port, next } | Hop::Tunnel { port, next } => vec![(Some(port), next)],
            Hop::Goto(label) => vec![(None, label)],
            Hop::SelectorInput(n) => vec![(None, self.gates[n as usize].next)],
            Hop::Bridge(n) => {
                self.bridges[n as usize].iter().map(|&(port, next)| (Some(port), next)).collect()
            }
            Hop::Bundle(n) => vec![(None, self.entrances[n as usize].next)],
            Hop::Ecmp(n) => {
                let next_hops = &self.multipaths[n as usize].next_hops;
                next_hops.iter().map(|&(_, label)| (None, label)).collect()
            }
            Hop::Ways(n) => {
                self.ways[n as usize].iter().map(|&(port, next)| (Some(port), next)).collect()
            }
        }
    }
}
