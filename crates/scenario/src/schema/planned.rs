//! `[[voqs]]` and `[[schedules]]`: what changes by plan.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::queue::QueueEntry;
use super::values::{LinkRef, Queue, Span, Speed};

/// A virtual output queue in both directions between two nodes: what is behind it changes. It is served over one of several
/// ways at a time, or over none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoqEntry {
    /// The name; in a path it stands between the two nodes, as that of a link.
    pub name: String,
    /// The two nodes.
    pub between: [String; 2],
    /// By name, the ways from the first node to the second, node by node; backwards they lead back. The transmitter of its first
    /// link takes a packet out of the queue whenever it has nothing else to send.
    pub ways: BTreeMap<String, Vec<String>>,
    /// The way over which both directions are served at the start; over `none`, nothing leaves the queue.
    pub served: String,
    /// How long after a change of what serves it the senders whose data pass it know of that. They hear of ways, not of `none`;
    /// nobody hears of anything if left out.
    pub notify: Option<Span>,
    /// Queue of both directions. What a transmitter has taken out of it counts no longer.
    pub queue: QueueEntry,
    /// What is different from the second node to the first.
    #[serde(default)]
    pub reverse: VoqReverse,
}

/// What is different in the second direction of a virtual output queue.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoqReverse {
    /// The way over which it is served at the start.
    pub served: Option<String>,
    /// Its queue.
    pub queue: Option<QueueEntry>,
}

/// When links and virtual output queues change, once or again and again.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleEntry {
    /// How long a period takes, after which all changes come again; once if left out.
    pub period: Option<Span>,
    /// When the first period begins; 0 s if left out.
    pub start: Option<Span>,
    /// What changes when. What a change says holds until another one.
    pub changes: Vec<ChangeEntry>,
}

optcp_units::registry! {
    /// What a transmitter does.
    pub enum Transmitter ("transmitters") {
        "sends" => Sends: "it sends what waits", "OpTCP";
        "holds" => Holds: "it takes nothing out of the queue; what is being sent, and what is on its way, arrives", "OpTCP";
    }
}

optcp_units::registry! {
    /// What becomes of the flag ECE (RFC 3168) in TCP packets.
    pub enum EceFlag ("ece") {
        "set" => Set: "it is set, which ACKs carry to their senders", "M. K. Mukerjee and others, NSDI 2020: a circuit is there";
        "kept" => Kept: "it stays as it comes", "OpTCP";
    }
}

optcp_units::registry! {
    /// Which directions of a link change.
    pub enum Directions ("directions") {
        "both" => Both: "both directions", "OpTCP";
        "forward" => Forward: "from the first node of the link, as written, to the second", "OpTCP";
        "backward" => Backward: "from the second node of the link, as written, to the first", "OpTCP";
    }
}

/// What changes of a link or a virtual output queue at one instant. Everything that transmitters end at that instant comes
/// before, and they may begin what follows.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeEntry {
    /// When, counted from the beginning of a period.
    pub at: Span,
    /// The link, or the virtual output queue; of several links, as between a group and a node, each.
    pub link: LinkRef,
    /// Which directions change; both if left out.
    pub direction: Option<Directions>,
    /// Of a virtual output queue: the way over which it is served from now on, or `none`.
    pub served: Option<String>,
    /// The rate of transmissions that begin from now on.
    pub rate: Option<Speed>,
    /// The propagation delay of packets whose transmission begins from now on. They keep their order, unless the link has
    /// `overtaking`.
    pub delay: Option<Span>,
    /// What the queue holds from now on; of what it has beyond that the youngest packets are lost.
    pub queue: Option<Queue>,
    /// What the transmitter does from now on.
    pub transmitter: Option<Transmitter>,
    /// What becomes of the flag ECE in TCP packets that come from now on.
    pub ece: Option<EceFlag>,
}
