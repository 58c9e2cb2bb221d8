//! What is measured.

use std::ops::Range;

use optcp_routing::DirectedLink;
use optcp_units::{Duration, Time};

pub use optcp_engine::observe::ObserveKind;

/// The part of a run that metrics cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasurePlan {
    /// Its start, which is not part of it.
    pub after: Time,
    /// Its end, which is part of it.
    pub until: Time,
}

impl MeasurePlan {
    /// How long it is.
    #[must_use]
    pub fn lasts(self) -> Duration {
        self.until - self.after
    }

    /// Which intervals of a length lie in it, counted from the beginning of the run.
    #[must_use]
    pub fn intervals(self, interval: Duration) -> Range<usize> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        place(self.after.as_ps() / interval.as_ps())
            ..place(self.until.as_ps().div_ceil(interval.as_ps()))
    }
}

/// Something that is measured: what, where and how often. What its kind does not take is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservePlan {
    /// The name of the series.
    pub name: String,
    /// What is measured.
    pub kind: ObserveKind,
    /// The groups of flows or sources, as indices.
    pub groups: Vec<usize>,
    /// The ports or fibres; `None` is all ports.
    pub ports: Option<Vec<DirectedLink>>,
    /// From when on: when the first interval begins.
    pub after: Duration,
    /// Up to when; `None` is the end of the run.
    pub until: Option<Duration>,
    /// The length of an interval.
    pub interval: Option<Duration>,
}

impl ObservePlan {
    /// Of what has a value for each row in each interval: how many rows, and how long an interval is.
    #[must_use]
    pub fn by_interval(&self) -> Option<(usize, Duration)> {
        let ports = self.ports.as_ref().map_or(0, Vec::len);
        self.interval.map(|interval| (self.groups.len() + ports, interval))
    }
}
