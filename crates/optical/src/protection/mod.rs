//! Protection: who learns when of a fault, who switches then, and back.
//!
//! A *segment* is what one backup protects, in one direction of its packets: from the path switch LSR
//! (PSL), where packets can leave the working path, to the path merge LSR (PML), where the backup
//! joins it again. The way from a fault to a decision has three steps, a file each: `detection` says
//! when the nodes beside a fault know of it, a file of `scheme` says which nodes act and how long the
//! news takes to them, and a `selector` at each of those nodes decides. None of them knows an engine:
//! outages are known beforehand, so the decisions are laid out as a list.

mod detection;
mod failure_report;
mod scheme;
mod selector;
mod timing;

use optcp_units::Time;

pub use detection::Detection;
pub use scheme::{ProtectedSegment, Revert, Route, Scheme, SetUp, SwitchAction, SwitchPoint};
pub use selector::Switch;
pub use timing::{Outage, Reversion, Timing};

/// A decision at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When it takes effect.
    pub at: Time,
    /// Where: the place in the list of points.
    pub point: usize,
    /// What.
    pub switch: Switch,
}

/// What the points of a scheme decide over a history of outages, in order of time.
///
/// # Parameters
/// `working` and `backup` hold the outages of each link of the segment and of the backup, in order
/// of time and without overlap.
#[must_use]
pub fn decisions(
    points: &[SwitchPoint],
    timing: Timing,
    working: &[Vec<Outage>],
    backup: &[Vec<Outage>],
) -> Vec<Decision> {
    let mut decisions: Vec<Decision> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let news = failure_report::of(point, timing, working, backup);
        let switches = selector::timeline(timing.reversion, point.set_up, &news);
        decisions.extend(switches.into_iter().map(|(at, switch)| Decision {
            at,
            point: index,
            switch,
        }));
    }
    // Stable: at one instant in the order of the points.
    decisions.sort_by_key(|decision| decision.at);
    decisions
}
