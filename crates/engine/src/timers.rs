//! Starts and timers of endpoints as events.

use optcp_des::{Class, EventQueue, Key};
use optcp_net::FlowId;
use optcp_units::Time;

use crate::Blueprint;
use crate::datagrams::Datagrams;
use crate::flow::{ReceivingEnd, SendingEnd};
use crate::model::Model;
use crate::observe::{Observer, Record};

/// Returns the initial events of a run: starts of flows and first packets of datagram sources.
pub(crate) fn initial_events<O>(blueprint: &Blueprint, model: &mut Model<O>) -> EventQueue {
    let mut event_queue = EventQueue::default();
    let write = |flow: FlowId, &(at, segments): &(Time, u32)| {
        Key::new(at, Class::Timer, flow.number(), TimerEvent::Write as u32 + segments)
    };
    for (flow, spec) in FlowId::all().zip(&blueprint.flows) {
        // The connection starts all subflows but the first.
        if !blueprint.joins(flow) {
            event_queue.push(TimerEvent::Start.key(flow, spec.start));
        }
        spec.writes.iter().for_each(|one| event_queue.push(write(flow, one)));
    }
    for connection in &blueprint.connections {
        let first = connection.first;
        connection.writes.iter().for_each(|one| event_queue.push(write(first, one)));
    }
    for (id, source) in FlowId::all().skip(blueprint.flows.len()).zip(&mut model.datagrams) {
        source.schedule(id, &mut event_queue);
    }
    for (step, at) in model.applications.iter().flat_map(|all| all.first_steps()) {
        let entity = model.first_step + step;
        event_queue.push(Key::new(at, Class::Timer, entity, TimerEvent::Step as u32));
    }
    model.schedule_state.begin(&mut event_queue);
    event_queue
}

/// Kind of an event of class [`Class::Timer`]. At the same time, a flow's start precedes its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum TimerEvent {
    Start = 0,
    Sender = 1,
    Receiver = 2,
    /// A source of datagrams sends.
    Datagram = 3,
    /// The assembly timer of a burst expires. Assemblers are numbered after flows and sources.
    Burst = 4,
    /// A sender is notified of the network that carries its data.
    Notice = 5,
    /// A slot of a crossbar begins. Crossbars are numbered after assemblers.
    Slot = 6,
    /// A packet has waited for its predecessors for long enough. Resequencers are numbered after crossbars.
    Resequence = 7,
    /// A step of an application happens. Steps are numbered after resequencers.
    Step = 8,
    /// A flow's application writes. The ordinal minus this value is the number of segments.
    Write = 1 << 30,
    /// The control packet of a burst reaches a burst switch, or the burst its egress edge node. The ordinal minus this
    /// value is the burst number, because several bursts of an assembler can be in flight.
    BurstContinues = 1 << 31,
}

impl TimerEvent {
    /// Returns the key of this event at `at`.
    #[inline]
    pub(crate) const fn key(self, flow: FlowId, at: Time) -> Key {
        Key::new(at, Class::Timer, flow.number(), self as u32)
    }

    /// Returns the kind of an event of class [`Class::Timer`].
    #[inline]
    pub(crate) const fn of(key: Key) -> Self {
        match key.ordinal() {
            0 => TimerEvent::Start,
            1 => TimerEvent::Sender,
            2 => TimerEvent::Receiver,
            3 => TimerEvent::Datagram,
            4 => TimerEvent::Burst,
            5 => TimerEvent::Notice,
            6 => TimerEvent::Slot,
            7 => TimerEvent::Resequence,
            8 => TimerEvent::Step,
            write if write < TimerEvent::BurstContinues as u32 => TimerEvent::Write,
            _ => TimerEvent::BurstContinues,
        }
    }

    /// Returns whether an endpoint sends packets in this event, and nothing else happens.
    pub(crate) const fn sends(self) -> bool {
        matches!(
            self,
            TimerEvent::Start
                | TimerEvent::Sender
                | TimerEvent::Receiver
                | TimerEvent::Datagram
                | TimerEvent::Step
                | TimerEvent::Write
        )
    }
}

impl<O: Observer> Model<O> {
    /// Fires the timer of a sender, which may then give up.
    pub(crate) fn expire_sender(&mut self, flow: FlowId, at: Time) {
        let sender = &mut self.senders[flow.index()].sender;
        sender.handle_timer(at);
        if sender.aborted().is_some() {
            self.record(Record::Aborted { flow });
            self.abort_connection(flow);
        }
    }
}

impl<O> Model<O> {
    /// Returns the key of an assembler's timer at `at`.
    pub(crate) fn burst_key(&self, assembler: u32, at: Time) -> Key {
        Key::new(at, Class::Timer, self.first_assembler() + assembler, TimerEvent::Burst as u32)
    }

    /// Returns the key of a burst's next event at `at`.
    pub(crate) fn burst_continues_key(&self, assembler: u32, at: Time, number: u32) -> Key {
        let entity = self.first_assembler() + assembler;
        Key::new(at, Class::Timer, entity, TimerEvent::BurstContinues as u32 + number)
    }

    /// Returns the assembler and burst number of a burst's event.
    pub(crate) fn burst_of_event(&self, key: Key) -> (u32, u32) {
        (key.entity() - self.first_assembler(), key.ordinal() - TimerEvent::BurstContinues as u32)
    }

    /// Returns the assembler whose timer fires and the highest class whose burst is due, unless the event is obsolete.
    pub(crate) fn due_assembler(&self, key: Key) -> Option<(u32, u8)> {
        let assembler = key.entity() - self.first_assembler();
        let class = self.assemblers[assembler as usize].due_class(key.time())?;
        Some((assembler, class))
    }

    /// Returns the key of a crossbar's slot that begins at `at`.
    pub(crate) fn slot_key(&self, crossbar: u32, at: Time) -> Key {
        let entity = self.first_crossbar() + crossbar;
        Key::new(at, Class::Timer, entity, TimerEvent::Slot as u32)
    }

    /// Returns the crossbar of a slot's event.
    pub(crate) fn crossbar_of_event(&self, key: Key) -> u32 {
        key.entity() - self.first_crossbar()
    }

    /// Returns the key of a resequencer's timer at `at`.
    pub(crate) fn resequencer_key(&self, resequencer: u32, at: Time) -> Key {
        let entity = self.first_resequencer() + resequencer;
        Key::new(at, Class::Timer, entity, TimerEvent::Resequence as u32)
    }

    /// Returns the resequencer whose timer fires.
    pub(crate) fn resequencer_of_event(&self, key: Key) -> u32 {
        key.entity() - self.first_resequencer()
    }

    /// Returns the entity of the first step of the applications.
    pub(crate) fn first_application_step(&self) -> u32 {
        let resequencers = u32::try_from(self.resequencers.len()).expect("fewer than 2^30 nodes");
        self.first_resequencer() + resequencers
    }

    fn first_resequencer(&self) -> u32 {
        let crossbars = u32::try_from(self.crossbars.len()).expect("fewer than 2^30 ports");
        self.first_crossbar() + crossbars
    }

    fn first_crossbar(&self) -> u32 {
        let assemblers = u32::try_from(self.assemblers.len()).expect("fewer than 2^30 ports");
        self.first_assembler() + assemblers
    }

    fn first_assembler(&self) -> u32 {
        let before = self.senders.len() + self.datagrams.len();
        u32::try_from(before).expect("fewer than 2^30 flows and sources")
    }
}

impl Datagrams {
    /// Adds the source's next packet to the event queue.
    pub(crate) fn schedule(&mut self, id: FlowId, event_queue: &mut EventQueue) {
        if let Some(at) = self.next_send_time() {
            event_queue.push(TimerEvent::Datagram.key(id, at));
        }
    }
}

impl SendingEnd {
    /// Adds the sender's timer to the event queue.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, id: FlowId, event_queue: &mut EventQueue) {
        schedule(
            &mut self.timer_entry,
            self.sender.deadline(),
            TimerEvent::Sender,
            id,
            event_queue,
        );
    }
}

impl ReceivingEnd {
    /// Adds the receiver's timer to the event queue.
    #[inline]
    pub(crate) fn schedule(&mut self, id: FlowId, event_queue: &mut EventQueue) {
        schedule(
            &mut self.timer_entry,
            self.receiver.deadline(),
            TimerEvent::Receiver,
            id,
            event_queue,
        );
    }
}

/// Adds a timer to the event queue unless an earlier entry exists.
///
/// Timers are lazy: postponing one (as every ACK does) keeps its entry, which re-enters itself for the later deadline
/// when it fires. Only the number of events depends on this.
#[inline]
fn schedule(
    entry: &mut Time,
    deadline: Option<Time>,
    alarm: TimerEvent,
    id: FlowId,
    event_queue: &mut EventQueue,
) {
    if let Some(deadline) = deadline
        && deadline < *entry
    {
        *entry = deadline;
        event_queue.push(alarm.key(id, deadline));
    }
}
