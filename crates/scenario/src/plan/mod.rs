//! Checked and expanded scenario, with indices instead of names and with unit types.

mod buckets;
mod faults;
mod flows;
mod forwarding;
mod observe;
mod optical;
mod planned;

use std::collections::BTreeSet;

use optcp_net::{CLASSES, Discipline, Hashing, QueueKind};
use optcp_optical::bundle::Selection;
use optcp_optical::burst::{Assembly, BurstClass, BurstProtection};
use optcp_optical::switching::{Conversion, Scheduling};
use optcp_routing::{Converge, Forwarding, Mechanism, Protect, TunnelTtl};
use optcp_tcp::config::Config;
use optcp_units::{Bytes, Duration, Rate, Time};

pub use buckets::{BucketEffect, BucketPlan};
pub use faults::{
    CapacityKind, DetectionPlan, FailurePlan, LinkWay, Loses, LossPlan, ProtectionPlan, RiskPlan,
    Way,
};
pub use flows::{
    ApplicationPlan, ArrivalsPlan, Carries, ConnectionPlan, DrawnPlan, FlowPlan, ProcessPlan,
    TrafficPlan,
};
pub use forwarding::{ForwardingPlan, ForwardingStep};
pub use observe::{MeasurePlan, ObserveKind, ObservePlan};
pub use optcp_des::{Shape, Spread};
pub use optcp_routing::DirectedLink;
pub use optical::OpticalPlan;
pub use planned::{ChangePlan, SchedulePlan, StepPlan, VoqPlan, WayPlan};

/// Queue limit, including the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Number of packets of any size; at least one.
    Packets(u64),
    /// Amount of data; at least one packet of every flow that passes.
    Bytes(Bytes),
    /// Unlimited.
    Unlimited,
}

impl QueueLimit {
    /// Returns whether no packet fits, which is not allowed.
    pub(crate) fn is_nothing(self) -> bool {
        matches!(self, Self::Packets(0)) || self == Self::Bytes(Bytes::ZERO)
    }
}

/// Counts beyond the range of ports become unlimited.
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

/// Checked scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Title.
    pub title: String,
    /// End of the run.
    pub stop: Time,
    /// `true`: the run ends earlier, at the first whole second at which all flows of finite size have
    /// completed.
    pub end_with_flows: bool,
    /// Part of the run that metrics cover; `None` for the whole run.
    pub measure: Option<MeasurePlan>,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Number of each node: position in its group, or among all nodes if it has no group.
    pub numbers: Vec<u32>,
    /// Link attributes in the topology file that look like rates, which are ignored.
    pub rates_not_read: Vec<String>,
    /// Notes on elements of the topology file that were left out or added, as sentences.
    pub topology_notes: Vec<String>,
    /// Groups of nodes with the indices of their members.
    pub node_groups: Vec<(String, Vec<usize>)>,
    /// Links.
    pub links: Vec<LinkPlan>,
    /// Schedules, in the order of the file.
    pub schedules: Vec<SchedulePlan>,
    /// Shared risk link groups, in the order of the file.
    pub risks: Vec<RiskPlan>,
    /// Bundles.
    pub bundles: Vec<BundlePlan>,
    /// Fibres under the links; `None` without any.
    pub optical: Option<OpticalPlan>,
    /// Settings of burst switches; `None` without fibres.
    pub core: Option<CorePlan>,
    /// Links over which packets travel in bursts, in the order of the file.
    pub bursts: Vec<BurstsPlan>,
    /// Switches with queues at their inputs, in the order of the file.
    pub switches: Vec<SwitchPlan>,
    /// Routing; `None` if every flow has its own path.
    pub routing: Option<RoutingPlan>,
    /// Static forwarding, if any.
    pub forwarding: Option<ForwardingPlan>,
    /// Names of the flow groups.
    pub groups: Vec<String>,
    /// Traffic class of each flow group.
    pub classes: Vec<u8>,
    /// Flows by entry and member, then the routes of drawn pairs, of random arrivals, and of datagram
    /// sources.
    pub flows: Vec<FlowPlan>,
    /// Applications, in the order of the file.
    pub applications: Vec<ApplicationPlan>,
    /// Connections over several flows, in the order of the file.
    pub connections: Vec<ConnectionPlan>,
    /// Flows with random arrivals, in the order of the file.
    pub arrivals: Vec<ArrivalsPlan>,
    /// Flows whose pairs are drawn per run, in the order of the file.
    pub drawn: Vec<DrawnPlan>,
    /// Groups of datagram sources, in the order of the file.
    pub traffic: Vec<TrafficPlan>,
    /// TCP tables of the file in its order, then profiles that flows use directly.
    pub tcp: Vec<(String, Config)>,
    /// Losses, in the order of the file.
    pub losses: Vec<LossPlan>,
    /// Token buckets, in the order of the file.
    pub buckets: Vec<BucketPlan>,
    /// Failures, in the order of the file.
    pub failures: Vec<FailurePlan>,
    /// Protections, in the order of the file.
    pub protections: Vec<ProtectionPlan>,
    /// Observations, in the order of the file.
    pub observe: Vec<ObservePlan>,
}

/// Link between two nodes: a port and a fibre in each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// Unique name: "L1-L2", or the name in the file.
    pub name: String,
    /// `true`: the file names the link. Its ports have names such as "name:L1->L2".
    pub named: bool,
    /// The two nodes, as indices.
    pub ends: [usize; 2],
    /// Direction from the first end to the second, then the reverse.
    pub directions: [PortPlan; 2],
    /// Routing cost of each direction.
    pub costs: [u32; 2],
    /// `true`: both directions share one drawn delay, because `reverse` has no separate delay.
    pub shared_delay: bool,
    /// Ports of a circuit, whose delays add up, or fibres of a burst route; empty for other links.
    pub over: Vec<DirectedLink>,
    /// Paths of a virtual output queue; `None` for other links.
    pub voq: Option<VoqPlan>,
    /// Number of wavelengths per direction of a fibre; `None` for other links.
    pub wavelengths: Option<u32>,
    /// Capacity per direction that backups may reserve in addition to the rate; `None` for unlimited.
    pub spare: Option<Rate>,
    /// Entry of `[[links]]`, for messages; `None` for links of `[topology]` and burst routes.
    pub entry: Option<usize>,
}

impl LinkPlan {
    /// Returns whether it is a circuit of a backup, a burst route over fibres or a virtual output queue.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        !self.over.is_empty() || self.voq.is_some()
    }
}

/// Settings of the burst switches between fibres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorePlan {
    /// Algorithm that selects a wavelength for a burst.
    pub scheduling: Scheduling,
    /// Wavelength conversion in switches.
    pub conversion: Conversion,
    /// Processing time of a control packet in each switch after the ingress edge node.
    pub processing: Duration,
    /// Time from the failure of a fibre until the nodes at its ends detect it.
    pub detection: Duration,
    /// Delay of the delay line in each switch.
    pub delay_line: Duration,
    /// Whether bursts take wavelengths from lower classes.
    pub preemption: bool,
}

/// Bundle of parallel links that routing treats as one link, in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundlePlan {
    /// Name, unique among nodes, links and bundles.
    pub name: String,
    /// The two nodes, as indices.
    pub ends: [usize; 2],
    /// Ports from the first end to the second.
    pub members: Vec<DirectedLink>,
    /// Method by which the upstream node selects a link for each packet.
    pub selection: Selection,
    /// Time from a failure or repair of a link until the adjacent nodes exclude or include it.
    pub detection: Duration,
}

impl BundlePlan {
    /// Returns whether the bundle contains a link.
    #[must_use]
    pub fn has(&self, link: usize) -> bool {
        self.members.iter().any(|&(member, _)| member == link)
    }

    /// Returns the link that represents the bundle in routing.
    #[must_use]
    pub fn leader(&self) -> usize {
        self.members[0].0
    }

    /// Returns the direction of a port: 0 from the first end to the second, 1 for the reverse.
    pub fn way(&self, links: &[LinkPlan], (link, direction): DirectedLink) -> usize {
        usize::from(links[link].ends[direction] != self.ends[0])
    }

    /// Returns the ports of a direction: 0 from the first end to the second, 1 for the reverse.
    pub fn ports(&self, way: usize) -> impl Iterator<Item = DirectedLink> {
        self.members.iter().map(move |&(link, direction)| (link, direction ^ way))
    }
}

/// Switch with queues at its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchPlan {
    /// Node, as an index.
    pub node: usize,
    /// `true`: one queue per input.
    pub fifo: bool,
    /// Iterations of iSLIP per slot.
    pub iterations: u32,
    /// Data in a cell.
    pub cell: Bytes,
    /// Rate at which cells of an input cross.
    pub crossbar: Rate,
    /// Limit of each queue.
    pub queue: QueueLimit,
}

/// Separate bursts for each traffic class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstClassesPlan {
    /// Treatment of each class.
    pub each: [BurstClass; CLASSES],
    /// Classes in the order of the file.
    pub listed: Vec<u8>,
}

/// Link over which packets travel in bursts, in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct BurstsPlan {
    /// Entry of `[[bursts]]`, for messages.
    pub entry: usize,
    /// Link, as an index.
    pub link: usize,
    /// Burst assembly.
    pub assembly: Assembly,
    /// Time between a control packet and its burst.
    pub offset: Duration,
    /// Treatment of traffic classes; `None` if all classes share bursts.
    pub classes: Option<BurstClassesPlan>,
    /// Loss probability of a burst per direction, from 0 to 1; 0 on routes over fibres.
    pub probabilities: [f64; 2],
    /// Protection against failures of fibres.
    pub protection: BurstProtection,
    /// Routes beyond the working one, in both directions, in the order of [`optcp_optical::burst::BurstRoutes::all`].
    pub others: [Vec<Vec<DirectedLink>>; 2],
}

/// Direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct PortPlan {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Spread,
    /// Additional delay, drawn per packet.
    pub jitter: Spread,
    /// `true`: jitter may reorder packets.
    pub overtaking: bool,
    /// Queue limit.
    pub queue: QueueLimit,
    /// Queue discipline: acceptance, marking and order of packets.
    pub discipline: Discipline,
}

impl PortPlan {
    /// Returns whether the discipline is not drop-tail.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        self.discipline.kind() != QueueKind::DropTail
    }
}

/// IP routing and fast reroute.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingPlan {
    /// Fast-reroute mechanism; `None` for no backups.
    pub mechanism: Mechanism,
    /// Element that repair paths avoid.
    pub protect: Protect,
    /// Time from a failure until the adjacent routers detect it.
    pub detection: Duration,
    /// Time from a repair until the adjacent routers detect it.
    pub detection_up: Duration,
    /// Minimum duration of a detected failure before it is flooded.
    pub hold_down: Duration,
    /// Order in which routers update their FIBs.
    pub converge: Converge,
    /// Processing time of a failure report in each router.
    pub flooding: Duration,
    /// Duration of the route computation.
    pub spf: Duration,
    /// Duration of the FIB update, drawn per router.
    pub update: Spread,
    /// Additional time after a failure for which routers keep the old FIB.
    pub hold: Duration,
    /// Handling of the time to live by tunnels.
    pub ttl: TunnelTtl,
    /// Hash for next hops of equal cost; `None` for a single next hop.
    pub ecmp: Option<Hashing>,
    /// Seed of the hash functions; `None` for the seed of the run.
    pub ecmp_seed: Option<u32>,
}

impl RoutingPlan {
    /// Returns the forwarding method of every router.
    #[must_use]
    pub fn forwarding(&self) -> Forwarding {
        let RoutingPlan { mechanism, protect, ecmp, .. } = *self;
        Forwarding { mechanism, protect, multipath: ecmp.is_some() }
    }
}

/// Returns the maximum RTT of a full segment over these ports, and of its ACK back, without queueing.
pub(crate) fn round_trip(
    links: &[LinkPlan],
    tcp: Option<&Config>,
    hops: &[DirectedLink],
) -> Duration {
    let (data, ack) = tcp.map_or((0, 0), |config| {
        (config.mss.count() + config.header.count(), config.ack_size.count())
    });
    let takes = |bytes: u64, rate: Rate| rate.transmission_time(Bytes::new(bytes));
    hops.iter().fold(Duration::ZERO, |sum, &(link, way)| {
        let [there, back] = [way, 1 - way].map(|way| &links[link].directions[way]);
        sum + there.delay.long()
            + back.delay.long()
            + takes(data, there.rate)
            + takes(ack, back.rate)
    })
}

impl Plan {
    /// Returns the maximum RTT of a full segment of a flow and its ACK without queueing.
    pub(crate) fn round_trip(&self, flow: &FlowPlan) -> Duration {
        round_trip(&self.links, flow.tcp.map(|tcp| &self.tcp[tcp].1), &flow.hops)
    }

    /// Returns the groups with flows of finite size, which have completion times.
    #[must_use]
    pub fn finite_groups(&self) -> BTreeSet<usize> {
        let flows = self.flows.iter().filter(|flow| flow.is_finite()).map(|flow| flow.group);
        let finite = self.connections.iter().filter(|connection| connection.size.is_some());
        flows.chain(finite.map(|connection| connection.group)).collect()
    }

    /// Returns whether the optical layer may end a failure before its repair.
    pub(crate) fn may_recover(&self, failure: &FailurePlan) -> bool {
        self.optical.as_ref().is_some_and(|optical| optical.may_recover(failure))
    }

    /// Returns the fibres of the burst-switched core, with the two directions of each next to each other.
    pub fn fibres(&self) -> impl Iterator<Item = DirectedLink> {
        let links = self.links.iter().enumerate();
        let fibres = links.filter(|(_, link)| link.wavelengths.is_some());
        fibres.flat_map(|(link, _)| [(link, 0), (link, 1)])
    }

    /// Returns whether fibres of the burst-switched core fail.
    #[must_use]
    pub fn fibres_fail(&self) -> bool {
        self.failures.iter().any(|failure| self.links[failure.link].wavelengths.is_some())
    }

    /// Returns the index of the bundle that a link represents in routing.
    pub fn led_by(&self, link: usize) -> Option<usize> {
        self.bundles.iter().position(|bundle| bundle.leader() == link)
    }

    /// Returns the destination number of a bundle at `place` of a flow's path, for data (0) or ACKs
    /// (1). It is the number of the first node after the bundle, or of its end if the path ends
    /// there.
    #[must_use]
    pub fn destination(&self, flow: &FlowPlan, place: usize, direction: usize) -> u32 {
        let path = &flow.path;
        let node = match direction {
            0 => path[(place + 2).min(path.len() - 1)],
            _ => path[place.saturating_sub(1)],
        };
        self.numbers[node]
    }

    /// Returns the name of a port: "L1->L2", or "name:L1->L2" for a named link.
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
