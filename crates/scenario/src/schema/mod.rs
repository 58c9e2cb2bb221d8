//! The scenario file: what may be written in it. The JSON Schema is made from these types.

mod bundle;
mod burst;
mod flows;
mod list_or;
mod planned;
mod protection;
mod queue;
mod routing;
mod tcp;
mod topology;
mod traffic;
mod values;

use std::collections::BTreeMap;

use optcp_net::{LossKind, Lossy};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use bundle::BundleEntry;
pub(crate) use burst::{BurstsEntry, CoreTable};
pub(crate) use flows::{Chosen, FlowsEntry, Metric, PairsTable, Weights};
pub(crate) use list_or::ListOr;
pub(crate) use planned::{
    ChangeEntry, DelayCourse, Directions, EceFlag, GeneratorEntry, GeneratorKind, LinkState,
    Phases, ScheduleEntry, ScheduleForm, Transmitter, VoqEntry,
};
pub(crate) use protection::{
    Disjoint, FailedDirections, FailedPackets, FailureEntry, ProtectionEntry, RiskEntry,
};
pub(crate) use queue::QueueEntry;
pub(crate) use routing::{ForwardingEntry, ForwardingTable, RoutingTable};
pub(crate) use tcp::{TcpTable, belongs, resolved as resolved_tcp, written as written_tcp};
pub(crate) use topology::TopologyTable;
pub(crate) use traffic::{
    CodepointKind, FlowPace, Pace, Real, SizePoint, SizesTable, TrafficEntry,
};
pub(crate) use values::{
    Cost, Count, DISTRIBUTIONS, Delay, LinkRef, Probability, Size, Span, Speed, SwitchDelay,
    Volume, drawn_from, said,
};

use crate::de;
use crate::plan::ObserveKind;
use crate::problem::{Problem, Problems};
use crate::tree::{Node, Value};
use crate::warnings::WarningKind;
use optcp_units::nearest::suggestion;

/// Declares the sections of a file: the struct, and how it is read section by section and entry by entry, so
/// that one mistake does not hide the next.
macro_rules! sections {
    ($(#[$meta:meta])* $vis:vis struct $File:ident { $( $(#[$of:meta])* $name:ident: $Type:ty, )+ }) => {
        $(#[$meta])*
        $vis struct $File {
            $( $(#[$of])* $vis $name: $Type, )+
        }

        /// The keys of the file itself.
        pub(crate) const SECTIONS: &[&str] = &[$( stringify!($name) ),+];

        fn sections(tree: &Node, found: &mut Vec<Problem>) -> $File {
            $File { $( $name: Section::read(tree, stringify!($name), found), )+ }
        }
    };
}

sections! {
    /// A scenario of OpTCP: a network, the TCP flows on it, what fails, and what is measured.
    ///
    /// A text that contains `$name` stands for a parameter, `$a * $b` for an exact product.
    #[derive(Clone, Debug, JsonSchema)]
    #[schemars(rename = "Scenario", deny_unknown_fields)]
    pub(crate) struct File {
        /// What the scenario is about.
        #[schemars(default)]
        title: String,
        /// When the run ends.
        stop: Span,
        /// The names of warnings that are not to be given.
        #[schemars(default)]
        silence: Vec<WarningKind>,
        /// Whether the run ends before that, at the first whole second at which every flow that is to end has
        /// ended.
        #[schemars(default)]
        end_with_flows: bool,
        /// Values that other values refer to as `$name`.
        #[schemars(default)]
        #[expect(dead_code, reason = "for the JSON Schema; parameters are replaced before reading")]
        parameters: ReadBefore,
        /// Named ways for TCP connections to behave.
        #[schemars(default)]
        tcp: Named<TcpTable>,
        /// Nodes and links of a published network, or of a file.
        topology: Option<TopologyTable>,
        /// The nodes.
        #[schemars(default)]
        nodes: Vec<NodesEntry>,
        /// The links.
        #[schemars(default)]
        links: Vec<LinksEntry>,
        /// Virtual output queues: each is served over one of several ways at a time.
        #[schemars(default)]
        voqs: Vec<VoqEntry>,
        /// Parallel links that are one link to whoever routes.
        #[schemars(default)]
        bundles: Vec<BundleEntry>,
        /// How burst switches work.
        core: Option<CoreTable>,
        /// Packets that travel in bursts.
        #[schemars(default)]
        bursts: Vec<BurstsEntry>,
        /// Routers find shortest paths, and ways around what fails.
        routing: Option<RoutingTable>,
        /// Where nodes send packets, as it is written.
        forwarding: Option<ForwardingTable>,
        /// The flows.
        #[schemars(default)]
        flows: Vec<FlowsEntry>,
        /// Sources of datagrams.
        #[schemars(default)]
        traffic: Vec<TrafficEntry>,
        /// Links that share a risk.
        #[schemars(default)]
        risks: Vec<RiskEntry>,
        /// When links and virtual output queues change by plan.
        #[schemars(default)]
        schedules: Vec<ScheduleEntry>,
        /// Links and nodes that fail.
        #[schemars(default)]
        failures: Vec<FailureEntry>,
        /// Backup paths.
        #[schemars(default)]
        protection: Vec<ProtectionEntry>,
        /// Packets that links lose.
        #[schemars(default)]
        losses: Vec<LossesEntry>,
        /// What is measured.
        #[schemars(default)]
        observe: Vec<ObserveEntry>,
        /// The part of the run that metrics cover, for example without a warm-up.
        measure: Option<MeasureTable>,
        /// Key paths, and the values that a study gives them.
        #[schemars(default)]
        #[expect(dead_code, reason = "for the JSON Schema; the sweep is read from the tree")]
        sweep: ReadBefore,
    }
}

impl File {
    /// Whether paths or backups are found by what links cost.
    pub(crate) fn finds_paths(&self) -> bool {
        let found = |path: &Option<ListOr<Chosen>>| matches!(path, Some(ListOr::Found(chosen)) if *chosen != Chosen::Routed);
        let backup = |entry: &ProtectionEntry| matches!(entry.backup, ListOr::Found(_));
        self.flows.iter().any(|entry| found(&entry.path))
            || self.traffic.iter().any(|entry| found(&entry.path))
            || self.protection.iter().any(backup)
    }
}

/// Nodes by name, or a group of nodes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodesEntry {
    /// The names of the nodes.
    pub names: Option<Vec<String>>,
    /// The name of the group: it stands for all its members in chains and paths.
    pub group: Option<String>,
    /// The number of members of a group; they are called S0, S1, ... in a group S.
    pub count: Option<Count>,
}

/// The part of the run that metrics cover.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeasureTable {
    /// Its start, which is not part of it; 0 s if left out.
    pub after: Option<Span>,
    /// Its end, which is part of it; the end of the run if left out.
    pub until: Option<Span>,
}

optcp_units::registry! {
    /// Which node of a smaller group a member of a larger one is linked to.
    pub enum MembersKind ("members") {
        "in-blocks" => InBlocks: "neighbours in the larger group share a node: 0, 0, 1, 1, ...", "OpTCP";
        "in-turn" => InTurn: "one node after the other, and again from the first: 0, 1, 0, 1, ...", "OpTCP";
    }
}

/// Links that are alike.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinksEntry {
    /// Nodes of which each is linked to the next; a group is linked once a member.
    pub chain: Option<Vec<String>>,
    /// Several chains.
    pub chains: Option<Vec<Vec<String>>>,
    /// In place of chains: a group, of which each two members are linked.
    pub mesh: Option<String>,
    /// Which node of a smaller group a member of a larger one is linked to; `in-blocks` if left out.
    pub members: Option<MembersKind>,
    /// The name of the link, to tell parallel links apart.
    pub name: Option<String>,
    /// With `name`: the number of parallel links; they are called L0, L1, ... with the name L.
    pub count: Option<Count>,
    /// Rate of both directions.
    pub rate: Speed,
    /// Propagation delay of both directions, drawn once a link.
    pub delay: Delay,
    /// How much longer than the propagation delay a packet takes, drawn for each: a duration, up to which all
    /// are equally likely, or a distribution; 0 s if left out.
    pub jitter: Option<Delay>,
    /// With `jitter`, or a delay that changes by plan: whether packets overtake each other, in both directions; false if left
    /// out.
    pub overtaking: Option<bool>,
    /// Queue in front of the link, in both directions; the packet in transmission counts.
    pub queue: QueueEntry,
    /// The link is a fibre of a core of burst switches, with so many wavelengths of `rate` in each direction.
    pub wavelengths: Option<Count>,
    /// With `[routing]`: what both directions cost; 1 if left out.
    pub cost: Option<Cost>,
    /// Capacity that backups may reserve in each direction, beside `rate`; not limited if left out.
    pub spare: Option<Speed>,
    /// What is different from the last node of a chain to the first.
    #[serde(default)]
    pub reverse: Reverse,
}

/// What is different in the second direction of a link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reverse {
    /// Its rate.
    pub rate: Option<Speed>,
    /// Its propagation delay, drawn apart from the other.
    pub delay: Option<Delay>,
    /// How much longer a packet takes.
    pub jitter: Option<Delay>,
    /// Its queue.
    pub queue: Option<QueueEntry>,
    /// Its cost.
    pub cost: Option<Cost>,
}

/// Packets that are lost at the entry of a link, before its queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LossesEntry {
    /// The link: its two nodes in the direction of the packets that are lost.
    pub link: LinkRef,
    /// How packets are lost; `scripted` if left out.
    pub kind: Option<LossKind>,
    /// For `scripted`: the group of flows, each of which loses these segments.
    pub flows: Option<String>,
    /// For `scripted`: the segments, counted from 0.
    pub segments: Option<Vec<u32>>,
    /// For `scripted`: which transmission of each is lost, from 1; 1 if left out.
    pub transmission: Option<u32>,
    /// For `independent`, `corruption` and `duplication`: how likely it happens to a packet. For `periodic`: 1/n, in
    /// place of `period`.
    pub probability: Option<Probability>,
    /// For `corruption`, in place of `probability`: how likely a bit is wrong.
    pub bit_error_rate: Option<Probability>,
    /// For `periodic`: n, of which every n-th packet is lost.
    pub period: Option<Count>,
    /// For `gilbert-elliott`: how likely a packet finds a good line turned bad.
    pub good_to_bad: Option<Probability>,
    /// For `gilbert-elliott`: how likely a packet finds a bad line turned good.
    pub bad_to_good: Option<Probability>,
    /// For `gilbert-elliott`: how likely a packet is lost while the line is good; 0 if left out.
    pub loss_in_good: Option<Probability>,
    /// For `gilbert-elliott`: how likely a packet is lost while the line is bad; 1 if left out.
    pub loss_in_bad: Option<Probability>,
    /// For all kinds but `scripted`: which packets; `data` if left out.
    pub packets: Option<Lossy>,
}

/// Something that is measured.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObserveEntry {
    /// The name of the series.
    pub name: String,
    /// What is measured.
    pub kind: ObserveKind,
    /// For `goodput`, `tcp`, `packets`, `completions`, `bursts`, `segments-per-burst`, `reordering` and `outages`: the
    /// groups of flows; for `datagrams` and `packets`: the groups of sources; all if left out.
    pub groups: Option<Vec<String>>,
    /// For `load`, `queue`, `sojourn`, `transit`, `drops`, `marks` and `ports`: the links, both directions of each; all if left out.
    /// For `bursts` and `segments-per-burst`: links over which packets travel in bursts; all such if left out. For `packets`: links whose
    /// queueing and transmission are listed too; none if left out. For `fibres`: fibres; all if left out.
    pub links: Option<Vec<LinkRef>>,
    /// For `goodput`, `load`, `queue`, `sojourn`, `transit`, `ports`, `datagrams` and `fibres`: the length of an interval.
    pub interval: Option<Span>,
    /// For `ports`, `fibres`, `packets` and `outages`: from when on, 0 s if left out.
    pub after: Option<Span>,
    /// For `packets`: up to when, the end of the run if left out.
    pub until: Option<Span>,
}

/// What stands under a key of the file.
trait Section: Sized {
    /// Reads it; what is wrong with it goes on the list.
    fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self;
}

/// Values that have a default.
macro_rules! values {
    ($($Type:ty = $default:expr),+) => {$(
        impl Section for $Type {
            fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self {
                tree.get(key).and_then(|node| keep(de::read(node), found)).unwrap_or($default)
            }
        }
    )+};
}

// Without a stop there is a problem on the list, and the file is not used.
values!(String = String::new(), bool = false, Span = Span(optcp_units::Duration::ZERO));

impl<T: DeserializeOwned> Section for Option<T> {
    fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self {
        let node = tree.get(key).filter(|node| is_table(node, key, found))?;
        keep(de::read(node), found)
    }
}

impl<T: DeserializeOwned> Section for Vec<T> {
    fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self {
        match tree.get(key).map(|node| (node, &node.value)) {
            None => Vec::new(),
            Some((_, Value::Array(items))) => {
                items.iter().filter_map(|item| keep(de::read(item), found)).collect()
            }
            Some((node, _)) => {
                let message = format!("`{key}` is {}, not a list", node.kind());
                found.push(Problem::new(node.origin, message).label(format!("write `[[{key}]]`")));
                Vec::new()
            }
        }
    }
}

/// Tables by name, in their order.
#[derive(Clone, Debug, Default, JsonSchema)]
#[schemars(transparent, inline)]
pub(crate) struct Named<T>(#[schemars(with = "BTreeMap<String, T>")] pub Vec<(String, T)>);

impl<T: DeserializeOwned> Section for Named<T> {
    fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self {
        let node = tree.get(key).filter(|node| is_table(node, key, found));
        let entries = node.into_iter().flat_map(Node::entries);
        let named = entries
            .filter_map(|entry| Some((entry.key.clone(), keep(de::read(&entry.node), found)?)));
        Named(named.collect())
    }
}

/// What is read from the tree before and elsewhere, and stands here for the JSON Schema.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct ReadBefore(BTreeMap<String, serde_json::Value>);

impl Section for ReadBefore {
    fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self {
        if let Some(node) = tree.get(key) {
            is_table(node, key, found);
        }
        ReadBefore(BTreeMap::new())
    }
}

/// Reads a file.
pub(crate) fn read(problems: &mut Problems<'_>) -> Option<File> {
    let tree = problems.tree;
    let found = &mut problems.found;
    for entry in tree.entries() {
        if !SECTIONS.contains(&entry.key.as_str()) {
            let mut help = suggestion(&entry.key, "keys here", SECTIONS.iter().copied());
            if ["format", "version", "optcp"].contains(&entry.key.as_str()) {
                let here = env!("CARGO_PKG_VERSION");
                let keys = help.unwrap_or_default();
                help = Some(format!(
                    "scenarios have no version; one of a newer optcp than this ({here}) may not be readable\n{keys}"
                ));
            }
            let problem = Problem::new(entry.key_origin, format!("unknown key `{}`", entry.key));
            found.push(problem.label("not a section of a scenario").help(help));
        }
    }
    if tree.get("stop").is_none() {
        let origin = tree.entries().first().map_or(tree.origin, |entry| entry.key_origin);
        let problem = Problem::new(origin, "`stop` is missing").label("a scenario needs `stop`");
        found.push(problem.help("for example: stop = \"10 s\"".to_owned()));
    }
    let file = sections(tree, found);
    found.is_empty().then_some(file)
}

/// The value, or its problem put on the list.
fn keep<T>(result: Result<T, Problem>, found: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|problem| found.push(problem)).ok()
}

/// Whether the value of `key` is a table, as it should be.
fn is_table(node: &Node, key: &str, found: &mut Vec<Problem>) -> bool {
    let table = matches!(node.value, Value::Table(_));
    if !table {
        let message = format!("`{key}` is {}, not a table", node.kind());
        found.push(Problem::new(node.origin, message).label(format!("write `[{key}]`")));
    }
    table
}
