//! Endpoints: what comes to them, perhaps ahead of time, and their timers.

use optcp_des::Key;
use optcp_net::{FlowId, Packet};
use optcp_units::Time;

use super::Fast;
use crate::model::Model;
use crate::observe::{Cause, Observer};
use crate::timers::Alarm;

impl Fast {
    /// A packet is at its endpoint: the ACK to send now, if any.
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

    /// A segment is at its receiver, perhaps ahead of time: the ACK to send now, if any.
    #[inline]
    fn receive<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet) -> Option<Packet> {
        let id = packet.flow();
        let Some(flow) = model.flows.get(id as usize) else {
            model.sink(packet);
            return None;
        };
        if flow.timer_entries[1] <= model.now() {
            self.catch_receiver_up(model, id);
        }
        let ack = model.receive(packet);
        model.flows[id as usize].schedule_receiver(id, &mut self.timers);
        ack
    }

    /// An ACK is at its sender, perhaps ahead of time.
    #[inline]
    fn acknowledge<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet) {
        let id = packet.flow();
        if model.flows[id as usize].timer_entries[0] <= model.now() {
            self.catch_sender_up(model, id);
        }
        model.acknowledge(packet);
        self.drain_sender(model, id, Cause::Ack);
    }

    /// Puts on the network what a sender may send now, after what came to it.
    fn drain_sender<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId, cause: Cause) {
        let event = model.event;
        while let Some(packet) = model.next_segment(id) {
            self.walk(model, packet, None);
            model.event = event;
        }
        model.settle(id, cause);
        model.flows[id as usize].schedule_sender(id, &mut self.timers);
    }

    /// Timers that are due up to now fire before what comes now.
    #[inline(never)]
    fn catch_sender_up<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let event = model.event;
        while let Some(due) = model.flows[id as usize].sender.deadline()
            && due <= event.time()
        {
            model.event = Alarm::Sender.key(id, due);
            model.flows[id as usize].sender.handle_timer(due);
            self.drain_sender(model, id, Cause::Timer);
        }
        model.event = event;
    }

    #[inline(never)]
    fn catch_receiver_up<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let event = model.event;
        while let Some(due) = model.flows[id as usize].receiver.deadline()
            && due <= event.time()
        {
            model.event = Alarm::Receiver.key(id, due);
            let ack = model.flows[id as usize].receiver.handle_timer(due);
            let packet = model.send_ack(id, ack);
            self.walk(model, packet, None);
        }
        model.event = event;
    }

    /// A calendar entry of a start or a timer. It may be of no more use: the endpoint may be ahead of it,
    /// or the timer put off.
    pub(super) fn alarm<O: Observer>(&mut self, model: &mut Model<O>, key: Key) {
        let (id, now) = (key.entity(), key.time());
        let alarm = Alarm::of(key);
        let Some(flow) = model.flows.get_mut(id as usize) else {
            return match alarm {
                Alarm::Burst => {
                    if let Some(assembler) = model.due_assembler(key) {
                        self.send_burst(model, assembler);
                    }
                }
                Alarm::SetUp => {
                    let (assembler, number) = model.of_set_up(key);
                    let passage = model.set_up(assembler, number);
                    self.follow(model, assembler, passage);
                }
                _ => self.send_datagram(model, id),
            };
        };
        match alarm {
            Alarm::Start => {
                flow.sender.start();
                self.drain_sender(model, id, Cause::Start);
            }
            Alarm::Sender => {
                if flow.timer_entries[0] == now {
                    flow.timer_entries[0] = Time::MAX;
                    self.catch_sender_up(model, id);
                    model.flows[id as usize].schedule_sender(id, &mut self.timers);
                }
            }
            Alarm::Receiver => {
                if flow.timer_entries[1] == now {
                    flow.timer_entries[1] = Time::MAX;
                    self.catch_receiver_up(model, id);
                    model.flows[id as usize].schedule_receiver(id, &mut self.timers);
                }
            }
            Alarm::Datagram | Alarm::Burst | Alarm::SetUp => {
                unreachable!("numbers of sources and assemblers are beyond those of flows")
            }
        }
    }

    /// A source sends its next packet.
    fn send_datagram<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId) {
        let packet = model.send_datagram(id);
        self.walk(model, packet, None);
        model.source(id).schedule(id, &mut self.timers);
    }
}
