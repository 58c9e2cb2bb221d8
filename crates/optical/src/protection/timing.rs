//! Input of protection: outages, and the timing of detection and reversion.

use optcp_units::{Duration, Time};

use super::detection::Detection;

/// Period in which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Time of the failure.
    pub failure: Time,
    /// Time of the repair; `None` if it is not within the run.
    pub repair: Option<Time>,
}

impl Outage {
    /// Returns whether the link is down at a time: after the failure and before the repair, or at the failure.
    #[must_use]
    pub fn covers(&self, at: Time) -> bool {
        self.failure <= at && self.repair.is_none_or(|repair| at < repair)
    }
}

/// Timing of detection and reversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Failure detection by the adjacent nodes.
    pub detection: Detection,
    /// Minimum duration of a detected failure before any action (RFC 4427, section 4.16).
    pub hold_off: Duration,
    /// Behaviour after a repair.
    pub reversion: Reversion,
}

/// Behaviour after a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reversion {
    /// Reversion when the working path has worked for this time.
    After(Duration),
    /// No reversion.
    Never,
}
