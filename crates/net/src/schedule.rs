//! Changes of links that are known before a run: at which instants, once or again and again.
//!
//! # Models
//! A table of steps, each an instant and what changes then, read once or over and over. What a step changes holds until
//! another step changes it again, also beyond the end of a period.
//! # Source
//! Links that are switched by plan: M. K. Mukerjee and others, NSDI 2020 (an optical circuit switch between racks, which tells
//! senders of circuits by TCP's flag ECE); W. M. Mellette and others, SIGCOMM 2017 (RotorNet).
//! # Parameters
//! The first instant, the period, the steps.
//! # Limits
//! A step happens behind all ends of transmissions of its instant and before timers and arrivals: what a transmitter begins
//! at the very end of a day still belongs to the day.

use std::sync::Arc;

use optcp_units::{Duration, Rate, Time};

use crate::{PortId, QueueLimit};

/// A delay that changes evenly from one to another, where it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// What it is at first.
    pub from: Duration,
    /// What it comes to be.
    pub to: Duration,
    /// How long that takes.
    pub over: Duration,
}

impl Drift {
    /// What it is so long after the beginning, rounded towards what it was at first.
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

/// What changes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The queue is served over this of its ways from now on. Without one what waits is held; what has been taken out of the
    /// queue goes on.
    Serve(PortId, Option<u8>),
    /// Transmissions that begin from now on are this fast.
    Rate(PortId, Rate),
    /// Packets whose transmission begins from now on take this long along the pipe.
    Delay(PortId, Duration),
    /// The same, where it drifts.
    Drift(PortId, Drift),
    /// The queue holds so much. Of what it has beyond that the youngest packets are lost.
    Limit(PortId, QueueLimit),
    /// Whether the transmitter takes packets out of the queue. What is being sent, and what is on its way, arrives.
    Open(PortId, bool),
    /// Whether the flag ECE is set in every TCP packet that comes to the port, as a switch does that tells senders of a
    /// circuit. Otherwise it stays as it is.
    Ece(PortId, bool),
}

impl Change {
    /// The port that it concerns.
    #[must_use]
    pub const fn port(&self) -> PortId {
        match *self {
            Change::Serve(port, _)
            | Change::Rate(port, _)
            | Change::Delay(port, _)
            | Change::Drift(port, _)
            | Change::Limit(port, _)
            | Change::Open(port, _)
            | Change::Ece(port, _) => port,
        }
    }
}

/// What changes at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// How long after the beginning of the table, or of a period.
    pub after: Duration,
    /// What changes, in order.
    pub changes: Vec<Change>,
}

/// A table of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// When its first period begins.
    pub first: Time,
    /// How long a period takes, which is longer than all steps are after its beginning; `None` is once.
    pub period: Option<Duration>,
    /// In order of time, not empty.
    pub steps: Arc<[Step]>,
}

impl Schedule {
    /// The ports that it changes.
    pub fn ports(&self) -> impl Iterator<Item = PortId> {
        self.steps.iter().flat_map(|step| &step.changes).map(Change::port)
    }
}

/// How far a schedule has come.
#[derive(Clone, Debug)]
pub struct Progress {
    schedule: Schedule,
    /// When the present period began.
    began: Time,
    /// The next step of it.
    next: usize,
    /// Steps so far.
    done: u32,
}

impl Progress {
    /// Before the first step.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Progress { began: schedule.first, schedule, next: 0, done: 0 }
    }

    /// When the next step is due, and its number among all; `None` is never.
    #[must_use]
    pub fn due(&self) -> Option<(Time, u32)> {
        let step = self.schedule.steps.get(self.next)?;
        Some((self.began + step.after, self.done))
    }

    /// The next step is done: what changes, which step it is.
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

    /// How many changes a step has.
    #[must_use]
    pub fn changes(&self, step: usize) -> usize {
        self.schedule.steps[step].changes.len()
    }

    /// One of the changes of a step.
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
    fn a_delay_drifts_up_and_down_and_stays() {
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
    fn steps_come_once_or_again_and_again() {
        assert_eq!(instants(None), [5, 25, 185]);
        assert_eq!(instants(Some(us(200))), [5, 25, 185, 205, 225, 385, 405]);
    }
}
