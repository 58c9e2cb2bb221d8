//! Plan under construction, shared by all checks.

use optcp_tcp::Config;
use optcp_units::Time;

use crate::plan::{
    ApplicationPlan, ArrivalsPlan, BucketPlan, BurstsPlan, ConnectionPlan, CorePlan, DrawnPlan,
    FailurePlan, FlowPlan, ForwardingPlan, LossPlan, MeasurePlan, ObservePlan, OpticalPlan, Plan,
    ProtectionPlan, RiskPlan, RoutingPlan, SchedulePlan, SwitchPlan, TrafficPlan,
};

use super::network::Network;

/// Contents of the future plan except the network, which is complete only after all checks. Until then,
/// nodes, links and bundles are in [`Network`].
#[derive(Default)]
pub(super) struct Draft {
    pub(super) stop: Time,
    pub(super) end_with_flows: bool,
    pub(super) measure: Option<MeasurePlan>,
    pub(super) optical: Option<OpticalPlan>,
    pub(super) core: Option<CorePlan>,
    pub(super) bursts: Vec<BurstsPlan>,
    pub(super) switches: Vec<SwitchPlan>,
    pub(super) routing: Option<RoutingPlan>,
    pub(super) forwarding: Option<ForwardingPlan>,
    pub(super) groups: Vec<String>,
    pub(super) classes: Vec<u8>,
    pub(super) flows: Vec<FlowPlan>,
    pub(super) applications: Vec<ApplicationPlan>,
    pub(super) connections: Vec<ConnectionPlan>,
    pub(super) arrivals: Vec<ArrivalsPlan>,
    pub(super) drawn: Vec<DrawnPlan>,
    pub(super) traffic: Vec<TrafficPlan>,
    pub(super) tcp: Vec<(String, Config)>,
    pub(super) losses: Vec<LossPlan>,
    pub(super) buckets: Vec<BucketPlan>,
    pub(super) schedules: Vec<SchedulePlan>,
    pub(super) risks: Vec<RiskPlan>,
    pub(super) failures: Vec<FailurePlan>,
    pub(super) protections: Vec<ProtectionPlan>,
    pub(super) observe: Vec<ObservePlan>,
}

impl Draft {
    /// Returns whether packets travel over a link in bursts.
    pub(super) fn in_bursts(&self, link: usize) -> bool {
        self.bursts.iter().any(|bursts| bursts.link == link)
    }

    pub(super) fn finished(self, title: &str, network: Network) -> Plan {
        Plan {
            title: title.to_owned(),
            stop: self.stop,
            end_with_flows: self.end_with_flows,
            measure: self.measure,
            numbers: network.numbers(),
            rates_not_read: network.rates_not_read,
            topology_notes: network.topology_notes,
            nodes: network.nodes,
            node_groups: network.group.into_iter().collect(),
            schedules: self.schedules,
            risks: self.risks,
            links: network.links,
            bundles: network.bundles,
            optical: self.optical,
            core: self.core,
            bursts: self.bursts,
            switches: self.switches,
            routing: self.routing,
            forwarding: self.forwarding,
            groups: self.groups,
            classes: self.classes,
            flows: self.flows,
            applications: self.applications,
            connections: self.connections,
            arrivals: self.arrivals,
            drawn: self.drawn,
            traffic: self.traffic,
            tcp: self.tcp,
            losses: self.losses,
            buckets: self.buckets,
            failures: self.failures,
            protections: self.protections,
            observe: self.observe,
        }
    }
}
