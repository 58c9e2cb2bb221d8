//! Times of switchovers and commands.

use optcp_optical::protection::CommandAt;
use optcp_units::{Duration, Time};

use crate::problem::Problems;
use crate::schema::{ProtectionEntry, Span, SwitchDelay};
use crate::tree::place;

use super::draft::Draft;

/// Returns the commands in order of time; commands at the same time keep their order.
pub(super) fn commands(entry: &ProtectionEntry) -> Vec<CommandAt> {
    let commands = entry.commands.iter();
    let commands =
        commands.map(|given| CommandAt { at: Time::ZERO + given.at.0, command: given.command });
    let mut commands: Vec<CommandAt> = commands.collect();
    commands.sort_by_key(|command| command.at);
    commands
}

/// Reports commands after the end of the run.
pub(super) fn check_commands(
    i: usize,
    entry: &ProtectionEntry,
    plan: &Draft,
    problems: &mut Problems<'_>,
) {
    for (j, command) in entry.commands.iter().enumerate() {
        let (at, stop) = (Time::ZERO + command.at.0, plan.stop);
        if at >= stop {
            let place = place!["protection", i, "commands", j, "at"];
            problems.at(place, format!("command at {at}, but the run stops at {stop}"));
        }
    }
}

/// Reports switchovers and reversions after the end of the run.
pub(super) fn check_delays(
    i: usize,
    entry: &ProtectionEntry,
    links: &[usize],
    plan: &Draft,
    problems: &mut Problems<'_>,
) {
    // A bundle continues after the failure of one link.
    let &[link] = links else { return };
    let after =
        |instant: Time, span: Duration| Time::from_ps(instant.as_ps().saturating_add(span.as_ps()));
    for failure in plan.failures.iter().filter(|failure| failure.link == link) {
        // A failure after `stop` has been reported already.
        let late = |from: Time, delay: Duration| {
            let from = from + failure.later.long();
            let at = after(from, delay);
            (at >= plan.stop && from < plan.stop).then_some(at)
        };
        let stop = plan.stop;
        if let Some(SwitchDelay { data, ack }) = entry.switch_delay {
            for (delay, way) in [(data, "data"), (ack, "ack")] {
                if let Some(at) = late(failure.at, delay) {
                    let place = place!["protection", i, "switch_delay", way];
                    problems.at(place, format!("switchover at {at}, but the run stops at {stop}"));
                    break;
                }
            }
        }
        if let (Some(repair), Some(Span(wait))) = (failure.repair, entry.wait_to_restore)
            && let Some(at) = late(repair, wait)
        {
            let place = place!["protection", i, "wait_to_restore"];
            problems.at(place, format!("reversion at {at}, but the run stops at {stop}"));
        }
    }
}
