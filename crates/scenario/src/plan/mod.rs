//! A checked scenario, fully expanded: indices and unit types, no strings to look up.

mod faults;
mod flows;
mod forwarding;
mod observe;
mod planned;

use optcp_net::{Discipline, Hashing, QueueKind};
use optcp_optical::bundle::Selection;
use optcp_optical::burst::Assembly;
use optcp_optical::switching::{Conversion, Scheduling};
use optcp_routing::{Converge, Forwarding, Mechanism, Protect, TunnelTtl};
use optcp_tcp::config::Config;
use optcp_units::{Bytes, Duration, Rate, Time};

pub use faults::{
    CapacityKind, DetectionPlan, FailurePlan, LinkWay, Loses, LossPlan, ProtectionPlan, RiskPlan,
    Way,
};
pub use flows::{ArrivalsPlan, Carries, DrawnPlan, FlowPlan, ProcessPlan, TrafficPlan};
pub use forwarding::{ForwardingPlan, ForwardingStep};
pub use observe::{MeasurePlan, ObserveKind, ObservePlan};
pub use optcp_des::{Shape, Spread};
pub use optcp_routing::DirectedLink;
pub use planned::{ChangePlan, SchedulePlan, StepPlan, VoqPlan, WayPlan};

/// What a queue holds at most, the packet in transmission included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// This many packets of any size; at least one.
    Packets(u64),
    /// This much data; at least one packet of every flow that passes.
    Bytes(Bytes),
    /// Everything.
    Unlimited,
}

impl QueueLimit {
    /// Whether it lets no packet in at all, which no queue may.
    pub(crate) fn is_nothing(self) -> bool {
        matches!(self, Self::Packets(0)) || self == Self::Bytes(Bytes::ZERO)
    }
}

/// A count beyond what ports know is no limit.
impl From<QueueLimit> for optcp_net::QueueLimit {
    fn from(limit: QueueLimit) -> Self {
        match limit {
            QueueLimit::Packets(count) => {
                u32::try_from(count).map_or(Self::Unlimited, Self::Packets)
            }
            QueueLimit::Bytes(bytes) => Self::Bytes(bytes.count()),
            QueueLimit::Unlimited => Self::Unlimited,
        }
    }
}

/// A checked scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What the scenario is about.
    pub title: String,
    /// When the run ends.
    pub stop: Time,
    /// Whether it ends before that, at the first whole second at which every flow that is to end has ended.
    pub end_with_flows: bool,
    /// The part of the run that metrics cover; `None` is the whole run.
    pub measure: Option<MeasurePlan>,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// The number of each node: its place in its group, or among all nodes where it is in none.
    pub numbers: Vec<u32>,
    /// Attributes of links in the topology's file that look like a rate, which is not read.
    pub rates_not_read: Vec<String>,
    /// What of the topology's file is left out or added, in sentences.
    pub topology_notes: Vec<String>,
    /// The groups of nodes, as indices of their members.
    pub node_groups: Vec<(String, Vec<usize>)>,
    /// The links.
    pub links: Vec<LinkPlan>,
    /// What changes by plan, in the order of the file.
    pub schedules: Vec<SchedulePlan>,
    /// Links that share a risk, in the order of the file.
    pub risks: Vec<RiskPlan>,
    /// The bundles.
    pub bundles: Vec<BundlePlan>,
    /// How burst switches work; `None` without fibres.
    pub core: Option<CorePlan>,
    /// Links over which packets travel in bursts, in the order of the file.
    pub bursts: Vec<BurstsPlan>,
    /// How packets are routed; `None` if every flow has a path of its own.
    pub routing: Option<RoutingPlan>,
    /// Where nodes send packets, if that is written.
    pub forwarding: Option<ForwardingPlan>,
    /// Names of the flow groups.
    pub groups: Vec<String>,
    /// The class of each of them, for queues that tell classes apart.
    pub classes: Vec<u8>,
    /// The flows, entry by entry, member by member; then the routes from which runs draw flows, those of flows that come
    /// at random, and the sources of datagrams.
    pub flows: Vec<FlowPlan>,
    /// Flows that come at random, in the order of the file.
    pub arrivals: Vec<ArrivalsPlan>,
    /// Flows whose pairs each run draws, in the order of the file.
    pub drawn: Vec<DrawnPlan>,
    /// Groups of sources of datagrams, in the order of the file.
    pub traffic: Vec<TrafficPlan>,
    /// The TCP tables: those of the file in its order, then profiles that flows name directly.
    pub tcp: Vec<(String, Config)>,
    /// The losses in the order of the file.
    pub losses: Vec<LossPlan>,
    /// The failures in the order of the file.
    pub failures: Vec<FailurePlan>,
    /// The protections in the order of the file.
    pub protections: Vec<ProtectionPlan>,
    /// The observations in the order of the file.
    pub observe: Vec<ObservePlan>,
}

/// A link between two nodes: a port and a fibre in each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// Unique: "L1-L2", or the name that the file gives it.
    pub name: String,
    /// Whether the file names it; its ports are then called "name:L1->L2".
    pub named: bool,
    /// The two nodes, as indices.
    pub ends: [usize; 2],
    /// From the first end to the second, and back.
    pub directions: [PortPlan; 2],
    /// What routing takes each direction to cost.
    pub costs: [u32; 2],
    /// Whether both directions share one drawn delay: true unless `reverse` has a delay of its own.
    pub shared_delay: bool,
    /// The ports over which a circuit goes, whose delays it adds up, or the fibres of a route of bursts; none
    /// for a link.
    pub over: Vec<DirectedLink>,
    /// For a virtual output queue: what serves it.
    pub voq: Option<VoqPlan>,
    /// For a fibre of a core of burst switches: how many wavelengths it has in each direction.
    pub wavelengths: Option<u32>,
    /// How much each direction can reserve for backups beside its rate, if that is stated.
    pub spare: Option<Rate>,
    /// The entry of `[[links]]` that it comes from, for messages; `None` is `[topology]`, or a route of bursts.
    pub entry: Option<usize>,
}

impl LinkPlan {
    /// Whether it is no link of the network: a circuit of a backup, a route of bursts over fibres, or a virtual output queue.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        !self.over.is_empty() || self.voq.is_some()
    }
}

/// How the nodes between fibres switch bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorePlan {
    /// Which wavelength a burst reserves.
    pub scheduling: Scheduling,
    /// Whether switches change the wavelength of a burst.
    pub conversion: Conversion,
    /// How long each switch behind the edge works on a control packet.
    pub processing: Duration,
}

/// Parallel links that are one link to whoever routes, in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundlePlan {
    /// Unique among nodes, links and bundles.
    pub name: String,
    /// The two nodes, as indices.
    pub ends: [usize; 2],
    /// The ports from the first end to the second.
    pub members: Vec<DirectedLink>,
    /// How the node in front chooses a link for a packet.
    pub selection: Selection,
    /// From the failure or repair of a link until the nodes beside it choose without or with it.
    pub detection: Duration,
}

impl BundlePlan {
    /// Whether a link is in it.
    #[must_use]
    pub fn has(&self, link: usize) -> bool {
        self.members.iter().any(|&(member, _)| member == link)
    }

    /// The link that stands for all of them to routing.
    #[must_use]
    pub fn leader(&self) -> usize {
        self.members[0].0
    }

    /// The way through the bundle on which a port of it lies: 0 from its first end to its second, 1 back.
    pub fn way(&self, links: &[LinkPlan], (link, direction): DirectedLink) -> usize {
        usize::from(links[link].ends[direction] != self.ends[0])
    }

    /// The ports from the first end to the second (0) or back (1).
    pub fn ports(&self, way: usize) -> impl Iterator<Item = DirectedLink> {
        self.members.iter().map(move |&(link, direction)| (link, direction ^ way))
    }
}

/// A link over which packets travel in bursts, in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstsPlan {
    /// The link, as an index.
    pub link: usize,
    /// When a burst leaves.
    pub assembly: Assembly,
    /// How long the control packet goes ahead.
    pub offset: Duration,
    /// How likely a burst is lost in each direction, from 0 to 1; 0 on a route over fibres.
    pub probabilities: [f64; 2],
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct PortPlan {
    /// How fast packets are put on the line.
    pub rate: Rate,
    /// How long they travel.
    pub delay: Spread,
    /// How much longer a packet takes, drawn for each.
    pub jitter: Spread,
    /// Whether packets overtake each other by it.
    pub overtaking: bool,
    /// How many can wait.
    pub queue: QueueLimit,
    /// Which of them are taken, marked and sent next.
    pub discipline: Discipline,
}

impl PortPlan {
    /// Whether its queue has another discipline than drop-tail.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        self.discipline.kind() != QueueKind::DropTail
    }
}

/// Routers find shortest paths, and ways around what fails.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingPlan {
    /// How they find backups; `None` is without any.
    pub mechanism: Mechanism,
    /// What backups avoid.
    pub protect: Protect,
    /// From a failure until the routers beside it know.
    pub detection: Duration,
    /// From a repair until they know.
    pub detection_up: Duration,
    /// How long a known failure must last before it is announced.
    pub hold_down: Duration,
    /// When routers act on an announcement.
    pub converge: Converge,
    /// How long a router works on an announcement.
    pub flooding: Duration,
    /// How long it computes routes.
    pub spf: Duration,
    /// How long it takes to rewrite its table, drawn for each.
    pub update: Spread,
    /// How much longer after a failure routers keep their old tables.
    pub hold: Duration,
    /// What tunnels do to the time to live.
    pub ttl: TunnelTtl,
    /// How routers spread flows over next hops of equal cost; `None` is over one.
    pub ecmp: Option<Hashing>,
    /// The seed from which their hashes have theirs; `None` is that of the run.
    pub ecmp_seed: Option<u32>,
}

impl RoutingPlan {
    /// How every router forwards.
    #[must_use]
    pub fn forwarding(&self) -> Forwarding {
        let RoutingPlan { mechanism, protect, ecmp, .. } = *self;
        Forwarding { mechanism, protect, multipath: ecmp.is_some() }
    }
}

impl Plan {
    /// The fibres of the core of burst switches, both directions of each side by side.
    pub fn fibres(&self) -> impl Iterator<Item = DirectedLink> {
        let links = self.links.iter().enumerate();
        let fibres = links.filter(|(_, link)| link.wavelengths.is_some());
        fibres.flat_map(|(link, _)| [(link, 0), (link, 1)])
    }

    /// The bundle that a link stands for to routing, as an index.
    pub fn led_by(&self, link: usize) -> Option<usize> {
        self.bundles.iter().position(|bundle| bundle.leader() == link)
    }

    /// The number of the node to which a bundle at `place` of a flow's way leads its data (0) or ACKs (1):
    /// of the first node behind it, or of its end if the way ends there.
    #[must_use]
    pub fn destination(&self, flow: &FlowPlan, place: usize, direction: usize) -> u32 {
        let path = &flow.path;
        let node = match direction {
            0 => path[(place + 2).min(path.len() - 1)],
            _ => path[place.saturating_sub(1)],
        };
        self.numbers[node]
    }

    /// The name of a port: "L1->L2", or "name:L1->L2" on a named link.
    #[must_use]
    pub fn port_name(&self, (link, direction): DirectedLink) -> String {
        let LinkPlan { name, named, ends, .. } = &self.links[link];
        let (from, to) = (&self.nodes[ends[direction]], &self.nodes[ends[1 - direction]]);
        match named {
            true => format!("{name}:{from}->{to}"),
            false => format!("{from}->{to}"),
        }
    }
}
