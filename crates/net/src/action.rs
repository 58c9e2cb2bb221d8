//! Control actions: changes of the network by failures, protection and scripts, each at an exact time.

use optcp_units::{Duration, Time};

use crate::{BundleId, Hop, Label, PortId, SelectorId, Side};

/// Change of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The port's link fails: packets in the port and on the link are lost, and arriving packets are dropped.
    PortDown(PortId),
    /// The port's link is taken out of service: packets in the port still arrive, and new packets are dropped.
    PortClosed(PortId),
    /// The port's link is repaired.
    PortUp(PortId),
    /// A node changes the forwarding entry of a label.
    SetHop(Label, Hop),
    /// The propagation delay changes for transmissions that begin from now on. Packets may overtake.
    SetDelay(PortId, Duration),
    /// A non-merging node selects this side with the next packet from it.
    Expect(SelectorId, Side),
    /// A non-merging node selects this side immediately.
    Select(SelectorId, Side),
    /// The node in front of a bundle excludes a link from selection.
    TakeOut(BundleId, PortId),
    /// The node in front of a bundle includes the link again.
    PutBack(BundleId, PortId),
    /// A fibre of a burst-switched core fails, or is taken out of service if `true`.
    FibreDown(u32, bool),
    /// A fibre of a burst-switched core is repaired.
    FibreUp(u32),
}

/// Action at a time. Actions at the same time are carried out in list order, before any event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Time.
    pub at: Time,
    /// Action.
    pub action: Action,
}
