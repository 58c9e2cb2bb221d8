//! Reference engine: one event for every end of a transmission, every arrival and every timer.
//!
//! The implementation is deliberately simple. A faster engine is correct if it produces the same records.

use optcp_des::{Class, EventQueue, Key};
use optcp_net::{Action, Control, FlowId, Packet, Pipe, Port, PortCounts, PortId, Tally};
use optcp_optical::bundle::Lightpaths;
use optcp_units::{Duration, Time};

use crate::Blueprint;
use crate::controls::Controls;
use crate::crossbars::{self, CrossbarView};
use crate::departures;
use crate::event_handler::EventHandler;
use crate::model::{Model, Onward};
use crate::observe::{Cause, Observer, Record};
use crate::state::PortState;
use crate::stepping::Stepping;
use crate::timers::{TimerEvent, initial_events};

/// Ports with explicit queues, links and all pending events.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    ports: Vec<Port>,
    /// Link behind each port.
    pipes: Vec<Pipe>,
    event_queue: EventQueue,
}

/// View of the ports for the selection of a bundle member.
struct Members<'a> {
    ports: &'a [Port],
    crossbars: CrossbarView<'a>,
    now: Time,
}

impl Lightpaths for Members<'_> {
    fn busy_until(&self, port: PortId) -> Time {
        let port_of = &self.ports[port.index()];
        self.crossbars.busy_until(port, port_of.busy_until(), self.now, || port_of.rate())
    }

    fn packets(&mut self, port: PortId) -> u64 {
        self.ports[port.index()].packets(self.now) as u64 + self.crossbars.packets(port)
    }
}

impl Reference {
    pub(crate) fn new<O>(blueprint: &Blueprint, model: &mut Model<O>) -> Self {
        let port = |(config, losses): &(_, Vec<_>)| {
            Port::new(Clone::clone(config)).with_losses(losses.clone())
        };
        let ports: Vec<Port> = blueprint.ports.iter().map(port).collect();
        let pipes = vec![Pipe::default(); ports.len()];
        Reference { ports, pipes, event_queue: initial_events(blueprint, model) }
    }

    /// See [`crate::Simulation::run_before_while`].
    pub(crate) fn run_before<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        controls: &mut Controls,
        limit: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        loop {
            let bound = controls.next_at().min(limit);
            while let Some(key) = self.event_queue.pop_before(bound) {
                if !model.should_continue(go_on) {
                    return false;
                }
                model.event = key;
                self.execute(model);
            }
            if bound == limit {
                return true;
            }
            while let Some((key, action)) = controls.take(bound) {
                model.event = key;
                self.apply(model, action);
            }
        }
    }

    /// See [`crate::Simulation::continue_as`].
    pub(crate) fn continue_as(&mut self, blueprint: &Blueprint, past: &[Control]) {
        // Schedules and the ports that they change are equal in both runs.
        let scheduled = blueprint.scheduled_ports();
        let replaced =
            |(id, port): (PortId, &Port)| port.is_untouched() && !scheduled.contains(&id);
        let untouched: Vec<bool> = PortId::all().zip(&self.ports).map(replaced).collect();
        let ports = self.ports.iter_mut().zip(&blueprint.ports).zip(&untouched);
        for ((port, (config, losses)), &untouched) in ports {
            if untouched {
                *port = Port::new(config.clone()).with_losses(losses.clone());
            }
        }
        for control in past {
            match control.action {
                Action::PortDown(id) if untouched[id.index()] => {
                    self.ports[id.index()].fail(control.at, [], |_, _| ());
                }
                Action::PortClosed(id) if untouched[id.index()] => {
                    self.ports[id.index()].close();
                }
                Action::PortUp(id) if untouched[id.index()] => self.ports[id.index()].restore(),
                Action::SetDelay(id, delay) if untouched[id.index()] => {
                    self.ports[id.index()].set_delay(delay);
                }
                _ => {}
            }
        }
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self) -> Time {
        self.event_queue.next_at()
    }

    /// Returns a time before which no packet arrives, except after a control action.
    pub(crate) fn next_arrival_at(&self) -> Time {
        let delay = |port: &Port| if port.drifts() { Duration::ZERO } else { port.min_delay() };
        let shortest = self.ports.iter().map(delay).min().unwrap_or(Duration::ZERO);
        let not_before = |key: Key| match self.precedes_propagation(key) {
            true => key.time() + shortest,
            false => key.time(),
        };
        self.event_queue.events().map(not_before).min().unwrap_or(Time::MAX)
    }

    /// Returns whether all packets that arrive because of an event propagate over a link after it.
    fn precedes_propagation(&self, key: Key) -> bool {
        match key.class() {
            // Schedules are numbered after ports, and their steps change delays.
            Class::TransmissionEnd => (key.entity() as usize) < self.ports.len(),
            Class::Timer => TimerEvent::of(key).sends(),
            Class::Arrival | Class::Control => false,
        }
    }

    pub(crate) fn ports(&self) -> usize {
        self.ports.len()
    }

    pub(crate) fn port_counts(&self, port: PortId) -> PortCounts {
        self.ports[port.index()].counts()
    }

    pub(crate) fn port_tallies(&self, ports: &[PortId], now: Time) -> Vec<Tally> {
        ports.iter().map(|&port| self.ports[port.index()].tally(now)).collect()
    }

    pub(crate) fn port_states(&self, ports: &[PortId], now: Time) -> Vec<PortState> {
        ports.iter().map(|&port| PortState::of_port(&self.ports[port.index()], now)).collect()
    }

    pub(crate) fn queue_length(&self, port: PortId) -> u64 {
        self.ports[port.index()].queue_length() as u64
    }

    pub(crate) fn in_flight(&self) -> u64 {
        let queued: usize = self.ports.iter().map(Port::queue_length).sum();
        let in_flight: usize = self.pipes.iter().map(Pipe::len).sum();
        (queued + in_flight) as u64
    }

    /// Carries out a control action.
    fn apply<O: Observer>(&mut self, model: &mut Model<O>, action: Action) {
        match action {
            Action::PortDown(id) => {
                let (port, pipe) = (&mut self.ports[id.index()], &mut self.pipes[id.index()]);
                let in_flight = pipe.drain();
                port.fail(model.now(), in_flight, |packet, reason| model.lose(id, packet, reason));
                model.record(Record::QueueLength { port: id, packets: 0 });
            }
            Action::PortClosed(id) => self.ports[id.index()].close(),
            Action::PortUp(id) => {
                self.ports[id.index()].restore();
                self.feed(model, id);
            }
            Action::SetDelay(id, delay) => self.ports[id.index()].set_delay(delay),
            Action::SetHop(..)
            | Action::Expect(..)
            | Action::Select(..)
            | Action::TakeOut(..)
            | Action::PutBack(..)
            | Action::FibreDown(..)
            | Action::FibreUp(_) => model.apply(action),
        }
    }

    fn execute<O: Observer>(&mut self, model: &mut Model<O>) {
        let key = model.event;
        match key.class() {
            Class::Control => unreachable!("control actions have their own list"),
            Class::TransmissionEnd => self.end_transmission(model),
            Class::Arrival => self.arrive(model, PortId::new(key.entity()), key.ordinal()),
            Class::Timer => self.handle_timer_event(model),
        }
    }

    fn end_transmission<O: Observer>(&mut self, model: &mut Model<O>) {
        if let Some(schedule) = model.schedule_state.schedule_of(model.event) {
            return self.run_schedule_step(model, schedule);
        }
        let (id, ordinal) = (PortId::new(model.event.entity()), model.event.ordinal());
        let port = &mut self.ports[id.index()];
        if let Some((arrival, packet)) = departures::finish(port, &mut self.event_queue, model) {
            self.put_in_flight(id, arrival, ordinal, packet);
        }
        self.feed(model, id);
    }

    fn put_in_flight(&mut self, id: PortId, arrival: Time, ordinal: u32, packet: Packet) {
        if let Some((at, ordinal)) = self.pipes[id.index()].push(arrival, ordinal, packet) {
            self.event_queue.push(Key::new(at, Class::Arrival, id.number(), ordinal));
        }
    }

    fn arrive<O: Observer>(&mut self, model: &mut Model<O>, id: PortId, ordinal: u32) {
        let Some(arrived) = self.pipes[id.index()].pop(model.now(), ordinal) else {
            return;
        };
        if let Some((at, ordinal)) = arrived.next {
            self.event_queue.push(Key::new(at, Class::Arrival, id.number(), ordinal));
        }
        self.at_node(model, arrived.packet, Some(id));
    }

    fn at_node<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet, from: Option<PortId>) {
        match model.at_node(packet, from) {
            Onward::Deliver(packet) => self.deliver(model, packet),
            Onward::Port(port, packet) => self.enter(model, port, packet, from),
            Onward::Both(ways) => {
                ways.into_iter().for_each(|(port, packet)| self.enter(model, port, packet, from));
            }
            Onward::Bundle(bundle, destination, packet) => {
                let now = model.event.time();
                let (bundle, crossbars) = model.bundle_and_crossbars(bundle);
                let mut members = Members { ports: &self.ports, crossbars, now };
                let port = bundle.choose(destination, packet, &mut members);
                self.enter(model, port, packet, from);
            }
            Onward::Released(which) => self.pass_in_order(model, which),
            Onward::Lost => {}
        }
    }

    #[inline(always)]
    fn enter<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        packet: Packet,
        from: Option<PortId>,
    ) {
        if let Some((number, input)) = model.crossbar_before(id, from) {
            return crossbars::admit(self, model, number, [input, id], packet);
        }
        if let Some(assembler) = model.assembler_at(id) {
            return self.gather(model, assembler, packet);
        }
        departures::enter(&mut self.ports[id.index()], &mut self.event_queue, model, id, packet);
        self.offer(model, id);
    }

    fn deliver<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet) {
        let id = packet.flow();
        if packet.is_ack() {
            model.acknowledge(packet);
            self.drain_sender(model, id, Cause::Ack);
        } else if id.index() >= model.senders.len() {
            model.sink(packet);
        } else {
            let ack = model.receive(packet);
            for ack in model.earlier_ack(id).into_iter().chain(ack) {
                self.at_node(model, ack, None);
            }
            model.receivers[id.index()].schedule(id, &mut self.event_queue);
            let written = model.read_messages(id, &mut self.event_queue);
            self.send_written(model, written);
        }
    }
}

impl Stepping for Reference {
    fn stepped(&mut self, id: PortId) -> (&mut Port, &mut EventQueue) {
        (&mut self.ports[id.index()], &mut self.event_queue)
    }
}

impl EventHandler for Reference {
    fn event_queue(&mut self) -> &mut EventQueue {
        &mut self.event_queue
    }

    fn emit<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet) {
        self.at_node(model, packet, None);
    }

    fn forward<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet, from: Option<PortId>) {
        self.at_node(model, packet, from);
    }

    fn drain_sender<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId, cause: Cause) {
        if let Some(number) = model.connection_of(id) {
            return self.drain_connection(model, number, id, cause);
        }
        while let Some(packet) = model.next_segment(id) {
            self.at_node(model, packet, None);
        }
        model.record_update(id, cause);
        model.senders[id.index()].schedule(id, &mut self.event_queue);
    }

    fn sender_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let now = model.now();
        let end = &mut model.senders[id.index()];
        if end.timer_entry != now {
            return;
        }
        end.timer_entry = Time::MAX;
        if end.sender.deadline().is_some_and(|deadline| deadline <= now) {
            model.fire_timer(id, now);
            self.drain_sender(model, id, Cause::Timer);
        } else {
            end.schedule(id, &mut self.event_queue);
        }
    }

    fn receiver_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let now = model.now();
        let end = &mut model.receivers[id.index()];
        if end.timer_entry != now {
            return;
        }
        end.timer_entry = Time::MAX;
        if end.receiver.deadline().is_some_and(|deadline| deadline <= now) {
            let ack = end.receiver.handle_timer(now);
            let packet = model.send_ack(id, ack);
            self.at_node(model, packet, None);
        }
        model.receivers[id.index()].schedule(id, &mut self.event_queue);
    }

    fn launch(&mut self, port: PortId, at: Time, packets: Vec<Packet>) {
        for packet in packets {
            let ordinal = self.ports[port.index()].launch(packet);
            self.put_in_flight(port, at, ordinal, packet);
        }
    }

    fn advance_crossbar<O: Observer>(&mut self, model: &mut Model<O>, number: u32) {
        crossbars::advance(self, model, number);
    }

    fn drop_burst(&mut self, port: PortId, packets: Vec<Packet>) {
        let from = &mut self.ports[port.index()];
        packets.into_iter().for_each(|packet| from.drop_burst(packet));
    }
}
