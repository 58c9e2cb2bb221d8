//! What is lost, what fails, and what protection does about it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use optcp_des::Spread;
use optcp_net::{Lossy, Spoils};
use optcp_optical::protection::{Revert, Scheme};
use optcp_routing::DirectedLink;
use optcp_units::{Duration, Time};

use super::FlowPlan;

/// Packets that are lost at the entry of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct LossPlan {
    /// The port.
    pub hop: DirectedLink,
    /// Which packets are lost.
    pub loses: Loses,
}

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq)]
pub enum Loses {
    /// Segments by name.
    Scripted {
        /// The flows, as indices.
        flows: Vec<usize>,
        /// The segments.
        segments: Vec<u32>,
        /// Which transmission of each is lost, from 1.
        transmission: u32,
    },
    /// Each packet with the same probability.
    Independent {
        /// Which packets.
        lossy: Lossy,
        /// From 0 to 1.
        probability: f64,
    },
    /// Every n-th packet.
    Periodic {
        /// Which packets.
        lossy: Lossy,
        /// n.
        period: NonZeroU32,
    },
    /// In bursts.
    GilbertElliott {
        /// Which packets.
        lossy: Lossy,
        /// How likely a packet finds a good line turned bad, and a bad one turned good.
        turns: [f64; 2],
        /// How likely a packet is lost on a good line, and on a bad one.
        loses: [f64; 2],
    },
    /// Spoilt on the line.
    Corruption {
        /// Which packets.
        lossy: Lossy,
        /// How likely.
        spoils: Spoils,
    },
    /// None: packets come twice.
    Duplication {
        /// Which packets.
        lossy: Lossy,
        /// From 0 to 1.
        probability: f64,
    },
}

impl Loses {
    /// The share of packets, of 1500 B, that are lost at random, in the mean; `None` where it is known which ones are.
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

/// A link that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct FailurePlan {
    /// The link, as an index.
    pub link: usize,
    /// Which of its directions.
    pub directions: [bool; 2],
    /// Whether packets that are on it still arrive.
    pub kept: bool,
    /// When it fails.
    pub at: Time,
    /// When it works again; `None` is never.
    pub repair: Option<Time>,
    /// How much later both are: drawn for each run, and the same for all links of an entry of the file.
    pub later: Spread,
    /// Which entry of the file.
    pub entry: usize,
    /// In place of `at` and `repair`: mean times until it fails and until it works again, exponentially distributed.
    pub process: Option<[Duration; 2]>,
}

/// Links that share a risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RiskPlan {
    /// Its name.
    pub name: String,
    /// The links, as indices.
    pub links: Vec<usize>,
}

/// How the nodes beside a failure learn of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectionPlan {
    /// So long after it, for data and for ACKs.
    After([Duration; 2]),
    /// By hello packets that are missing.
    Hello {
        /// From one to the next.
        interval: Duration,
        /// How many must be missing.
        multiplier: u32,
    },
}

optcp_units::registry! {
    /// What backups consist of.
    pub enum CapacityKind ("backup-capacity") {
        "shared" => Shared: "the links of the backup, with their queues and whatever else passes them", "GMPLS paper, section 5.2 (electrical)";
        "reserved" => Reserved: "a circuit as long as the backup, with `rate`, or with the share of the working path's slowest link that its flows have among those with reserved backups", "GMPLS paper, section 5.3 (optical)";
        "line-rate" => LineRate: "a circuit per path with the whole rate of the link that it replaces, however many paths share that link", "OpTCP";
    }
}

/// A backup path that flows of a group are switched to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectionPlan {
    /// The entry of the file.
    pub entry: usize,
    /// The flow group, as an index; `None` if a link is protected for all that routers send over it.
    pub group: Option<usize>,
    /// The protected flows of the group, as indices.
    pub flows: Vec<usize>,
    /// Without a group: the way over the link, from its first end to its second.
    pub link: Option<LinkWay>,
    /// Who acts.
    pub scheme: Scheme,
    /// The protected link, or all links of the protected bundle, as indices; none stands for everything that
    /// the backup goes around.
    pub links: Vec<usize>,
    /// The nodes of the backup path in the direction of the data, ends included.
    pub backup: Vec<usize>,
    /// The ports of the backup path in the direction of the data.
    pub hops: Vec<DirectedLink>,
    /// What the backup consists of.
    pub capacity: CapacityKind,
    /// The circuits of a reserved backup, as links, by the ports whose way they go.
    pub circuits: BTreeMap<Vec<DirectedLink>, usize>,
    /// How failures are known.
    pub detection: DetectionPlan,
    /// How long a known failure must last.
    pub hold_off: Duration,
    /// How long a node works on a message.
    pub signal_processing: Duration,
    /// How long it takes to find a route.
    pub computation: Duration,
    /// What follows a repair.
    pub revert: Revert,
    /// How long the working path must work before packets take it again.
    pub wait_to_restore: Duration,
}

/// The way over one link, or over a bundle that is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkWay {
    /// Its ends.
    pub path: [usize; 2],
    /// The port, of a bundle the first one.
    pub hops: [DirectedLink; 1],
    /// The bundle, if it is one: as [`FlowPlan::bundles`].
    pub bundles: BTreeMap<usize, usize>,
}

/// A way around a part of which a backup may lead: a flow's, or that over a link.
#[derive(Clone, Copy, Debug)]
pub struct Way<'p> {
    /// The nodes.
    pub path: &'p [usize],
    /// The ports between them.
    pub hops: &'p [DirectedLink],
    /// Which of them, by place, stand for a bundle.
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
    /// The ways around a part of which the backup leads: those of its flows, or that over its link.
    pub fn ways<'p>(&'p self, flows: &'p [FlowPlan]) -> impl Iterator<Item = Way<'p>> {
        let of_flows = self.flows.iter().map(|&flow| Way::from(&flows[flow]));
        of_flows.chain(self.link.as_ref().map(Way::from))
    }
}
