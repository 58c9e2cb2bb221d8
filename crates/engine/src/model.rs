//! State of a run and packet handling at nodes, independent of the engine.

use optcp_des::Key;
use optcp_net::{
    Action, BundleId, Crossbar, DropReason, FlowId, Hop, LabelTable, MOST_FLOWS, Packet, PortId,
};
use optcp_optical::bundle::Bundle;
use optcp_optical::burst::{Assembler, Gathered, Passage, Step};
use optcp_optical::switching::BurstCore;
use optcp_units::Time;

use crate::applications::Applications;
use crate::connection::Multipath;
use crate::copies::Loss;
use crate::datagrams::Datagrams;
use crate::external::Delivery;
use crate::flow::{ReceivingEnd, SendingEnd};
use crate::in_flight::InFlightStore;
use crate::observe::{Observer, Record};
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
    /// Applications, if any.
    pub(crate) applications: Option<Box<Applications>>,
    /// Entity of the first step of the applications.
    pub(crate) first_step: u32,
    pub(crate) connections: Vec<Multipath>,
    /// Connection of each subflow, by flow; empty without connections.
    pub(crate) connection_at: Vec<Option<u32>>,
    /// Data of packets in flight.
    pub(crate) in_flight: InFlightStore,
    /// State of shared queues and schedules.
    pub(crate) schedule_state: ScheduleState,
    /// Sources of datagrams and of external packets. Their flow numbers follow the numbers of the flows.
    pub(crate) datagrams: Vec<Datagrams>,
    /// External packets that have arrived and have not been taken yet.
    pub(crate) deliveries: Vec<Delivery>,
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
        let count = flows.len() + blueprint.sources();
        assert!(count < MOST_FLOWS as usize, "fewer than 2^22 flows and sources");
        let mut senders: Vec<SendingEnd> =
            flows.iter().map(|spec| SendingEnd::new(spec, queues)).collect();
        let mss = |flow: FlowId| flows[flow.index()].config.mss.count();
        let applications = Applications::new(&blueprint.applications, flows.len(), mss);
        for flow in &blueprint.applications.flows {
            let segments = flows[flow.index()].segments.unwrap_or(0);
            senders[flow.index()].sender.withhold(segments);
        }
        let subflows = if blueprint.connections.is_empty() { 0 } else { flows.len() };
        let mut connection_at = vec![None; subflows];
        for (number, connection) in (0..).zip(&blueprint.connections) {
            let first = connection.first.index();
            let flows = first..first + connection.subflows;
            connection_at[flows.clone()].fill(Some(number));
            senders[flows].iter_mut().for_each(SendingEnd::become_subflow);
        }
        let mut model = Model {
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
            senders,
            applications,
            first_step: 0,
            receivers: flows.iter().map(ReceivingEnd::new).collect(),
            connections: (blueprint.connections())
                .map(|connection| Multipath::new(blueprint, connection))
                .collect(),
            connection_at,
            in_flight: InFlightStore::default(),
            datagrams: Datagrams::all(blueprint),
            deliveries: Vec::new(),
            counts: Counts::default(),
            observer,
        };
        for flow in &blueprint.applications.flows {
            model.receivers[flow.index()].is_read = true;
        }
        model.first_step = model.first_application_step();
        model
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
            applications: None,
            first_step: self.first_step,
            connections: Vec::new(),
            connection_at: Vec::new(),
            in_flight: InFlightStore::default(),
            datagrams: self.datagrams.clone(),
            deliveries: Vec::new(),
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

    /// Sends the burst of a class that an assembler has collected, and its second copy if there is one. A lost burst
    /// returns without its packets.
    pub(crate) fn send_burst(&mut self, assembler: u32, class: u8) -> [Passage; 2] {
        let now = self.now();
        let from = &mut self.assemblers[assembler as usize];
        let (burst, copy) = from.send(now, class, &self.core);
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
        let second = second.unwrap_or(Passage::Redundant.into());
        let lost = [&first, &second].iter().any(|step| matches!(step.passage, Passage::Lost(..)));
        self.record(Record::BurstSent { port, number, class, packets, bytes, lost });
        [first, second].map(|step| self.follow(port, number, step))
    }

    /// Handles the next event of a burst: its control packet at a switch, or its arrival.
    pub(crate) fn advance_burst(&mut self, assembler: u32, number: u32) -> Passage {
        let from = &mut self.assemblers[assembler as usize];
        let burst = from.take(number);
        let (port, number, class) =
            (from.port(), burst.number_of_both(), burst.crossing.burst.class);
        let step = from.advance(burst, &mut self.core);
        if let Passage::Lost(_, reason) = step.passage {
            self.record(Record::BurstLost { port, number, class, reason });
        }
        self.follow(port, number, step)
    }

    /// Records the result of a step of a burst.
    fn follow(&mut self, port: PortId, number: u32, step: Step) -> Passage {
        if let Some((fibre, wavelength)) = step.request {
            self.record(Record::FibreAsked { port, number, fibre, wavelength });
        }
        for burst in step.preempted {
            let assembler = self.assembler_at(burst.port).expect("bursts come from assemblers");
            self.assemblers[assembler as usize].preempt(burst.number);
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
            let held: usize = assembler.held().map(|(_, packets)| packets.len()).sum();
            (held + under_way) as u64
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
}
