//! Linux's tick clock (jiffies), for congestion controls that use it.

use optcp_units::{Duration, Time};

/// Tick: 250 Hz, Linux's default.
const TICK: Duration = Duration::from_ms(4);

/// Tick clock of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Value at time zero, in picoseconds.
    phase: u64,
}

impl Clock {
    /// Ticks per second.
    pub(super) const HZ: u64 = 1_000_000_000_000 / TICK.as_ps();

    pub(super) fn new(phase: Duration) -> Self {
        Clock { phase: phase.as_ps() }
    }

    /// Returns the number of ticks so far.
    pub(super) fn at(self, now: Time) -> u64 {
        (now.as_ps() + self.phase) / TICK.as_ps()
    }

    /// Returns the number of whole ticks in a duration.
    pub(super) fn ticks(duration: Duration) -> u64 {
        duration.as_ps() / TICK.as_ps()
    }

    /// Returns the number of ticks in a duration, rounded up.
    pub(super) fn ticks_up(duration: Duration) -> u64 {
        duration.as_ps().div_ceil(TICK.as_ps())
    }
}
