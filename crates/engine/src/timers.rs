//! Starts and timers of endpoints, in a calendar that every kernel has.

use optcp_des::{Calendar, Class, Key};
use optcp_net::FlowId;
use optcp_units::Time;

use crate::flow::Flow;

/// Which of a flow's events of class [`Class::Timer`] it is: a start comes before its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Alarm {
    Start = 0,
    Sender = 1,
    Receiver = 2,
}

impl Alarm {
    /// The event at `at` of a flow.
    #[inline]
    pub(crate) const fn key(self, flow: FlowId, at: Time) -> Key {
        Key::new(at, Class::Timer, flow, self as u32)
    }

    /// What an event of class [`Class::Timer`] is.
    #[inline]
    pub(crate) const fn of(key: Key) -> Self {
        match key.ordinal() {
            0 => Alarm::Start,
            1 => Alarm::Sender,
            _ => Alarm::Receiver,
        }
    }
}

impl Flow {
    /// Puts the sender's timer into the calendar.
    #[inline]
    pub(crate) fn schedule_sender(&mut self, id: FlowId, calendar: &mut Calendar) {
        let deadline = self.sender.deadline();
        schedule(&mut self.timer_entries[0], deadline, Alarm::Sender, id, calendar);
    }

    /// Puts the receiver's timer into the calendar.
    #[inline]
    pub(crate) fn schedule_receiver(&mut self, id: FlowId, calendar: &mut Calendar) {
        let deadline = self.receiver.deadline();
        schedule(&mut self.timer_entries[1], deadline, Alarm::Receiver, id, calendar);
    }
}

/// Timers are lazy: one that is put off (as every ACK does) keeps its entry, which then puts itself in
/// again for the later deadline. Nothing but the number of entries depends on it.
#[inline]
fn schedule(
    entry: &mut Time,
    deadline: Option<Time>,
    alarm: Alarm,
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
