//! Losses, failures and protection in the plan.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use optcp_des::Spread;
use optcp_net::{Lossy, Spoils};
use optcp_optical::protection::{CommandAt, Revert, Scheme};
use optcp_routing::DirectedLink;
use optcp_units::{Duration, Time};

use super::FlowPlan;

/// Loss of packets at the entry of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct LossPlan {
    /// Port.
    pub hop: DirectedLink,
    /// Lost packets.
    pub loses: Loses,
}

/// Loss model.
#[derive(Clone, Debug, PartialEq)]
pub enum Loses {
    /// Listed segments.
    Scripted {
        /// Flows, as indices.
        flows: Vec<usize>,
        /// Segments.
        segments: Vec<u32>,
        /// Lost transmission of each segment, counted from 1.
        transmission: u32,
    },
    /// Independent losses with equal probability.
    Independent {
        /// Affected packets.
        lossy: Lossy,
        /// Probability, from 0 to 1.
        probability: f64,
    },
    /// Every n-th packet.
    Periodic {
        /// Affected packets.
        lossy: Lossy,
        /// n.
        period: NonZeroU32,
    },
    /// Gilbert-Elliott model.
    GilbertElliott {
        /// Affected packets.
        lossy: Lossy,
        /// Transition probabilities per packet: good to bad, bad to good.
        turns: [f64; 2],
        /// Loss probabilities in the good and the bad state.
        loses: [f64; 2],
    },
    /// Corruption on the line.
    Corruption {
        /// Affected packets.
        lossy: Lossy,
        /// Corruption probability.
        spoils: Spoils,
    },
    /// Duplication; no packet is lost.
    Duplication {
        /// Affected packets.
        lossy: Lossy,
        /// Probability, from 0 to 1.
        probability: f64,
    },
}

impl Loses {
    /// Returns the mean share of 1500-byte packets that are lost at random; `None` for scripted losses.
    #[must_use]
    pub fn random_share(&self) -> Option<f64> {
        match *self {
            Loses::Scripted { .. } | Loses::Periodic { .. } | Loses::Duplication { .. } => None,
            Loses::Corruption { spoils, .. } => Some(spoils.probability(1500)),
            Loses::Independent { probability, .. } => Some(probability),
            Loses::GilbertElliott { turns: [p, r], loses: [good, bad], .. } => {
                Some((r * good + p * bad) / (p + r))
            }
        }
    }
}

/// Failure of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct FailurePlan {
    /// Link, as an index.
    pub link: usize,
    /// Failing directions.
    pub directions: [bool; 2],
    /// `true`: packets on the link still arrive.
    pub kept: bool,
    /// Time of the failure.
    pub at: Time,
    /// Time of the repair; `None` for never.
    pub repair: Option<Time>,
    /// Delay of both times, drawn per run and equal for all links of an entry.
    pub later: Spread,
    /// Entry of the file.
    pub entry: usize,
    /// Instead of `at` and `repair`: mean times to failure and to repair, exponentially distributed.
    pub process: Option<[Duration; 2]>,
    /// `true`: a fibre of the link fails. A run replaces such failures, since lightpaths may recover earlier.
    pub of_fibre: bool,
}

impl FailurePlan {
    /// Returns whether its times are drawn per run.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        self.process.is_some() || self.later != Spread::ZERO
    }
}

/// Shared risk link group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RiskPlan {
    /// Name.
    pub name: String,
    /// Links, as indices.
    pub links: Vec<usize>,
    /// Fibres of `[optical]`, as indices; empty if the links fail themselves.
    pub fibres: Vec<usize>,
}

/// Failure detection by the adjacent nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectionPlan {
    /// Fixed delay after the failure, for data and for ACKs.
    After([Duration; 2]),
    /// Missing hello packets.
    Hello {
        /// Time between two hello packets.
        interval: Duration,
        /// Number of missing hello packets that indicates a failure.
        multiplier: u32,
    },
}

optcp_units::registry! {
    /// Capacity of backups.
    pub enum CapacityKind ("backup-capacity") {
        "shared" => Shared: "uses the links of the backup, with their queues and other traffic", "GMPLS paper, section 5.2 (electrical)";
        "reserved" => Reserved: "uses a circuit with the delay of the backup; its rate is `rate`, or the flows' share, among flows with reserved backups, of the slowest link of the working path", "GMPLS paper, section 5.3 (optical)";
        "line-rate" => LineRate: "uses one circuit per path, with the full rate of the replaced link, however many paths share that link", "OpTCP";
    }
}

/// Backup path of flows in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectionPlan {
    /// Entry of the file.
    pub entry: usize,
    /// Flow group, as an index; `None` if a link is protected for all routed traffic.
    pub group: Option<usize>,
    /// Protected flows of the group, as indices.
    pub flows: Vec<usize>,
    /// Without a group: path over the link, from its first end to its second.
    pub link: Option<LinkWay>,
    /// Protection scheme.
    pub scheme: Scheme,
    /// Protected link, or all links of the protected bundle, as indices. Empty: all links that the backup
    /// bypasses.
    pub links: Vec<usize>,
    /// Nodes of the backup path in the direction of the data, ends included.
    pub backup: Vec<usize>,
    /// Ports of the backup path in the direction of the data.
    pub hops: Vec<DirectedLink>,
    /// Capacity of the backup.
    pub capacity: CapacityKind,
    /// Circuits of a reserved backup, as links, by the ports that they use.
    pub circuits: BTreeMap<Vec<DirectedLink>, usize>,
    /// Failure detection.
    pub detection: DetectionPlan,
    /// Minimum duration of a detected failure.
    pub hold_off: Duration,
    /// Processing time per message and node.
    pub signal_processing: Duration,
    /// Duration of the route computation.
    pub computation: Duration,
    /// Reversion after a repair.
    pub revert: Revert,
    /// Minimum time that the working path must be repaired before reversion.
    pub wait_to_restore: Duration,
    /// Maximum time that a packet waits for earlier ones; `None` if a selector passes one path.
    pub resequencing: Option<Duration>,
    /// Commands of the operator, in order of time.
    pub commands: Vec<CommandAt>,
}

/// Path over one link or one bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkWay {
    /// Ends.
    pub path: [usize; 2],
    /// Port; the first one of a bundle.
    pub hops: [DirectedLink; 1],
    /// The bundle, if any: as [`FlowPlan::bundles`].
    pub bundles: BTreeMap<usize, usize>,
}

/// Path of which a backup may bypass a part: a flow's path, or a single link.
#[derive(Clone, Copy, Debug)]
pub struct Way<'p> {
    /// Nodes.
    pub path: &'p [usize],
    /// Ports between the nodes.
    pub hops: &'p [DirectedLink],
    /// Positions of the ports that represent a whole bundle.
    pub bundles: &'p BTreeMap<usize, usize>,
}

impl<'p> From<&'p FlowPlan> for Way<'p> {
    fn from(flow: &'p FlowPlan) -> Self {
        Way { path: &flow.path, hops: &flow.hops, bundles: &flow.bundles }
    }
}

impl<'p> From<&'p LinkWay> for Way<'p> {
    fn from(link: &'p LinkWay) -> Self {
        Way { path: &link.path, hops: &link.hops, bundles: &link.bundles }
    }
}

impl ProtectionPlan {
    /// Returns the paths of which the backup bypasses a part: its flows' paths, or its link.
    pub fn ways<'p>(&'p self, flows: &'p [FlowPlan]) -> impl Iterator<Item = Way<'p>> {
        let of_flows = self.flows.iter().map(|&flow| Way::from(&flows[flow]));
        of_flows.chain(self.link.as_ref().map(Way::from))
    }
}
