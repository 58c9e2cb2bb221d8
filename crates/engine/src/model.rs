//! Packet handling at endpoints and nodes, independent of the engine.

use optcp_des::Key;
use optcp_net::{Action, BundleId, Crossbar, DropReason, FlowId, Hop, LabelTable, Packet, PortId};
use optcp_optical::bundle::Bundle;
use optcp_optical::burst::{Assembler, Gathered, Passage, Step};
use optcp_optical::switching::BurstCore;
use optcp_tcp::{Ack, Seq};
use optcp_units::{Duration, Time};

use crate::copies::Loss;
use crate::datagrams::Datagrams;
use crate::flow::{ReceivingEnd, SendingEnd, wire};
use crate::in_flight::InFlightStore;
use crate::observe::{Cause, Observer, Record};
use crate::resequencer::Resequencer;
use crate::schedule_state::ScheduleState;
use crate::{Blueprint, Counts};

/// State that all engines share. Queues, links and pending events belong to the engine.
#[derive(Clone, Debug)]
pub(crate) struct Model<O> {
    /// Event in execution.
    pub(crate) event: Key,
    pub(crate) labels: LabelTable,
    pub(crate) bundles: Vec<Bundle>,
    pub(crate) assemblers: Vec<Assembler>,
    pub(crate) core: BurstCore,
    pub(crate) resequencers: Vec<Resequencer>,
    /// Assembler that replaces a port, by port.
    assembler_at: Vec<Option<u32>>,
    pub(crate) crossbars: Vec<Crossbar>,
    /// Crossbar before a port, by port; empty without crossbars.
    pub(crate) crossbar_at: Vec<Option<u32>>,
    /// Empty list, kept for its memory.
    pub(crate) crossed: Vec<(PortId, Packet)>,
    /// Sending ends by flow, separate from the receiving ends.
    pub(crate) senders: Vec<SendingEnd>,
    pub(crate) receivers: Vec<ReceivingEnd>,
    /// Data of packets in flight.
    pub(crate) in_flight: InFlightStore,
    /// State of shared queues and schedules.
    pub(crate) schedule_state: ScheduleState,
    /// Sources of datagrams. Their flow numbers follow the numbers of the flows.
    pub(crate) datagrams: Vec<Datagrams>,
    pub(crate) counts: Counts,
    pub(crate) observer: O,
}

/// Number of events between two calls of the continuation callback. It is small because one event may send a whole
/// window.
const CHECK_INTERVAL: u64 = 1 << 7;

/// Next step of a packet at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Onward {
    /// Delivery to the local endpoint.
    Deliver(Packet),
    /// Forwarding to a port.
    Port(PortId, Packet),
    /// Copies to two ports.
    Both([(PortId, Packet); 2]),
    /// Forwarding over a bundle to a destination; the bundle chooses the port.
    Bundle(BundleId, u32, Packet),
    /// Packets that leave this resequencer, possibly none.
    Released(u32),
    /// Loss at this node.
    Lost,
}

impl<O: Observer> Model<O> {
    pub(crate) fn new(blueprint: &Blueprint, observer: O) -> Self {
        let mut assembler_at = vec![None; blueprint.ports.len()];
        for (number, assembler) in (0..).zip(&blueprint.assemblers) {
            assembler_at[assembler.port().index()] = Some(number);
        }
        let crossbars = &blueprint.crossbars;
        let ports = if crossbars.is_empty() { 0 } else { blueprint.ports.len() };
        let mut crossbar_at = vec![None; ports];
        for (number, crossbar) in (0..).zip(crossbars) {
            crossbar.outputs().iter().for_each(|port| crossbar_at[port.index()] = Some(number));
        }
        let Blueprint { flows, queues, .. } = blueprint;
        Model {
            event: Key::START,
            labels: blueprint.labels.clone(),
            bundles: blueprint.bundles.clone(),
            assemblers: blueprint.assemblers.clone(),
            core: blueprint.core.clone(),
            resequencers: blueprint.resequencers.iter().copied().map(Resequencer::new).collect(),
            assembler_at,
            crossbars: crossbars.clone(),
            crossbar_at,
            crossed: Vec::new(),
            schedule_state: ScheduleState::new(blueprint),
            senders: flows.iter().map(|spec| SendingEnd::new(spec, queues)).collect(),
            receivers: flows.iter().map(ReceivingEnd::new).collect(),
            in_flight: InFlightStore::default(),
            datagrams: blueprint.datagrams.iter().map(Datagrams::new).collect(),
            counts: Counts::default(),
            observer,
        }
    }

    /// Returns a model for another thread, without endpoints.
    pub(crate) fn helper(&self) -> Self {
        Model {
            event: Key::START,
            labels: self.labels.clone(),
            bundles: self.bundles.clone(),
            assemblers: Vec::new(),
            core: BurstCore::default(),
            resequencers: Vec::new(),
            assembler_at: self.assembler_at.clone(),
            crossbars: Vec::new(),
            crossbar_at: Vec::new(),
            crossed: Vec::new(),
            schedule_state: self.schedule_state.clone(),
            senders: self.receivers.iter().map(ReceivingEnd::placeholder_of_other).collect(),
            receivers: self.receivers.iter().map(ReceivingEnd::placeholder).collect(),
            in_flight: InFlightStore::default(),
            datagrams: self.datagrams.clone(),
            counts: Counts::default(),
            observer: self.observer.helper(),
        }
    }

    /// Copies the labels of another model.
    pub(crate) fn copy_labels(&mut self, other: &Self) {
        self.labels = other.labels.clone();
    }

    /// Exchanges one end of a flow or source with another model.
    pub(crate) fn exchange_end(&mut self, other: &mut Self, flow: usize, receives: bool) {
        match (flow.checked_sub(self.senders.len()), receives) {
            (None, false) => std::mem::swap(&mut self.senders[flow], &mut other.senders[flow]),
            (None, true) => std::mem::swap(&mut self.receivers[flow], &mut other.receivers[flow]),
            (Some(source), false) => {
                std::mem::swap(&mut self.datagrams[source], &mut other.datagrams[source]);
            }
            // Sinks have no state.
            (Some(_), true) => {}
        }
    }

    /// Counts an event. Returns whether to continue, which it asks once per `CHECK_INTERVAL` events.
    #[inline]
    pub(crate) fn should_continue(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> bool {
        self.counts.events += 1;
        !self.counts.events.is_multiple_of(CHECK_INTERVAL) || go_on(self.now())
    }

    /// Returns the time of the event in execution.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.event.time()
    }

    #[inline]
    pub(crate) fn record(&mut self, record: Record) {
        self.observer.record(self.event, record);
    }

    /// Determines the next step of a packet at a node. `from` is the port over which it arrived; `None` for packets of
    /// the local endpoint, whose time to live is not decremented.
    #[inline]
    pub(crate) fn at_node(&mut self, mut packet: Packet, from: Option<PortId>) -> Onward {
        match self.labels.hop(packet.label) {
            Hop::Deliver => Onward::Deliver(packet),
            Hop::Forward { port, next } => {
                if self.expires(&mut packet, from) {
                    return Onward::Lost;
                }
                packet.label = next;
                Onward::Port(port, packet)
            }
            Hop::Tunnel { port, next } => {
                packet.label = next;
                Onward::Port(port, packet)
            }
            Hop::SelectorInput(input) => self.at_selector(input, packet, from),
            Hop::Bridge(bridge) => self.at_bridge(bridge, packet, from),
            Hop::Bundle(number) => {
                if self.expires(&mut packet, from) {
                    return Onward::Lost;
                }
                let bundle_hop = self.labels.bundle_hop(number);
                packet.label = bundle_hop.next;
                Onward::Bundle(bundle_hop.bundle, bundle_hop.destination, packet)
            }
            Hop::Goto(label) => self.at_node(packet.under(label), from),
            Hop::Ecmp(set) => {
                packet.label = self.labels.ecmp(set, packet);
                self.at_node(packet, from)
            }
            Hop::Discard(port) => {
                self.lose(port, packet, DropReason::NoRoute);
                Onward::Lost
            }
            Hop::Ways(_) => unreachable!("a transmitter looks up the entry behind such a queue"),
        }
    }

    /// Decrements the time to live of a packet that a router forwards. Returns whether it expired; the packet is then
    /// lost.
    #[inline]
    pub(crate) fn expires(&mut self, packet: &mut Packet, from: Option<PortId>) -> bool {
        let Some(from) = from else { return false };
        let expired = !packet.pass_router();
        if expired {
            self.lose(from, *packet, DropReason::TtlExpired);
        }
        expired
    }

    /// Carries out an action on labels, selectors, bundles or fibres.
    pub(crate) fn apply(&mut self, action: Action) {
        match action {
            Action::TakeOut(bundle, port) => self.bundles[bundle as usize].take_out(port),
            Action::PutBack(bundle, port) => self.bundles[bundle as usize].put_back(port),
            Action::FibreDown(fibre, kept) => self.core.fail(fibre, self.event.time(), kept),
            Action::FibreUp(fibre) => self.core.restore(fibre, self.event.time()),
            other => self.labels.apply(other),
        }
    }

    // Selectors and bridges are rare. Separate functions keep them out of the hot path.
    #[inline(never)]
    fn at_selector(&mut self, input: u32, mut packet: Packet, from: Option<PortId>) -> Onward {
        let of_input = self.labels.selector_input(input);
        if let Some(which) = self.resequencer_at(of_input.selector) {
            return self.at_resequencer(which, packet.under(of_input.next), from, of_input.port);
        }
        match self.labels.pass(input) {
            Ok(next) => {
                packet.label = next;
                self.at_node(packet, from)
            }
            Err(port) => {
                self.lose(port, packet, DropReason::NotSelected);
                Onward::Lost
            }
        }
    }

    #[inline(never)]
    fn at_bridge(&mut self, bridge: u32, mut packet: Packet, from: Option<PortId>) -> Onward {
        if self.expires(&mut packet, from) {
            return Onward::Lost;
        }
        self.counts.copied += 1;
        let copy = self.in_flight.bridge(packet);
        self.number_packet(bridge, copy);
        let [(first, next), (second, beyond)] = self.labels.bridge(bridge);
        Onward::Both([(first, copy.under(next)), (second, copy.under(beyond))])
    }

    /// Returns the duplicate that a link makes: a separate packet, or another copy if the packet has copies.
    pub(crate) fn duplicate(&mut self, packet: Packet) -> Packet {
        self.counts.copied += 1;
        if packet.copy_of().is_some() {
            return self.in_flight.bridge(packet);
        }
        self.counts.duplicated += 1;
        self.in_flight.copy(packet)
    }

    /// Returns the assembler that replaces a port.
    #[inline]
    pub(crate) fn assembler_at(&self, port: PortId) -> Option<u32> {
        self.assembler_at[port.index()]
    }

    /// Returns the crossbar that a packet which arrived from `input` passes before a port.
    #[inline]
    pub(crate) fn crossbar_before(
        &self,
        port: PortId,
        input: Option<PortId>,
    ) -> Option<(u32, PortId)> {
        let number = (*self.crossbar_at.get(port.index())?)?;
        Some((number, input?))
    }

    /// Returns the number of packets at the inputs of crossbars.
    pub(crate) fn in_crossbars(&self) -> u64 {
        self.crossbars.iter().map(Crossbar::packets).sum()
    }

    /// Adds a packet to an assembler.
    pub(crate) fn gather(&mut self, assembler: u32, packet: Packet) -> Gathered {
        let now = self.now();
        let assembler = &mut self.assemblers[assembler as usize];
        let (port, gathered) = (assembler.port(), assembler.gather(now, packet));
        self.record(Record::Accepted { port, packet });
        gathered
    }

    /// Sends the burst that an assembler has collected, and its second copy if there is one. A lost burst returns without
    /// its packets.
    pub(crate) fn send_burst(&mut self, assembler: u32) -> [Passage; 2] {
        let now = self.now();
        let from = &mut self.assemblers[assembler as usize];
        let (burst, copy) = from.send(now, &self.core);
        let (port, number, bytes) = (from.port(), burst.number, burst.crossing.bytes);
        let packets = u32::try_from(burst.packets.len()).unwrap_or(u32::MAX);
        let held = copy.map(|copy| {
            let number = copy.number;
            from.hold(copy);
            number
        });
        let first = from.advance(burst, &mut self.core);
        let second = held.map(|number| {
            let copy = from.take(number);
            from.advance(copy, &mut self.core)
        });
        let second = second.unwrap_or(Step { passage: Passage::Redundant, request: None });
        let lost = [&first, &second].iter().any(|step| matches!(step.passage, Passage::Lost(..)));
        self.record(Record::BurstSent { port, number, packets, bytes, lost });
        [first, second].map(|step| self.follow(port, number, step))
    }

    /// Handles the next event of a burst: its control packet at a switch, or its arrival.
    pub(crate) fn advance_burst(&mut self, assembler: u32, number: u32) -> Passage {
        let from = &mut self.assemblers[assembler as usize];
        let burst = from.take(number);
        let (port, number) = (from.port(), burst.number_of_both());
        let step = from.advance(burst, &mut self.core);
        if matches!(step.passage, Passage::Lost(..)) {
            self.record(Record::BurstLost { port, number });
        }
        self.follow(port, number, step)
    }

    /// Records the result of a step of a burst.
    fn follow(&mut self, port: PortId, number: u32, step: Step) -> Passage {
        if let Some((fibre, wavelength)) = step.request {
            self.record(Record::FibreAsked { port, number, fibre, wavelength });
        }
        if let Passage::Lost(burst, reason) = &step.passage {
            for &packet in &burst.packets {
                self.lose(port, packet, *reason);
            }
        }
        step.passage
    }

    /// Returns the number of packets in assemblers and in bursts whose fate is undecided.
    pub(crate) fn in_bursts(&self) -> u64 {
        let packets = |assembler: &Assembler| {
            let under_way: usize = assembler.in_flight().map(|burst| burst.packets.len()).sum();
            (assembler.held().len() + under_way) as u64
        };
        self.assemblers.iter().map(packets).sum()
    }

    /// Records that the queue discipline of a port has marked a packet.
    pub(crate) fn mark(&mut self, port: PortId, packet: Packet) {
        self.counts.marked += 1;
        self.record(Record::Marked { port, packet });
    }

    /// Records the drop of a packet, or of a copy, at or behind a port.
    #[cold]
    pub(crate) fn lose(&mut self, port: PortId, packet: Packet, reason: DropReason) {
        self.record(Record::Dropped { port, packet, reason });
        let loss = Loss { event: self.event, reason };
        let lost = match packet.copy_of() {
            Some(number) => self.in_flight.copy_is_lost(packet, number, loss),
            None => {
                self.in_flight.remove(packet);
                Some(loss)
            }
        };
        let Some(Loss { event, reason }) = lost else {
            self.counts.copies_discarded += 1;
            return;
        };
        self.counts.dropped[reason as usize] += 1;
        self.observer.record(event, Record::Lost { flow: packet.flow(), reason });
    }

    /// Registers an arrival at an endpoint. Returns the packet and whether another copy has arrived before.
    #[inline]
    fn arrives(&mut self, packet: Packet) -> (Packet, bool) {
        match packet.copy_of() {
            None => {
                self.counts.delivered += 1;
                (packet, false)
            }
            Some(number) => self.copy_arrives(packet, number),
        }
    }

    // Copies are rare. A separate function keeps them out of the hot path.
    #[cold]
    #[inline(never)]
    fn copy_arrives(&mut self, packet: Packet, number: u32) -> (Packet, bool) {
        let (packet, first) = self.in_flight.copy_arrives(packet, number);
        if first {
            self.counts.delivered += 1;
        } else {
            self.counts.copies_discarded += 1;
        }
        (packet, !first)
    }

    /// Returns the source of datagrams with this flow number.
    pub(crate) fn source(&mut self, id: FlowId) -> &mut Datagrams {
        let place = id.index() - self.senders.len();
        &mut self.datagrams[place]
    }

    /// Returns the datagram that a source sends now.
    pub(crate) fn send_datagram(&mut self, id: FlowId) -> Packet {
        let now = self.now();
        let place = id.index() - self.senders.len();
        let packet = self.datagrams[place].send(id, now, &mut self.in_flight);
        self.counts.sent += 1;
        let (seq, size, marking) = (packet.seq, packet.size(), packet.marking());
        self.record(Record::DatagramSent { flow: id, seq, size, marking });
        packet
    }

    /// Handles a datagram at its sink.
    ///
    /// Receiving a segment looks up the flow anyway. Datagrams are recognised by the failed look-up, at no cost for
    /// segments.
    #[inline(never)]
    pub(crate) fn sink(&mut self, packet: Packet) {
        let (packet, second) = self.arrives(packet);
        let (flow, now) = (packet.flow(), self.now());
        let sent = self.in_flight.take_send_time(packet);
        let delay = sent.map_or(Duration::ZERO, |sent| now - sent);
        let (seq, size, marking) = (packet.seq, packet.size(), packet.marking());
        self.record(Record::DatagramArrived { flow, seq, size, delay, marking, second });
    }

    /// Handles a data segment at its receiver. Returns the ACK to send immediately, if any.
    #[inline]
    pub(crate) fn receive(&mut self, packet: Packet) -> Option<Packet> {
        let (packet, second) = self.arrives(packet);
        let (id, now) = (packet.flow(), self.now());
        let (seq, size, marking) = (packet.seq, packet.size(), packet.marking());
        self.record(Record::Arrived { flow: id, seq, size, marking, second });
        let end = &mut self.receivers[id.index()];
        let seq = Seq::new(seq);
        let (stamp, ttl) = (packet.options, packet.ttl());
        let arrival = end.receiver.handle_segment(now, seq, stamp, ttl, marking);
        if arrival.progress > 0 {
            let bytes = end.progress(seq, arrival.progress);
            self.record(Record::Progress { flow: id, bytes });
        }
        arrival.ack.map(|ack| self.send_ack(id, ack))
    }

    /// Returns the ACK to send before the one that [`Model::receive`] returned, if any.
    #[inline]
    pub(crate) fn earlier_ack(&mut self, id: FlowId) -> Option<Packet> {
        let ack = self.receivers[id.index()].receiver.take_earlier()?;
        Some(self.send_ack(id, ack))
    }

    /// Returns the packet for an ACK that a receiver sends now.
    #[inline]
    pub(crate) fn send_ack(&mut self, id: FlowId, ack: Ack) -> Packet {
        self.counts.sent += 1;
        self.receivers[id.index()].close(id, ack, &mut self.in_flight)
    }

    /// Handles an ACK at its sender. The caller must poll the sender for segments afterwards.
    #[inline]
    pub(crate) fn acknowledge(&mut self, packet: Packet) {
        let (packet, _) = self.arrives(packet);
        let (id, now) = (packet.flow(), self.now());
        let ack = self.in_flight.open(packet);
        let (seq, size, sack, marking) = (packet.seq, packet.size(), ack.sack, ack.marking);
        self.record(Record::Acknowledged { flow: id, seq, size, sack, marking });
        self.senders[id.index()].sender.handle_ack(now, &ack);
    }

    /// Notifies a sender of the network that carries its data. The sender transmits at its next event.
    pub(crate) fn notice(&mut self, id: FlowId) {
        let now = self.now();
        let end = &mut self.senders[id.index()];
        if let Some(queue) = end.notified_by {
            end.sender.change_network(now, self.schedule_state.known(queue, now));
        }
    }

    /// Returns the next segment that a sender sends now, if any.
    #[inline]
    pub(crate) fn next_segment(&mut self, id: FlowId) -> Option<Packet> {
        let now = self.now();
        let end = &mut self.senders[id.index()];
        let segment = end.sender.poll_transmit(now)?;
        let size = wire(segment.size);
        let seq = segment.seq.number();
        let marking = segment.marking;
        let packet = Packet::data(id, end.data, seq, size, segment.stamp).saying(marking);
        self.counts.sent += 1;
        let again = segment.retransmission;
        self.record(Record::Sent { flow: id, seq, again, size, marking });
        Some(packet)
    }

    /// Records the state of a sender after it has sent all it can.
    #[inline]
    pub(crate) fn record_update(&mut self, id: FlowId, cause: Cause) {
        if self.observer.wants_updates() {
            let snapshot = self.senders[id.index()].sender.snapshot();
            self.record(Record::Updated { flow: id, cause, snapshot });
        }
    }
}
