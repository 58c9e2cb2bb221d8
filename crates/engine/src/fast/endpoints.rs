//! Delivery to endpoints, possibly ahead of time, and the timers of endpoints.

use optcp_des::{Due, EventQueue};
use optcp_net::{FlowId, Packet, PortId};
use optcp_units::Time;

use super::Fast;
use crate::crossbars;
use crate::event_handler::EventHandler;
use crate::model::Model;
use crate::observe::{Cause, Observer};
use crate::timers::TimerEvent;

impl Fast {
    /// Delivers a packet to its endpoint. Returns the ACK to send now, if any.
    #[inline(never)]
    pub(super) fn deliver<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        packet: Packet,
    ) -> Option<Packet> {
        if packet.is_ack() {
            self.acknowledge(model, packet);
            return None;
        }
        self.receive(model, packet)
    }

    /// Delivers a segment, possibly ahead of time. Returns the ACK to send now, if any.
    #[inline]
    fn receive<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet) -> Option<Packet> {
        let id = packet.flow();
        let Some(end) = model.receivers.get(id.index()) else {
            model.sink(packet);
            return None;
        };
        if end.timer_entry <= model.now() {
            self.catch_receiver_up(model, id);
        }
        let ack = model.receive(packet);
        if let Some(earlier) = model.earlier_ack(id) {
            let event = model.event;
            self.walk(model, earlier, None);
            model.event = event;
        }
        model.receivers[id.index()].schedule(id, &mut self.event_queue);
        match model.applications {
            None => ack,
            Some(_) => self.react(model, id, ack),
        }
    }

    /// Lets applications react to a segment of a flow, after its ACK. Returns the ACK if they send nothing.
    #[inline(never)]
    fn react<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: FlowId,
        ack: Option<Packet>,
    ) -> Option<Packet> {
        let written = model.read_messages(id, &mut self.event_queue);
        if written.is_empty() {
            return ack;
        }
        let event = model.event;
        if let Some(ack) = ack {
            self.walk(model, ack, None);
            model.event = event;
        }
        self.send_written(model, written);
        None
    }

    /// Delivers an ACK to its sender, possibly ahead of time.
    #[inline]
    fn acknowledge<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet) {
        let id = packet.flow();
        if model.senders[id.index()].timer_entry <= model.now() {
            self.catch_sender_up(model, id);
        }
        model.acknowledge(packet);
        self.drain_sender(model, id, Cause::Ack);
    }

    /// Fires timers that are due until now, because they precede the current packet.
    #[inline(never)]
    fn catch_sender_up<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let event = model.event;
        while let Some(due) = model.senders[id.index()].sender.deadline()
            && due <= event.time()
        {
            model.event = TimerEvent::Sender.key(id, due);
            model.fire_timer(id, due);
            self.drain_sender(model, id, Cause::Timer);
        }
        model.event = event;
    }

    #[inline(never)]
    fn catch_receiver_up<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let event = model.event;
        while let Some(due) = model.receivers[id.index()].receiver.deadline()
            && due <= event.time()
        {
            model.event = TimerEvent::Receiver.key(id, due);
            let ack = model.receivers[id.index()].receiver.handle_timer(due);
            let packet = model.send_ack(id, ack);
            self.walk(model, packet, None);
        }
        model.event = event;
    }
}

impl EventHandler for Fast {
    fn event_queue(&mut self) -> &mut EventQueue {
        &mut self.event_queue
    }

    fn emit<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet) {
        self.walk(model, packet, None);
    }

    fn forward<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet, from: Option<PortId>) {
        self.at_special(model, packet, from);
    }

    fn drain_sender<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId, cause: Cause) {
        if let Some(number) = model.connection_of(id) {
            return self.drain_connection(model, number, id, cause);
        }
        let event = model.event;
        while let Some(packet) = model.next_segment(id) {
            self.walk(model, packet, None);
            model.event = event;
        }
        model.record_update(id, cause);
        model.senders[id.index()].schedule(id, &mut self.event_queue);
    }

    // The entry may be obsolete: the endpoint may be ahead of it, or the timer postponed.
    fn sender_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let entry = &mut model.senders[id.index()].timer_entry;
        if *entry == model.event.time() {
            *entry = Time::MAX;
            self.catch_sender_up(model, id);
            model.senders[id.index()].schedule(id, &mut self.event_queue);
        }
    }

    fn receiver_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let entry = &mut model.receivers[id.index()].timer_entry;
        if *entry == model.event.time() {
            *entry = Time::MAX;
            self.catch_receiver_up(model, id);
            model.receivers[id.index()].schedule(id, &mut self.event_queue);
        }
    }

    fn launch(&mut self, port: PortId, at: Time, packets: Vec<Packet>) {
        let mut from = self.ports.get_mut(port);
        for item in packets {
            self.waiting.push(Due { at, entity: port.number(), ordinal: from.launch(item), item });
        }
    }

    fn advance_crossbar<O: Observer>(&mut self, model: &mut Model<O>, number: u32) {
        crossbars::advance(self, model, number);
    }

    fn drop_burst(&mut self, port: PortId, packets: Vec<Packet>) {
        let mut from = self.ports.get_mut(port);
        packets.into_iter().for_each(|packet| from.drop_burst(packet));
    }
}
