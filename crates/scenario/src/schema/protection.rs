//! `[[risks]]`, `[[failures]]` and `[[protection]]`.

use optcp_optical::protection::{Command, Revert, Scheme};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Real;
use super::values::{Count, Delay, LinkRef, Span, Speed, SwitchDelay};
use super::{ListOr, Metric};
use crate::plan::CapacityKind;

optcp_units::registry! {
    /// Treatment of packets on a link that fails.
    pub enum FailedPackets ("failed-packets") {
        "lost" => Lost: "queued packets and packets in transmission or in flight are lost", "OpTCP";
        "kept" => Kept: "they still arrive, as in planned maintenance; packets that arrive later are lost", "OpTCP";
    }
}

optcp_units::registry! {
    /// Directions of a link that fail.
    pub enum FailedDirections ("failed-directions") {
        "both" => Both: "both directions", "OpTCP";
        "forward" => Forward: "from the first node of the link, as written, to the second", "OpTCP";
    }
}

/// Shared risk link group, such as the links in one duct.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskEntry {
    /// Name of the risk.
    pub name: String,
    /// Links that share the risk.
    pub links: Option<Vec<LinkRef>>,
    /// Instead of `links`, if the topology has coordinates: node whose nearby links share the risk, or
    /// `every` for one risk per node.
    pub near: Option<String>,
    /// With `near`: maximum distance between the link and the node, in km.
    pub within_km: Option<Real>,
    /// Instead of `links`, if the topology has coordinates: node, or `every`. Two adjacent links that leave
    /// it in similar directions share a duct, and therefore a risk.
    pub leaving: Option<String>,
    /// With `leaving`: maximum angle between the two links, in degrees.
    pub within_degrees: Option<Real>,
}

/// Failure of a link, of links that share a risk, or of a node with all its links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureEntry {
    /// Link that fails.
    pub link: Option<LinkRef>,
    /// Instead of `link`: links that fail together, such as the links of one cable or duct.
    pub links: Option<Vec<LinkRef>>,
    /// Instead of `link`: node that fails.
    pub node: Option<String>,
    /// Instead of `link`: name of a `[[risks]]` entry, whose links fail.
    pub risk: Option<String>,
    /// Time of the failure.
    pub at: Option<Span>,
    /// Time of the repair. Default: never.
    pub repair: Option<Span>,
    /// Instead of `at`: mean time from the start of the run, or from a repair, to the next failure,
    /// exponentially distributed.
    pub mtbf: Option<Span>,
    /// With `mtbf`: mean time to repair, exponentially distributed.
    pub mttr: Option<Span>,
    /// Delay added to failure and repair, drawn once per run. Default: `0 s`.
    pub later: Option<Delay>,
    /// Treatment of packets on the link. Default: `lost`.
    pub packets: Option<FailedPackets>,
    /// Directions of the link that fail. Default: `both`.
    pub direction: Option<FailedDirections>,
}

optcp_units::registry! {
    /// Required disjointness of a computed backup and the path of the flow.
    pub enum Disjoint ("backups") {
        "auto" => Auto: "risk-disjoint, else node-disjoint, else link-disjoint: the first for which a path exists", "OpTCP";
        "link-disjoint" => Link: "no common link", "RFC 4427 section 4.1";
        "node-disjoint" => Node: "no common intermediate node and no common link", "RFC 4427 section 4.1";
        "p-cycle" => PCycle: "around each link, the rest of `cycle`; for a link across it, the shorter part", "W. D. Grover and D. Stamatelakis, ICC 1998";
        "risk-disjoint" => Risk: "no link that shares a risk of `[[risks]]` with a link of the path", "RFC 4427 section 4.1, RFC 4202 section 2.3";
    }
}

/// Hello packets between neighbours.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HelloEntry {
    /// Time between two hello packets.
    pub interval: Span,
    /// Number of consecutive missing hello packets that indicates a failure. Default: 3.
    pub multiplier: Option<Count>,
}

/// Backup path.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProtectionEntry {
    /// Protected group of flows, or a list of groups, each with its own backup. Default: all traffic that
    /// routers send over the protected links.
    pub flows: Option<ListOr<String>>,
    /// Protection scheme: which nodes switch, and how they are notified. Default: `local`.
    pub scheme: Option<Scheme>,
    /// Protected link. Default: every link between the ends of the backup.
    pub link: Option<LinkRef>,
    /// Nodes of the backup path, whose first and last lie on the path of the flows. Alternatively,
    /// the required disjointness of a backup that is computed per flow.
    pub backup: ListOr<Disjoint>,
    /// For `p-cycle`: nodes of the cycle.
    pub cycle: Option<Vec<String>>,
    /// For `segment` with a computed backup: maximum number of links per segment. Default: 2.
    pub segment_links: Option<Count>,
    /// With a computed backup: metric of its length. Default: `cost`.
    pub metric: Option<Metric>,
    /// Time from a failure until the adjacent nodes act.
    pub switch_delay: Option<SwitchDelay>,
    /// Instead of `switch_delay`: detection by missing hello packets.
    pub hello: Option<HelloEntry>,
    /// Additional minimum duration of a failure before the adjacent nodes act. Default: `0 s`.
    pub hold_off: Option<Span>,
    /// For schemes with signalling: processing time per message and node. Default: `0 s`.
    pub signal_processing: Option<Span>,
    /// For `restoration`: duration of the route computation. Default: `0 s`.
    pub computation: Option<Span>,
    /// Capacity of the backup. Default: `reserved` for scheme `1+1`, else `shared`.
    pub capacity: Option<CapacityKind>,
    /// With capacity `reserved`: rate of each circuit. Default: a share of the slowest link of the working
    /// path.
    pub rate: Option<Speed>,
    /// Reversion after a repair. Default: `none`.
    pub revert: Option<Revert>,
    /// Minimum time that the working path must be repaired before reversion. Default: `0 s`.
    pub wait_to_restore: Option<Span>,
    /// For scheme `1+1`: the tail end passes the first copy of each packet, in order. This is the maximum time
    /// that a packet waits for earlier ones. Default: a selector passes the packets of one path.
    pub resequencing: Option<Span>,
    /// Commands of the operator.
    #[serde(default)]
    pub commands: Vec<CommandEntry>,
}

/// Command of the operator.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandEntry {
    /// Time at which the switching nodes receive it.
    pub at: Span,
    /// Command.
    pub command: Command,
}
