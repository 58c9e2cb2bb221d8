//! Operation of queues with several paths, and of schedule steps, in all engines.

use optcp_des::EventQueue;
use optcp_net::schedule::Change;
use optcp_net::{DropReason, Packet, Port, PortId};

use crate::departures;
use crate::event_handler::EventHandler;
use crate::model::Model;
use crate::observe::{Observer, Record};
use crate::timers::TimerEvent;

/// Engine whose ports of this kind have departures as events.
pub(crate) trait Stepping: EventHandler {
    /// Returns a port whose departures are events, and the event queue.
    fn stepped(&mut self, id: PortId) -> (&mut Port, &mut EventQueue);

    /// Lets the transmitter that serves a queue take a packet that has just arrived in it.
    #[inline]
    fn offer<O: Observer>(&mut self, model: &mut Model<O>, id: PortId) {
        if let Some(transmitter) = model.schedule_state.transmitter_of(id) {
            self.feed(model, transmitter);
        }
    }

    /// Lets an idle transmitter take packets out of the queues that it serves.
    #[inline]
    fn feed<O: Observer>(&mut self, model: &mut Model<O>, id: PortId) {
        while model.schedule_state.serves(id) > 0
            && self.stepped(id).0.is_free()
            && let Some(packet) = self.take(model, id)
        {
            let (port, event_queue) = self.stepped(id);
            departures::enter(port, event_queue, model, id, packet);
        }
    }

    /// Returns the next packet for a transmitter, with the label behind it.
    fn take<O: Observer>(&mut self, model: &mut Model<O>, transmitter: PortId) -> Option<Packet> {
        for _ in 0..model.schedule_state.serves(transmitter) {
            let (id, way) = model.schedule_state.next_turn(transmitter)?;
            let (port, _) = self.stepped(id);
            let released = port.release(model.now());
            // The discipline may have dropped all queued packets.
            departures::released(port, model, id, released);
            if let Some((packet, _)) = released {
                return Some(packet.under(model.labels.beyond(packet.label, way)));
            }
        }
        None
    }

    /// Executes the current event, a step of a schedule.
    fn run_schedule_step<O: Observer>(&mut self, model: &mut Model<O>, schedule: usize) {
        let (changes, step) = model.schedule_state.advance(schedule);
        for number in 0..changes {
            let change = model.schedule_state.change(schedule, step, number);
            self.change(model, change);
        }
        if let Some(key) = model.schedule_state.key(schedule) {
            self.event_queue().push(key);
        }
    }

    /// Carries out one change.
    fn change<O: Observer>(&mut self, model: &mut Model<O>, change: Change) {
        let (now, id) = (model.now(), change.port());
        let (port, event_queue) = self.stepped(id);
        match change {
            Change::Rate(_, rate) => port.set_rate(now, rate),
            Change::Delay(_, delay) => port.set_delay(delay),
            Change::Drift(_, drift) => port.set_drift(now, drift),
            Change::Ece(_, sets) => port.set_ece(sets),
            Change::Loss(_, chance) => port.set_loss(chance),
            Change::Open(_, open) => {
                if let Some(transmission) = port.open(now, open) {
                    event_queue.push(departures::end(id, transmission));
                }
                departures::released(port, model, id, None);
                self.feed(model, id);
            }
            Change::Limit(_, limit) => {
                let lost = port.set_limit(now, limit);
                let packets = u32::try_from(port.queue_length()).unwrap_or(u32::MAX);
                if !lost.is_empty() {
                    lost.into_iter()
                        .for_each(|packet| model.lose(id, packet, DropReason::QueueShrunk));
                    model.record(Record::QueueLength { port: id, packets });
                }
            }
            Change::Serve(_, way) => {
                if let Some((due, flows)) = model.schedule_state.notify(id, way, now) {
                    flows
                        .iter()
                        .for_each(|&flow| event_queue.push(TimerEvent::Notice.key(flow, due)));
                }
                if let Some(transmitter) = model.schedule_state.serve_port(id, way) {
                    self.feed(model, transmitter);
                }
            }
        }
    }
}
