//! The kernel's clock, where a congestion control goes by its ticks.

use optcp_units::{Duration, Time};

/// A tick: 250 Hz, Linux's default.
const TICK: Duration = Duration::from_ms(4);

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Where it stands at time zero, in picoseconds.
    phase: u64,
}

impl Clock {
    /// Ticks in a second.
    pub(super) const HZ: u64 = 1_000_000_000_000 / TICK.as_ps();

    pub(super) fn new(phase: Duration) -> Self {
        Clock { phase: phase.as_ps() }
    }

    /// Ticks so far.
    pub(super) fn at(self, now: Time) -> u64 {
        (now.as_ps() + self.phase) / TICK.as_ps()
    }

    /// Whole ticks in a duration.
    pub(super) fn ticks(duration: Duration) -> u64 {
        duration.as_ps() / TICK.as_ps()
    }

    /// Ticks in a duration, a part of one counted as one.
    pub(super) fn ticks_up(duration: Duration) -> u64 {
        duration.as_ps().div_ceil(TICK.as_ps())
    }
}
