//! `[[voqs]]` and `[[schedules]]`: what changes by plan.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::queue::QueueEntry;
use super::values::{Count, LinkRef, Queue, Span, Speed};

/// A virtual output queue in both directions between two nodes: what is behind it changes. It is served over one of several
/// ways at a time, or over none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoqEntry {
    /// The name; in a path it stands between the two nodes, as that of a link.
    pub name: String,
    /// The two nodes.
    pub between: Option<[String; 2]>,
    /// By name, the ways from the first node to the second, node by node; backwards they lead back. The transmitter of its first
    /// link takes a packet out of the queue whenever it has nothing else to send.
    #[serde(default)]
    pub ways: BTreeMap<String, Vec<String>>,
    /// In place of both: a group, of which each two members are linked. Each two have a queue, whose ways are `direct` and one
    /// over each other member, which is called after it.
    pub mesh: Option<String>,
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
    #[serde(default)]
    pub changes: Vec<ChangeEntry>,
    /// In place of `changes`: a CSV file, beside the scenario, with a change a line; its first line names the keys of a change.
    pub file: Option<String>,
    /// What `file` is; `changes` if left out.
    pub form: Option<ScheduleForm>,
    /// Of a trace of mahimahi: the link that has it.
    pub link: Option<LinkRef>,
    /// Of a trace of mahimahi: which directions have it; both if left out.
    pub direction: Option<Directions>,
    /// How a delay goes on after a change of it; `stepped` if left out.
    pub delays: Option<DelayCourse>,
    /// In place of `changes` and `period`: circuits that come in turn.
    pub generator: Option<GeneratorEntry>,
}

optcp_units::registry! {
    /// What a file of a schedule is.
    pub enum ScheduleForm ("schedule-forms") {
        "changes" => Changes: "a CSV file with a change a line", "OpTCP";
        "mahimahi" => Mahimahi: "a trace of a link: each line is a millisecond in which one packet may leave, and the file begins again at the last", "R. Netravali and others, USENIX ATC 2015 (mahimahi)";
    }
}

optcp_units::registry! {
    /// How delays go on between changes.
    pub enum DelayCourse ("delay-courses") {
        "stepped" => Stepped: "a delay stays as it is until the next change of it", "OpTCP";
        "linear" => Linear: "a delay changes evenly, so that at the next change it is what that says; of two changes at one instant the first ends what was, and the second begins anew", "S. Kassing and others, IMC 2020 (Hypatia): each packet has the delay of the instant at which its transmission begins";
    }
}

optcp_units::registry! {
    /// Which circuits come in turn.
    pub enum GeneratorKind ("schedule-generators") {
        "round-robin" => RoundRobin: "one circuit switch: with matching m, of as many as there are members, member i is joined to member m - i, modulo their number", "1-factorization of a complete graph, as in M. K. Mukerjee and others, NSDI 2020";
        "rotor" => Rotor: "several switches, each with its share of these matchings: with s of them switch k has the matchings k, k + s, k + 2 s and so on", "W. M. Mellette and others, SIGCOMM 2017 (RotorNet)";
    }
}

optcp_units::registry! {
    /// How the days of several switches lie to each other.
    pub enum Phases ("phases") {
        "together" => Together: "all switches turn at once", "W. M. Mellette and others, SIGCOMM 2017 (RotorNet)";
        "staggered" => Staggered: "one after the other, in equal steps, so that the others have their day meanwhile", "W. M. Mellette and others, NSDI 2020 (Opera)";
    }
}

/// Circuits between each two members of a group, one day each in a cycle.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GeneratorEntry {
    /// Which circuits come in turn.
    pub kind: GeneratorKind,
    /// The group. Between each two of its members there is a link, whose transmitters send in its day and hold otherwise; or a
    /// virtual output queue.
    pub among: String,
    /// How long a circuit is there.
    pub day: Span,
    /// How long there is none from one day to the next.
    pub night: Span,
    /// For `rotor`: how many switches there are; 1 if left out.
    pub switches: Option<Count>,
    /// For `rotor`: how their days lie to each other; `together` if left out.
    pub phases: Option<Phases>,
    /// Of virtual output queues: the way over which they are served in their day.
    pub served: Option<String>,
    /// Of virtual output queues: the way over which they are served otherwise; `none` if left out.
    pub otherwise: Option<String>,
    /// In place of `served` and `otherwise`, of the queues of a `mesh`: links are there in their day. In its own day a queue is
    /// served `direct`, at other times over the member to which a circuit is there; of several switches over that of number
    /// i + j, modulo theirs, for the queue from member i to member j.
    pub two_hops: Option<bool>,
}

optcp_units::registry! {
    /// What a transmitter does.
    pub enum Transmitter ("transmitters") {
        "sends" => Sends: "it sends what waits", "OpTCP";
        "holds" => Holds: "it takes nothing out of the queue; what is being sent, and what is on its way, arrives", "OpTCP";
    }
}

optcp_units::registry! {
    /// Whether a link is in service.
    pub enum LinkState ("link-states") {
        "up" => Up: "it works", "OpTCP";
        "down" => Down: "it has failed: what waits, is sent, is in flight, or comes, is lost", "OpTCP";
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
    /// Whether the link is in service from now on, as if it failed and were repaired.
    pub state: Option<LinkState>,
    /// What becomes of the flag ECE in TCP packets that come from now on.
    pub ece: Option<EceFlag>,
}
