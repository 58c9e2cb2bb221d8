//! Switching one node's direction of a path to its backup, and back.
//!
//! # Models
//! ```text
//!            failure                 switch_delay over
//!  Working ----------> Switching ----------------------> Protecting
//!     ^  ^                 | repair                       |    ^
//!     |  +-----------------+             repair (revert)  |    | failure
//!     |                                                   v    |
//!     +------------------------------------------------ Reverting
//!                       revert_delay over
//! ```
//! # Source
//! GMPLS paper, sections 2 and 4.2: the switch takes place exactly `switch_delay` after the failure.
//! # Parameters
//! `switch_delay` (detection, notification and switching together), `revert_delay` after the repair,
//! or no reversion.
//! # Limits
//! Detection and signalling are a single delay; the backup itself is taken to work.

use optcp_units::{Duration, Time};

/// How long the machine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From the failure to the switch.
    pub switch: Duration,
    /// From the repair to the switch back; `None` stays on the backup.
    pub revert: Option<Duration>,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Use the backup from now on.
    ToBackup,
    /// Use the working path again.
    ToWorking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Working,
    Switching { due: Time },
    Protecting,
    Reverting { due: Time },
}

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Switchover {
    delays: Delays,
    state: State,
}

impl Switchover {
    /// On the working path.
    #[must_use]
    pub fn new(delays: Delays) -> Self {
        Switchover { delays, state: State::Working }
    }

    /// The protected link fails.
    pub fn handle_failure(&mut self, now: Time) {
        self.state = match self.state {
            State::Working => State::Switching { due: now + self.delays.switch },
            State::Reverting { .. } => State::Protecting,
            busy => busy,
        };
    }

    /// The protected link works again.
    pub fn handle_repair(&mut self, now: Time) {
        self.state = match (self.state, self.delays.revert) {
            (State::Switching { .. }, _) => State::Working,
            (State::Protecting, Some(revert)) => State::Reverting { due: now + revert },
            (other, _) => other,
        };
    }

    /// When `handle_timer` is due, if it is.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Switching { due } | State::Reverting { due } => Some(due),
            State::Working | State::Protecting => None,
        }
    }

    /// The time given by `deadline` has come.
    pub fn handle_timer(&mut self) -> Option<Switch> {
        let (state, switch) = match self.state {
            State::Switching { .. } => (State::Protecting, Some(Switch::ToBackup)),
            State::Reverting { .. } => (State::Working, Some(Switch::ToWorking)),
            at_rest => (at_rest, None),
        };
        self.state = state;
        switch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::{Outage, timeline};

    fn ms(m: u64) -> Time {
        Time::ZERO + Duration::from_ms(m)
    }

    fn outage(failure: u64, repair: Option<u64>) -> Outage {
        Outage { failure: ms(failure), repair: repair.map(ms) }
    }

    const REVERTIVE: Delays =
        Delays { switch: Duration::from_ms(50), revert: Some(Duration::from_ms(10)) };

    #[test]
    fn it_switches_after_the_delay_and_back_after_the_repair() {
        let switches = timeline(REVERTIVE, &[outage(1000, Some(2000))]);
        assert_eq!(switches, [(ms(1050), Switch::ToBackup), (ms(2010), Switch::ToWorking)]);
    }

    #[test]
    fn without_reversion_it_stays() {
        let delays = Delays { revert: None, ..REVERTIVE };
        let outages = [outage(1000, Some(2000)), outage(3000, None)];
        assert_eq!(timeline(delays, &outages), [(ms(1050), Switch::ToBackup)]);
    }

    #[test]
    fn an_immediate_switch_comes_with_the_failure() {
        let delays = Delays { switch: Duration::ZERO, revert: None };
        assert_eq!(timeline(delays, &[outage(1000, None)]), [(ms(1000), Switch::ToBackup)]);
    }

    #[test]
    fn a_repair_before_the_switch_cancels_it() {
        assert_eq!(timeline(REVERTIVE, &[outage(1000, Some(1049))]), []);
        // At the very instant the switch is already made.
        let switches = timeline(REVERTIVE, &[outage(1000, Some(1050))]);
        assert_eq!(switches, [(ms(1050), Switch::ToBackup), (ms(1060), Switch::ToWorking)]);
    }

    #[test]
    fn a_failure_before_the_switch_back_cancels_that() {
        let outages = [outage(1000, Some(2000)), outage(2005, Some(3000))];
        let switches = timeline(REVERTIVE, &outages);
        assert_eq!(switches, [(ms(1050), Switch::ToBackup), (ms(3010), Switch::ToWorking)]);
    }
}
