//! Flows whose packets come from outside the simulation.

use optcp_engine::{Blueprint, ExternalSpec};
use optcp_net::FlowId;
use optcp_scenario::Plan;
use optcp_units::{Bytes, Duration, Time};

/// Flow whose packets come from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFlow {
    /// Name.
    pub name: String,
    /// Group.
    pub group: String,
    /// TCP table.
    pub tcp: String,
    /// Nodes of the sender and of the receiver, as indices.
    pub nodes: [usize; 2],
    /// Sources of packets from the sender and from the receiver.
    pub sources: [FlowId; 2],
    /// Start time in the scenario.
    pub start: Time,
    /// Amount of data in the scenario; `None` for unlimited.
    pub size: Option<Bytes>,
    /// Size of a full segment with its headers.
    pub mtu: Bytes,
}

/// Reason why packets of a flow cannot come from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotExternal {
    /// The flow belongs to an application.
    Application,
    /// The scenario has connections over several paths.
    Multipath,
    /// Flows arrive at random.
    Arrivals,
}

impl ExternalFlow {
    /// Replaces the flows between the chosen nodes by external sources: they never start.
    ///
    /// # Errors
    /// Returns the name of the first flow that cannot be replaced, and the reason.
    pub(crate) fn replace(
        plan: &Plan,
        blueprint: &mut Blueprint,
        nodes: &[usize],
    ) -> Result<Vec<Self>, (String, NotExternal)> {
        let mut first = blueprint.flows.len() + blueprint.datagrams.len();
        let mut replaced = Vec::new();
        let mut classes = Vec::new();
        for (flow, spec) in FlowId::all().zip(&mut blueprint.flows) {
            let planned = &plan.flows[flow.index()];
            let ends = [planned.path[0], planned.path[planned.path.len() - 1]];
            if !ends.iter().all(|end| nodes.contains(end)) {
                continue;
            }
            let reason = if !plan.connections.is_empty() {
                Some(NotExternal::Multipath)
            } else if !plan.arrivals.is_empty() {
                Some(NotExternal::Arrivals)
            } else {
                planned.application.map(|_| NotExternal::Application)
            };
            if let Some(reason) = reason {
                return Err((planned.name.clone(), reason));
            }
            let mss = spec.config.mss.count();
            replaced.push(ExternalFlow {
                name: planned.name.clone(),
                group: plan.groups[planned.group].clone(),
                tcp: planned.tcp.map(|tcp| plan.tcp[tcp].0.clone()).unwrap_or_default(),
                nodes: ends,
                sources: [FlowId::at(first), FlowId::at(first + 1)],
                start: spec.start,
                size: spec.segments.map(|segments| Bytes::new(u64::from(segments) * mss)),
                mtu: spec.config.segment_wire_size(),
            });
            first += 2;
            classes.extend([plan.classes[planned.group]; 2]);
            blueprint.externals.extend([
                ExternalSpec { label: spec.data, data_of: Some(flow) },
                ExternalSpec { label: spec.acks, data_of: None },
            ]);
            blueprint.labels.add_key_of(flow, false);
            blueprint.labels.add_key_of(flow, true);
            spec.start = plan.stop + Duration::from_ps(1);
            spec.segments = None;
            spec.writes.clear();
        }
        let managed = blueprint.ports.iter_mut().filter_map(|(port, _)| port.managed.as_mut());
        for queue in managed.filter(|queue| !queue.classes.is_empty()) {
            queue.classes = queue.classes.iter().chain(&classes).copied().collect();
        }
        blueprint.assemblers.iter_mut().for_each(|assembler| assembler.add_classes(&classes));
        Ok(replaced)
    }
}
