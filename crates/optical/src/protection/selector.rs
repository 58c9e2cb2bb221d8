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
//! the protection path has priority over a failure of the working path. For [commands](super::command), "working
//! fails" includes a switch command, and "backup fails" a lockout.

use optcp_units::{Duration, Time};

use super::command::{Command, CommandAt};
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
    /// Command in force; `Clear` without one.
    command: Command,
}

impl Selector {
    fn new(reversion: Reversion, set_up: Duration) -> Self {
        let state = State::Working;
        Selector { reversion, set_up, state, failed_links: [0; 2], command: Command::Clear }
    }

    fn handle_report(&mut self, report: FailureReport) -> Option<Switch> {
        let links = &mut self.failed_links[report.path as usize];
        *links = if report.failed { *links + 1 } else { *links - 1 };
        if self.command.priority() < self.least_command().priority() {
            self.command = Command::Clear;
        }
        let wait = match self.reversion {
            Reversion::After(wait) => Some(wait),
            Reversion::Never => None,
        };
        self.update(report.at, wait)
    }

    fn handle_command(&mut self, CommandAt { at, command }: CommandAt) -> Option<Switch> {
        let ends = command == Command::Clear;
        let least = self.least_command().priority().max(self.command.priority());
        if !ends && command.priority() < least {
            return None;
        }
        self.command = command;
        let reverts = self.reversion != Reversion::Never;
        if ends && reverts && matches!(self.state, State::WaitingToRestore { .. }) {
            self.state = State::Backup;
        }
        self.update(at, reverts.then_some(Duration::ZERO))
    }

    /// Returns the command with the lowest priority that present failures do not end.
    fn least_command(&self) -> Command {
        match self.failed_links {
            [0, 0] => Command::Clear,
            [_, 0] => Command::ForcedSwitch,
            _ => Command::Lockout,
        }
    }

    /// Changes the state for present failures and the command. A reversion waits for `wait`; without it, traffic stays.
    fn update(&mut self, now: Time, wait: Option<Duration>) -> Option<Switch> {
        let [working_failed, backup_failed] = self.failed_links.map(|links| links > 0);
        let locked = self.command == Command::Lockout;
        let wanted = working_failed || (self.command != Command::Clear && !locked);
        let usable = !backup_failed && !locked;
        match self.state {
            State::Working if wanted && usable => {
                self.state = State::SettingUp { due: now + self.set_up };
                self.handle_due_timer(now)
            }
            State::SettingUp { .. } if !wanted || !usable => {
                self.state = State::Working;
                None
            }
            State::Backup | State::WaitingToRestore { .. } if !usable => {
                self.state = State::Working;
                Some(Switch::ToWorking)
            }
            State::WaitingToRestore { .. } if wanted => {
                self.state = State::Backup;
                None
            }
            State::Backup if !wanted => {
                self.state = State::WaitingToRestore { due: now + wait? };
                self.handle_due_timer(now)
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

/// Returns the decisions of a selector that receives `reports` and `commands` in order of time. A timer precedes a
/// report at the same time, and a report a command.
pub(super) fn timeline(
    reversion: Reversion,
    set_up: Duration,
    reports: &[FailureReport],
    commands: &[CommandAt],
) -> Vec<(Time, Switch)> {
    let mut selector = Selector::new(reversion, set_up);
    let mut switches = Vec::new();
    let (mut reports, mut commands) = (reports.iter().peekable(), commands.iter().peekable());
    loop {
        let command = commands.peek().map(|command| command.at);
        let report = reports.next_if(|report| command.is_none_or(|command| report.at <= command));
        let Some(at) = report.map(|report| report.at).or(command) else { break };
        switches.extend(selector.run_until(at));
        let switch = match report {
            Some(&report) => selector.handle_report(report),
            None => commands.next().and_then(|&command| selector.handle_command(command)),
        };
        switches.extend(switch.map(|switch| (at, switch)));
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
        timeline(reversion, Duration::ZERO, &reports, &[])
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
        assert_eq!(timeline(Reversion::Never, set_up, &received(1099), &[]), []);
        let expected = [(ms(1100), Switch::ToBackup)];
        assert_eq!(timeline(Reversion::Never, set_up, &received(1100), &[]), expected);
    }

    /// Returns the decisions of a selector for commands, and failures (`true`) and repairs of the working path.
    fn commanded(
        reversion: Reversion,
        given: &[(u64, Command)],
        received: &[(u64, ProtectionPath, bool)],
    ) -> Vec<(u64, Switch)> {
        let reports =
            received.iter().map(|&(at, path, failed)| FailureReport { at: ms(at), path, failed });
        let commands = given.iter().map(|&(at, command)| CommandAt { at: ms(at), command });
        let (reports, commands): (Vec<_>, Vec<_>) = (reports.collect(), commands.collect());
        let decided = timeline(reversion, Duration::ZERO, &reports, &commands);
        decided.into_iter().map(|(at, switch)| (at.as_ps() / 1_000_000_000, switch)).collect()
    }

    use Command::{Clear, ForcedSwitch, Lockout, ManualSwitch};
    use ProtectionPath::{Backup, Working};
    use Switch::{ToBackup, ToWorking};

    /// RFC 7271: after a command there is no wait-to-restore, and without reversion traffic stays.
    #[test]
    fn switch_commands_last_until_clear() {
        for command in [ForcedSwitch, ManualSwitch] {
            let given = [(1000, command), (2000, Clear)];
            let both = [(1000, ToBackup), (2000, ToWorking)];
            assert_eq!(commanded(AFTER_10_MS, &given, &[]), both);
            assert_eq!(commanded(Reversion::Never, &given, &[]), both[..1]);
        }
    }

    /// A forced switch has a higher priority than a failure of the working path, a manual switch a lower one. After the
    /// failure, the traffic of both is on the backup; only the manual switch has ended by the repair.
    #[test]
    fn failure_ends_manual_switch() {
        let failure = [(1500, Working, true), (2000, Working, false)];
        assert_eq!(
            commanded(AFTER_10_MS, &[(1000, ManualSwitch)], &failure),
            [(1000, ToBackup), (2010, ToWorking)]
        );
        assert_eq!(commanded(AFTER_10_MS, &[(1000, ForcedSwitch)], &failure), [(1000, ToBackup)]);
        // During the failure a manual switch is ignored.
        assert_eq!(
            commanded(AFTER_10_MS, &[(1600, ManualSwitch)], &failure),
            [(1500, ToBackup), (2010, ToWorking)]
        );
    }

    /// RFC 7271: a failure of the backup has a higher priority than a forced switch, and ends it.
    #[test]
    fn failed_backup_ends_forced_switch() {
        let failure = [(1500, Backup, true), (2000, Backup, false)];
        let given = [(1000, ForcedSwitch), (1600, ForcedSwitch)];
        assert_eq!(commanded(AFTER_10_MS, &given, &failure), [(1000, ToBackup), (1500, ToWorking)]);
    }

    #[test]
    fn lockout_keeps_traffic_on_failed_working_path() {
        let failure = [(1500, Working, true), (2000, Working, false)];
        assert_eq!(commanded(AFTER_10_MS, &[(1000, Lockout)], &failure), []);
        let given = [(1600, Lockout), (1700, ForcedSwitch), (1800, Clear)];
        assert_eq!(
            commanded(AFTER_10_MS, &given, &failure),
            [(1500, ToBackup), (1600, ToWorking), (1800, ToBackup), (2010, ToWorking)]
        );
    }

    #[test]
    fn clear_ends_wait_before_reversion() {
        let failure = [(1000, Working, true), (2000, Working, false)];
        let decided = commanded(AFTER_10_MS, &[(2004, Clear)], &failure);
        assert_eq!(decided, [(1000, ToBackup), (2004, ToWorking)]);
    }
}
