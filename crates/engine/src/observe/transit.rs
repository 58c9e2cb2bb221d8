//! Delay of packets through a virtual output queue and over the path behind it.
//!
//! # Model
//! Time from acceptance by the queue to the end of the path: acceptance by the next port, or delivery to the endpoint.
//! A queue's statistics include all of its packets; the statistics of a path's first port include the packets on this path.
//!
//! # References
//! M. K. Mukerjee and others, NSDI 2020: latency of their switch.
//!
//! # Limitations
//! - Packets that are lost on the path, or in flight at the end of the run, do not count.
//! - If two copies of one segment are in flight, the copy that was queued first is assumed to arrive first.

use std::collections::BTreeMap;

use optcp_des::Key;
use optcp_net::{DropReason, FlowId, Hop, Label, LabelTable, Packet, PortId};
use optcp_units::Time;

use super::column::Findings;
use super::intervals::Intervals;
use super::observed::{Keys, Links, Observed, Watched};
use super::quantiles::Quantiles;
use super::record::{Record, RecordKind};
use crate::Blueprint;

/// Role of a port for virtual output queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Neither a queue nor the first port of a path.
    Other,
    /// Queue.
    Queue,
    /// First port of a path.
    First,
}

/// Paths behind a queue.
#[derive(Clone, Debug, Default)]
struct PathsBehind {
    /// Ports of each path, with the label under which each accepts packets. Labels need not be unique.
    paths: Vec<Vec<(PortId, Label)>>,
    /// Label under which the port behind the paths accepts packets; `None` if packets are delivered there.
    next: Option<Label>,
}

/// Position of a packet on the paths behind a queue: path, and index of the port that accepted it last.
#[derive(Clone, Copy, Debug)]
struct Position {
    path: usize,
    place: usize,
}

impl PathsBehind {
    fn first_port(&self, on: Position) -> PortId {
        self.paths[on.path][0].0
    }

    /// Returns the port that accepted a packet last, and the label under which it did.
    fn at(&self, on: Position) -> (PortId, Label) {
        self.paths[on.path][on.place]
    }

    /// Returns the next position; `None` at the end of the path.
    fn after(&self, on: Position) -> Option<Position> {
        let place = on.place + 1;
        (place < self.paths[on.path].len()).then_some(Position { place, ..on })
    }

    /// Returns the position of a packet that a port accepts under a label as the first one of a path.
    fn entered(&self, by: (PortId, Label)) -> Option<Position> {
        let path = self.paths.iter().position(|path| path[0] == by);
        path.map(|path| Position { path, place: 0 })
    }
}

/// Packet in a queue or on a path.
#[derive(Clone, Copy, Debug)]
struct InTransit {
    queue: PortId,
    since: Time,
    /// Position behind the queue.
    on: Option<Position>,
    /// Label under which the queue accepted it.
    under: Label,
}

/// Delays of packets by port and by the interval in which they left the path.
#[derive(Clone, Debug)]
pub(super) struct Transit {
    roles: Vec<Role>,
    /// Paths by the label under which a queue accepts packets.
    behind: BTreeMap<Label, PathsBehind>,
    /// Whether the discipline may drop packets that it has accepted, by port.
    drops_accepted: Vec<bool>,
    /// Packets by key; entries of the same key are copies of each other.
    in_transit: BTreeMap<u64, Vec<InTransit>>,
    /// Records that are still to be processed. Engines execute events at the same time in different orders, and events
    /// outside queues ahead of time.
    pending: Vec<(Key, Record)>,
    /// Time before which all records have been received.
    until: Time,
    times: Quantiles,
}

/// Returns a key that identifies a packet and its copies.
fn key(flow: FlowId, is_ack: bool, seq: u32) -> u64 {
    u64::from(flow.number()) << 33 | u64::from(is_ack) << 32 | u64::from(seq)
}

fn key_of(packet: Packet) -> u64 {
    key(packet.flow(), packet.is_ack(), packet.seq)
}

impl Transit {
    /// Handles the acceptance of a packet by a port.
    fn accepted(&mut self, now: Time, port: PortId, packet: Packet) {
        let key = key_of(packet);
        for entry in self.in_transit.get_mut(&key).into_iter().flatten() {
            let behind = self.behind.get(&entry.under).expect("the label of a queue");
            // A copy that passes this port on the path of another queue has a different label.
            let on = match entry.on {
                None => behind.entered((port, packet.label)),
                Some(on) => behind.after(on).filter(|&on| behind.at(on) == (port, packet.label)),
            };
            if on.is_some() {
                entry.on = on;
                return;
            }
        }
        self.complete(now, key, Some(packet.label));
        if self.roles[port.index()] == Role::Queue {
            let new = InTransit { queue: port, since: now, on: None, under: packet.label };
            self.in_transit.entry(key).or_default().push(new);
        }
    }

    /// Completes a packet that is accepted under a label, or delivered, if it was at the end of a path that leads
    /// there. Packets with the same key, such as retransmissions, may be elsewhere.
    fn complete(&mut self, now: Time, key: u64, under: Option<Label>) {
        let at_end = |entry: &InTransit, behind: &PathsBehind| {
            let on = entry.on.filter(|&on| behind.after(on).is_none() && behind.next == under)?;
            Some(behind.first_port(on))
        };
        if let Some((entry, first_port)) = self.take(key, at_end) {
            let delay_ps = (now - entry.since).as_ps();
            self.times.add(entry.queue, now, delay_ps);
            self.times.add(first_port, now, delay_ps);
        }
    }

    /// Removes the first copy for which `choose` returns a value.
    fn take<T>(
        &mut self,
        key: u64,
        choose: impl Fn(&InTransit, &PathsBehind) -> Option<T>,
    ) -> Option<(InTransit, T)> {
        let copies = self.in_transit.get_mut(&key)?;
        let (place, result) = copies.iter().enumerate().find_map(|(place, entry)| {
            let behind = self.behind.get(&entry.under).expect("the label of a queue");
            Some((place, choose(entry, behind)?))
        })?;
        let entry = copies.remove(place);
        if copies.is_empty() {
            self.in_transit.remove(&key);
        }
        Some((entry, result))
    }

    /// Handles the loss of a packet at or behind a port.
    fn lost(&mut self, port: PortId, packet: Packet, reason: DropReason) {
        let entered = match reason {
            DropReason::Aqm | DropReason::AqmForced => self.drops_accepted[port.index()],
            DropReason::QueueFlushed
            | DropReason::LostInFlight
            | DropReason::Corrupted
            | DropReason::PushedOut
            | DropReason::QueueShrunk
            | DropReason::PolicedEgress
            | DropReason::TtlExpired
            | DropReason::NotSelected => true,
            // All other reasons apply before the packet enters the queue.
            _ => false,
        };
        let by = (port, packet.label);
        let is_lost = |entry: &InTransit, behind: &PathsBehind| {
            let is_lost = match (entry.on, entered) {
                (None, true) => entry.queue == port,
                (None, false) => behind.entered(by).is_some(),
                (Some(on), true) => behind.at(on) == by,
                // The port behind the path may also reject the packet.
                (Some(on), false) => match behind.after(on) {
                    Some(on) => behind.at(on) == by,
                    None => behind.next == Some(packet.label),
                },
            };
            is_lost.then_some(())
        };
        self.take(key_of(packet), is_lost);
    }
}

impl Transit {
    /// Returns whether engines execute the event at its time: those at queues and at the first ports of their paths.
    fn is_in_time(&self, record: &Record) -> bool {
        let (Record::Accepted { port, .. } | Record::Dropped { port, .. }) = *record else {
            return false;
        };
        self.roles[port.index()] != Role::Other
    }

    /// Processes the records before [`until`](Self::until) in the order of their events.
    fn settle(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|&(event, _)| event);
        let known = pending.partition_point(|(event, _)| event.time() < self.until);
        for (event, record) in pending.drain(..known) {
            self.process(event.time(), record);
        }
        self.pending = pending;
    }

    fn process(&mut self, now: Time, record: Record) {
        match record {
            Record::Accepted { port, packet } => self.accepted(now, port, packet),
            Record::Dropped { port, packet, reason, .. } => self.lost(port, packet, reason),
            Record::Arrived { flow, seq, .. }
            | Record::ArrivedTrimmed { flow, seq, .. }
            | Record::DatagramArrived { flow, seq, .. } => {
                self.complete(now, key(flow, false, seq), None);
            }
            Record::Acknowledged { flow, seq, .. } => {
                self.complete(now, key(flow, true, seq), None);
            }
            _ => {}
        }
    }
}

/// Returns the paths behind queues, by the label under which the queue accepts packets.
fn behind(blueprint: &Blueprint) -> BTreeMap<Label, PathsBehind> {
    let labels = &blueprint.labels;
    let queue = |port: PortId| blueprint.queues.iter().find(|queue| queue.port == port);
    let mut result = BTreeMap::new();
    for number in 0..labels.len() {
        let label = Label(u32::try_from(number).expect("fewer than 2^32 labels"));
        let Hop::Forward { port, next } = labels.hop(label) else { continue };
        let Some(queue) = queue(port) else { continue };
        let mut behind = PathsBehind::default();
        for (path, (_, beyond)) in queue.ways.iter().zip(labels.leads_to(labels.hop(next))) {
            let mut label = beyond;
            let mut ports = vec![(path[0], label)];
            for &port in &path[1..] {
                label = taken_under(labels, label).expect("a port of a path");
                ports.push((port, label));
            }
            behind.paths.push(ports);
            // All paths lead to the same label.
            behind.next = taken_under(labels, label);
        }
        result.insert(next, behind);
    }
    result
}

/// Returns the label under which the next port accepts packets of a label; `None` if they are delivered.
fn taken_under(labels: &LabelTable, label: Label) -> Option<Label> {
    match labels.hop(label) {
        Hop::Deliver => None,
        hop => labels.leads_to(hop).first().map(|&(_, next)| next),
    }
}

impl Observed for Transit {
    const KEYS: Keys = Keys { links: Some(Links::Queues), interval: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[
        RecordKind::Accepted,
        RecordKind::Dropped,
        RecordKind::Arrived,
        RecordKind::ArrivedTrimmed,
        RecordKind::Acknowledged,
        RecordKind::DatagramArrived,
    ];

    fn new(watched: &Watched<'_>) -> Self {
        let blueprint = watched.blueprint;
        let mut roles = vec![Role::Other; blueprint.ports.len()];
        for queue in &blueprint.queues {
            roles[queue.port.index()] = Role::Queue;
            for first_port in queue.transmitters() {
                roles[first_port.index()] = Role::First;
            }
        }
        Transit {
            roles,
            behind: behind(blueprint),
            drops_accepted: blueprint
                .ports
                .iter()
                .map(|(port, _)| port.decides_on_departure())
                .collect(),
            in_transit: BTreeMap::new(),
            pending: Vec::new(),
            until: Time::ZERO,
            times: Quantiles::over(Intervals::of_ports(watched)),
        }
    }

    fn record(&mut self, event: Key, record: &Record) {
        if event.time() > self.until && self.is_in_time(record) {
            self.until = event.time();
            self.settle();
        }
        self.pending.push((event, *record));
    }

    fn finish(&mut self, _: Time) {
        self.until = Time::MAX;
        self.settle();
        self.times.finish();
    }

    fn findings(&self) -> Findings {
        self.times.findings()
    }
}
