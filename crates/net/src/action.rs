//! Control actions: what failures, protection and scripts do to the network at an exact instant.

use optcp_units::{Duration, Time};

use crate::{BundleId, Hop, Label, PortId, SelectorId, Side};

/// A change of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The port's link fails: what it holds is lost, and what comes to it drops.
    PortDown(PortId),
    /// The port's link is taken out of service: what the port holds still arrives, what comes drops.
    PortClosed(PortId),
    /// The port's link works again.
    PortUp(PortId),
    /// A node forwards the label another way.
    SetHop(Label, Hop),
    /// Packets whose transmission begins from now on take this long along the pipe; they may overtake.
    SetDelay(PortId, Duration),
    /// A non-merging node goes over to the side with the next packet that comes from it.
    Expect(SelectorId, Side),
    /// A non-merging node takes the side now.
    Select(SelectorId, Side),
    /// The node in front of a bundle chooses a link of it no longer.
    TakeOut(BundleId, PortId),
    /// It chooses the link again.
    PutBack(BundleId, PortId),
}

/// An action and its instant. Actions of one instant happen in list order, before any event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// When.
    pub at: Time,
    /// What.
    pub action: Action,
}
