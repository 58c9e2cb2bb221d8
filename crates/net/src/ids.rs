//! Numbers by which parts of the network name each other.

/// Index of a flow.
pub type FlowId = u32;

/// Index of a port.
pub type PortId = u32;

/// Index of a bundle: one direction of parallel links between two nodes.
pub type BundleId = u32;

/// Index into the [`LabelTable`](crate::LabelTable): what a packet carries, and what the next node looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);
