//! Forwarding by label swapping.

use crate::PortId;

/// Index into the [`LabelTable`]: what a packet carries, and what the next node looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

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
}

/// One table for the whole network, one entry per (path, node). A protection switch rewrites
/// entries, each at its own instant: constant time, per node and direction by construction, and a
/// path may pass a node twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelTable {
    hops: Vec<Hop>,
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
}
