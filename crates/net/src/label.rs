//! Forwarding by label swapping.

use crate::multipath::{key, labelled};
use crate::{
    Action, BundleId, FlowId, Label, Multipath, Packet, PortId, Selector, SelectorId, Side,
};

/// Forwarding action of a node for a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Delivers the packet to the local endpoint.
    Deliver,
    /// Sends the packet through a port under the label of the next node.
    Forward {
        /// Output port.
        port: PortId,
        /// Label behind the port.
        next: Label,
    },
    /// Forwards inside a tunnel of the pipe model: the packet's time to live stays unchanged.
    Tunnel {
        /// Output port.
        port: PortId,
        /// Label behind the port.
        next: Label,
    },
    /// Passes the packet if its side is selected: number of a [`SelectorInput`].
    SelectorInput(u32),
    /// Sends the packet through two ports: number of a [`Bridge`].
    Bridge(u32),
    /// Sends the packet over one link of a bundle: number of a [`BundleHop`].
    Bundle(u32),
    /// Continues with another label at the same node, whose entry is shared.
    Goto(Label),
    /// Continues with one of several labels at the same node, chosen by the hash of the flow: number of a
    /// [`Multipath`].
    Ecmp(u32),
    /// Drops the packet, because there is no route. The drop is attributed to this port.
    Discard(PortId),
    /// Entry behind a queue that one of several paths serves: number of a list of ports and labels. No packet arrives
    /// under it; the transmitter looks it up when it takes a packet out of the queue.
    Ways(u32),
}

/// Forwarding entry of a non-merging node for packets of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectorInput {
    /// Selector that decides.
    pub selector: SelectorId,
    /// Side from which packets arrive at this input.
    pub side: Side,
    /// Port over which they arrive.
    pub port: PortId,
    /// Label behind the selector.
    pub next: Label,
}

/// Forwarding entry of a path that continues over a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleHop {
    /// Bundle.
    pub bundle: BundleId,
    /// Zero-based number of the subnetwork to which the path leads.
    pub destination: u32,
    /// Label behind the bundle, equal for all of its links.
    pub next: Label,
}

/// Ports and next labels of the two copies of a packet.
pub type Bridge = [(PortId, Label); 2];

/// Label table of the whole network with one entry per (path, node).
///
/// A protection switchover rewrites entries, each at its own time: one entry per node and direction, in constant time.
/// A path may visit a node twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelTable {
    hops: Vec<Hop>,
    selector_inputs: Vec<SelectorInput>,
    bridges: Vec<Bridge>,
    bundle_hops: Vec<BundleHop>,
    multipaths: Vec<Multipath>,
    ways: Vec<Vec<(PortId, Label)>>,
    /// Hash keys by flow, then by source; empty without ECMP.
    keys: Vec<u64>,
    selectors: Vec<Selector>,
}

impl LabelTable {
    /// Adds an entry and returns its label.
    ///
    /// # Panics
    /// Panics beyond 2^32 entries.
    pub fn add(&mut self, hop: Hop) -> Label {
        let label = u32::try_from(self.hops.len()).expect("fewer than 2^32 labels");
        self.hops.push(hop);
        Label(label)
    }

    /// Returns the forwarding action of `label`.
    #[must_use]
    pub fn hop(&self, label: Label) -> Hop {
        self.hops[label.0 as usize]
    }

    /// Replaces the forwarding action of `label`.
    pub fn set(&mut self, label: Label, hop: Hop) {
        self.hops[label.0 as usize] = hop;
    }

    /// Adds a selector.
    ///
    /// # Panics
    /// Panics beyond 2^32 selectors.
    pub fn add_selector(&mut self) -> SelectorId {
        self.selectors.push(Selector::default());
        SelectorId::try_from(self.selectors.len() - 1).expect("fewer than 2^32 selectors")
    }

    /// Lets a selector pass packets of both paths.
    pub fn merge(&mut self, selector: SelectorId) {
        self.selectors[selector as usize].merge();
    }

    /// Adds a selector input and returns its label.
    ///
    /// # Panics
    /// Panics beyond 2^32 inputs.
    pub fn add_selector_input(&mut self, input: SelectorInput) -> Label {
        self.selector_inputs.push(input);
        self.add(Hop::SelectorInput(
            u32::try_from(self.selector_inputs.len() - 1).expect("fewer than 2^32 selector inputs"),
        ))
    }

    /// Adds a bridge and returns the forwarding action for it.
    ///
    /// # Panics
    /// Panics beyond 2^32 bridges.
    pub fn add_bridge(&mut self, bridge: Bridge) -> Hop {
        self.bridges.push(bridge);
        Hop::Bridge(u32::try_from(self.bridges.len() - 1).expect("fewer than 2^32 bridges"))
    }

    /// Returns a bridge.
    #[must_use]
    pub fn bridge(&self, number: u32) -> Bridge {
        self.bridges[number as usize]
    }

    /// Adds a bundle hop and returns the forwarding action for it.
    ///
    /// # Panics
    /// Panics beyond 2^32 bundle hops.
    pub fn add_bundle_hop(&mut self, bundle_hop: BundleHop) -> Hop {
        self.bundle_hops.push(bundle_hop);
        let number = u32::try_from(self.bundle_hops.len() - 1);
        Hop::Bundle(number.expect("fewer than 2^32 bundle hops"))
    }

    /// Returns a bundle hop.
    #[inline]
    #[must_use]
    pub fn bundle_hop(&self, number: u32) -> BundleHop {
        self.bundle_hops[number as usize]
    }

    /// Adds a set of equal-cost next hops and returns the forwarding action for it.
    ///
    /// # Panics
    /// Panics if the set is empty, and beyond 2^32 sets.
    pub fn add_multipath(&mut self, multipath: Multipath) -> Hop {
        assert!(!multipath.next_hops.is_empty(), "a set has at least one next hop");
        self.multipaths.push(multipath);
        let number = u32::try_from(self.multipaths.len() - 1);
        Hop::Ecmp(number.expect("fewer than 2^32 sets of next hops"))
    }

    /// Adds the paths of a queue in order and returns the forwarding action of the entry behind the queue.
    ///
    /// # Panics
    /// Panics beyond 2^32 such entries.
    pub fn add_ways(&mut self, ways: Vec<(PortId, Label)>) -> Hop {
        self.ways.push(ways);
        Hop::Ways(
            u32::try_from(self.ways.len() - 1).expect("fewer than 2^32 entries behind queues"),
        )
    }

    /// Returns the label of a packet from a queue behind the first port of a path.
    ///
    /// # Panics
    /// Panics if `label` is not behind a queue with such a path.
    #[inline]
    #[must_use]
    pub fn beyond(&self, label: Label, way: u8) -> Label {
        let Hop::Ways(number) = self.hop(label) else {
            unreachable!("packets in a queue with several paths have a label of the queue")
        };
        self.ways[number as usize][usize::from(way)].1
    }

    /// Sets the hash keys of all flows, then of all sources.
    pub fn set_keys(&mut self, keys: Vec<u64>) {
        self.keys = keys;
    }

    /// Gives the next source the hash key of a flow's data or ACKs, if there are keys.
    pub fn add_key_of(&mut self, flow: FlowId, acks: bool) {
        if self.has_keys() {
            self.keys.push(self.key(flow, acks));
        }
    }

    /// Returns whether both tables have the same hash keys.
    #[must_use]
    pub fn same_keys(&self, other: &LabelTable) -> bool {
        self.keys == other.keys
    }

    /// Returns the label that ECMP assigns to a packet.
    ///
    /// # Panics
    /// Panics if the flow has no key.
    #[inline]
    #[must_use]
    pub fn ecmp(&self, number: u32, packet: Packet) -> Label {
        let of_flow = self.keys[packet.flow().index()];
        self.ecmp_by_key(number, labelled(key(of_flow, packet.is_ack()), packet.flow_label()))
    }

    /// Returns whether ECMP hashes flows.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Returns the hash key of a flow's data or ACKs with the flow label 0; zero without ECMP.
    #[must_use]
    pub fn key(&self, flow: FlowId, acks: bool) -> u64 {
        self.keys.get(flow.index()).map_or(0, |&of_flow| key(of_flow, acks))
    }

    /// Returns the label that ECMP assigns to a hash key.
    #[inline]
    #[must_use]
    pub fn ecmp_by_key(&self, number: u32, key: u64) -> Label {
        self.multipaths[number as usize].choose(key)
    }

    /// Returns a selector input.
    #[must_use]
    pub fn selector_input(&self, number: u32) -> SelectorInput {
        self.selector_inputs[number as usize]
    }

    /// Returns the label behind a selector input if a packet that arrives now would pass.
    #[must_use]
    pub fn may_pass(&self, number: u32) -> Option<Label> {
        let input = self.selector_inputs[number as usize];
        let mut selector = self.selectors[input.selector as usize];
        selector.accepts(input.side).then_some(input.next)
    }

    /// Passes a packet through a selector input and returns the label behind it.
    ///
    /// # Errors
    /// Returns the input port if this side is not selected.
    pub fn pass(&mut self, number: u32) -> Result<Label, PortId> {
        let input = self.selector_inputs[number as usize];
        let selected = self.selectors[input.selector as usize].accepts(input.side);
        if selected { Ok(input.next) } else { Err(input.port) }
    }

    /// Carries out an action on labels or selectors; ignores all others.
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
            | Action::PutBack(..)
            | Action::FibreDown(..)
            | Action::FibreUp(_) => {}
        }
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hops.len()
    }

    /// Returns whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    /// Copies the states of another table's selectors.
    pub fn continue_selectors(&mut self, other: &LabelTable) {
        for (ours, theirs) in self.selectors.iter_mut().zip(&other.selectors) {
            *ours = *theirs;
        }
    }

    /// Returns whether `label` has the same effect in both tables, including the data that its entry refers to.
    #[must_use]
    pub fn equals_at(&self, other: &LabelTable, label: Label) -> bool {
        let index = label.0 as usize;
        let (Some(&ours), Some(theirs)) = (self.hops.get(index), other.hops.get(index)) else {
            return false;
        };
        ours == *theirs && self.refers_to_equal(other, ours)
    }

    /// Returns whether the data that a forwarding action refers to is equal in both tables.
    #[must_use]
    pub fn refers_to_equal(&self, other: &LabelTable, hop: Hop) -> bool {
        match hop {
            Hop::Deliver
            | Hop::Forward { .. }
            | Hop::Tunnel { .. }
            | Hop::Goto(_)
            | Hop::Discard(_) => true,
            Hop::SelectorInput(n) => {
                self.selector_inputs.get(n as usize) == other.selector_inputs.get(n as usize)
            }
            Hop::Bridge(n) => self.bridges.get(n as usize) == other.bridges.get(n as usize),
            Hop::Bundle(n) => self.bundle_hops.get(n as usize) == other.bundle_hops.get(n as usize),
            Hop::Ecmp(n) => self.multipaths.get(n as usize) == other.multipaths.get(n as usize),
            Hop::Ways(n) => self.ways.get(n as usize) == other.ways.get(n as usize),
        }
    }

    /// Returns the ports and labels to which an action leads; for a bundle only the label.
    #[must_use]
    pub fn leads_to(&self, hop: Hop) -> Vec<(Option<PortId>, Label)> {
        match hop {
            Hop::Deliver | Hop::Discard(_) => Vec::new(),
            Hop::Forward { port, next } | Hop::Tunnel { port, next } => vec![(Some(port), next)],
            Hop::Goto(label) => vec![(None, label)],
            Hop::SelectorInput(n) => vec![(None, self.selector_inputs[n as usize].next)],
            Hop::Bridge(n) => {
                self.bridges[n as usize].iter().map(|&(port, next)| (Some(port), next)).collect()
            }
            Hop::Bundle(n) => vec![(None, self.bundle_hops[n as usize].next)],
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
