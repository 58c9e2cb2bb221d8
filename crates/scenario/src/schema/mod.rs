//! Types of the keys in a scenario file. The JSON Schema is generated from them.

mod application;
mod bucket;
mod bundle;
mod burst;
mod congestion;
mod flows;
mod list_or;
mod optical;
mod planned;
mod protection;
mod queue;
mod routing;
mod switch;
mod tcp;
mod topology;
mod traffic;
mod values;

use std::collections::BTreeMap;

use optcp_net::{LossKind, Lossy};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use application::ApplicationEntry;
pub(crate) use bucket::BucketEntry;
pub(crate) use bundle::BundleEntry;
pub(crate) use burst::{BurstsEntry, CoreTable};
pub(crate) use flows::{Chosen, FlowsEntry, Metric, MultipathTable, PairsTable, Weights};
pub(crate) use list_or::ListOr;
pub(crate) use optical::{FoundLightpath, OpticalTable};
pub(crate) use planned::{
    ChangeEntry, DelayCourse, Directions, EceFlag, GeneratorEntry, GeneratorKind, LinkState,
    Phases, ScheduleEntry, ScheduleForm, Transmitter, VoqEntry,
};
pub(crate) use protection::{
    Disjoint, FailedDirections, FailedPackets, FailureEntry, ProtectionEntry, RiskEntry,
};
pub(crate) use queue::QueueEntry;
pub(crate) use routing::{ForwardingEntry, ForwardingTable, RoutingTable};
pub(crate) use switch::SwitchEntry;
pub(crate) use tcp::{TcpTable, belongs, resolved as resolved_tcp, written as written_tcp};
pub(crate) use topology::{Column, LinkCost, PerLink, TopologyTable};
pub(crate) use traffic::{
    CodepointKind, FlowPace, Pace, Real, SizePoint, SizesTable, TrafficEntry,
};
pub(crate) use values::{
    Buffer, Cost, Count, DISTRIBUTIONS, Delay, LinkRef, Probability, Size, Span, Speed,
    SwitchDelay, Volume, Written, describe_error, drawn_from,
};

use crate::de;
use crate::plan::ObserveKind;
use crate::problem::{Problem, Problems};
use crate::tree::{Node, Value};
use crate::warnings::WarningKind;
use optcp_units::nearest::suggestion;

/// Declares the struct of a file and a reader that reads each section and entry separately, so that one
/// mistake does not hide the next.
macro_rules! sections {
    ($(#[$meta:meta])* $vis:vis struct $File:ident { $( $(#[$of:meta])* $name:ident: $Type:ty, )+ }) => {
        $(#[$meta])*
        $vis struct $File {
            $( $(#[$of])* $vis $name: $Type, )+
        }

        /// Keys at the top level of the file.
        pub(crate) const SECTIONS: &[&str] = &[$( stringify!($name) ),+];

        fn sections(tree: &Node, found: &mut Vec<Problem>) -> $File {
            $File { $( $name: Section::read(tree, stringify!($name), found), )+ }
        }
    };
}

sections! {
    /// OpTCP scenario: a network, its TCP flows, failures and observations.
    ///
    /// A string with `$name` refers to a parameter; `$a * $b` is an exact product.
    #[derive(Clone, Debug, JsonSchema)]
    #[schemars(rename = "Scenario", deny_unknown_fields)]
    pub(crate) struct File {
        /// Title of the scenario.
        #[schemars(default)]
        title: String,
        /// End of the run.
        stop: Span,
        /// Names of warnings to suppress.
        #[schemars(default)]
        silence: Vec<WarningKind>,
        /// `true`: the run ends before `stop`, at the first whole second at which all flows of finite size
        /// have completed. Default: `false`.
        #[schemars(default)]
        end_with_flows: bool,
        /// Parameters that other values refer to as `$name`.
        #[schemars(default)]
        #[expect(dead_code, reason = "for the JSON Schema; parameters are replaced before reading")]
        parameters: ReadBefore,
        /// Named TCP configurations.
        #[schemars(default)]
        tcp: Named<TcpTable>,
        /// Nodes and links of a published network or of a file.
        topology: Option<TopologyTable>,
        /// Nodes and groups of nodes.
        #[schemars(default)]
        nodes: Vec<NodesEntry>,
        /// Links.
        #[schemars(default)]
        links: Vec<LinksEntry>,
        /// Virtual output queues. A queue is served over one of several paths at a time.
        #[schemars(default)]
        voqs: Vec<VoqEntry>,
        /// Bundles of parallel links that routing treats as one link.
        #[schemars(default)]
        bundles: Vec<BundleEntry>,
        /// Switches with queues at their inputs.
        #[schemars(default)]
        switches: Vec<SwitchEntry>,
        /// Fibres under the links.
        optical: Option<OpticalTable>,
        /// Settings of optical burst switches.
        core: Option<CoreTable>,
        /// Links and routes over which packets travel in bursts.
        #[schemars(default)]
        bursts: Vec<BurstsEntry>,
        /// IP routing: shortest paths, convergence and fast reroute.
        routing: Option<RoutingTable>,
        /// Static forwarding entries.
        forwarding: Option<ForwardingTable>,
        /// TCP flows.
        #[schemars(default)]
        flows: Vec<FlowsEntry>,
        /// Applications on hosts that react to received data.
        #[schemars(default)]
        applications: Vec<ApplicationEntry>,
        /// Sources of datagrams.
        #[schemars(default)]
        traffic: Vec<TrafficEntry>,
        /// Shared risk link groups.
        #[schemars(default)]
        risks: Vec<RiskEntry>,
        /// Scheduled changes of links and virtual output queues.
        #[schemars(default)]
        schedules: Vec<ScheduleEntry>,
        /// Failures of links and nodes.
        #[schemars(default)]
        failures: Vec<FailureEntry>,
        /// Backup paths.
        #[schemars(default)]
        protection: Vec<ProtectionEntry>,
        /// Packet losses on links.
        #[schemars(default)]
        losses: Vec<LossesEntry>,
        /// Token buckets of links: policers, markers and shapers.
        #[schemars(default)]
        buckets: Vec<BucketEntry>,
        /// Series to record.
        #[schemars(default)]
        observe: Vec<ObserveEntry>,
        /// Part of the run that metrics cover, for example without a warm-up.
        measure: Option<MeasureTable>,
        /// Keys to vary in a study, with their values.
        #[schemars(default)]
        #[expect(dead_code, reason = "for the JSON Schema; the sweep is read from the tree")]
        sweep: ReadBefore,
    }
}

impl File {
    /// Returns whether any path or backup is computed from link costs.
    pub(crate) fn finds_paths(&self) -> bool {
        let found = |path: &Option<ListOr<Chosen>>| matches!(path, Some(ListOr::Found(chosen)) if *chosen != Chosen::Routed);
        let backup = |entry: &ProtectionEntry| matches!(entry.backup, ListOr::Found(_));
        self.flows.iter().any(|entry| found(&entry.path))
            || self.traffic.iter().any(|entry| found(&entry.path))
            || self
                .applications
                .iter()
                .any(|entry| entry.path.is_some_and(|path| path != Chosen::Routed))
            || self.protection.iter().any(backup)
    }
}

/// Nodes by name, or a group of nodes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodesEntry {
    /// Names of the nodes.
    pub names: Option<Vec<String>>,
    /// Name of the group. In chains and paths it stands for all its members.
    pub group: Option<String>,
    /// Number of members of a group. The members of group `S` are `S0`, `S1`, ...
    pub count: Option<Count>,
}

/// Part of the run that metrics cover.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeasureTable {
    /// Start, not included. Default: `0 s`.
    pub after: Option<Span>,
    /// End, included. Default: the end of the run.
    pub until: Option<Span>,
}

optcp_units::registry! {
    /// Assignment of members of a larger group to nodes of a smaller one.
    pub enum MembersKind ("members") {
        "in-blocks" => InBlocks: "consecutive members of the larger group share a node: 0, 0, 1, 1, ...", "OpTCP";
        "in-turn" => InTurn: "members of the larger group take the nodes in rotation: 0, 1, 0, 1, ...", "OpTCP";
    }
}

/// Links with equal properties.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinksEntry {
    /// Nodes in a row, each linked to the next. A group gets one link per member.
    pub chain: Option<Vec<String>>,
    /// Several chains.
    pub chains: Option<Vec<Vec<String>>>,
    /// Instead of chains: group whose members are linked in pairs, each with each. Or two groups: each member of the first
    /// is linked to each of the second.
    pub mesh: Option<ListOr<String>>,
    /// Assignment of members when a larger group meets a smaller one. Default: `in-blocks`.
    pub members: Option<MembersKind>,
    /// Name of the link, which distinguishes parallel links.
    pub name: Option<String>,
    /// With `name`: number of parallel links. Those of name `L` are `L0`, `L1`, ...
    pub count: Option<Count>,
    /// Rate of each direction.
    pub rate: Speed,
    /// Propagation delay of both directions. A distribution is drawn once per link. Required without `over`.
    pub delay: Option<Delay>,
    /// Instead of `delay`: optical nodes of a path over fibres of `[optical]`, or `shortest`. The name of a fibre
    /// stands between two nodes where several connect them.
    pub over: Option<ListOr<FoundLightpath>>,
    /// Additional delay, drawn per packet: a duration (uniform from 0 to this value) or a distribution.
    /// Default: `0 s`.
    pub jitter: Option<Delay>,
    /// With `jitter` or a scheduled delay. `true`: packets may overtake each other, in both directions.
    /// Default: `false`.
    pub overtaking: Option<bool>,
    /// Queue before the link, in both directions. The packet in transmission counts.
    pub queue: QueueEntry,
    /// Number of wavelengths per direction, each of `rate`. The link becomes a fibre of a burst-switched
    /// core.
    pub wavelengths: Option<Count>,
    /// With `[routing]`: cost of both directions. Default: 1.
    pub cost: Option<Cost>,
    /// Capacity per direction that backups may reserve, in addition to `rate`. Default: unlimited.
    pub spare: Option<Speed>,
    /// Differences in the direction from the last node of a chain to the first.
    #[serde(default)]
    pub reverse: Reverse,
}

/// Properties of the second direction of a link that differ from the first.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reverse {
    /// Rate.
    pub rate: Option<Speed>,
    /// Propagation delay, drawn independently of the other direction.
    pub delay: Option<Delay>,
    /// Additional delay, drawn per packet.
    pub jitter: Option<Delay>,
    /// Queue.
    pub queue: Option<QueueEntry>,
    /// Cost.
    pub cost: Option<Cost>,
}

/// Loss of packets that enter a link, before its queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LossesEntry {
    /// Link: its two nodes, in the direction of the affected packets.
    pub link: LinkRef,
    /// Loss model. Default: `scripted`.
    pub kind: Option<LossKind>,
    /// For `scripted`: group of flows. Each of its flows loses `segments`.
    pub flows: Option<String>,
    /// For `scripted`: segment numbers, counted from 0.
    pub segments: Option<Vec<u32>>,
    /// For `scripted`: transmission of each segment that is lost, counted from 1. Default: 1.
    pub transmission: Option<u32>,
    /// For `independent`, `corruption` and `duplication`: probability per packet. For `periodic`: 1/n,
    /// instead of `period`.
    pub probability: Option<Probability>,
    /// For `corruption`, instead of `probability`: bit error rate.
    pub bit_error_rate: Option<Probability>,
    /// For `periodic`: n. Every n-th packet is lost.
    pub period: Option<Count>,
    /// For `gilbert-elliott`: probability per packet of a change from the good to the bad state.
    pub good_to_bad: Option<Probability>,
    /// For `gilbert-elliott`: probability per packet of a change from the bad to the good state.
    pub bad_to_good: Option<Probability>,
    /// For `gilbert-elliott`: loss probability in the good state. Default: 0.
    pub loss_in_good: Option<Probability>,
    /// For `gilbert-elliott`: loss probability in the bad state. Default: 1.
    pub loss_in_bad: Option<Probability>,
    /// For all kinds except `scripted`: affected packets. Default: `data`.
    pub packets: Option<Lossy>,
}

/// Series to record.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObserveEntry {
    /// Name of the series.
    pub name: String,
    /// Kind of the series.
    pub kind: ObserveKind,
    /// For `goodput`, `tcp`, `packets`, `completions`, `operations`, `bursts`, `segments-per-burst`, `reordering`,
    /// `outages`: groups of flows. For `datagrams`, `packets`: groups of sources. Default: all.
    pub groups: Option<Vec<String>>,
    /// For `load`, `queue`, `sojourn`, `transit`, `drops`, `marks` and `ports`: links. For `bursts`, `burst-classes`
    /// and `segments-per-burst`: links that carry bursts. For `fibres`: fibres. Default: all. For `packets`: links
    /// whose queueing and transmission are listed. Default: none.
    pub links: Option<Vec<LinkRef>>,
    /// For `goodput`, `load`, `queue`, `sojourn`, `transit`, `ports`, `datagrams` and `fibres`: length of an
    /// interval.
    pub interval: Option<Span>,
    /// For `ports`, `fibres`, `packets` and `outages`: start of the record. Default: `0 s`.
    pub after: Option<Span>,
    /// For `packets`: end of the record. Default: end of the run.
    pub until: Option<Span>,
}

/// Value of a top-level key.
trait Section: Sized {
    /// Reads the value and appends its problems to `found`.
    fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self;
}

/// Implements [`Section`] for types with a default value.
macro_rules! values {
    ($($Type:ty = $default:expr),+) => {$(
        impl Section for $Type {
            fn read(tree: &Node, key: &str, found: &mut Vec<Problem>) -> Self {
                tree.get(key).and_then(|node| keep(de::read(node), found)).unwrap_or($default)
            }
        }
    )+};
}

// A default `stop` is never used: if `stop` is missing, the problem list is not empty.
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

/// Tables by name, in the order of the file.
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

/// Section that is read from the tree elsewhere. It exists here only for the JSON Schema.
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

/// Reads a file. Returns `None` if there are problems.
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
                    "scenario files have no version; a file for a newer OpTCP than {here} may not be readable\n{keys}"
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

/// Returns the value, or appends its problem to the list.
fn keep<T>(result: Result<T, Problem>, found: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|problem| found.push(problem)).ok()
}

/// Returns whether `node`, the value of `key`, is a table; appends a problem if it is not.
fn is_table(node: &Node, key: &str, found: &mut Vec<Problem>) -> bool {
    let table = matches!(node.value, Value::Table(_));
    if !table {
        let message = format!("`{key}` is {}, not a table", node.kind());
        found.push(Problem::new(node.origin, message).label(format!("write `[{key}]`")));
    }
    table
}
