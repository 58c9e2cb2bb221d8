//! Observations in the plan.

use std::ops::Range;

use optcp_routing::DirectedLink;
use optcp_units::{Duration, Time};

pub use optcp_engine::observe::ObserveKind;

/// Part of a run that metrics cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasurePlan {
    /// Start, not included.
    pub after: Time,
    /// End, included.
    pub until: Time,
}

impl MeasurePlan {
    /// Returns its length.
    #[must_use]
    pub fn lasts(self) -> Duration {
        self.until - self.after
    }

    /// Returns the numbers of the intervals inside it, counted from the start of the run.
    #[must_use]
    pub fn intervals(self, interval: Duration) -> Range<usize> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        place(self.after.as_ps() / interval.as_ps())
            ..place(self.until.as_ps().div_ceil(interval.as_ps()))
    }
}

/// Series to record. Fields that its kind does not use are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservePlan {
    /// Name of the series.
    pub name: String,
    /// Kind of the series.
    pub kind: ObserveKind,
    /// Groups of flows or sources, as indices.
    pub groups: Vec<usize>,
    /// Ports or fibres; `None` for all ports.
    pub ports: Option<Vec<DirectedLink>>,
    /// Start of the first interval.
    pub after: Duration,
    /// End of the record; `None` for the end of the run.
    pub until: Option<Duration>,
    /// Length of an interval.
    pub interval: Option<Duration>,
}

impl ObservePlan {
    /// Returns number of rows and interval length, for kinds with one value per row and interval.
    #[must_use]
    pub fn by_interval(&self) -> Option<(usize, Duration)> {
        let ports = self.ports.as_ref().map_or(0, Vec::len);
        self.interval.map(|interval| (self.groups.len() + ports, interval))
    }
}
