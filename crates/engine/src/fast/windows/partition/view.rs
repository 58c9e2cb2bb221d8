//! View of the network for the partition: destinations of packets under the current labels.

use optcp_net::{Hop, Label, LabelTable, Packet, PortId};
use optcp_optical::bundle::Bundle;
use optcp_tcp::config::Repath;

use super::super::policy::NoWindowsReason;
use super::super::vertices::{Vertex, Vertices};
use crate::datagrams::Datagrams;
use crate::fast::eager::{Feeder, Feeders};
use crate::fast::forwarding::{Entry, Forwarding};
use crate::fast::port::Ports;
use crate::flow::{ReceivingEnd, SendingEnd};
use crate::model::Model;

/// Parts of an engine and its model from which a partition is computed.
#[derive(Clone, Copy, Debug)]
pub(in crate::fast::windows) struct NetworkView<'a> {
    pub(super) ports: &'a Ports,
    pub(super) forwarding: &'a Forwarding,
    pub(super) feeders: &'a Feeders,
    pub(super) labels: &'a LabelTable,
    pub(super) receivers: &'a [ReceivingEnd],
    pub(super) vertices: Vertices,
    senders: &'a [SendingEnd],
    sources: &'a [Datagrams],
    bundles: &'a [Bundle],
    /// Whether the run has schedules or queues with several paths.
    has_plans: bool,
    has_bursts: bool,
    has_crossbars: bool,
    has_applications: bool,
    /// Whether ECMP hashes flow labels that may change.
    has_repathing: bool,
    has_connections: bool,
}

impl<'a> NetworkView<'a> {
    pub(in crate::fast::windows) fn new<O>(
        model: &'a Model<O>,
        forwarding: &'a Forwarding,
        feeders: &'a Feeders,
        ports: &'a Ports,
    ) -> Self {
        NetworkView {
            ports,
            forwarding,
            feeders,
            labels: &model.labels,
            receivers: &model.receivers,
            vertices: Vertices::new(ports.len()),
            senders: &model.senders,
            sources: &model.datagrams,
            bundles: &model.bundles,
            has_plans: model.schedule_state.is_active(),
            has_bursts: !model.assemblers.is_empty(),
            has_crossbars: !model.crossbars.is_empty(),
            has_applications: model.applications.is_some(),
            has_repathing: model.labels.has_keys()
                && model.senders.iter().any(|end| end.sender.config().repath != Repath::None),
            has_connections: !model.connections.is_empty(),
        }
    }

    /// Returns an error for runs with events that affect vertices anywhere.
    pub(super) fn check(&self) -> Result<(), NoWindowsReason> {
        match self {
            NetworkView { has_bursts: true, .. } => Err(NoWindowsReason::Bursts),
            NetworkView { has_crossbars: true, .. } => Err(NoWindowsReason::Crossbars),
            NetworkView { has_applications: true, .. } => Err(NoWindowsReason::Applications),
            NetworkView { has_repathing: true, .. } => Err(NoWindowsReason::Repathing),
            NetworkView { has_plans: true, .. } => Err(NoWindowsReason::Schedules),
            NetworkView { has_connections: true, .. } => Err(NoWindowsReason::Connections),
            _ => Ok(()),
        }
    }

    /// Returns the number of flows and sources.
    pub(super) fn flows(&self) -> usize {
        self.feeders.delivered.len()
    }

    /// Returns the number of ports and endpoints.
    pub(super) fn vertex_count(&self) -> usize {
        self.vertices.count(self.flows())
    }

    /// Returns the ends of flows and sources: (flow, whether it receives).
    pub(super) fn ends(&self) -> impl Iterator<Item = (usize, bool)> + use<> {
        (0..self.flows()).flat_map(|flow| [(flow, false), (flow, true)])
    }

    /// Returns whether an end is a sink, which sends nothing and has no timers.
    pub(super) fn is_sink(&self, flow: usize, receives: bool) -> bool {
        receives && flow >= self.senders.len()
    }

    /// Returns whether an end is a source.
    pub(super) fn is_source(&self, flow: usize, receives: bool) -> bool {
        !receives && flow >= self.senders.len()
    }

    /// Returns the label under which an end of a flow or source sends.
    pub(super) fn first_label(&self, flow: usize, receives: bool) -> Option<Label> {
        match (flow.checked_sub(self.senders.len()), receives) {
            (None, false) => Some(self.senders[flow].data),
            (None, true) => Some(self.receivers[flow].acks),
            (Some(source), false) => Some(self.sources[source].data),
            (Some(_), true) => None,
        }
    }

    /// Returns whether a packet can reach an end.
    pub(super) fn is_reached(&self, flow: usize, receives: bool) -> bool {
        self.feeders.delivered[flow][usize::from(!receives)] != Feeder::None
    }

    /// Returns the port whose packets an end takes early, if any.
    pub(super) fn early_feeder(&self, flow: usize, receives: bool) -> Option<usize> {
        match self.feeders.delivered[flow][usize::from(!receives)] {
            Feeder::One(port) if self.forwarding.delivers_to(flow, receives) => Some(port as usize),
            _ => None,
        }
    }

    /// Returns the port or endpoint that is the only feeder of a port, if any.
    pub(super) fn only_feeder(&self, port: usize) -> Option<Vertex> {
        match self.feeders.by_port[port] {
            // Larger numbers denote selectors, bridges and bundles.
            Feeder::One(feeder) if (feeder as usize) < self.vertex_count() => {
                Some(self.vertices.at(feeder as usize))
            }
            _ => None,
        }
    }

    /// Returns the labels that packets may carry at a node.
    pub(super) fn reached_labels(&self) -> impl Iterator<Item = Label> {
        let labels = (0..).zip(&self.feeders.reached);
        labels.filter(|(_, reached)| **reached).map(|(number, _)| Label(number))
    }

    /// Returns the candidate output ports of a packet under `label` and its label behind them; no ports if it is not
    /// forwarded.
    pub(super) fn next_ports(&self, label: Label) -> (Vec<usize>, Label) {
        let entry = self.forwarding.at(label);
        match entry.port() {
            Entry::BUNDLE => {
                let bundle_hop = self.labels.bundle_hop(entry.next());
                let members = self.bundles[bundle_hop.bundle as usize].members();
                (members.iter().map(|port| port.index()).collect(), bundle_hop.next)
            }
            port if entry.is_port() => (vec![port.index()], Label(entry.next())),
            _ => (Vec::new(), label),
        }
    }

    /// Returns the labels that ECMP may assign instead of `label`, or `label` itself without ECMP.
    pub(super) fn ecmp_labels(&self, label: Label) -> Vec<Label> {
        if !self.is_ecmp(label) {
            return vec![label];
        }
        let next_hops = self.labels.leads_to(Hop::Ecmp(self.forwarding.at(label).next()));
        next_hops.into_iter().flat_map(|(_, next)| self.ecmp_labels(next)).collect()
    }

    /// Returns the label that ECMP assigns to a packet with hash `key`.
    pub(super) fn ecmp_label(&self, label: Label, key: u64) -> Label {
        if !self.is_ecmp(label) {
            return label;
        }
        let next = self.labels.ecmp_by_key(self.forwarding.at(label).next(), key);
        self.ecmp_label(next, key)
    }

    /// Returns whether a node applies ECMP to a label.
    pub(super) fn is_ecmp(&self, label: Label) -> bool {
        self.forwarding.at(label).port() == Entry::ECMP
    }

    /// Returns whether packets of a label are delivered.
    pub(super) fn delivers(&self, label: Label) -> bool {
        self.forwarding.at(label).port() == Entry::DELIVER
    }

    /// Returns whether a label leads to a selector or a bridge.
    pub(super) fn is_special(&self, label: Label) -> bool {
        self.forwarding.at(label).port() == Entry::SPECIAL && !self.discards(label)
    }

    fn discards(&self, mut label: Label) -> bool {
        while let Hop::Goto(next) = self.labels.hop(label) {
            label = next;
        }
        matches!(self.labels.hop(label), Hop::Discard(_))
    }

    /// Returns the vertex at which a packet waits for its event; `None` if it is lost.
    pub(super) fn vertex_of(&self, packet: Packet) -> Option<usize> {
        let label = self.ecmp_labels(packet.label)[0];
        let port = self.next_ports(label).0.first().copied();
        let end = || self.vertices.end(packet.flow().index(), !packet.is_ack());
        port.or_else(|| self.delivers(label).then(end))
    }

    /// Returns the packets in stepped ports, with their port.
    pub(super) fn packets_in_stepped_ports(&self) -> impl Iterator<Item = (PortId, Packet)> {
        self.ports.stepped().flat_map(|(id, port)| port.inside().map(move |packet| (id, packet)))
    }
}
