//! Schedules: changes of links that are fixed when a run starts, once or periodically.
//!
//! # Model
//! A table of steps, each with a time and a list of changes. It is executed once or repeatedly. A change is valid until
//! another step overrides it, also beyond the end of a period.
//!
//! # References
//! Scheduled links: M. K. Mukerjee and others, NSDI 2020 (an optical circuit switch between racks, which notifies
//! senders of circuits with TCP's ECE flag); W. M. Mellette and others, SIGCOMM 2017 (RotorNet).
//!
//! # Limitations
//! A step follows all ends of transmissions at its time and precedes timers and arrivals. A transmission that begins at
//! the very end of a day still belongs to the day.

use std::sync::Arc;

use optcp_units::{Duration, Rate, Time};

use crate::{Chance, PortId, QueueLimit};

/// Linear change of a delay, which then stays constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// Initial delay.
    pub from: Duration,
    /// Final delay.
    pub to: Duration,
    /// Duration of the change.
    pub over: Duration,
}

impl Drift {
    /// Returns the delay after a time, rounded towards the initial delay.
    #[must_use]
    pub fn after(&self, passed: Duration) -> Duration {
        if passed >= self.over {
            return self.to;
        }
        let [from, to, passed, over] =
            [self.from, self.to, passed, self.over].map(|one| u128::from(one.as_ps()));
        let moved = from.abs_diff(to) * passed / over;
        let now = if to < from { from - moved } else { from + moved };
        Duration::from_ps(u64::try_from(now).expect("between two delays"))
    }
}

/// Change of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Path that serves the queue from now on. Without one, queued packets wait; packets already taken out continue.
    Serve(PortId, Option<u8>),
    /// Rate of transmissions that begin from now on.
    Rate(PortId, Rate),
    /// Propagation delay of transmissions that begin from now on.
    Delay(PortId, Duration),
    /// Drift of the propagation delay from now on.
    Drift(PortId, Drift),
    /// Queue limit from now on. The youngest packets beyond it are dropped.
    Limit(PortId, QueueLimit),
    /// Whether the transmitter takes packets out of the queue. Packets in transmission and on the link arrive anyway.
    Open(PortId, bool),
    /// Whether the port sets the ECE flag in every arriving TCP packet, as switches do to notify senders of a circuit.
    Ece(PortId, bool),
    /// Probability with which arriving packets are lost from now on.
    Loss(PortId, Chance),
}

impl Change {
    /// Returns the port that changes.
    #[must_use]
    pub const fn port(&self) -> PortId {
        match *self {
            Change::Serve(port, _)
            | Change::Rate(port, _)
            | Change::Delay(port, _)
            | Change::Drift(port, _)
            | Change::Limit(port, _)
            | Change::Open(port, _)
            | Change::Ece(port, _)
            | Change::Loss(port, _) => port,
        }
    }
}

/// Changes at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time since the start of the table or of the period.
    pub after: Duration,
    /// Changes in order.
    pub changes: Vec<Change>,
}

/// Table of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Start of the first period.
    pub first: Time,
    /// Period, longer than the time of the last step; `None` executes the table once.
    pub period: Option<Duration>,
    /// Steps in order of time, at least one.
    pub steps: Arc<[Step]>,
}

impl Schedule {
    /// Returns the ports that the schedule changes.
    pub fn ports(&self) -> impl Iterator<Item = PortId> {
        self.steps.iter().flat_map(|step| &step.changes).map(Change::port)
    }
}

/// Progress of a schedule.
#[derive(Clone, Debug)]
pub struct Progress {
    schedule: Schedule,
    /// Start of the current period.
    began: Time,
    /// Next step.
    next: usize,
    /// Number of steps so far.
    done: u32,
}

impl Progress {
    /// Creates the state before the first step.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Progress { began: schedule.first, schedule, next: 0, done: 0 }
    }

    /// Returns the time of the next step and its number among all steps; `None` after the last step.
    #[must_use]
    pub fn due(&self) -> Option<(Time, u32)> {
        let step = self.schedule.steps.get(self.next)?;
        Some((self.began + step.after, self.done))
    }

    /// Advances by one step. Returns its index in the table.
    pub fn advance(&mut self) -> usize {
        let step = self.next;
        self.next += 1;
        self.done = self.done.wrapping_add(1);
        if let Some(period) = self.schedule.period
            && self.next == self.schedule.steps.len()
        {
            self.next = 0;
            self.began = self.began + period;
        }
        step
    }

    /// Returns the number of changes of a step.
    #[must_use]
    pub fn changes(&self, step: usize) -> usize {
        self.schedule.steps[step].changes.len()
    }

    /// Returns one change of a step.
    #[must_use]
    pub fn change(&self, step: usize, number: usize) -> Change {
        self.schedule.steps[step].changes[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    fn step(after_us: u64) -> Step {
        Step { after: us(after_us), changes: vec![Change::Open(PortId::new(0), true)] }
    }

    fn instants(period: Option<Duration>) -> Vec<u64> {
        let steps = Arc::from([step(0), step(20), step(180)]);
        let mut progress = Progress::new(Schedule { first: Time::ZERO + us(5), period, steps });
        let due = |progress: &mut Progress| {
            let (at, _) = progress.due()?;
            progress.advance();
            Some(at.as_ps() / 1_000_000)
        };
        std::iter::from_fn(|| due(&mut progress)).take(7).collect()
    }

    #[test]
    fn delay_drifts_linearly_then_stays_constant() {
        let ns = |ns: u64| Duration::from_ps(1000 * ns);
        let up = Drift { from: ns(10), to: ns(14), over: us(3) };
        let passed = [us(0), us(1), us(2), us(3), us(9)];
        assert_eq!(
            passed.map(|passed| up.after(passed).as_ps()),
            [10_000, 11_333, 12_666, 14_000, 14_000]
        );
        let down = Drift { from: ns(14), to: ns(10), over: us(3) };
        assert_eq!(
            passed.map(|passed| down.after(passed).as_ps()),
            [14_000, 12_667, 11_334, 10_000, 10_000]
        );
    }

    #[test]
    fn steps_are_executed_once_or_periodically() {
        assert_eq!(instants(None), [5, 25, 185]);
        assert_eq!(instants(Some(us(200))), [5, 25, 185, 205, 225, 385, 405]);
    }
}
