//! The network's parts as plain data: packets, labels, ports, and the reasons for which packets drop.
//!
//! A port is a queue, a transmitter and a pipe in one direction. Forwarding is label swapping: one
//! table for the whole network, one entry per (path, node), rewritten by control actions.

mod action;
mod dark;
mod drop;
mod jitter;
mod label;
mod loss;
mod merge;
mod packet;
mod paths;
mod port;

pub use action::{Action, Control};
pub use dark::Dark;
pub use drop::DropReason;
pub use jitter::Jitter;
pub use label::{Bridge, BundleId, Entrance, Gate, Hop, Label, LabelTable};
pub use loss::{IndependentLoss, Loss, LossKind, Lossy, PeriodicLoss, ScriptedLoss};
pub use merge::{Selector, SelectorId, Side};
pub use packet::{FlowId, Header, INITIAL_TTL, Packet, PortId};
pub use paths::{PathId, Paths};
pub use port::NEVER_SENT;
pub use port::{Admission, Arrived, Port, PortConfig, PortCounts, QueueLimit, Sent, Tally};

/// The families of names that are registered here, as `optcp list` has them.
pub const FAMILIES: &[optcp_units::registry::Family] = &[LossKind::FAMILY, Lossy::FAMILY];
