//! Parts of the network as plain data: packets, labels, ports and reasons for drops.
//!
//! A port is a queue and a transmitter for one direction of a link. Forwarding is label swapping: control actions
//! rewrite a single table with one entry per (path, node).

mod action;
mod bucket;
mod crossbar;
mod drop;
mod failed_link_queue;
mod ids;
mod jitter;
mod label;
mod loss;
mod merge;
pub mod multipath;
mod packet;
mod paths;
mod pipe;
mod port;
mod queue;
pub mod schedule;
mod tally;
mod transmission;

pub use action::{Action, Control};
pub use bucket::{
    Action as BucketAction, Bucket, BucketKind, BucketPlace, Colour, Policer, Shaper, Trtcm,
};
pub use crossbar::{Crossbar, CrossbarConfig, MOST_PORTS};
pub use drop::DropReason;
pub use failed_link_queue::FailedLinkQueue;
pub use ids::{BundleId, FlowId, Label, PortId};
pub use jitter::Jitter;
pub use label::{Bridge, BundleHop, Hop, LabelTable, SelectorInput};
pub use loss::{
    Chance, Corruption, Duplication, GilbertElliott, IndependentLoss, Loss, LossKind, Lossy,
    PeriodicLoss, ScriptedLoss, Spoils,
};
pub use merge::{Selector, SelectorId, Side};
pub use multipath::{Hashing, Multipath};
pub use packet::{Header, INITIAL_TTL, MOST_FLOWS, Packet, TRIMMED_SIZE};
pub use paths::{PathId, Paths};
pub use pipe::{Arrived, Pipe};
pub use port::{Admission, Managed, Port, PortConfig, Sent, Transmission};
pub use queue::{
    ArrivalState, Backlog, CLASSES, Discipline, Fate, Parameter, QueueKind, QueueLimit, Setting,
    Verdict,
};
pub use tally::{PortCounts, Tally};
pub use transmission::NEVER_SENT;

/// Families of names registered in this crate, as printed by `optcp list`.
pub const FAMILIES: &[optcp_units::registry::Family] = &[
    QueueKind::FAMILY,
    LossKind::FAMILY,
    Lossy::FAMILY,
    BucketKind::FAMILY,
    BucketPlace::FAMILY,
    BucketAction::FAMILY,
    Hashing::FAMILY,
];
