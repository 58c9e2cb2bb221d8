//! Forwarding of a packet from port to port, as far as possible in one event.

use optcp_des::{Class, Due, Key};
use optcp_net::{BundleId, DropReason, Header, Label, Packet, PortId};
use optcp_optical::bundle::Lightpaths;
use optcp_units::Time;

use super::Fast;
use super::forwarding::{Entry, LpId};
use super::port::Ports;
use crate::crossbars::{self, CrossbarView};
use crate::departures;
use crate::event_handler::EventHandler;
use crate::model::{Model, Onward};
use crate::observe::{Observer, Record};
use crate::stepping::Stepping;

impl Fast {
    /// Handles a packet that arrives over a link.
    #[inline]
    pub(super) fn step<O: Observer>(&mut self, model: &mut Model<O>, due: Due<Packet>) {
        model.event = Key::new(due.at, Class::Arrival, due.entity, due.ordinal);
        self.walk(model, due.item, Some(PortId::new(due.entity)));
    }

    /// Forwards a packet as far as possible. It arrived through the port `from`, or comes from the local endpoint.
    // The hot path is short and calls rare cases as functions, so few values need registers.
    pub(super) fn walk<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        mut packet: Packet,
        from: Option<PortId>,
    ) {
        // Fields that change per hop stay in local variables: the packet would be written and read for each hop.
        let (mut label, mut header) = (packet.label, packet.header());
        let mut ingress = from.map_or(Ingress::ENDPOINT, |_| Ingress::SET);
        if from.is_none() {
            // The originating node does not decrement the time to live.
            header = header.before(self.forwarding.at(label).hops());
        }
        let mut now = model.now();
        loop {
            let entry = self.forwarding.at(label);
            let (mut id, mut next) = (entry.port(), Label(entry.next()));
            if !entry.is_port() {
                self.set_event(model, now, &mut ingress);
                match id {
                    Entry::DELIVER => {
                        let Some(ack) = self.deliver(model, packet.onward(label, header)) else {
                            return;
                        };
                        packet = ack;
                        label = ack.label;
                        header = ack.header().before(self.forwarding.at(label).hops());
                        (now, ingress) = (model.now(), Ingress::ENDPOINT);
                        continue;
                    }
                    Entry::BUNDLE => {
                        let bundle_hop = model.labels.bundle_hop(entry.next());
                        id = self.choose(model, bundle_hop.bundle, bundle_hop.destination, packet);
                        next = bundle_hop.next;
                    }
                    Entry::ECMP => {
                        label = model.labels.ecmp(entry.next(), packet);
                        if ingress == Ingress::ENDPOINT {
                            header = header.before(self.forwarding.at(label).hops());
                        }
                        continue;
                    }
                    _ => {
                        let from = (ingress != Ingress::ENDPOINT)
                            .then_some(PortId::new(model.event.entity()));
                        return self.at_special(model, packet.onward(label, header), from);
                    }
                }
            }
            header = header.behind(entry.hops());
            if header.ttl() == 0 {
                self.set_event(model, now, &mut ingress);
                return expire(model, packet.onward(label, header));
            }
            label = next;
            if O::TAKES_RECORDS {
                self.set_event(model, now, &mut ingress);
            }
            let admitted = self.admit(model, now, id, &packet, (label, header));
            let arrival = match admitted {
                Some(arrival) => arrival,
                None => {
                    self.set_event(model, now, &mut ingress);
                    let input =
                        (ingress != Ingress::ENDPOINT).then(|| PortId::new(model.event.entity()));
                    let slow = self.admit_slow(model, id, packet.onward(label, header), input);
                    let Some((arrival, marked)) = slow else { return };
                    header = marked;
                    arrival
                }
            };
            if !self.forwarding.continues_early(entry, packet) {
                return self.park(arrival, id, packet.onward(label, header), entry.lp());
            }
            if arrival >= self.cut {
                return self.park_beyond(arrival, id, packet.onward(label, header));
            }
            (now, ingress) = (arrival, Ingress(id));
        }
    }

    /// Sets the current event to the arrival of the packet that the ingress port accepted last.
    #[inline(always)]
    fn set_event<O>(&self, model: &mut Model<O>, at: Time, ingress: &mut Ingress) {
        if let Some(ordinal) = self.ports.try_last_ordinal(ingress.0) {
            model.event = Key::new(at, Class::Arrival, ingress.0.number(), ordinal);
            *ingress = Ingress::SET;
        }
    }

    /// Admits a packet if the fast path can. Returns its arrival time behind the port. `label` and `header` are those
    /// behind the port.
    #[inline(always)]
    fn admit<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        now: Time,
        id: PortId,
        packet: &Packet,
        (label, header): (Label, Header),
    ) -> Option<Time> {
        let arrival = self.ports.try_accept_fast(id, now, header.size())?;
        if O::TAKES_RECORDS {
            model.record(Record::Accepted { port: id, packet: packet.onward(label, header) });
        }
        Some(arrival)
    }

    /// Admits a packet on the slow path: it may be lost, wait for a burst, or enter a stepped port. A packet that arrived
    /// from `input` may wait at a crossbar. Returns the arrival time and the header, which a queue may have marked.
    #[inline(never)]
    fn admit_slow<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        mut packet: Packet,
        input: Option<PortId>,
    ) -> Option<(Time, Header)> {
        if let Some((number, input)) = model.crossbar_before(id, input) {
            crossbars::admit(self, model, number, [input, id], packet);
            return None;
        }
        if let Some(assembler) = model.assembler_at(id) {
            self.gather(model, assembler, packet);
            return None;
        }
        match self.ports.get_mut(id).stepped() {
            Some(port) => {
                departures::enter(port, &mut self.event_queue, model, id, packet);
                self.offer(model, id);
                None
            }
            None => {
                let arrival = self.ports.get_mut(id).admit(model, id, &mut packet)?;
                Some((arrival, packet.header()))
            }
        }
    }

    /// Executes the current event, the end of a transmission at a stepped port.
    pub(super) fn end_transmission<O: Observer>(&mut self, model: &mut Model<O>) {
        if let Some(schedule) = model.schedule_state.schedule_of(model.event) {
            return self.run_schedule_step(model, schedule);
        }
        let (entity, ordinal) = (model.event.entity(), model.event.ordinal());
        let Some(port) = self.ports.get_mut(PortId::new(entity)).stepped() else { return };
        if let Some((at, item)) = departures::finish(port, &mut self.event_queue, model) {
            self.wait(Due { at, entity, ordinal, item }, LpId::LOOK_UP);
        }
        self.feed(model, PortId::new(entity));
    }

    /// Queues a packet until its event behind the port that accepted it last.
    #[inline(always)]
    fn park(&mut self, at: Time, port: PortId, packet: Packet, lp: LpId) {
        let ordinal = self.ports.last_ordinal(port);
        self.wait(Due { at, entity: port.number(), ordinal, item: packet }, lp);
    }

    /// Queues a packet that could continue. Its next step is at the cut or later, or packets continue one step at a
    /// time after a cut.
    #[cold]
    #[inline(never)]
    fn park_beyond(&mut self, at: Time, port: PortId, packet: Packet) {
        let ordinal = self.ports.last_ordinal(port);
        let due = Due { at, entity: port.number(), ordinal, item: packet };
        match &mut self.resumed {
            Some((until, heap)) if at < *until => heap.push(std::cmp::Reverse(due)),
            _ => self.waiting.push(due),
        }
    }

    /// Returns the port of a bundle for a packet.
    #[inline(never)]
    fn choose<O>(
        &mut self,
        model: &mut Model<O>,
        bundle: BundleId,
        destination: u32,
        packet: Packet,
    ) -> PortId {
        let now = model.event.time();
        let (bundle, crossbars) = model.bundle_and_crossbars(bundle);
        let mut members = Members { ports: &mut self.ports, crossbars, now };
        bundle.choose(destination, packet, &mut members)
    }

    /// Handles a packet at a selector or a bridge.
    #[inline(never)]
    pub(super) fn at_special<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        packet: Packet,
        from: Option<PortId>,
    ) {
        let event = model.event;
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
            Onward::Released(which) => return self.pass_in_order(model, which),
            Onward::Lost => return,
        };
        for (port, mut packet) in ways.into_iter().flatten() {
            model.event = event;
            let ahead = self.forwarding.ahead(packet);
            let under = (packet.label, packet.header());
            let arrival = match self.admit(model, event.time(), port, &packet, under) {
                Some(arrival) => arrival,
                None => {
                    let Some((arrival, header)) = self.admit_slow(model, port, packet, from) else {
                        continue;
                    };
                    packet = packet.onward(packet.label, header);
                    arrival
                }
            };
            if !ahead {
                self.park(arrival, port, packet, LpId::ALL);
            } else if arrival >= self.cut {
                self.park_beyond(arrival, port, packet);
            } else {
                self.set_event(model, arrival, &mut Ingress(port));
                self.walk(model, packet, Some(port));
            }
        }
    }
}

/// Port over which a packet arrived, unless the model's current event already says so. The event is set only when it is
/// needed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ingress(PortId);

impl Ingress {
    /// The model's event is up to date.
    const SET: Ingress = Ingress(PortId::new(u32::MAX));
    /// The packet comes from the local endpoint; the model's event is up to date.
    const ENDPOINT: Ingress = Ingress(PortId::new(u32::MAX - 1));
}

/// Drops a packet whose time to live expired behind its ingress port.
#[cold]
#[inline(never)]
fn expire<O: Observer>(model: &mut Model<O>, packet: Packet) {
    model.lose(PortId::new(model.event.entity()), packet, DropReason::TtlExpired);
}

/// View of the ports for the selection of a bundle member.
struct Members<'a> {
    ports: &'a mut Ports,
    crossbars: CrossbarView<'a>,
    now: Time,
}

impl Lightpaths for Members<'_> {
    #[inline]
    fn busy_until(&self, port: PortId) -> Time {
        let until = self.ports.busy_until(port);
        self.crossbars.busy_until(port, until, self.now, || self.ports.get(port).current_rate())
    }

    fn packets(&mut self, port: PortId) -> u64 {
        self.ports.get_mut(port).packets(self.now) + self.crossbars.packets(port)
    }
}
