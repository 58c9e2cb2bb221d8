//! Input of a run: network, traffic and everything that changes at a given time.

use std::collections::BTreeSet;
use std::sync::Arc;

use optcp_des::Stream;
use optcp_net::schedule::Schedule;
use optcp_net::{
    Action, Control, Crossbar, FlowId, Hop, Jitter, Label, LabelTable, Loss, PortConfig, PortId,
    SelectorId,
};
use optcp_optical::bundle::Bundle;
use optcp_optical::burst::Assembler;
use optcp_optical::switching::BurstCore;
use optcp_tcp::Config;
use optcp_tcp::multipath::MultipathConfig;
use optcp_traffic::{PacketSize, Process};
use optcp_units::{Bytes, Codepoint, Duration, Time};

use crate::{ApplicationsSpec, ExternalSpec};

/// One TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// TCP parameters of both ends.
    pub config: Arc<Config>,
    /// Number of full segments to transfer; `None` for a long-lived flow.
    pub segments: Option<u32>,
    /// Data that the application writes after the start: time and number of segments.
    pub writes: Vec<(Time, u32)>,
    /// Start time.
    pub start: Time,
    /// Value of the sender's clock at time zero.
    pub clock_phase: Duration,
    /// Value of the receiver's clock at time zero.
    pub ack_clock_phase: Duration,
    /// Label of data segments when they enter the network.
    pub data: Label,
    /// Label of ACKs when they enter the network.
    pub acks: Label,
    /// Queue that notifies the sender of its current path.
    pub notified_by: Option<PortId>,
}

/// Connection over several subflows, which are consecutive flows with equal parameters. The connection has the data: its
/// subflows have neither `segments` nor `writes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSpec {
    /// First subflow.
    pub first: FlowId,
    /// Number of subflows.
    pub subflows: usize,
    /// Parameters.
    pub config: MultipathConfig,
    /// Number of full segments to transfer; `None` for a long-lived connection.
    pub segments: Option<u32>,
    /// Data that the application writes after the start: time and number of segments.
    pub writes: Vec<(Time, u32)>,
}

/// Source of datagrams without congestion control.
#[derive(Clone, Debug, PartialEq)]
pub struct DatagramSpec {
    /// Arrival process of the packets, relative to the start.
    pub process: Process,
    /// Packet size distribution.
    pub sizes: PacketSize,
    /// Random stream from which sizes are drawn.
    pub stream: Stream,
    /// Start time.
    pub start: Time,
    /// End time; no packet is sent at this time or later.
    pub until: Time,
    /// Data to send, without headers; the last packet has the rest. `None`: unlimited.
    pub bytes: Option<u64>,
    /// Label of packets when they enter the network.
    pub data: Label,
    /// ECN codepoint: whether queues may mark the packets.
    pub codepoint: Codepoint,
}

/// Queue that is served by the transmitters of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// Port of the queue. Its own transmitter is held: it takes nothing out of the queue.
    pub port: PortId,
    /// Ports of each path. The first port of a path is the transmitter that takes packets out of the queue.
    pub ways: Vec<Vec<PortId>>,
    /// Path that serves the queue at the start.
    pub served: Option<u8>,
    /// Delay until senders are notified of the current path; `None` if they are not notified.
    pub notify: Option<Duration>,
}

impl QueueSpec {
    /// Returns the first port of each path.
    pub fn transmitters(&self) -> impl Iterator<Item = PortId> {
        self.ways.iter().map(|way| way[0])
    }
}

/// Node that puts packets of two paths in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResequencerSpec {
    /// Bridge that numbers the packets.
    pub bridge: u32,
    /// Selector where the paths meet.
    pub selector: SelectorId,
    /// Maximum time that a packet waits.
    pub wait: Duration,
}

/// Complete input of a run; all random choices are already made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blueprint {
    /// Ports by number, each with its loss processes.
    pub ports: Vec<(PortConfig, Vec<Loss>)>,
    /// Forwarding tables at time zero.
    pub labels: LabelTable,
    /// Bundles by number.
    pub bundles: Vec<Bundle>,
    /// Burst assemblers by number. Each replaces the queue and transmitter of a port. Such a port has no losses and no
    /// jitter, belongs to no bundle, is not tallied, and is not the target of any control action.
    pub assemblers: Vec<Assembler>,
    /// Burst switches between assemblers.
    pub core: BurstCore,
    /// Nodes that put the copies of bridges in order.
    pub resequencers: Vec<ResequencerSpec>,
    /// Switches with queues at their inputs. A port belongs to one at most, and has no assembler and no [`QueueSpec`].
    pub crossbars: Vec<Crossbar>,
    /// Queues that one of several paths serves at a time.
    pub queues: Vec<QueueSpec>,
    /// Scheduled changes of ports and queues.
    pub schedules: Vec<Schedule>,
    /// Flows by number.
    pub flows: Vec<FlowSpec>,
    /// Applications, which write to some of the flows.
    pub applications: ApplicationsSpec,
    /// Sources of datagrams. Their flow numbers follow the numbers of `flows`.
    pub datagrams: Vec<DatagramSpec>,
    /// Sources of packets from outside the simulation ([`crate::Simulation::inject`]). Their flow numbers follow the
    /// sources of datagrams.
    pub externals: Vec<ExternalSpec>,
    /// Connections over several flows. Their flow numbers, in records, follow all sources.
    pub connections: Vec<ConnectionSpec>,
    /// Ports for which tallies are kept as well as packet counts ([`crate::Simulation::port_tallies`]).
    pub tallied: Vec<PortId>,
    /// Control actions in ascending order of time.
    pub controls: Vec<Control>,
    /// Last simulated time.
    pub stop: Time,
}

impl Blueprint {
    /// Keeps tallies for all ports that can have one.
    pub fn tally_all(&mut self) {
        let assembled: BTreeSet<PortId> = self.assemblers.iter().map(Assembler::port).collect();
        let ports = PortId::all().take(self.ports.len());
        self.tallied = ports.filter(|port| !assembled.contains(port)).collect();
    }

    /// Returns the number of sources of datagrams and of external packets.
    pub(crate) fn sources(&self) -> usize {
        self.datagrams.len() + self.externals.len()
    }

    /// Returns the connections over several flows with their flow numbers.
    pub(crate) fn connections(&self) -> impl Iterator<Item = (FlowId, &ConnectionSpec)> {
        let before = self.flows.len() + self.sources();
        FlowId::all().skip(before).zip(&self.connections)
    }

    /// Returns whether a flow is a subflow other than the first.
    pub(crate) fn joins(&self, flow: FlowId) -> bool {
        let place = |connection: &ConnectionSpec| {
            flow.index()
                .checked_sub(connection.first.index())
                .filter(|&at| at < connection.subflows)
        };
        self.connections.iter().find_map(place).is_some_and(|place| place > 0)
    }

    /// Returns flow number, start, segment size and number of segments of each flow and each connection. Flows of
    /// applications carry operations, and are no transfers.
    pub(crate) fn transfers(&self) -> impl Iterator<Item = (FlowId, Time, Bytes, Option<u32>)> {
        let of = |id, spec: &FlowSpec, segments| (id, spec.start, spec.config.mss, segments);
        let written = self.applications.has(self.flows.len());
        let flows = FlowId::all().zip(&self.flows).zip(written);
        let flows = flows.filter(|(_, written)| !written);
        let flows = flows.map(move |((id, spec), _)| of(id, spec, spec.segments));
        flows.chain(self.connections().map(move |(id, connection)| {
            of(id, &self.flows[connection.first.index()], connection.segments)
        }))
    }

    /// Returns whether a port makes decisions only at a packet's departure: its departure time,
    /// copies, corruption, or overtaking. Token buckets need the time of each packet.
    pub(crate) fn needs_stepping(&self, port: PortId) -> bool {
        let (config, losses) = &self.ports[port.index()];
        config.jitter.as_ref().is_some_and(Jitter::overtakes)
            || config.decides_on_departure()
            || !config.buckets.is_empty()
            || !losses.iter().all(Loss::is_before_queue)
    }

    /// Returns the ports that schedules change, the [`QueueSpec`] queues with their transmitters, and the ports behind
    /// crossbars.
    pub(crate) fn scheduled_ports(&self) -> BTreeSet<PortId> {
        let queues = self.queues.iter();
        let queues = queues.flat_map(|queue| queue.transmitters().chain([queue.port]));
        let crossbars = self.crossbars.iter().flat_map(Crossbar::outputs).copied();
        let schedules = self.schedules.iter().flat_map(Schedule::ports);
        queues.chain(crossbars).chain(schedules).collect()
    }

    /// Returns the time of the first step of a schedule that only `other` has; zero if other schedules or ports differ.
    fn schedules_shared_until(&self, other: &Blueprint) -> Time {
        let more = match other.schedules.strip_prefix(&self.schedules[..]) {
            Some(more) if self.scheduled_ports() == other.scheduled_ports() => more,
            _ => return Time::ZERO,
        };
        let first = |schedule: &Schedule| schedule.first + schedule.steps[0].after;
        more.iter().map(first).min().unwrap_or(Time::MAX)
    }

    /// Returns the time before which both runs are identical; zero if they differ from the start.
    ///
    /// `other` may have more schedules. Nothing at or after this time may be shared. Ports and label entries may differ if no packet
    /// can reach them until then. The length of a backup path, for example, is irrelevant until the
    /// backup is used.
    #[must_use]
    pub fn shared_until(&self, other: &Blueprint) -> Time {
        let alike = self.ports.len() == other.ports.len()
            && self.flows == other.flows
            && self.applications == other.applications
            && self.datagrams == other.datagrams
            && self.externals == other.externals
            && self.connections == other.connections
            && self.bundles == other.bundles
            && self.assemblers == other.assemblers
            && self.core == other.core
            && self.resequencers == other.resequencers
            && self.crossbars == other.crossbars
            && self.queues == other.queues
            && self.labels.same_keys(&other.labels)
            && self.tallied == other.tallied;
        if !alike {
            return Time::ZERO;
        }
        let same_port = |port: PortId| self.ports[port.index()] == other.ports[port.index()];
        if !self.scheduled_ports().into_iter().all(same_port) || !self.same_forwarding(other, &[]) {
            return Time::ZERO;
        }
        let same = self.controls.iter().zip(&other.controls).take_while(|(a, b)| a == b).count();
        // Binary search works because paths that differ after some controls also differ after more of them.
        let (mut shared, mut beyond) = (0, same + 1);
        while beyond - shared > 1 {
            let middle = usize::midpoint(shared, beyond);
            if self.same_forwarding(other, &self.controls[..middle]) {
                shared = middle;
            } else {
                beyond = middle;
            }
        }
        let next = |controls: &[Control]| controls.get(shared).map_or(Time::MAX, |next| next.at);
        let controls = next(&self.controls).min(next(&other.controls));
        controls.min(self.schedules_shared_until(other)).min(self.stop).min(other.stop)
    }

    /// Returns whether packets meet equal label entries and ports in both networks while `controls` are applied.
    fn same_forwarding(&self, other: &Blueprint, controls: &[Control]) -> bool {
        let flows = self.flows.iter().flat_map(|flow| [flow.data, flow.acks]);
        let datagrams = self.datagrams.iter().map(|source| source.data);
        let externals = self.externals.iter().map(|source| source.label);
        let mut pending: Vec<Label> = flows.chain(datagrams).chain(externals).collect();
        let mut seen = BTreeSet::new();
        while let Some(label) = pending.pop() {
            if !seen.insert(label) {
                continue;
            }
            if !self.labels.equals_at(&other.labels, label) {
                return false;
            }
            let switched = controls.iter().filter_map(|control| match control.action {
                Action::SetHop(entry, hop) if entry == label => Some(hop),
                _ => None,
            });
            for hop in std::iter::once(self.labels.hop(label)).chain(switched) {
                // Selectors, bridges, bundle hops and ECMP sets are numbered in order of creation, so equal numbers may
                // mean different entries.
                if !self.labels.refers_to_equal(&other.labels, hop) {
                    return false;
                }
                let members = match hop {
                    Hop::Bundle(n) => {
                        self.bundles[self.labels.bundle_hop(n).bundle as usize].members()
                    }
                    _ => &[],
                };
                let ways = self.labels.leads_to(hop);
                let mut ports =
                    ways.iter().filter_map(|(port, _)| *port).chain(members.iter().copied());
                if ports.any(|port| self.ports[port.index()] != other.ports[port.index()]) {
                    return false;
                }
                pending.extend(ways.into_iter().map(|(_, next)| next));
            }
        }
        true
    }
}
