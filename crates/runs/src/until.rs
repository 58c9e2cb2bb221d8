//! Advancing a run until a condition holds.
//!
//! # Model
//! A condition holds as soon as a value of the run reaches a threshold. The value cannot rise faster than a counter
//! that never falls: a queue, for example, grows at most by the packets that the port accepts. A period in which the
//! counter rises too little is skipped. Other periods are divided, in forks, down to 1 ps.

use optcp_net::PortId;
use optcp_units::{Duration, Time};

use crate::live::LiveRun;
use crate::run::Cancelled;

/// Condition on the state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A TCP connection has completed or given up.
    Completed(usize),
    /// The run has dropped this many packets.
    Dropped(u64),
    /// RTOs have fired this many times, over all connections.
    Timeouts(u64),
    /// The queue of a port contains at least this many packets, including the one in transmission.
    Queue(PortId, u64),
}

/// Value on which a condition depends.
#[derive(Clone, Copy, Debug)]
struct Reading {
    value: u64,
    /// Counter that rises at least as much as the value.
    counter: u64,
}

/// Smallest period that is examined.
const INSTANT: Duration = Duration::from_ps(1);

/// First period that is examined; each one without a result doubles the next.
const FIRST_PERIOD: Duration = Duration::from_ms(1);

impl Condition {
    fn threshold(self) -> u64 {
        match self {
            Condition::Completed(_) => 1,
            Condition::Dropped(count) | Condition::Timeouts(count) | Condition::Queue(_, count) => {
                count
            }
        }
    }

    fn read(self, run: &LiveRun) -> Reading {
        let rising = |value| Reading { value, counter: value };
        match self {
            Condition::Completed(flow) => {
                let flow = run.flow(flow);
                rising(u64::from(flow.is_finished || flow.is_aborted))
            }
            Condition::Dropped(_) => rising(run.counts().dropped_in_all()),
            Condition::Timeouts(_) => rising(run.timeouts()),
            Condition::Queue(port, _) => {
                let state = run.port_states(&[port])[0];
                Reading { value: state.queue_packets, counter: state.tally.packets }
            }
        }
    }

    fn holds(self, at: Reading) -> bool {
        at.value >= self.threshold()
    }

    /// Returns whether the condition may hold at some time between two readings.
    fn may_hold(self, before: Reading, after: Reading) -> bool {
        before.value + (after.counter - before.counter) >= self.threshold()
    }
}

impl LiveRun {
    /// Advances until one of the conditions holds, or to `limit`.
    ///
    /// Returns the index of the first condition that holds, and the time of the event after which it does: the run is
    /// 1 ps later. A condition that holds already is returned with the current time.
    ///
    /// # Errors
    /// [`Cancelled`] if `go_on` returned `false`; the run cannot be used any more.
    pub fn advance_until(
        &mut self,
        limit: Time,
        conditions: &[Condition],
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> Result<Option<(usize, Time)>, Cancelled> {
        let read = |run: &LiveRun| -> Vec<Reading> {
            conditions.iter().map(|condition| condition.read(run)).collect()
        };
        let held = |at: &[Reading]| conditions.iter().zip(at).position(|(one, &at)| one.holds(at));
        let mut before = read(self);
        if let Some(index) = held(&before) {
            return Ok(Some((index, self.now())));
        }
        let mut period = FIRST_PERIOD;
        // Ends of the periods to examine, the next one last.
        let mut ends: Vec<Time> = Vec::new();
        // A run may end early with its flows.
        while self.now() < limit.min(self.stop()) {
            if ends.is_empty() {
                ends.push((self.now() + period).min(limit));
                period = period + period;
            }
            let Some(&end) = ends.last() else { continue };
            let start = self.now();
            let fork = self.clone();
            self.advance_while(end, go_on)?;
            let after = read(self);
            let mut readings = conditions.iter().zip(before.iter().zip(&after));
            let possible = readings.any(|(one, (&from, &to))| one.may_hold(from, to));
            if possible && end > start + INSTANT {
                *self = fork;
                ends.push(Time::from_ps(u64::midpoint(start.as_ps(), end.as_ps())));
                continue;
            }
            if let Some(index) = held(&after) {
                return Ok(Some((index, start)));
            }
            before = after;
            ends.pop();
        }
        Ok(None)
    }

    /// Returns the number of RTOs so far, over all connections.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        (0..self.flows().count()).map(|flow| self.flow(flow).snapshot.timeouts).sum()
    }
}
