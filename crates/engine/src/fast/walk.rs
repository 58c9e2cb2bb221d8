//! The way of a packet from port to port: how far it is taken at once, and where it waits for its turn.

use optcp_des::{Class, Due, Key};
use optcp_net::{BundleId, DropReason, Header, Label, Packet, PortId};
use optcp_optical::bundle::Lightpaths;
use optcp_units::Time;

use super::Fast;
use super::forwarding::{Entry, LpId};
use super::port::Ports;
use crate::departures;
use crate::event_handler::EventHandler;
use crate::model::{Model, Onward};
use crate::observe::{Observer, Record};
use crate::stepping::Stepping;

impl Fast {
    /// A packet comes out of a pipe.
    #[inline]
    pub(super) fn step<O: Observer>(&mut self, model: &mut Model<O>, due: Due<Packet>) {
        model.event = Key::new(due.at, Class::Arrival, due.entity, due.ordinal);
        self.walk(model, due.item, Some(PortId::new(due.entity)));
    }

    /// A packet is at a node, having come through the port `from` or from the endpoint there: takes it as
    /// far as it may go.
    // What every packet passes is short, and what it seldom needs is called: few values stay in registers.
    pub(super) fn walk<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        mut packet: Packet,
        from: Option<PortId>,
    ) {
        // What changes on the way stays out of the packet: it would be written and read back each time.
        let (mut label, mut header) = (packet.label, packet.header());
        let mut ingress = from.map_or(Ingress::ENDPOINT, |_| Ingress::SET);
        if from.is_none() {
            // The node where it begins takes nothing.
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
                        let entrance = model.labels.entrance(entry.next());
                        id = self.choose(model, entrance.bundle, entrance.destination, packet);
                        next = entrance.next;
                    }
                    Entry::SPREAD => {
                        label = model.labels.spread(entry.next(), packet);
                        if ingress == Ingress::ENDPOINT {
                            header = header.before(self.forwarding.at(label).hops());
                        }
                        continue;
                    }
                    _ => {
                        return self.at_special(
                            model,
                            packet.onward(label, header),
                            ingress != Ingress::ENDPOINT,
                        );
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
            let surely = self.admit(model, now, id, &packet, (label, header));
            let arrival = match surely {
                Some(arrival) => arrival,
                None => {
                    self.set_event(model, now, &mut ingress);
                    let otherwise = self.admit_slow(model, id, packet.onward(label, header));
                    let Some((arrival, marked)) = otherwise else { return };
                    header = marked;
                    arrival
                }
            };
            if !self.forwarding.goes_on(entry.ahead(), packet) {
                return self.park(arrival, id, packet.onward(label, header), entry.lp());
            }
            if arrival >= self.cut {
                return self.park_beyond(arrival, id, packet.onward(label, header));
            }
            (now, ingress) = (arrival, Ingress(id));
        }
    }

    /// Makes the arrival of a packet, which is what its port has accepted last, the event that is being executed.
    #[inline(always)]
    fn set_event<O>(&self, model: &mut Model<O>, at: Time, ingress: &mut Ingress) {
        if let Some(ordinal) = self.ports.try_last_ordinal(ingress.0) {
            model.event = Key::new(at, Class::Arrival, ingress.0.number(), ordinal);
            *ingress = Ingress::SET;
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
        let arrival = self.ports.try_accept_fast(id, now, header.size())?;
        if O::TAKES_RECORDS {
            model.record(Record::Accepted { port: id, packet: packet.onward(label, header) });
        }
        Some(arrival)
    }

    /// The same where it must be looked at more closely: it may be lost, wait for a burst, or have come to a
    /// port of which it is not known yet when it leaves. Its header may say something else then.
    #[inline(never)]
    fn admit_slow<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        mut packet: Packet,
    ) -> Option<(Time, Header)> {
        if let Some(assembler) = model.assembler_at(id) {
            self.gather(model, assembler, packet);
            return None;
        }
        match self.ports.get_mut(id).stepped() {
            Some(port) => {
                departures::enter(port, &mut self.calendar, model, id, packet);
                self.came(model, id);
                None
            }
            None => {
                let arrival = self.ports.get_mut(id).admit(model, id, &mut packet)?;
                Some((arrival, packet.header()))
            }
        }
    }

    /// Executes the event, which is the end of a transmission of a port in the stepped lane.
    pub(super) fn end_transmission<O: Observer>(&mut self, model: &mut Model<O>) {
        if let Some(schedule) = model.planned.schedule_of(model.event) {
            return self.step_of(model, schedule);
        }
        let (entity, ordinal) = (model.event.entity(), model.event.ordinal());
        let Some(port) = self.ports.get_mut(PortId::new(entity)).stepped() else { return };
        if let Some((at, item)) = departures::finish(port, &mut self.calendar, model) {
            self.wait(Due { at, entity, ordinal, item }, LpId::LOOK_UP);
        }
        self.feed(model, PortId::new(entity));
    }

    /// A packet waits for its turn behind the port that has accepted it last.
    #[inline(always)]
    fn park(&mut self, at: Time, port: PortId, packet: Packet, lp: LpId) {
        let ordinal = self.ports.last_ordinal(port);
        self.wait(Due { at, entity: port.number(), ordinal, item: packet }, lp);
    }

    /// A packet that could go on waits, since it would do so at the cut or later; or until its turn comes while packets
    /// go on after a cut.
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

    /// The port of a bundle that a packet takes.
    #[inline(never)]
    fn choose<O>(
        &mut self,
        model: &mut Model<O>,
        bundle: BundleId,
        destination: u32,
        packet: Packet,
    ) -> PortId {
        let mut members = Members { ports: &mut self.ports, now: model.event.time() };
        model.bundles[bundle as usize].choose(destination, packet, &mut members)
    }

    /// A packet is at a gate or a bridge.
    #[inline(never)]
    fn at_special<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet, routed: bool) {
        let event = model.event;
        let from = routed.then_some(PortId::new(event.entity()));
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
        for (port, mut packet) in ways.into_iter().flatten() {
            model.event = event;
            let ahead = self.forwarding.ahead(packet);
            let under = (packet.label, packet.header());
            let arrival = match self.admit(model, event.time(), port, &packet, under) {
                Some(arrival) => arrival,
                None => {
                    let Some((arrival, header)) = self.admit_slow(model, port, packet) else {
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

/// The port by which a packet came to where it is, unless that is already the model's event: the arrival that
/// is being executed becomes so only where that is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ingress(PortId);

impl Ingress {
    /// The model knows.
    const SET: Ingress = Ingress(PortId::new(u32::MAX));
    /// It came from an endpoint here, and the model knows.
    const ENDPOINT: Ingress = Ingress(PortId::new(u32::MAX - 1));
}

/// A packet's time to live is used up behind the port by which it came.
#[cold]
#[inline(never)]
fn expire<O: Observer>(model: &mut Model<O>, packet: Packet) {
    model.lose(PortId::new(model.event.entity()), packet, DropReason::TtlExpired);
}

/// The ports, for who chooses among those of a bundle.
struct Members<'a> {
    ports: &'a mut Ports,
    now: Time,
}

impl Lightpaths for Members<'_> {
    #[inline]
    fn busy_until(&self, port: PortId) -> Time {
        self.ports.busy_until(port)
    }

    fn packets(&mut self, port: PortId) -> u64 {
        self.ports.get_mut(port).packets(self.now)
    }
}
