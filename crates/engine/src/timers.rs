//! Starts and timers of endpoints, in a calendar that every engine has.

use optcp_des::{Calendar, Class, Key};
use optcp_net::FlowId;
use optcp_units::Time;

use crate::Blueprint;
use crate::datagrams::Datagrams;
use crate::flow::{ReceivingEnd, SendingEnd};
use crate::model::Model;

/// What a run's calendar begins with: starts of flows, and first packets of datagram sources.
pub(crate) fn first_alarms<O>(blueprint: &Blueprint, model: &mut Model<O>) -> Calendar {
    let mut calendar = Calendar::default();
    for (flow, spec) in FlowId::all().zip(&blueprint.flows) {
        calendar.push(TimerEvent::Start.key(flow, spec.start));
        for &(at, segments) in &spec.writes {
            let ordinal = TimerEvent::Write as u32 + segments;
            calendar.push(Key::new(at, Class::Timer, flow.number(), ordinal));
        }
    }
    for (id, source) in FlowId::all().skip(blueprint.flows.len()).zip(&mut model.datagrams) {
        source.schedule(id, &mut calendar);
    }
    model.planned.begin(&mut calendar);
    calendar
}

/// Which of a flow's events of class [`Class::Timer`] it is: a start comes before its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum TimerEvent {
    Start = 0,
    Sender = 1,
    Receiver = 2,
    /// A source of datagrams sends.
    Datagram = 3,
    /// A burst leaves because its time is over. Assemblers are numbered behind flows and sources.
    Burst = 4,
    /// A sender is told over which network its data go.
    Notice = 5,
    /// A flow's application writes. Ordinals from this one on count segments.
    Write = 1 << 30,
    /// The control packet of an assembler's burst comes to a burst switch. Ordinals from this one on count
    /// bursts: many can be under way.
    SetUp = 1 << 31,
}

impl TimerEvent {
    /// The event at `at` of a flow.
    #[inline]
    pub(crate) const fn key(self, flow: FlowId, at: Time) -> Key {
        Key::new(at, Class::Timer, flow.number(), self as u32)
    }

    /// What an event of class [`Class::Timer`] is.
    #[inline]
    pub(crate) const fn of(key: Key) -> Self {
        match key.ordinal() {
            0 => TimerEvent::Start,
            1 => TimerEvent::Sender,
            2 => TimerEvent::Receiver,
            3 => TimerEvent::Datagram,
            4 => TimerEvent::Burst,
            5 => TimerEvent::Notice,
            write if write < TimerEvent::SetUp as u32 => TimerEvent::Write,
            _ => TimerEvent::SetUp,
        }
    }
}

impl<O> Model<O> {
    /// The event at `at` of an assembler's timer.
    pub(crate) fn burst_key(&self, assembler: u32, at: Time) -> Key {
        Key::new(at, Class::Timer, self.first_assembler() + assembler, TimerEvent::Burst as u32)
    }

    /// The event at `at` of the control packet of an assembler's burst.
    pub(crate) fn set_up_key(&self, assembler: u32, at: Time, number: u32) -> Key {
        let entity = self.first_assembler() + assembler;
        Key::new(at, Class::Timer, entity, TimerEvent::SetUp as u32 + number)
    }

    /// The assembler and the number of the burst whose control packet an event is.
    pub(crate) fn of_set_up(&self, key: Key) -> (u32, u32) {
        (key.entity() - self.first_assembler(), key.ordinal() - TimerEvent::SetUp as u32)
    }

    /// The assembler whose timer an event is, if it is still due.
    pub(crate) fn due_assembler(&self, key: Key) -> Option<u32> {
        let assembler = key.entity() - self.first_assembler();
        let due = self.assemblers[assembler as usize].due();
        (due == Some(key.time())).then_some(assembler)
    }

    fn first_assembler(&self) -> u32 {
        let before = self.senders.len() + self.datagrams.len();
        u32::try_from(before).expect("fewer than 2^30 flows and sources")
    }
}

impl Datagrams {
    /// Puts the next packet of the source into the calendar.
    pub(crate) fn schedule(&mut self, id: FlowId, calendar: &mut Calendar) {
        if let Some(at) = self.next_instant() {
            calendar.push(TimerEvent::Datagram.key(id, at));
        }
    }
}

impl SendingEnd {
    /// Puts the sender's timer into the calendar.
    #[inline]
    pub(crate) fn schedule(&mut self, id: FlowId, calendar: &mut Calendar) {
        schedule(&mut self.timer_entry, self.sender.deadline(), TimerEvent::Sender, id, calendar);
    }
}

impl ReceivingEnd {
    /// Puts the receiver's timer into the calendar.
    #[inline]
    pub(crate) fn schedule(&mut self, id: FlowId, calendar: &mut Calendar) {
        schedule(
            &mut self.timer_entry,
            self.receiver.deadline(),
            TimerEvent::Receiver,
            id,
            calendar,
        );
    }
}

/// Timers are lazy: one that is put off (as every ACK does) keeps its entry, which then puts itself in
/// again for the later deadline. Nothing but the number of entries depends on it.
#[inline]
fn schedule(
    entry: &mut Time,
    deadline: Option<Time>,
    alarm: TimerEvent,
    id: FlowId,
    calendar: &mut Calendar,
) {
    if let Some(deadline) = deadline
        && deadline < *entry
    {
        *entry = deadline;
        calendar.push(alarm.key(id, deadline));
    }
}
