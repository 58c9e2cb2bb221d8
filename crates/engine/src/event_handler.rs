//! Handling of timers and bursts, independent of the engine.

use optcp_des::EventQueue;
use optcp_net::{FlowId, Packet, PortId};
use optcp_optical::burst::{Gathered, Passage};
use optcp_units::Time;

use crate::model::Model;
use crate::observe::{Cause, Observer};
use crate::timers::TimerEvent;

/// Operations that each engine implements, and the event handling that all engines share.
pub(crate) trait EventHandler {
    /// Returns the event queue of starts and timers.
    fn event_queue(&mut self) -> &mut EventQueue;

    /// Sends a packet from an endpoint into the network.
    fn emit<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet);

    /// Continues with a packet at the node behind the port over which it arrived.
    fn forward<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet, from: Option<PortId>);

    /// Sends all segments that a sender may send after `cause`.
    fn drain_sender<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId, cause: Cause);

    /// Sends all segments that the subflows of a connection may send after `cause` at the subflow `id`.
    fn drain_connection<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        number: usize,
        id: FlowId,
        cause: Cause,
    ) {
        let event = model.event;
        model.open_subflows(number, id);
        while let Some(packet) = model.next_of_connection(number, id) {
            self.emit(model, packet);
            model.event = event;
        }
        for flow in model.record_subflows(number, cause) {
            model.senders[flow.index()].schedule(flow, self.event_queue());
        }
    }

    /// Handles a timer event of a sender. The event may be obsolete.
    fn sender_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId);

    /// Handles a timer event of a receiver. The event may be obsolete.
    fn receiver_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId);

    /// Schedules the arrival of a burst's packets behind a port.
    fn launch(&mut self, port: PortId, at: Time, packets: Vec<Packet>);

    /// Executes the current event, the start of a slot of a crossbar.
    fn advance_crossbar<O: Observer>(&mut self, model: &mut Model<O>, number: u32);

    /// Counts packets that are lost before a port: of a burst, or at a crossbar.
    fn drop_burst(&mut self, port: PortId, packets: Vec<Packet>);

    /// Executes the current event, a start or a timer.
    fn handle_timer_event<O: Observer>(&mut self, model: &mut Model<O>) {
        let key = model.event;
        // Events of assemblers and crossbars have no flow number; their branches below do not use `id`.
        let id = FlowId::new(key.entity());
        match TimerEvent::of(key) {
            TimerEvent::Start => {
                model.senders[id.index()].sender.start();
                self.drain_sender(model, id, Cause::Start);
            }
            TimerEvent::Write => {
                let segments = key.ordinal() - TimerEvent::Write as u32;
                model.supply(id, segments);
                self.drain_sender(model, id, Cause::Start);
            }
            TimerEvent::Step => {
                let written = model.take_step(self.event_queue());
                self.send_written(model, written);
            }
            TimerEvent::Sender => self.sender_timer(model, id),
            TimerEvent::Receiver => self.receiver_timer(model, id),
            TimerEvent::Notice => model.notice(id),
            TimerEvent::Slot => self.advance_crossbar(model, model.crossbar_of_event(key)),
            TimerEvent::Datagram => {
                let packet = model.send_datagram(id);
                self.emit(model, packet);
                model.source(id).schedule(id, self.event_queue());
            }
            TimerEvent::Resequence => {
                let which = model.resequencer_of_event(key);
                if model.expire_resequencer(which) {
                    self.pass_in_order(model, which);
                }
            }
            TimerEvent::Burst => {
                while let Some((assembler, class)) = model.due_assembler(key) {
                    self.send_burst(model, assembler, class);
                }
            }
            TimerEvent::BurstContinues => {
                let (assembler, number) = model.burst_of_event(key);
                let passage = model.advance_burst(assembler, number);
                self.follow(model, assembler, passage);
            }
        }
    }

    /// Sends what applications have written.
    fn send_written<O: Observer>(&mut self, model: &mut Model<O>, written: Vec<FlowId>) {
        for flow in written {
            self.drain_sender(model, flow, Cause::Start);
        }
    }

    /// Continues with all packets that leave a resequencer now.
    fn pass_in_order<O: Observer>(&mut self, model: &mut Model<O>, which: u32) {
        let event = model.event;
        for (packet, from) in model.take_passing(which) {
            model.event = event;
            self.forward(model, packet, from);
        }
        model.event = event;
        if let Some(due) = model.next_resequencing(which) {
            self.event_queue().push(model.resequencer_key(which, due));
        }
    }

    /// Adds a packet to an assembler.
    fn gather<O: Observer>(&mut self, model: &mut Model<O>, assembler: u32, packet: Packet) {
        match model.gather(assembler, packet) {
            Gathered::Waits => {}
            Gathered::Until(due) => self.event_queue().push(model.burst_key(assembler, due)),
            Gathered::Full(class) => self.send_burst(model, assembler, class),
        }
    }

    /// Sends the burst of a class that an assembler has collected.
    fn send_burst<O: Observer>(&mut self, model: &mut Model<O>, assembler: u32, class: u8) {
        for passage in model.send_burst(assembler, class) {
            self.follow(model, assembler, passage);
        }
    }

    /// Continues a burst after a step.
    fn follow<O: Observer>(&mut self, model: &mut Model<O>, assembler: u32, passage: Passage) {
        let port = model.assemblers[assembler as usize].port();
        match passage {
            Passage::Continues(at, number) => {
                self.event_queue().push(model.burst_continues_key(assembler, at, number));
            }
            Passage::Redundant => {}
            Passage::Lost(burst, _) => self.drop_burst(port, burst.packets),
            Passage::Arrives(at, burst) => self.launch(port, at, burst.packets),
        }
    }
}
