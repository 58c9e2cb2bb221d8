//! The reference kernel: one event for every end of a transmission, every arrival, every timer.
//!
//! Plain on purpose: a faster kernel is right if it gives the same records.

use optcp_des::{Class, Key};
use optcp_net::{Admission, FlowId, PortId};
use optcp_units::Time;

use crate::Simulation;
use crate::observe::{Cause, Observer, Record};

/// Ordinals of a flow's events of class [`Class::Timer`]: a start comes before its timers.
const START: u32 = 0;
const SENDER_TIMER: u32 = 1;
const RECEIVER_TIMER: u32 = 2;

impl<O: Observer> Simulation<O> {
    /// Executes everything that happens before `limit`; control actions of an instant come first.
    pub fn run_before(&mut self, limit: Time) {
        loop {
            let control_at =
                self.controls.get(self.next_control).map_or(Time::MAX, |control| control.at);
            let bound = control_at.min(limit);
            while let Some(key) = self.calendar.pop_before(bound) {
                self.now = key.time();
                self.counts.events += 1;
                self.execute(key);
            }
            if control_at >= limit {
                return;
            }
            self.now = control_at;
            while let Some(control) = self.controls.get(self.next_control).copied()
                && control.at == control_at
            {
                self.next_control += 1;
                self.apply(control.action);
            }
        }
    }

    fn execute(&mut self, key: Key) {
        match key.class() {
            Class::TransmissionEnd => self.end_transmission(key.entity(), key.ordinal()),
            Class::Arrival => self.arrive(key.entity(), key.ordinal()),
            Class::Timer => match key.ordinal() {
                START => self.start(key.entity()),
                SENDER_TIMER => self.sender_timer(key.entity()),
                _ => self.receiver_timer(key.entity()),
            },
        }
    }

    fn end_transmission(&mut self, id: PortId, ordinal: u32) {
        let Some(sent) = self.ports[id as usize].finish_transmission(self.now, ordinal) else {
            return;
        };
        if let Some((at, ordinal)) = sent.first_arrival {
            self.calendar.push(Key::new(at, Class::Arrival, id, ordinal));
        }
        if let Some(Admission::Sending { until, ordinal }) = sent.next {
            self.schedule_transmission(id, until, ordinal);
        }
        let queue = self.queue_length(id);
        let packet = sent.packet;
        self.observer.record(self.now, Record::Transmitted { port: id, packet, queue });
    }

    fn arrive(&mut self, id: PortId, ordinal: u32) {
        let Some(arrived) = self.ports[id as usize].take_arrival(self.now, ordinal) else {
            return;
        };
        if let Some((at, ordinal)) = arrived.next {
            self.calendar.push(Key::new(at, Class::Arrival, id, ordinal));
        }
        self.at_node(arrived.packet, Some(id));
    }

    fn start(&mut self, id: FlowId) {
        self.flows[id as usize].sender.start();
        self.drain_sender(id, Cause::Start);
    }

    fn sender_timer(&mut self, id: FlowId) {
        let flow = &mut self.flows[id as usize];
        if flow.timer_entries[0] != self.now {
            return;
        }
        flow.timer_entries[0] = Time::MAX;
        if flow.sender.deadline().is_some_and(|deadline| deadline <= self.now) {
            flow.sender.handle_timer(self.now);
            self.drain_sender(id, Cause::Timer);
        } else {
            self.schedule_sender_timer(id);
        }
    }

    fn receiver_timer(&mut self, id: FlowId) {
        let flow = &mut self.flows[id as usize];
        if flow.timer_entries[1] != self.now {
            return;
        }
        flow.timer_entries[1] = Time::MAX;
        if flow.receiver.deadline().is_some_and(|deadline| deadline <= self.now) {
            let ack = flow.receiver.handle_timer(self.now);
            self.send_ack(id, ack);
        }
        self.schedule_receiver_timer(id);
    }

    pub(crate) fn schedule_start(&mut self, id: FlowId, at: Time) {
        self.calendar.push(Key::new(at, Class::Timer, id, START));
    }

    pub(crate) fn schedule_transmission(&mut self, id: PortId, until: Time, ordinal: u32) {
        self.calendar.push(Key::new(until, Class::TransmissionEnd, id, ordinal));
    }

    pub(crate) fn schedule_sender_timer(&mut self, id: FlowId) {
        let deadline = self.flows[id as usize].sender.deadline();
        self.schedule_timer(id, 0, deadline, SENDER_TIMER);
    }

    pub(crate) fn schedule_receiver_timer(&mut self, id: FlowId) {
        let deadline = self.flows[id as usize].receiver.deadline();
        self.schedule_timer(id, 1, deadline, RECEIVER_TIMER);
    }

    /// Timers are lazy: one that is put off (as every ACK does) keeps its entry, which then puts
    /// itself in again for the later deadline. Nothing but the number of entries depends on it.
    fn schedule_timer(&mut self, id: FlowId, which: usize, deadline: Option<Time>, ordinal: u32) {
        let entry = &mut self.flows[id as usize].timer_entries[which];
        if let Some(deadline) = deadline
            && deadline < *entry
        {
            *entry = deadline;
            self.calendar.push(Key::new(deadline, Class::Timer, id, ordinal));
        }
    }
}
