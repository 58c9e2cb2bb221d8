//! Failures and backup paths.

use optcp_optical::protection::{Revert, Scheme};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Real;
use super::values::{Count, Delay, LinkRef, Span, Speed, SwitchDelay};
use super::{ListOr, Metric};
use crate::plan::CapacityKind;

optcp_units::registry! {
    /// What becomes of packets on a link that fails.
    pub enum FailedPackets ("failed-packets") {
        "lost" => Lost: "what waits, is sent or is in flight when the link fails is lost", "OpTCP";
        "kept" => Kept: "it still arrives, as with planned maintenance; what comes later is lost", "OpTCP";
    }
}

optcp_units::registry! {
    /// Which directions of a link fail.
    pub enum FailedDirections ("failed-directions") {
        "both" => Both: "both directions", "OpTCP";
        "forward" => Forward: "from the first node of the link, as written, to the second", "OpTCP";
    }
}

/// Links that share a risk: what one duct carries, say.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskEntry {
    /// The name of the risk.
    pub name: String,
    /// The links.
    pub links: Option<Vec<LinkRef>>,
    /// In place of `links`, in a topology of known places: a node, around which all links share the risk; or `every`, for a
    /// risk around each node.
    pub near: Option<String>,
    /// With `near`: how near links must pass, in km.
    pub within_km: Option<Real>,
    /// In place of `links`, in a topology of known places: a node, or `every` for each; each two of its links that leave it
    /// beside each other, in directions that are near, share a duct, and so a risk.
    pub leaving: Option<String>,
    /// With `leaving`: how far apart the directions of both are at most, in degrees.
    pub within_degrees: Option<Real>,
}

/// A link, several that share a risk, or a node that fails; a node fails with all of its links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureEntry {
    /// The link.
    pub link: Option<LinkRef>,
    /// Links that fail together, in place of one: what one cable or one duct carries.
    pub links: Option<Vec<LinkRef>>,
    /// The node, in place of a link.
    pub node: Option<String>,
    /// The links of an entry of `[[risks]]`, in place of a link.
    pub risk: Option<String>,
    /// When it fails.
    pub at: Option<Span>,
    /// When it works again; never if left out.
    pub repair: Option<Span>,
    /// In place of `at`: it fails again and again, each time after a time that is drawn, and this long on average (an
    /// exponential distribution), from when it works.
    pub mtbf: Option<Span>,
    /// With `mtbf`: the mean time until it works again (an exponential distribution).
    pub mttr: Option<Span>,
    /// How much later it fails and works again, drawn once a run; 0 s if left out.
    pub later: Option<Delay>,
    /// What becomes of packets that are on it; `lost` if left out.
    pub packets: Option<FailedPackets>,
    /// Which directions of a link fail; `both` if left out.
    pub direction: Option<FailedDirections>,
}

optcp_units::registry! {
    /// What a backup that is found has not in common with the path of a flow.
    pub enum Disjoint ("backups") {
        "auto" => Auto: "no risk, else no node, else no link: the first of these for which there is a path", "OpTCP";
        "link-disjoint" => Link: "no link", "RFC 4427 section 4.1";
        "node-disjoint" => Node: "no node between its ends, and no link", "RFC 4427 section 4.1";
        "risk-disjoint" => Risk: "no link that shares a risk of `[[risks]]` with one of the path", "RFC 4427 section 4.1, RFC 4202 section 2.3";
    }
}

/// Hello packets between neighbours.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HelloEntry {
    /// From one to the next.
    pub interval: Span,
    /// How many must be missing in a row; 3 if left out.
    pub multiplier: Option<Count>,
}

/// A backup path.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProtectionEntry {
    /// The group of flows that is protected, or several, each for itself; links for all that routers send over them if left out.
    pub flows: Option<ListOr<String>>,
    /// Who acts on a fault; `local` if left out.
    pub scheme: Option<Scheme>,
    /// The link whose failure is protected against; every link between the backup's ends if left out.
    pub link: Option<LinkRef>,
    /// The nodes of the backup path, of which the first and the last lie on the path of the flows; or what backups that are
    /// found for every flow have not in common with its path.
    pub backup: ListOr<Disjoint>,
    /// With a backup that is found: what makes it short; `cost` if left out.
    pub metric: Option<Metric>,
    /// From the failure until the nodes beside it act.
    pub switch_delay: Option<SwitchDelay>,
    /// In place of `switch_delay`: the nodes beside a failure act once hellos are missing.
    pub hello: Option<HelloEntry>,
    /// How much longer a failure must last before the nodes beside it act; 0 s if left out.
    pub hold_off: Option<Span>,
    /// For schemes that send messages: how long each node works on one; 0 s if left out.
    pub signal_processing: Option<Span>,
    /// For `restoration`: how long it takes to find a route; 0 s if left out.
    pub computation: Option<Span>,
    /// What the backup consists of; `reserved` for scheme `1+1` and `shared` for the others if left out.
    pub capacity: Option<CapacityKind>,
    /// With capacity `reserved`: rate of each circuit; a share of the working path's slowest link if left out.
    pub rate: Option<Speed>,
    /// What follows a repair; `none` if left out.
    pub revert: Option<Revert>,
    /// How long the working path must work before packets take it again; 0 s if left out.
    pub wait_to_restore: Option<Span>,
}
