//! How long packets took through a virtual output queue and over the way behind it.
//!
//! # Models
//! The time from the instant at which the queue takes a packet until it is at the end of the way that it took: until the next port
//! takes it, or its endpoint. Of a queue: of all of its packets; of a port that a way begins with: of those that took it.
//! # Source
//! M. K. Mukerjee and others, NSDI 2020: the latency of their switch.
//! # Limits
//! Packets that are lost on the way, and those that are under way when the run ends, are not in it. Of two copies of one segment
//! that are under way at once, the one that the queue took first counts as the first at the end.

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

/// What a port is to virtual output queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Neither a queue, nor where a way begins.
    Beyond,
    /// It is a queue.
    Queue,
    /// A way begins with it.
    First,
}

/// What is behind a queue.
#[derive(Clone, Debug, Default)]
struct Behind {
    /// The ports of each way, each with the label under which it takes packets: several can have the same.
    ways: Vec<Vec<(PortId, Label)>>,
    /// The label under which the port behind the ways does; `None` where packets are delivered there.
    next: Option<Label>,
}

/// Where on the ways behind a queue a packet was taken last: the way, and the place of the port on it.
#[derive(Clone, Copy, Debug)]
struct On {
    way: usize,
    place: usize,
}

impl Behind {
    fn first(&self, on: On) -> PortId {
        self.ways[on.way][0].0
    }

    /// The port that took a packet last, and the label under which it did.
    fn at(&self, on: On) -> (PortId, Label) {
        self.ways[on.way][on.place]
    }

    /// Where the packet is next; `None` at the end of its way.
    fn after(&self, on: On) -> Option<On> {
        let place = on.place + 1;
        (place < self.ways[on.way].len()).then_some(On { place, ..on })
    }

    /// The place of a packet that a port takes under a label as the first one of a way.
    fn entered(&self, by: (PortId, Label)) -> Option<On> {
        let way = self.ways.iter().position(|way| way[0] == by);
        way.map(|way| On { way, place: 0 })
    }
}

/// A packet that is in a queue or on a way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    queue: PortId,
    since: Time,
    /// Where it is behind the queue.
    on: Option<On>,
    /// The label under which the queue took it.
    under: Label,
}

/// The times of the packets that were through in an interval, by port.
#[derive(Clone, Debug)]
pub(super) struct Transit {
    places: Vec<Place>,
    /// By the label under which a queue takes a packet.
    behind: BTreeMap<Label, Behind>,
    /// By port, whether its discipline loses what it has taken.
    keeps: Vec<bool>,
    /// By what tells packets apart; several are copies of each other.
    under_way: BTreeMap<u64, Vec<UnderWay>>,
    /// What has come and is still to be looked at, as far as it is known: engines come to events of one instant in
    /// different orders, and to what happens elsewhere than at queues ahead of time.
    ahead: Vec<(Key, Record)>,
    /// Everything before has come.
    until: Time,
    times: Quantiles,
}

/// What tells a packet from others.
fn key(flow: FlowId, is_ack: bool, seq: u32) -> u64 {
    u64::from(flow.number()) << 33 | u64::from(is_ack) << 32 | u64::from(seq)
}

fn key_of(packet: Packet) -> u64 {
    key(packet.flow(), packet.is_ack(), packet.seq)
}

impl Transit {
    /// A packet is taken by a port.
    fn accepted(&mut self, now: Time, port: PortId, packet: Packet) {
        let key = key_of(packet);
        for one in self.under_way.get_mut(&key).into_iter().flatten() {
            let behind = self.behind.get(&one.under).expect("the label of a queue");
            // A copy that comes through this port on the way of another queue is under another label.
            let on = match one.on {
                None => behind.entered((port, packet.label)),
                Some(on) => behind.after(on).filter(|&on| behind.at(on) == (port, packet.label)),
            };
            if on.is_some() {
                one.on = on;
                return;
            }
        }
        self.through(now, key, Some(packet.label));
        if self.places[port.index()] == Place::Queue {
            let new = UnderWay { queue: port, since: now, on: None, under: packet.label };
            self.under_way.entry(key).or_default().push(new);
        }
    }

    /// A packet is taken under a label, or delivered: it is at the end of its way, if it was on one that leads there. Others that
    /// look like it, as those that are sent again, may be elsewhere.
    fn through(&mut self, now: Time, key: u64, under: Option<Label>) {
        let at_end = |one: &UnderWay, behind: &Behind| {
            let on = one.on.filter(|&on| behind.after(on).is_none() && behind.next == under)?;
            Some(behind.first(on))
        };
        if let Some((one, first)) = self.take(key, at_end) {
            let took = (now - one.since).as_ps();
            self.times.add(one.queue, now, took);
            self.times.add(first, now, took);
        }
    }

    /// Takes the first copy out of which `of` makes something.
    fn take<T>(
        &mut self,
        key: u64,
        of: impl Fn(&UnderWay, &Behind) -> Option<T>,
    ) -> Option<(UnderWay, T)> {
        let copies = self.under_way.get_mut(&key)?;
        let (place, found) = copies.iter().enumerate().find_map(|(place, one)| {
            let behind = self.behind.get(&one.under).expect("the label of a queue");
            Some((place, of(one, behind)?))
        })?;
        let one = copies.remove(place);
        if copies.is_empty() {
            self.under_way.remove(&key);
        }
        Some((one, found))
    }

    /// A packet is lost at or behind a port.
    fn lost(&mut self, port: PortId, packet: Packet, reason: DropReason) {
        let entered = match reason {
            DropReason::Aqm | DropReason::AqmForced => self.keeps[port.index()],
            DropReason::QueueFlushed
            | DropReason::LostInFlight
            | DropReason::Corrupted
            | DropReason::PushedOut
            | DropReason::QueueShrunk
            | DropReason::TtlExpired
            | DropReason::NotSelected => true,
            // Whatever refuses a packet does so before the queue.
            _ => false,
        };
        let by = (port, packet.label);
        let gone = |one: &UnderWay, behind: &Behind| {
            let gone = match (one.on, entered) {
                (None, true) => one.queue == port,
                (None, false) => behind.entered(by).is_some(),
                (Some(on), true) => behind.at(on) == by,
                // The port behind the way may not take it, either.
                (Some(on), false) => match behind.after(on) {
                    Some(on) => behind.at(on) == by,
                    None => behind.next == Some(packet.label),
                },
            };
            gone.then_some(())
        };
        self.take(key_of(packet), gone);
    }
}

impl Transit {
    /// Whether engines come to it when its time has come: to all that happens at queues, and where their ways begin.
    fn is_in_time(&self, record: &Record) -> bool {
        let (Record::Accepted { port, .. } | Record::Dropped { port, .. }) = *record else {
            return false;
        };
        self.places[port.index()] != Place::Beyond
    }

    /// Looks at what has come of the time before [`until`](Self::until), in the order of its events.
    fn settle(&mut self) {
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.sort_by_key(|&(event, _)| event);
        let known = ahead.partition_point(|(event, _)| event.time() < self.until);
        for (event, record) in ahead.drain(..known) {
            self.happened(event.time(), record);
        }
        self.ahead = ahead;
    }

    fn happened(&mut self, now: Time, record: Record) {
        match record {
            Record::Accepted { port, packet } => self.accepted(now, port, packet),
            Record::Dropped { port, packet, reason, .. } => self.lost(port, packet, reason),
            Record::Arrived { flow, seq, .. } | Record::DatagramArrived { flow, seq, .. } => {
                self.through(now, key(flow, false, seq), None);
            }
            Record::Acknowledged { flow, seq, .. } => {
                self.through(now, key(flow, true, seq), None);
            }
            _ => {}
        }
    }
}

/// What is behind queues, by the labels under which they take packets.
fn behind(blueprint: &Blueprint) -> BTreeMap<Label, Behind> {
    let labels = &blueprint.labels;
    let queue = |port: PortId| blueprint.queues.iter().find(|queue| queue.port == port);
    let mut found = BTreeMap::new();
    for number in 0..labels.len() {
        let label = Label(u32::try_from(number).expect("fewer than 2^32 labels"));
        let Hop::Forward { port, next } = labels.hop(label) else { continue };
        let Some(queue) = queue(port) else { continue };
        let mut behind = Behind::default();
        for (way, (_, beyond)) in queue.ways.iter().zip(labels.leads_to(labels.hop(next))) {
            let mut label = beyond;
            let mut ports = vec![(way[0], label)];
            for &port in &way[1..] {
                label = taken_under(labels, label).expect("a port of a way");
                ports.push((port, label));
            }
            behind.ways.push(ports);
            // All ways lead to the same label.
            behind.next = taken_under(labels, label);
        }
        found.insert(next, behind);
    }
    found
}

/// The label under which the next port takes what comes under a label; `None` if it is delivered.
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
        RecordKind::Acknowledged,
        RecordKind::DatagramArrived,
    ];

    fn new(watched: &Watched<'_>) -> Self {
        let blueprint = watched.blueprint;
        let mut places = vec![Place::Beyond; blueprint.ports.len()];
        for queue in &blueprint.queues {
            places[queue.port.index()] = Place::Queue;
            for first in queue.transmitters() {
                places[first.index()] = Place::First;
            }
        }
        Transit {
            places,
            behind: behind(blueprint),
            keeps: blueprint.ports.iter().map(|(port, _)| port.decides_on_departure()).collect(),
            under_way: BTreeMap::new(),
            ahead: Vec::new(),
            until: Time::ZERO,
            times: Quantiles::over(Intervals::of_ports(watched)),
        }
    }

    fn record(&mut self, event: Key, record: &Record) {
        if event.time() > self.until && self.is_in_time(record) {
            self.until = event.time();
            self.settle();
        }
        self.ahead.push((event, *record));
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
