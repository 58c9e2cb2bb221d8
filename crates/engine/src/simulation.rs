//! One run: the model's parts in arenas, and what happens to a packet at a node.

use std::fmt;
use std::sync::Arc;

use optcp_des::Calendar;
use optcp_net::{
    Action, Admission, Control, DropReason, FlowId, Hop, Label, LabelTable, Packet, Port, PortId,
};
use optcp_tcp::{Ack, Receiver, Sender};
use optcp_units::{Bytes, Time};
use slab::Slab;

use crate::Blueprint;
use crate::observe::{Cause, Observer, Record};

/// A flow's two ends and where they put their packets.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    data: Label,
    acks: Label,
    /// ACKs under way that say more than a number and a timestamp.
    kept: Slab<Ack>,
    /// Pending calendar entries of the sender's and the receiver's timer: each timer has one at
    /// most that counts, never later than the deadline.
    pub(crate) timer_entries: [Time; 2],
}

impl Flow {
    /// The packet that carries an ACK.
    fn close(&mut self, id: FlowId, ack: Ack) -> Packet {
        let size = wire(self.sender.config().ack_wire_size(&ack));
        if ack.sack.is_none() {
            return Packet::ack(id, self.acks, ack.seq, size, ack.echo);
        }
        let place = u32::try_from(self.kept.insert(ack)).unwrap_or(u32::MAX);
        Packet::ack_kept(id, self.acks, ack.seq, size, place)
    }

    /// The ACK that a packet carries, which is no longer under way.
    fn open(&mut self, packet: Packet) -> Ack {
        match packet.kept() {
            Some(place) => self.kept.remove(place as usize),
            None => Ack { seq: packet.seq, echo: packet.options, sack: None },
        }
    }

    /// A second packet that says the same, and goes its own way.
    fn copy(&mut self, packet: Packet) -> Packet {
        let Some(place) = packet.kept() else { return packet };
        let again = self.kept[place as usize];
        let place = u32::try_from(self.kept.insert(again)).unwrap_or(u32::MAX);
        let mut copy = packet;
        copy.options = place;
        copy
    }

    /// A packet is lost.
    fn forget(&mut self, packet: Packet) {
        if let Some(place) = packet.kept() {
            self.kept.remove(place as usize);
        }
    }
}

/// Packets, data and ACKs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Put on the network by endpoints.
    pub sent: u64,
    /// Second copies that bridges made.
    pub copied: u64,
    /// Taken off the network by endpoints.
    pub delivered: u64,
    /// Lost, by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Events executed.
    pub events: u64,
}

impl Counts {
    /// Lost for any reason.
    #[must_use]
    pub fn dropped_in_all(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// A run whose packets do not add up: a defect of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conservation {
    /// Packets put on the network.
    pub sent: u64,
    /// Copies made of them.
    pub copied: u64,
    /// Packets taken off it.
    pub delivered: u64,
    /// Packets lost.
    pub dropped: u64,
    /// Packets in queues and on links.
    pub in_flight: u64,
}

impl fmt::Display for Conservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conservation { sent, copied, delivered, dropped, in_flight } = self;
        write!(
            f,
            "sent {sent}, copied {copied}, delivered {delivered}, dropped {dropped}, in flight {in_flight}"
        )
    }
}

impl std::error::Error for Conservation {}

/// One run in progress.
#[derive(Clone, Debug)]
pub struct Simulation<O> {
    pub(crate) now: Time,
    pub(crate) ports: Vec<Port>,
    labels: LabelTable,
    pub(crate) flows: Vec<Flow>,
    pub(crate) controls: Arc<[Control]>,
    pub(crate) next_control: usize,
    pub(crate) calendar: Calendar,
    pub(crate) counts: Counts,
    stop: Time,
    /// What watches the run.
    pub observer: O,
}

impl<O: Observer> Simulation<O> {
    /// A run at time zero.
    #[must_use]
    pub fn new(blueprint: &Blueprint, observer: O) -> Self {
        let ports = blueprint
            .ports
            .iter()
            .map(|(config, losses)| Port::new(config.clone()).with_losses(losses.clone()));
        let flows = blueprint.flows.iter().map(|spec| Flow {
            sender: Sender::new(Arc::clone(&spec.config), spec.segments, spec.clock_phase),
            receiver: Receiver::new(&spec.config, spec.ack_clock_phase),
            data: spec.data,
            acks: spec.acks,
            kept: Slab::new(),
            timer_entries: [Time::MAX; 2],
        });
        let mut simulation = Simulation {
            now: Time::ZERO,
            ports: ports.collect(),
            labels: blueprint.labels.clone(),
            flows: flows.collect(),
            controls: blueprint.controls.clone().into(),
            next_control: 0,
            calendar: Calendar::default(),
            counts: Counts::default(),
            stop: blueprint.stop,
            observer,
        };
        for (flow, spec) in (0..).zip(&blueprint.flows) {
            simulation.schedule_start(flow, spec.start);
        }
        simulation
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        let after_the_last_instant = Time::from_ps(self.stop.as_ps() + 1);
        self.run_before(after_the_last_instant);
        self.now = self.stop;
        self.observer.finish(self.stop);
        debug_assert_eq!(self.audit(), Ok(()), "packets must be conserved");
    }

    /// Goes on as a run of `blueprint`, which must agree with this one up to now
    /// ([`Blueprint::shared_until`]).
    pub fn continue_as(&mut self, blueprint: &Blueprint) {
        debug_assert_eq!(
            self.controls[..self.next_control],
            blueprint.controls[..self.next_control],
            "branches share their past"
        );
        self.controls = blueprint.controls.clone().into();
        self.stop = blueprint.stop;
        // What nothing has come to yet may be another in this world: laid anew, and its past with it.
        let past = std::mem::replace(&mut self.labels, blueprint.labels.clone());
        self.labels.continue_selectors(&past);
        let untouched: Vec<bool> = self.ports.iter().map(Port::is_untouched).collect();
        for (port, (config, losses)) in self.ports.iter_mut().zip(&blueprint.ports) {
            if port.is_untouched() {
                *port = Port::new(config.clone()).with_losses(losses.clone());
            }
        }
        for control in &blueprint.controls[..self.next_control] {
            match control.action {
                Action::SetHop(label, hop) => self.labels.set(label, hop),
                Action::PortDown(id) if untouched[id as usize] => {
                    self.ports[id as usize].fail(|_, _| ());
                }
                Action::PortClosed(id) if untouched[id as usize] => {
                    self.ports[id as usize].close();
                }
                Action::PortUp(id) if untouched[id as usize] => self.ports[id as usize].restore(),
                Action::SetDelay(id, delay) if untouched[id as usize] => {
                    self.ports[id as usize].set_delay(delay);
                }
                _ => {}
            }
        }
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The last instant that is simulated.
    #[must_use]
    pub fn stop(&self) -> Time {
        self.stop
    }

    /// What has happened so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Transmissions over links so far: packets that ports accepted.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.ports.iter().map(|port| port.counts().accepted).sum()
    }

    /// Packets in queues and on links.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.ports.iter().map(Port::holds).sum()
    }

    /// The ports, by number.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The sending ends, by flow.
    pub fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.flows.iter().map(|flow| &flow.sender)
    }

    /// Checks that packets are conserved: sent + copied = delivered + dropped + in flight.
    ///
    /// # Errors
    /// The four counts, if they do not add up.
    pub fn audit(&self) -> Result<(), Conservation> {
        let sums = Conservation {
            sent: self.counts.sent,
            copied: self.counts.copied,
            delivered: self.counts.delivered,
            dropped: self.counts.dropped_in_all(),
            in_flight: self.in_flight(),
        };
        let accounted = sums.delivered + sums.dropped + sums.in_flight;
        if sums.sent + sums.copied == accounted { Ok(()) } else { Err(sums) }
    }

    /// Carries an action out.
    pub(crate) fn apply(&mut self, action: Action) {
        match action {
            Action::PortDown(id) => {
                let Simulation { now, counts, observer, flows, ports, .. } = self;
                ports[id as usize].fail(|packet, reason| {
                    counts.dropped[reason as usize] += 1;
                    flows[packet.flow() as usize].forget(packet);
                    observer.record(*now, Record::Dropped { port: id, packet, reason });
                });
                observer.record(*now, Record::Failed { port: id });
            }
            Action::PortClosed(id) => self.ports[id as usize].close(),
            Action::PortUp(id) => self.ports[id as usize].restore(),
            Action::SetHop(label, hop) => self.labels.set(label, hop),
            Action::SetDelay(id, delay) => self.ports[id as usize].set_delay(delay),
            Action::Expect(id, side) => self.labels.selector_mut(id).expect(side),
            Action::Select(id, side) => self.labels.selector_mut(id).select(side),
        }
    }

    /// A packet is at a node: it is delivered there, goes into a port or two, or is discarded.
    ///
    /// It came through the port `from`, or from the endpoint at this node, which takes nothing from
    /// its time to live.
    #[inline]
    pub(crate) fn at_node(&mut self, mut packet: Packet, from: Option<PortId>) {
        match self.labels.hop(packet.label) {
            Hop::Deliver => self.deliver(packet),
            Hop::Forward { port, next } => {
                if let Some(from) = from
                    && !packet.pass_router()
                {
                    return self.lose(from, packet, DropReason::TtlExpired);
                }
                packet.label = next;
                self.enter(port, packet);
            }
            Hop::Carry { port, next } => {
                packet.label = next;
                self.enter(port, packet);
            }
            Hop::Gate(gate) => self.at_gate(gate, packet, from),
            Hop::Bridge(bridge) => self.at_bridge(bridge, packet, from),
        }
    }

    // Few packets come to a gate or a bridge; the others do not pay for them.
    #[inline(never)]
    fn at_gate(&mut self, gate: u32, mut packet: Packet, from: Option<PortId>) {
        match self.labels.pass(gate) {
            Ok(next) => {
                packet.label = next;
                self.at_node(packet, from);
            }
            Err(port) => self.lose(port, packet, DropReason::NotSelected),
        }
    }

    #[inline(never)]
    fn at_bridge(&mut self, bridge: u32, mut packet: Packet, from: Option<PortId>) {
        if let Some(from) = from
            && !packet.pass_router()
        {
            return self.lose(from, packet, DropReason::TtlExpired);
        }
        let copy = self.flows[packet.flow() as usize].copy(packet);
        self.counts.copied += 1;
        for ((port, next), mut packet) in self.labels.bridge(bridge).into_iter().zip([packet, copy])
        {
            packet.label = next;
            self.enter(port, packet);
        }
    }

    #[inline(always)]
    fn enter(&mut self, id: PortId, packet: Packet) {
        let admission = self.ports[id as usize].admit(self.now, packet);
        match admission {
            Admission::Queued => {}
            Admission::Sending { until, ordinal } => self.schedule_transmission(id, until, ordinal),
            Admission::Dropped(reason) => return self.lose(id, packet, reason),
        }
        let queue = self.queue_length(id);
        self.observer.record(self.now, Record::Accepted { port: id, packet, queue });
    }

    #[cold]
    fn lose(&mut self, port: PortId, packet: Packet, reason: DropReason) {
        self.counts.dropped[reason as usize] += 1;
        self.flows[packet.flow() as usize].forget(packet);
        self.observer.record(self.now, Record::Dropped { port, packet, reason });
    }

    pub(crate) fn queue_length(&self, id: PortId) -> u32 {
        u32::try_from(self.ports[id as usize].queue_length()).unwrap_or(u32::MAX)
    }

    fn deliver(&mut self, packet: Packet) {
        self.counts.delivered += 1;
        let id = packet.flow();
        let flow = &mut self.flows[id as usize];
        if packet.is_ack() {
            self.observer.record(self.now, Record::Acknowledged { flow: id, seq: packet.seq });
            let ack = flow.open(packet);
            flow.sender.handle_ack(self.now, &ack);
            self.drain_sender(id, Cause::Ack);
        } else {
            self.observer.record(self.now, Record::Arrived { flow: id, seq: packet.seq });
            let arrival =
                flow.receiver.handle_segment(self.now, packet.seq, packet.options, packet.ttl);
            if arrival.progress > 0 {
                let config = flow.sender.config();
                // A SYN takes a number but carries no data.
                let syn = u32::from(config.handshake && packet.seq == 0);
                let bytes = u64::from(arrival.progress - syn) * config.mss.count();
                self.observer.record(self.now, Record::Progress { flow: id, bytes });
            }
            if let Some(ack) = arrival.ack {
                self.send_ack(id, ack);
            }
            self.schedule_receiver_timer(id);
        }
    }

    pub(crate) fn send_ack(&mut self, id: FlowId, ack: Ack) {
        let packet = self.flows[id as usize].close(id, ack);
        self.counts.sent += 1;
        self.at_node(packet, None);
    }

    /// Puts on the network what a sender may send now, after what came to it.
    pub(crate) fn drain_sender(&mut self, id: FlowId, cause: Cause) {
        while let Some(segment) = self.flows[id as usize].sender.poll_transmit(self.now) {
            let label = self.flows[id as usize].data;
            let packet = Packet::data(id, label, segment.seq, wire(segment.size), segment.stamp);
            self.counts.sent += 1;
            self.observer.record(
                self.now,
                Record::Sent { flow: id, seq: segment.seq, again: segment.retransmission },
            );
            self.at_node(packet, None);
        }
        if self.observer.wants_updates() {
            let snapshot = self.flows[id as usize].sender.snapshot();
            self.observer.record(self.now, Record::Updated { flow: id, cause, snapshot });
        }
        self.schedule_sender_timer(id);
    }
}

/// A size as packets carry it: scenarios are checked for what exceeds IP's limit.
fn wire(size: Bytes) -> u16 {
    u16::try_from(size.count()).unwrap_or(u16::MAX)
}
