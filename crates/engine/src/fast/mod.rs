//! The fast kernel: departures by arithmetic, and no events for steps that nothing else can disturb.
//!
//! # Models
//! The same as the reference kernel, record for record.
//! # Source
//! Its own; the measurements behind it are in `docs/performance.md`.
//! # Parameters
//! None.
//! # Limits
//! Steps are taken early only up to the next control action: at that instant the world is as the plain
//! one, and what may be early afterwards is found anew. Where control actions come closer than a round
//! trip it is no faster than with every step in its turn.

mod cut;
mod details;
mod eager;
mod endpoints;
mod port;
mod queue;
mod store;

use std::collections::BinaryHeap;

use optcp_des::{Buckets, Calendar, Class, Due, Key};
use optcp_net::{
    BundleId, Control, DropReason, Header, Label, Packet, PortCounts, PortId, QueueLimit, Tally,
};
use optcp_optical::bundle::{Bundle, Lightpaths};
use optcp_units::{Bytes, Duration, Time};

use crate::Blueprint;
use crate::alarms::Alarms;
use crate::controls::Controls;
use crate::model::{Model, Onward};
use crate::observe::{Observer, Record};
use crate::timers::first_alarms;

use details::{Details, Wants};
use eager::{Way, Ways};
use port::Port;
use store::Store;

/// Entries are rarely put in further ahead than this.
const FARTHEST: Duration = Duration::from_secs(2);

/// Ports that know when they will be free, and packets that wait for their turn behind one.
#[derive(Clone, Debug)]
pub(crate) struct Fast {
    ports: Vec<Port>,
    stores: Vec<Store>,
    details: Vec<Details>,
    ways: Ways,
    /// Whether the ways must be found anew.
    stale: bool,
    /// Packets that arrive behind a port, by the port.
    waiting: Buckets<Packet>,
    timers: Calendar,
    /// No step at this instant or later is taken early.
    cut: Time,
    /// When to look again what may be early, since packets on old ways are gone.
    survey_at: Time,
    /// While packets go on after a cut, step by step: up to when, and those that still can.
    resumed: Option<(Time, BinaryHeap<std::cmp::Reverse<Due<Packet>>>)>,
    /// The packet that is being parked meanwhile.
    in_hand: Option<Due<Packet>>,
}

impl Fast {
    pub(crate) fn new<O: Observer>(blueprint: &Blueprint, model: &mut Model<O>) -> Self {
        let timers = first_alarms(blueprint, model);
        let mut wants: Vec<Wants> = (0..)
            .zip(&blueprint.ports)
            .map(|(id, _)| Wants {
                watched: model.observer.watches(id),
                tallied: false,
                counted: false,
            })
            .collect();
        blueprint.tallied.iter().for_each(|&port| wants[port as usize].tallied = true);
        let counting = |bundle: &&Bundle| bundle.selection().counts_packets();
        for &port in blueprint.bundles.iter().filter(counting).flat_map(Bundle::members) {
            wants[port as usize].counted = true;
        }
        let details: Vec<Details> = (blueprint.ports.iter().zip(wants))
            .map(|((config, losses), wants)| Details::new(config, losses, wants))
            .collect();
        Fast {
            ports: details.iter().map(Port::new).collect(),
            stores: details.iter().map(|_| Store::default()).collect(),
            details,
            ways: Ways::default(),
            stale: true,
            waiting: Buckets::new(horizon(blueprint)),
            timers,
            cut: Time::ZERO,
            survey_at: Time::MAX,
            resumed: None,
            in_hand: None,
        }
    }

    /// See [`crate::Simulation::run_before_while`].
    pub(crate) fn run_before<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        controls: &mut Controls,
        limit: Time,
        go_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        loop {
            self.resume(model, controls.next_at().min(limit));
            let bound = self.cut;
            if !self.run_to_cut(model, go_on) {
                return false;
            }
            for (id, details) in (0..).zip(&mut self.details) {
                details.tell(model, id, bound.as_ps());
            }
            if bound == limit {
                return true;
            }
            self.act(model, controls, bound);
        }
    }

    /// Executes everything before the cut.
    fn run_to_cut<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        loop {
            let timer_at = self.timers.next_at();
            if let Some(due) = self.waiting.pop_before(timer_at.min(self.cut)) {
                if !model.goes_on(go_on) {
                    return false;
                }
                self.step(model, due);
            } else if let Some(key) = self.timers.pop_before(self.cut) {
                if !model.goes_on(go_on) {
                    return false;
                }
                model.event = key;
                self.alarm(model);
            } else {
                return true;
            }
        }
    }

    /// A packet comes out of a pipe.
    #[inline]
    fn step<O: Observer>(&mut self, model: &mut Model<O>, due: Due<Packet>) {
        model.event = Key::new(due.at, Class::Arrival, due.entity, due.ordinal);
        self.walk(model, due.item, Some(due.entity));
    }

    /// A packet is at a node, having come through the port `from` or from the endpoint there: takes it as
    /// far as it may go.
    // What every packet passes is short, and what it seldom needs is called: few values stay in registers.
    fn walk<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        mut packet: Packet,
        from: Option<PortId>,
    ) {
        // What changes on the way stays out of the packet: it would be written and read back each time.
        let (mut label, mut header) = (packet.label, packet.header());
        let mut came = from.map_or(Came::FROM_ENDPOINT, |_| Came::TOLD);
        if from.is_none() {
            // The node where it begins takes nothing.
            header = header.before(self.ways.at(label).hops());
        }
        let mut now = model.now();
        loop {
            let way = self.ways.at(label);
            let (mut id, mut next) = (way.port, Label(way.next()));
            if !way.is_port() {
                self.tell(model, now, &mut came);
                match id {
                    Way::DELIVER => {
                        let Some(ack) = self.deliver(model, packet.onward(label, header)) else {
                            return;
                        };
                        packet = ack;
                        label = ack.label;
                        header = ack.header().before(self.ways.at(label).hops());
                        (now, came) = (model.now(), Came::FROM_ENDPOINT);
                        continue;
                    }
                    Way::BUNDLE => {
                        let entrance = model.labels.entrance(way.next());
                        id = self.choose(model, entrance.bundle, entrance.destination, packet);
                        next = entrance.next;
                    }
                    _ => {
                        return self.at_special(
                            model,
                            packet.onward(label, header),
                            came != Came::FROM_ENDPOINT,
                        );
                    }
                }
            }
            header = header.behind(way.hops());
            if header.ttl() == 0 {
                self.tell(model, now, &mut came);
                return expire(model, packet.onward(label, header));
            }
            label = next;
            if O::TAKES_RECORDS {
                self.tell(model, now, &mut came);
            }
            let arrival = self.admit(model, now, id, &packet, (label, header)).or_else(|| {
                self.tell(model, now, &mut came);
                self.admit_otherwise(model, id, packet.onward(label, header))
            });
            let Some(arrival) = arrival else { return };
            if !self.ways.goes_on(way.ahead(), packet) || arrival >= self.cut {
                return self.park(arrival, id, packet.onward(label, header));
            }
            (now, came) = (arrival, Came(id));
        }
    }

    /// Makes the arrival of a packet, which is what its port has accepted last, the event that is being executed.
    #[inline(always)]
    fn tell<O>(&self, model: &mut Model<O>, at: Time, came: &mut Came) {
        if let Some(port) = self.ports.get(came.0 as usize) {
            model.event = Key::new(at, Class::Arrival, came.0, port.last_ordinal());
            *came = Came::TOLD;
        }
    }

    /// A packet comes to a port: when it arrives behind it, if that is easily told. Its label and its time to
    /// live are what they will be there.
    #[inline(always)]
    fn admit<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        now: Time,
        id: PortId,
        packet: &Packet,
        (label, header): (Label, Header),
    ) -> Option<Time> {
        let now = now.as_ps();
        let port = &mut self.ports[id as usize];
        let waits = port.waits(now);
        let size = header.size();
        if !port.surely_takes(size, waits) {
            return None;
        }
        let sent = port.sent(size, now, waits);
        if port.has_store() {
            self.stores[id as usize].accept(port, size, now, sent);
        }
        let arrival = Time::from_ps(port.accept(sent));
        if O::TAKES_RECORDS {
            model.record(Record::Accepted { port: id, packet: packet.onward(label, header) });
        }
        Some(arrival)
    }

    /// The same where it must be looked at more closely: it may be lost, or wait for a burst.
    #[inline(never)]
    fn admit_otherwise<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        packet: Packet,
    ) -> Option<Time> {
        if let Some(assembler) = model.assembler_at(id) {
            self.gather(model, assembler, packet);
            return None;
        }
        let (port, store, details) = self.parts(id);
        port.admit(store, details, model, id, packet)
    }

    /// All that there is of a port.
    fn parts(&mut self, id: PortId) -> (&mut Port, &mut Store, &mut Details) {
        let index = id as usize;
        (&mut self.ports[index], &mut self.stores[index], &mut self.details[index])
    }

    /// A packet waits for its turn behind the port that has accepted it last.
    #[inline(always)]
    fn park(&mut self, at: Time, port: PortId, packet: Packet) {
        let ordinal = self.ports[port as usize].last_ordinal();
        let due = Due { at, entity: port, ordinal, item: packet };
        if self.resumed.is_some() {
            self.in_hand = Some(due);
            return self.park_in_hand();
        }
        self.waiting.push(due);
    }

    /// The same for the packet in hand, while packets go on after a cut.
    // The packet is not an argument, as in `Buckets::push`.
    #[inline(never)]
    fn park_in_hand(&mut self) {
        let Some(due) = self.in_hand.take() else { return };
        match &mut self.resumed {
            Some((until, heap)) if due.at < *until && self.ways.ahead(due.item) => {
                heap.push(std::cmp::Reverse(due));
            }
            _ => self.waiting.push(due),
        }
    }

    /// The port of a bundle that a packet takes.
    #[inline(never)]
    fn choose<O>(
        &mut self,
        model: &mut Model<O>,
        bundle: BundleId,
        destination: u32,
        packet: Packet,
    ) -> PortId {
        let mut members = Members {
            ports: &self.ports,
            stores: &mut self.stores,
            details: &mut self.details,
            now: model.event.time(),
        };
        model.bundles[bundle as usize].choose(destination, packet, &mut members)
    }

    /// A packet is at a gate or a bridge.
    #[inline(never)]
    fn at_special<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet, routed: bool) {
        let event = model.event;
        let from = routed.then_some(event.entity());
        let ways = match model.at_node(packet, from) {
            Onward::Deliver(packet) => {
                if let Some(ack) = self.deliver(model, packet) {
                    self.walk(model, ack, None);
                }
                return;
            }
            Onward::Port(port, packet) => [Some((port, packet)), None],
            Onward::Both(ways) => ways.map(Some),
            Onward::Bundle(bundle, destination, packet) => {
                [Some((self.choose(model, bundle, destination, packet), packet)), None]
            }
            Onward::Lost => return,
        };
        for (port, packet) in ways.into_iter().flatten() {
            model.event = event;
            let ahead = self.ways.ahead(packet);
            let under = (packet.label, packet.header());
            let arrival = self
                .admit(model, event.time(), port, &packet, under)
                .or_else(|| self.admit_otherwise(model, port, packet));
            let Some(arrival) = arrival else { continue };
            if ahead && arrival < self.cut {
                self.tell(model, arrival, &mut Came(port));
                self.walk(model, packet, Some(port));
            } else {
                self.park(arrival, port, packet);
            }
        }
    }

    pub(crate) fn ports(&self) -> PortId {
        PortId::try_from(self.ports.len()).expect("fewer than 2^32 ports")
    }

    pub(crate) fn port_counts(&self, port: PortId) -> PortCounts {
        self.ports[port as usize].counts()
    }

    pub(crate) fn queue_length(&self, id: PortId, now: Time) -> u64 {
        let mut pending = Vec::new();
        self.waiting.for_each(|due| {
            if due.entity == id {
                pending.push(due);
            }
        });
        let (port, index) = (&self.ports[id as usize], id as usize);
        port.queue_length(&self.stores[index], &self.details[index], now, pending.into_iter())
    }

    pub(crate) fn port_tallies(&self, ports: &[PortId], now: Time) -> Vec<Tally> {
        let mut asked = vec![false; self.ports.len()];
        ports.iter().for_each(|&port| asked[port as usize] = true);
        // Only what stands in a queue matters; most packets are under way.
        let mut pending: Vec<Vec<Due<Packet>>> = vec![Vec::new(); self.ports.len()];
        self.waiting.for_each(|due| {
            let index = due.entity as usize;
            if asked[index] && self.ports[index].may_hold(&self.details[index], &due, now) {
                pending[index].push(due);
            }
        });
        let tally = |&id: &PortId| {
            let index = id as usize;
            let (store, details) = (&self.stores[index], &self.details[index]);
            self.ports[index].tally(store, details, now, pending[index].iter().copied())
        };
        ports.iter().map(tally).collect()
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// See [`crate::Simulation::continue_as`].
    pub(crate) fn continue_as(&mut self, blueprint: &Blueprint, past: &[Control]) {
        self.stale = true;
        let untouched: Vec<bool> = self.ports.iter().map(Port::is_untouched).collect();
        for (id, (config, losses)) in blueprint.ports.iter().enumerate() {
            if untouched[id] {
                let wants = self.details[id].wants();
                self.details[id] = Details::new(config, losses, wants);
                self.ports[id] = Port::new(&self.details[id]);
                self.stores[id] = Store::default();
            }
        }
        let untouched_port = |action: &optcp_net::Action| {
            use optcp_net::Action::{PortClosed, PortDown, PortUp, SetDelay};
            match *action {
                PortDown(id) | PortClosed(id) | PortUp(id) | SetDelay(id, _) => {
                    untouched[id as usize]
                }
                _ => false,
            }
        };
        for control in past.iter().filter(|control| untouched_port(&control.action)) {
            self.act_on_port(control.action, control.at, &mut Vec::new(), |_, _| ());
        }
    }
}

/// The port by which a packet came to where it is, unless that is already the model's event: the arrival that
/// is being executed becomes so only where that is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Came(PortId);

impl Came {
    /// The model knows.
    const TOLD: Came = Came(PortId::MAX);
    /// It came from an endpoint here, and the model knows.
    const FROM_ENDPOINT: Came = Came(PortId::MAX - 1);
}

/// A packet's time to live is used up behind the port by which it came.
#[cold]
#[inline(never)]
fn expire<O: Observer>(model: &mut Model<O>, packet: Packet) {
    model.lose(model.event.entity(), packet, DropReason::TtlExpired);
}

/// The ports, for who chooses among those of a bundle.
struct Members<'a> {
    ports: &'a [Port],
    stores: &'a mut [Store],
    details: &'a mut [Details],
    now: Time,
}

impl Lightpaths for Members<'_> {
    #[inline]
    fn busy_until(&self, port: PortId) -> Time {
        self.ports[port as usize].busy_until(&self.details[port as usize])
    }

    fn packets(&mut self, port: PortId) -> u64 {
        let index = port as usize;
        self.ports[index].packets(&mut self.stores[index], &mut self.details[index], self.now)
    }
}

/// How far ahead packets arrive behind a port: the longest delay with the fullest queue.
fn horizon(blueprint: &Blueprint) -> Duration {
    let hop = |(config, _): &(optcp_net::PortConfig, _)| {
        let queue = match config.limit {
            QueueLimit::Unlimited => 100,
            QueueLimit::Packets(limit) => u64::from(limit),
            QueueLimit::Bytes(limit) => limit / 1500,
        };
        let packet = config.rate.transmission_time(Bytes::new(1500));
        config.delay + packet * (queue + 1)
    };
    let longest = blueprint.ports.iter().map(hop).fold(Duration::from_us(1), Duration::max);
    if longest > FARTHEST { FARTHEST } else { longest }
}
