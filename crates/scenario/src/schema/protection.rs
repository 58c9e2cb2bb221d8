//! Failures and backup paths.

use optcp_optical::protection::Scheme;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::Revert;

use super::values::{Count, Delay, LinkRef, Span, SwitchDelay};

optcp_tcp::registry! {
    /// What becomes of packets on a link that fails.
    pub enum FailedPackets ("failed-packets") {
        "lost" => Lost: "what waits, is sent or is under way when the link fails is lost", "OpTCP";
        "kept" => Kept: "it still arrives, as with planned maintenance; what comes later is lost", "OpTCP";
    }
}

optcp_tcp::registry! {
    /// Which directions of a link fail.
    pub enum FailedDirections ("failed-directions") {
        "both" => Both: "both directions", "OpTCP";
        "forward" => Forward: "from the first node of the link, as written, to the second", "OpTCP";
    }
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
    /// When it fails.
    pub at: Span,
    /// When it works again; never if left out.
    pub repair: Option<Span>,
    /// How much later it fails and works again, drawn once a run; 0 s if left out.
    pub later: Option<Delay>,
    /// What becomes of packets that are on it; `lost` if left out.
    pub packets: Option<FailedPackets>,
    /// Which directions of a link fail; `both` if left out.
    pub direction: Option<FailedDirections>,
}

optcp_tcp::registry! {
    /// Who acts on a fault, and when.
    pub enum SchemeKind ("protection") {
        "local" => Local: "the nodes at the ends of the backup switch as soon as the fault is known beside it; nobody is told", "GMPLS paper, sections 2 and 8.1";
        "path" => Path: "each end of the backup switches when it is told, node by node", "GMPLS paper, sections 2 and 8.1";
        "loopback" => LoopBack: "the node beside the fault sends packets back to the first node, which puts them on the backup", "draft-haskin-mpls-fast-reroute-05; GMPLS paper, sections 2 and 8.1";
        "loopback-variant" => LoopBackVariant: "loop-back until the first node is told and takes the backup itself", "GMPLS paper, section 8.1";
        "1+1" => OnePlusOne: "packets always travel both ways; the last node chooses when the light ends", "RFC 4427, sections 4.6 to 4.8";
        "1:1" => OneToOne: "the last node sees the light end and asks the first one, over the backup, to switch", "RFC 6378; ITU-T G.873.1";
        "restoration" => Restoration: "the first node is told, computes a route and sets the backup up", "RFC 4427, section 4.6";
    }
}

optcp_tcp::registry! {
    /// What follows a repair.
    pub enum RevertKind ("reversion") {
        "none" => None: "packets stay on the backup", "GMPLS paper, section 7.1";
        "electrical" => Electrical: "packets take the working path again and merge with what the backup still holds", "GMPLS paper, section 7.1";
        "optical" => Optical: "the same, but from the first packet on the restored path what the backup still holds is discarded", "GMPLS paper, section 7.1";
        "optical-emulated" => OpticalEmulated: "the last link of the backup fails as long after the switch as a signal takes along the working path", "GMPLS paper, section 7.1: what its simulations did";
    }
}

optcp_tcp::registry! {
    /// What backups consist of.
    pub enum CapacityKind ("backup-capacity") {
        "shared" => Shared: "the links of the backup, with their queues and whatever else passes them", "GMPLS paper, section 5.2 (electrical)";
        "reserved" => Reserved: "a circuit of its own, as fast as the link it replaces and as long as the backup", "GMPLS paper, section 5.3 (optical)";
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
    /// The group of flows that is protected.
    pub flows: String,
    /// Who acts on a fault; `local` if left out.
    pub scheme: Option<SchemeKind>,
    /// The link whose failure is protected against; every link between the backup's ends if left out.
    pub link: Option<LinkRef>,
    /// The nodes of the backup path; the first and the last lie on the path of the flows.
    pub backup: Vec<String>,
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
    /// What the backup consists of; `shared` if left out.
    pub capacity: Option<CapacityKind>,
    /// What follows a repair; `none` if left out.
    pub revert: Option<RevertKind>,
    /// How long the working path must work before packets take it again; 0 s if left out.
    pub wait_to_restore: Option<Span>,
}

impl SchemeKind {
    /// What it stands for.
    pub(crate) const fn scheme(self) -> Scheme {
        match self {
            SchemeKind::Local => Scheme::Local,
            SchemeKind::Path => Scheme::Path,
            SchemeKind::LoopBack => Scheme::LoopBack,
            SchemeKind::LoopBackVariant => Scheme::LoopBackVariant,
            SchemeKind::OnePlusOne => Scheme::OnePlusOne,
            SchemeKind::OneToOne => Scheme::OneToOne,
            SchemeKind::Restoration => Scheme::Restoration,
        }
    }
}

impl RevertKind {
    /// What it stands for.
    pub(crate) const fn revert(self) -> Revert {
        match self {
            RevertKind::None => Revert::None,
            RevertKind::Electrical => Revert::Electrical,
            RevertKind::Optical => Revert::Optical,
            RevertKind::OpticalEmulated => Revert::OpticalEmulated,
        }
    }
}

/// The name of a scheme in files.
pub(crate) fn scheme_name(scheme: Scheme) -> &'static str {
    let kind = SchemeKind::ALL.iter().find(|kind| kind.scheme() == scheme);
    kind.expect("every scheme has a name").name()
}

/// The name of a reversion in files.
pub(crate) fn revert_name(revert: Revert) -> &'static str {
    let kind = RevertKind::ALL.iter().find(|kind| kind.revert() == revert);
    kind.expect("every reversion has a name").name()
}
