//! State machine of a node that selects between the working path and the backup.
//!
//! # Model
//! ```text
//!                 working fails, backup works
//!   Working ------------------------------------> SettingUp --- set_up over ---> Backup
//!    ^ ^ ^                                          |                            |   ^
//!    | | +------- working works or backup fails ----+   working works, revertive |   | working fails
//!    | |                                                                         v   |
//!    | +------------- wait_to_restore over ---------------------------- WaitingToRestore
//!    +------------------------------ backup fails ---------------------- (from both)
//! ```
//!
//! # References
//! RFC 4427, sections 4.11 (reversion) and 4.16 (wait-to-restore time). By RFC 6378, a failure of
//! the protection path has priority over a failure of the working path.
//!
//! # Limitations
//! There are no operator commands (forced and manual switches, lockout).

use optcp_units::{Duration, Time};

use super::failure_report::FailureReport;
use super::timing::Reversion;

/// Decision of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Switchover to the backup.
    ToBackup,
    /// Reversion to the working path.
    ToWorking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Working,
    SettingUp { due: Time },
    Backup,
    WaitingToRestore { due: Time },
}

/// State machine of one node.
#[derive(Clone, Debug)]
struct Selector {
    reversion: Reversion,
    set_up: Duration,
    state: State,
    /// Number of failed links of the working path and of the backup.
    failed_links: [u32; 2],
}

impl Selector {
    fn new(reversion: Reversion, set_up: Duration) -> Self {
        Selector { reversion, set_up, state: State::Working, failed_links: [0; 2] }
    }

    fn handle(&mut self, report: FailureReport) -> Option<Switch> {
        let links = &mut self.failed_links[report.path as usize];
        *links = if report.failed { *links + 1 } else { *links - 1 };
        let [working_failed, backup_failed] = self.failed_links.map(|links| links > 0);
        match self.state {
            State::Working if working_failed && !backup_failed => {
                self.state = State::SettingUp { due: report.at + self.set_up };
                self.handle_due_timer(report.at)
            }
            State::SettingUp { .. } if backup_failed || !working_failed => {
                self.state = State::Working;
                None
            }
            State::Backup | State::WaitingToRestore { .. } if backup_failed => {
                self.state = State::Working;
                Some(Switch::ToWorking)
            }
            State::WaitingToRestore { .. } if working_failed => {
                self.state = State::Backup;
                None
            }
            State::Backup if !working_failed => {
                let Reversion::After(wait) = self.reversion else { return None };
                self.state = State::WaitingToRestore { due: report.at + wait };
                self.handle_due_timer(report.at)
            }
            _ => None,
        }
    }

    /// Executes a step without delay immediately.
    fn handle_due_timer(&mut self, now: Time) -> Option<Switch> {
        if self.deadline() == Some(now) { self.fire_timer() } else { None }
    }

    /// Executes the timer that is due until `end`, if any.
    fn run_until(&mut self, end: Time) -> Option<(Time, Switch)> {
        let due = self.deadline().filter(|&due| due <= end)?;
        self.fire_timer().map(|switch| (due, switch))
    }

    fn deadline(&self) -> Option<Time> {
        match self.state {
            State::SettingUp { due } | State::WaitingToRestore { due } => Some(due),
            State::Working | State::Backup => None,
        }
    }

    fn fire_timer(&mut self) -> Option<Switch> {
        let (state, switch) = match self.state {
            State::SettingUp { .. } => (State::Backup, Switch::ToBackup),
            State::WaitingToRestore { .. } => (State::Working, Switch::ToWorking),
            State::Working | State::Backup => return None,
        };
        self.state = state;
        Some(switch)
    }
}

/// Returns the decisions of a selector that receives `reports` in order of time. A timer precedes a report at the same
/// time.
pub(super) fn timeline(
    reversion: Reversion,
    set_up: Duration,
    reports: &[FailureReport],
) -> Vec<(Time, Switch)> {
    let mut selector = Selector::new(reversion, set_up);
    let mut switches = Vec::new();
    for &report in reports {
        switches.extend(selector.run_until(report.at));
        switches.extend(selector.handle(report).map(|switch| (report.at, switch)));
    }
    switches.extend(selector.run_until(Time::MAX));
    switches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::failure_report::ProtectionPath;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    const AFTER_10_MS: Reversion = Reversion::After(Duration::from_ms(10));

    /// Returns the decisions of a selector for failures (`true`) and repairs at these times.
    fn decided(
        reversion: Reversion,
        received: &[(u64, ProtectionPath, bool)],
    ) -> Vec<(Time, Switch)> {
        let reports: Vec<FailureReport> = received
            .iter()
            .map(|&(at, path, failed)| FailureReport { at: ms(at), path, failed })
            .collect();
        timeline(reversion, Duration::ZERO, &reports)
    }

    #[test]
    fn selector_reverts_after_wait_to_restore() {
        let received =
            [(1000, ProtectionPath::Working, true), (2000, ProtectionPath::Working, false)];
        let both = [(ms(1000), Switch::ToBackup), (ms(2010), Switch::ToWorking)];
        assert_eq!(decided(AFTER_10_MS, &received), both);
        assert_eq!(decided(Reversion::Never, &received), both[..1]);
    }

    #[test]
    fn failure_during_wait_cancels_reversion() {
        let received = [
            (1000, ProtectionPath::Working, true),
            (2000, ProtectionPath::Working, false),
            (2009, ProtectionPath::Working, true),
            (3000, ProtectionPath::Working, false),
        ];
        let expected = [(ms(1000), Switch::ToBackup), (ms(3010), Switch::ToWorking)];
        assert_eq!(decided(AFTER_10_MS, &received), expected);
    }

    /// The wait ends exactly at the next failure: the selector reverts and switches over again immediately.
    #[test]
    fn failure_at_time_of_reversion_follows_it() {
        let received = [
            (1000, ProtectionPath::Working, true),
            (2000, ProtectionPath::Working, false),
            (2010, ProtectionPath::Working, true),
        ];
        let expected = [
            (ms(1000), Switch::ToBackup),
            (ms(2010), Switch::ToWorking),
            (ms(2010), Switch::ToBackup),
        ];
        assert_eq!(decided(AFTER_10_MS, &received), expected);
    }

    #[test]
    fn working_path_is_restored_after_both_repairs() {
        let received = [
            (1000, ProtectionPath::Working, true),
            (1500, ProtectionPath::Working, true),
            (2000, ProtectionPath::Working, false),
            (3000, ProtectionPath::Working, false),
        ];
        let expected = [(ms(1000), Switch::ToBackup), (ms(3010), Switch::ToWorking)];
        assert_eq!(decided(AFTER_10_MS, &received), expected);
    }

    #[test]
    fn failed_backup_is_abandoned_until_repair() {
        let received = [
            (1000, ProtectionPath::Working, true),
            (1500, ProtectionPath::Backup, true),
            (1600, ProtectionPath::Backup, false),
            (2000, ProtectionPath::Working, false),
        ];
        let expected = [
            (ms(1000), Switch::ToBackup),
            (ms(1500), Switch::ToWorking),
            (ms(1600), Switch::ToBackup),
            (ms(2010), Switch::ToWorking),
        ];
        assert_eq!(decided(AFTER_10_MS, &received), expected);
    }

    #[test]
    fn failed_backup_is_not_used() {
        let received = [
            (500, ProtectionPath::Backup, true),
            (1000, ProtectionPath::Working, true),
            (2000, ProtectionPath::Working, false),
            (2500, ProtectionPath::Backup, false),
        ];
        assert_eq!(decided(AFTER_10_MS, &received), []);
    }

    #[test]
    fn set_up_takes_time_and_repair_cancels_it() {
        let received = |repair| {
            [
                FailureReport { at: ms(1000), path: ProtectionPath::Working, failed: true },
                FailureReport { at: ms(repair), path: ProtectionPath::Working, failed: false },
            ]
        };
        let set_up = Duration::from_ms(100);
        assert_eq!(timeline(Reversion::Never, set_up, &received(1099)), []);
        let expected = [(ms(1100), Switch::ToBackup)];
        assert_eq!(timeline(Reversion::Never, set_up, &received(1100)), expected);
    }
}
