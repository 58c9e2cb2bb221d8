//! The state machine of a node that chooses between the working path and the backup.
//!
//! # Models
//! ```text
//!                 working fails, backup works
//!   Working ------------------------------------> SettingUp --- set_up over ---> Backup
//!    ^ ^ ^                                          |                            |   ^
//!    | | +-------- working works, backup fails -----+   working works, revertive |   | working fails
//!    | |                                                                         v   |
//!    | +------------- wait_to_restore over ---------------------------- WaitingToRestore
//!    +------------------------------ backup fails ---------------------- (from both)
//! ```
//! # Source
//! RFC 4427, sections 4.11 (reversion) and 4.16 (wait-to-restore time); RFC 6378: a failure of the
//! protection path outranks one of the working path.
//! # Parameters
//! `Reversion`; `set_up`, the time from the decision to a backup that carries packets (zero for one
//! that is set up beforehand).
//! # Limits
//! No commands of an operator (forced and manual switches, lockout).

use optcp_units::{Duration, Time};

use super::failure_report::FailureReport;
use super::timing::Reversion;

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
    SettingUp { due: Time },
    Backup,
    WaitingToRestore { due: Time },
}

/// See the module's text.
#[derive(Clone, Debug)]
struct Selector {
    reversion: Reversion,
    set_up: Duration,
    state: State,
    /// Links that are down, of the working path and of the backup.
    down: [u32; 2],
}

impl Selector {
    fn new(reversion: Reversion, set_up: Duration) -> Self {
        Selector { reversion, set_up, state: State::Working, down: [0; 2] }
    }

    fn handle(&mut self, news: FailureReport) -> Option<Switch> {
        let down = &mut self.down[news.way as usize];
        *down = if news.failed { *down + 1 } else { *down - 1 };
        let [working, backup] = self.down.map(|links| links > 0);
        match self.state {
            State::Working if working && !backup => {
                self.state = State::SettingUp { due: news.at + self.set_up };
                self.at_once(news.at)
            }
            State::SettingUp { .. } if backup || !working => {
                self.state = State::Working;
                None
            }
            State::Backup | State::WaitingToRestore { .. } if backup => {
                self.state = State::Working;
                Some(Switch::ToWorking)
            }
            State::WaitingToRestore { .. } if working => {
                self.state = State::Backup;
                None
            }
            State::Backup if !working => {
                let Reversion::After(wait) = self.reversion else { return None };
                self.state = State::WaitingToRestore { due: news.at + wait };
                self.at_once(news.at)
            }
            _ => None,
        }
    }

    /// A step that takes no time is taken now.
    fn at_once(&mut self, now: Time) -> Option<Switch> {
        if self.deadline() == Some(now) { self.handle_timer() } else { None }
    }

    /// What its timer, one at most, brings about until `end`.
    fn run_until(&mut self, end: Time) -> Option<(Time, Switch)> {
        let due = self.deadline().filter(|&due| due <= end)?;
        self.handle_timer().map(|switch| (due, switch))
    }

    fn deadline(&self) -> Option<Time> {
        match self.state {
            State::SettingUp { due } | State::WaitingToRestore { due } => Some(due),
            State::Working | State::Backup => None,
        }
    }

    fn handle_timer(&mut self) -> Option<Switch> {
        let (state, switch) = match self.state {
            State::SettingUp { .. } => (State::Backup, Switch::ToBackup),
            State::WaitingToRestore { .. } => (State::Working, Switch::ToWorking),
            State::Working | State::Backup => return None,
        };
        self.state = state;
        Some(switch)
    }
}

/// What a selector decides that hears `news`, which is in order of time. A timer that is due at the
/// instant of a piece of news comes first.
pub(super) fn timeline(
    reversion: Reversion,
    set_up: Duration,
    news: &[FailureReport],
) -> Vec<(Time, Switch)> {
    let mut selector = Selector::new(reversion, set_up);
    let mut switches = Vec::new();
    for &one in news {
        switches.extend(selector.run_until(one.at));
        switches.extend(selector.handle(one).map(|switch| (one.at, switch)));
    }
    switches.extend(selector.run_until(Time::MAX));
    switches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::failure_report::Way;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    const AFTER_10_MS: Reversion = Reversion::After(Duration::from_ms(10));

    /// What a selector does that hears of failures (`true`) and repairs at these instants.
    fn decided(reversion: Reversion, heard: &[(u64, Way, bool)]) -> Vec<(Time, Switch)> {
        let news: Vec<FailureReport> = heard
            .iter()
            .map(|&(at, way, failed)| FailureReport { at: ms(at), way, failed })
            .collect();
        timeline(reversion, Duration::ZERO, &news)
    }

    #[test]
    fn it_switches_and_comes_back_after_the_wait() {
        let heard = [(1000, Way::Working, true), (2000, Way::Working, false)];
        let both = [(ms(1000), Switch::ToBackup), (ms(2010), Switch::ToWorking)];
        assert_eq!(decided(AFTER_10_MS, &heard), both);
        assert_eq!(decided(Reversion::Never, &heard), both[..1]);
    }

    #[test]
    fn a_failure_during_the_wait_calls_the_way_back_off() {
        let heard = [
            (1000, Way::Working, true),
            (2000, Way::Working, false),
            (2009, Way::Working, true),
            (3000, Way::Working, false),
        ];
        let expected = [(ms(1000), Switch::ToBackup), (ms(3010), Switch::ToWorking)];
        assert_eq!(decided(AFTER_10_MS, &heard), expected);
    }

    /// The wait ends at the instant of the next failure: it is back already and leaves at once.
    #[test]
    fn a_failure_at_the_instant_of_the_way_back_comes_after_it() {
        let heard =
            [(1000, Way::Working, true), (2000, Way::Working, false), (2010, Way::Working, true)];
        let expected = [
            (ms(1000), Switch::ToBackup),
            (ms(2010), Switch::ToWorking),
            (ms(2010), Switch::ToBackup),
        ];
        assert_eq!(decided(AFTER_10_MS, &heard), expected);
    }

    #[test]
    fn two_faults_on_the_working_path_are_over_when_both_are() {
        let heard = [
            (1000, Way::Working, true),
            (1500, Way::Working, true),
            (2000, Way::Working, false),
            (3000, Way::Working, false),
        ];
        let expected = [(ms(1000), Switch::ToBackup), (ms(3010), Switch::ToWorking)];
        assert_eq!(decided(AFTER_10_MS, &heard), expected);
    }

    #[test]
    fn a_backup_that_fails_is_left_at_once_and_taken_again_when_it_works() {
        let heard = [
            (1000, Way::Working, true),
            (1500, Way::Backup, true),
            (1600, Way::Backup, false),
            (2000, Way::Working, false),
        ];
        let expected = [
            (ms(1000), Switch::ToBackup),
            (ms(1500), Switch::ToWorking),
            (ms(1600), Switch::ToBackup),
            (ms(2010), Switch::ToWorking),
        ];
        assert_eq!(decided(AFTER_10_MS, &heard), expected);
    }

    #[test]
    fn a_backup_that_is_down_is_not_taken() {
        let heard = [
            (500, Way::Backup, true),
            (1000, Way::Working, true),
            (2000, Way::Working, false),
            (2500, Way::Backup, false),
        ];
        assert_eq!(decided(AFTER_10_MS, &heard), []);
    }

    #[test]
    fn a_set_up_takes_its_time_and_a_repair_calls_it_off() {
        let heard = |repair| {
            [
                FailureReport { at: ms(1000), way: Way::Working, failed: true },
                FailureReport { at: ms(repair), way: Way::Working, failed: false },
            ]
        };
        let set_up = Duration::from_ms(100);
        assert_eq!(timeline(Reversion::Never, set_up, &heard(1099)), []);
        let expected = [(ms(1100), Switch::ToBackup)];
        assert_eq!(timeline(Reversion::Never, set_up, &heard(1100)), expected);
    }
}
