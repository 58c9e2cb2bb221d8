//! What a run starts from.

use std::collections::BTreeSet;
use std::sync::Arc;

use optcp_des::Stream;
use optcp_net::schedule::Schedule;
use optcp_net::{Action, Control, Hop, Jitter, Label, LabelTable, Loss, PortConfig, PortId};
use optcp_optical::bundle::Bundle;
use optcp_optical::burst::Assembler;
use optcp_optical::switching::BurstCore;
use optcp_tcp::Config;
use optcp_traffic::{PacketSize, Process};
use optcp_units::{Codepoint, Duration, Time};

/// One connection.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// TCP at both ends.
    pub config: Arc<Config>,
    /// Full segments to transfer; `None` is data without end.
    pub segments: Option<u32>,
    /// What of it the application writes later than at the start: when, and how many segments.
    pub writes: Vec<(Time, u32)>,
    /// When it starts.
    pub start: Time,
    /// Where the sender's clock stands at time zero.
    pub clock_phase: Duration,
    /// Where the receiver's clock stands at time zero.
    pub ack_clock_phase: Duration,
    /// Where its data segments enter the network.
    pub data: Label,
    /// Where its ACKs enter the network.
    pub acks: Label,
    /// The queue that tells the sender over which way it is served.
    pub notified_by: Option<PortId>,
}

/// A source of datagrams, which asks nobody how much it may send.
#[derive(Clone, Debug, PartialEq)]
pub struct DatagramSpec {
    /// When packets come, counted from the start.
    pub process: Process,
    /// How large they are.
    pub sizes: PacketSize,
    /// What their sizes are drawn from.
    pub stream: Stream,
    /// When it starts.
    pub start: Time,
    /// The instant from which on it sends nothing.
    pub until: Time,
    /// Where its packets enter the network.
    pub data: Label,
    /// Whether queues may mark its packets.
    pub codepoint: Codepoint,
}

/// A queue without a transmitter of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// The port whose queue it is; its transmitter is held.
    pub port: PortId,
    /// The ports of each way. The first one is a transmitter that takes packets out of the queue while it serves it.
    pub ways: Vec<Vec<PortId>>,
    /// Over which way it is served at the start.
    pub served: Option<u8>,
    /// How long it takes until senders know over which way it is served, if it tells them.
    pub notify: Option<Duration>,
}

impl QueueSpec {
    /// The first port of each way.
    pub fn transmitters(&self) -> impl Iterator<Item = PortId> {
        self.ways.iter().map(|way| way[0])
    }
}

/// Everything that a run starts from, with all random choices made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blueprint {
    /// Ports by number, each with the ways in which it loses packets.
    pub ports: Vec<(PortConfig, Vec<Loss>)>,
    /// Forwarding at time zero.
    pub labels: LabelTable,
    /// Bundles by number.
    pub bundles: Vec<Bundle>,
    /// Assemblers of bursts by number, each in the place of a port's queue and transmitter. Such a port has
    /// no losses and no jitter, is in no bundle and not tallied, and no control action concerns it.
    pub assemblers: Vec<Assembler>,
    /// The burst switches between assemblers.
    pub core: BurstCore,
    /// Queues that are served over one of several ways at a time.
    pub queues: Vec<QueueSpec>,
    /// What happens by plan.
    pub schedules: Vec<Schedule>,
    /// Flows by number.
    pub flows: Vec<FlowSpec>,
    /// Sources of datagrams; their numbers, as flows, follow those of the flows.
    pub datagrams: Vec<DatagramSpec>,
    /// Ports of which more than the numbers of packets is counted ([`crate::Simulation::port_tallies`]).
    pub tallied: Vec<PortId>,
    /// What changes when, in ascending order of time.
    pub controls: Vec<Control>,
    /// The last instant that is simulated.
    pub stop: Time,
}

impl Blueprint {
    /// Whether it shows only at a packet's turn what a port does with it: when it leaves, which copies it has, whether
    /// the line spoils it, or whether it overtakes others.
    pub(crate) fn needs_turns(&self, port: PortId) -> bool {
        let (config, losses) = &self.ports[port.index()];
        config.jitter.as_ref().is_some_and(Jitter::overtakes)
            || config.decides_on_departure()
            || !losses.iter().all(Loss::is_before_queue)
    }

    /// The ports that schedules change, and the queues of several ways with the ports that serve them.
    pub(crate) fn planned(&self) -> BTreeSet<PortId> {
        let queues = self.queues.iter();
        let queues = queues.flat_map(|queue| queue.transmitters().chain([queue.port]));
        queues.chain(self.schedules.iter().flat_map(Schedule::ports)).collect()
    }

    /// The instant before which runs of both are the same: nothing at or after it may be shared.
    /// Zero where they differ from the start.
    ///
    /// Ports and label entries to which no packet can come before that instant may differ: the length
    /// of a backup does not matter until it is used.
    #[must_use]
    pub fn shared_until(&self, other: &Blueprint) -> Time {
        let alike = self.ports.len() == other.ports.len()
            && self.flows == other.flows
            && self.datagrams == other.datagrams
            && self.bundles == other.bundles
            && self.assemblers == other.assemblers
            && self.core == other.core
            && self.queues == other.queues
            && self.schedules == other.schedules
            && self.labels.same_keys(&other.labels)
            && self.tallied == other.tallied;
        if !alike {
            return Time::ZERO;
        }
        let same_port = |port: PortId| self.ports[port.index()] == other.ports[port.index()];
        if !self.planned().into_iter().all(same_port) || !self.same_way(other, &[]) {
            return Time::ZERO;
        }
        let same = self.controls.iter().zip(&other.controls).take_while(|(a, b)| a == b).count();
        // More controls lead to more entries: once the ways differ they stay different.
        let (mut shared, mut beyond) = (0, same + 1);
        while beyond - shared > 1 {
            let middle = usize::midpoint(shared, beyond);
            if self.same_way(other, &self.controls[..middle]) {
                shared = middle;
            } else {
                beyond = middle;
            }
        }
        let next = |controls: &[Control]| controls.get(shared).map_or(Time::MAX, |next| next.at);
        next(&self.controls).min(next(&other.controls)).min(self.stop).min(other.stop)
    }

    /// Whether packets find the same entries and ports in both worlds while `controls` happen.
    fn same_way(&self, other: &Blueprint, controls: &[Control]) -> bool {
        let flows = self.flows.iter().flat_map(|flow| [flow.data, flow.acks]);
        let datagrams = self.datagrams.iter().map(|source| source.data);
        let mut pending: Vec<Label> = flows.chain(datagrams).collect();
        let mut seen = BTreeSet::new();
        while let Some(label) = pending.pop() {
            if !seen.insert(label) {
                continue;
            }
            if !self.labels.same_at(&other.labels, label) {
                return false;
            }
            let switched = controls.iter().filter_map(|control| match control.action {
                Action::SetHop(entry, hop) if entry == label => Some(hop),
                _ => None,
            });
            for hop in std::iter::once(self.labels.hop(label)).chain(switched) {
                // Gates, bridges, entrances and sets of next hops are numbered as they are laid: one number may name two.
                if !self.labels.same_behind(&other.labels, hop) {
                    return false;
                }
                let members = match hop {
                    Hop::Bundle(n) => {
                        self.bundles[self.labels.entrance(n).bundle as usize].members()
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
