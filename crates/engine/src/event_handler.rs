//! What timers and bursts set off, whatever engine carries packets.

use optcp_des::Calendar;
use optcp_net::{FlowId, Packet, PortId};
use optcp_optical::burst::{Gathered, Passage};
use optcp_units::Time;

use crate::model::Model;
use crate::observe::{Cause, Observer};
use crate::timers::TimerEvent;

/// What an engine does in its own way, and on top of it what all do alike.
pub(crate) trait EventHandler {
    /// Where starts and timers are.
    fn calendar(&mut self) -> &mut Calendar;

    /// A packet leaves an endpoint.
    fn emit<O: Observer>(&mut self, model: &mut Model<O>, packet: Packet);

    /// Puts on the network what a sender may send now, after what came to it.
    fn drain_sender<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId, cause: Cause);

    /// A calendar entry of a sender's timer, which may be of no more use.
    fn sender_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId);

    /// The same of a receiver's.
    fn receiver_timer<O: Observer>(&mut self, model: &mut Model<O>, id: FlowId);

    /// Packets of a burst will arrive behind a port.
    fn launch(&mut self, port: PortId, at: Time, packets: Vec<Packet>);

    /// Packets of a burst are lost on the way.
    fn drop_burst(&mut self, port: PortId, packets: Vec<Packet>);

    /// Executes the event, which is one of a start or a timer.
    fn alarm<O: Observer>(&mut self, model: &mut Model<O>) {
        let key = model.event;
        // An assembler's number is told apart below.
        let id = FlowId::new(key.entity());
        match TimerEvent::of(key) {
            TimerEvent::Start => {
                model.senders[id.index()].sender.start();
                self.drain_sender(model, id, Cause::Start);
            }
            TimerEvent::Write => {
                let segments = key.ordinal() - TimerEvent::Write as u32;
                model.senders[id.index()].sender.supply(segments);
                self.drain_sender(model, id, Cause::Start);
            }
            TimerEvent::Sender => self.sender_timer(model, id),
            TimerEvent::Receiver => self.receiver_timer(model, id),
            TimerEvent::Notice => model.notice(id),
            TimerEvent::Datagram => {
                let packet = model.send_datagram(id);
                self.emit(model, packet);
                model.source(id).schedule(id, self.calendar());
            }
            TimerEvent::Burst => {
                if let Some(assembler) = model.due_assembler(key) {
                    self.send_burst(model, assembler);
                }
            }
            TimerEvent::SetUp => {
                let (assembler, number) = model.of_set_up(key);
                let passage = model.set_up(assembler, number);
                self.follow(model, assembler, passage);
            }
        }
    }

    /// A packet comes to an assembler.
    fn gather<O: Observer>(&mut self, model: &mut Model<O>, assembler: u32, packet: Packet) {
        match model.gather(assembler, packet) {
            Gathered::Waits => {}
            Gathered::Until(due) => self.calendar().push(model.burst_key(assembler, due)),
            Gathered::Full => self.send_burst(model, assembler),
        }
    }

    /// What an assembler has gathered leaves.
    fn send_burst<O: Observer>(&mut self, model: &mut Model<O>, assembler: u32) {
        let passage = model.send_burst(assembler);
        self.follow(model, assembler, passage);
    }

    /// What is to be done next for a burst.
    fn follow<O: Observer>(&mut self, model: &mut Model<O>, assembler: u32, passage: Passage) {
        let port = model.assemblers[assembler as usize].port();
        match passage {
            Passage::Asks(at, number) => {
                self.calendar().push(model.set_up_key(assembler, at, number));
            }
            Passage::Lost(burst) => self.drop_burst(port, burst.packets),
            Passage::Arrives(at, burst) => self.launch(port, at, burst.packets),
        }
    }
}
