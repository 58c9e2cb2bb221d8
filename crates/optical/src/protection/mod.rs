//! Protection switching: failure detection, notification, and switchover at each node.
//!
//! A [`ProtectedSegment`] is the part of a path that one backup protects, in one direction. It starts at the path
//! switch LSR (PSL), which can divert packets to the backup. It ends at the path merge LSR (PML), where the backup
//! rejoins the working path.
//!
//! A switchover has three steps: `detection` by the adjacent nodes, notification of the nodes that act (`scheme`), and
//! the decision at each of them (`selector`). Outages are known in advance, so [`decisions`] returns all switchovers as
//! a list, without an engine.

mod command;
mod detection;
mod failure_report;
mod scheme;
mod selector;
mod timing;

use optcp_units::Time;

pub use command::{Command, CommandAt};
pub use detection::Detection;
pub use scheme::{ProtectedSegment, Revert, Route, Scheme, SetUp, SwitchAction, SwitchPoint};
pub use selector::Switch;
pub use timing::{Outage, Reversion, Timing};

/// Switchover decision of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Time at which it takes effect.
    pub at: Time,
    /// Index of the switch point.
    pub point: usize,
    /// Switchover or reversion.
    pub switch: Switch,
}

/// Returns the decisions of all switch points for given outages and commands, in order of time.
///
/// `commands` are in order of time. `working` and `backup` contain the outages of each link of the segment and of the backup, in order of time and
/// without overlap.
#[must_use]
pub fn decisions(
    points: &[SwitchPoint],
    timing: Timing,
    commands: &[CommandAt],
    working: &[Vec<Outage>],
    backup: &[Vec<Outage>],
) -> Vec<Decision> {
    let mut decisions: Vec<Decision> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let reports = failure_report::reports_to(point, timing, working, backup);
        let switches = selector::timeline(timing.reversion, point.set_up, &reports, commands);
        decisions.extend(switches.into_iter().map(|(at, switch)| Decision {
            at,
            point: index,
            switch,
        }));
    }
    // The sort must be stable: decisions at the same time keep the order of the switch points.
    decisions.sort_by_key(|decision| decision.at);
    decisions
}
