//! `[[voqs]]` and `[[schedules]]`: scheduled changes of links and virtual output queues.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::queue::QueueEntry;
use super::values::{Count, LinkRef, Probability, Queue, Span, Speed};

/// Virtual output queue (VOQ) in each direction between two nodes. It is served over one of several paths at
/// a time, or over none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoqEntry {
    /// Name. In a path it stands between the two nodes, like the name of a link.
    pub name: String,
    /// The two nodes.
    pub between: Option<[String; 2]>,
    /// Paths from the first node to the second, by name; the reverse direction uses them backwards. The
    /// transmitter of the first link takes a packet from the queue whenever it is idle.
    #[serde(default)]
    pub ways: BTreeMap<String, Vec<String>>,
    /// Instead of both: group whose members are linked in pairs. Each pair has a queue with the path `direct`
    /// and one path through each other member, named after it.
    pub mesh: Option<String>,
    /// Path that serves both directions at the start, or `none`: no packet leaves the queue.
    pub served: String,
    /// Time from a change of the serving path until senders of data through the queue are notified. They are
    /// not notified of `none`. Default: no notification.
    pub notify: Option<Span>,
    /// Queue of each direction. Packets that a transmitter has taken do not count.
    pub queue: QueueEntry,
    /// Differences in the direction from the second node to the first.
    #[serde(default)]
    pub reverse: VoqReverse,
}

/// Properties of the second direction of a virtual output queue that differ from the first.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VoqReverse {
    /// Path that serves the queue at the start.
    pub served: Option<String>,
    /// Queue.
    pub queue: Option<QueueEntry>,
}

/// Scheduled changes of links and virtual output queues, once or periodic.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleEntry {
    /// Period after which the changes repeat. Default: no repetition.
    pub period: Option<Span>,
    /// Start of the first period. Default: `0 s`.
    pub start: Option<Span>,
    /// Changes. Each changed property keeps its value until the next change.
    #[serde(default)]
    pub changes: Vec<ChangeEntry>,
    /// Instead of `changes`: CSV file, relative to the scenario. Its first line names the keys, each further
    /// line is a change.
    pub file: Option<String>,
    /// Format of `file`. Default: `changes`.
    pub form: Option<ScheduleForm>,
    /// For `mahimahi`: link that the trace drives.
    pub link: Option<LinkRef>,
    /// For `mahimahi`: directions that the trace drives. Default: both.
    pub direction: Option<Directions>,
    /// Course of a delay between two changes. Default: `stepped`.
    pub delays: Option<DelayCourse>,
    /// Instead of `changes` and `period`: generated cycle of circuits.
    pub generator: Option<GeneratorEntry>,
}

optcp_units::registry! {
    /// Format of a schedule file.
    pub enum ScheduleForm ("schedule-forms") {
        "changes" => Changes: "CSV file with one change per line", "OpTCP";
        "mahimahi" => Mahimahi: "link trace: each line is a millisecond at which one packet may be sent; the trace repeats from its last line", "R. Netravali and others, USENIX ATC 2015 (mahimahi)";
    }
}

optcp_units::registry! {
    /// Course of delays between changes.
    pub enum DelayCourse ("delay-courses") {
        "stepped" => Stepped: "constant until the next change", "OpTCP";
        "linear" => Linear: "linear interpolation between changes; of two changes at the same time, the first ends the previous segment and the second starts the next", "S. Kassing and others, IMC 2020 (Hypatia): each packet has the delay of the instant at which its transmission begins";
    }
}

optcp_units::registry! {
    /// Cycle of circuits.
    pub enum GeneratorKind ("schedule-generators") {
        "round-robin" => RoundRobin: "one circuit switch: in matching m, of as many as there are members, member i is connected to member m - i, modulo the number of members", "1-factorization of a complete graph, as in M. K. Mukerjee and others, NSDI 2020";
        "rotor" => Rotor: "several switches that divide these matchings among them: of s switches, switch k has the matchings k, k + s, k + 2 s, ...", "W. M. Mellette and others, SIGCOMM 2017 (RotorNet)";
    }
}

optcp_units::registry! {
    /// Alignment of the days of several switches.
    pub enum Phases ("phases") {
        "together" => Together: "all switches reconfigure at the same time", "W. M. Mellette and others, SIGCOMM 2017 (RotorNet)";
        "staggered" => Staggered: "switches reconfigure one after the other, at equal intervals, while the others keep their circuits", "W. M. Mellette and others, NSDI 2020 (Opera)";
    }
}

/// Circuits between all pairs of members of a group, one day each per cycle.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GeneratorEntry {
    /// Type of the cycle.
    pub kind: GeneratorKind,
    /// Group. Each pair of its members has a link, which sends during its day and holds packets otherwise, or
    /// a virtual output queue.
    pub among: String,
    /// Duration of a circuit.
    pub day: Span,
    /// Time between two days, without circuits.
    pub night: Span,
    /// For `rotor`: number of switches. Default: 1.
    pub switches: Option<Count>,
    /// For `rotor`: alignment of their days. Default: `together`.
    pub phases: Option<Phases>,
    /// For virtual output queues: path that serves them during their day.
    pub served: Option<String>,
    /// For virtual output queues: path that serves them outside their day. Default: `none`.
    pub otherwise: Option<String>,
    /// Instead of `served` and `otherwise`, for a `mesh`. `true`: outside its day, a queue is served through
    /// the member with a circuit. With several switches: member i + j, modulo their number, for the queue
    /// from i to j.
    pub two_hops: Option<bool>,
}

optcp_units::registry! {
    /// State of a transmitter.
    pub enum Transmitter ("transmitters") {
        "sends" => Sends: "queued packets are sent", "OpTCP";
        "holds" => Holds: "no packet leaves the queue; packets in transmission or in flight still arrive", "OpTCP";
    }
}

optcp_units::registry! {
    /// State of a link.
    pub enum LinkState ("link-states") {
        "up" => Up: "the link works", "OpTCP";
        "down" => Down: "the link has failed: packets queued, in transmission, in flight or arriving are lost", "OpTCP";
    }
}

optcp_units::registry! {
    /// Treatment of the ECE flag (RFC 3168) in TCP packets.
    pub enum EceFlag ("ece") {
        "set" => Set: "the flag is set; ACKs carry it to the sender", "M. K. Mukerjee and others, NSDI 2020: a circuit is there";
        "kept" => Kept: "the flag is not changed", "OpTCP";
    }
}

optcp_units::registry! {
    /// Directions of a link that change.
    pub enum Directions ("directions") {
        "both" => Both: "both directions", "OpTCP";
        "forward" => Forward: "from the first node of the link, as written, to the second", "OpTCP";
        "backward" => Backward: "from the second node of the link, as written, to the first", "OpTCP";
    }
}

/// Change of a link or virtual output queue. Transmissions that end at the same time end before it; the next
/// one may start before it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeEntry {
    /// Time of the change, counted from the start of the period.
    pub at: Span,
    /// Link or virtual output queue. If the name stands for several links, as between a group and a node, all
    /// change.
    pub link: LinkRef,
    /// Directions that change. Default: both.
    pub direction: Option<Directions>,
    /// For virtual output queues: new serving path, or `none`.
    pub served: Option<String>,
    /// New rate, for transmissions that start after the change.
    pub rate: Option<Speed>,
    /// New propagation delay, for transmissions that start after the change. Packets stay in order unless the
    /// link has `overtaking`.
    pub delay: Option<Span>,
    /// New queue limit. If the queue holds more, its newest packets are dropped.
    pub queue: Option<Queue>,
    /// New state of the transmitter.
    pub transmitter: Option<Transmitter>,
    /// New state of the link, like a failure or repair.
    pub state: Option<LinkState>,
    /// Treatment of the ECE flag in TCP packets that arrive after the change.
    pub ece: Option<EceFlag>,
    /// Probability from 0 to 1 with which packets that arrive after the change are lost, before the queue.
    pub loss: Option<Probability>,
}
