//! Clock of a host's timers: times at which timers can fire.
//!
//! # Model
//! A timer fires at its exact time, at the next tick, or as in Linux's timer wheel. The wheel counts timeouts in ticks
//! and rounds them up. A timeout below 63 ticks fires at the next tick after it. One below 504 ticks fires at the next
//! multiple of 8, and one below 4032 at the next multiple of 64. Timers are up to an eighth late, and never early.
//!
//! # References
//! 4.3BSD (ticks). Linux since 4.8: `kernel/time/timer.c`; T. Gleixner, "timers: Switch to a non-cascading wheel", 2016.
//!
//! # Parameters
//! `expiry`, `tick`.
//!
//! # Limitations
//! Each endpoint has a separate clock, as on a separate host. The time from the tick until the timer is processed is
//! zero.

use optcp_units::{Duration, Time};

use crate::config::{Config, Expiry};

/// Levels of the wheel: each level is coarser by a factor of eight and has 63 usable slots.
const LEVELS: u32 = 8;
const SLOTS: u64 = 63;
const LEVEL_SHIFT: u32 = 3;
/// Linux's `TCP_TIMEOUT_MIN_US`.
const MARGIN: Duration = Duration::from_ms(2);

/// Clock of a host's timers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimerClock {
    /// Timers fire at their exact time.
    Exact,
    /// Timers fire at the next tick of a clock with this value at time zero.
    Ticks { tick: Duration, phase: Duration },
    /// Timers fire as in Linux's timer wheel.
    Wheel { tick: Duration, phase: Duration },
}

impl TimerClock {
    /// Creates the clock of an endpoint. `phase` is its value at time zero.
    pub(crate) fn new(config: &Config, phase: Duration) -> Self {
        let tick = config.tick;
        match config.expiry {
            Expiry::Exact => TimerClock::Exact,
            Expiry::OnTick => TimerClock::Ticks { tick, phase },
            Expiry::TimerWheel => TimerClock::Wheel { tick, phase },
        }
    }

    /// Returns the slots of the wheel that hold a timeout.
    pub(crate) fn slot(tick: Duration, timeout: Duration) -> Duration {
        tick * (1 << (LEVEL_SHIFT * level(timeout.as_ps().div_ceil(tick.as_ps()))))
    }

    /// Returns a timeout as the host stores it.
    pub(crate) fn stored(self, timeout: Duration) -> Duration {
        match self {
            TimerClock::Exact | TimerClock::Ticks { .. } => timeout,
            TimerClock::Wheel { tick, .. } => {
                Duration::from_ps(timeout.as_ps().next_multiple_of(tick.as_ps()))
            }
        }
    }

    /// Returns the time at which a timer fires that is set now.
    pub(crate) fn due(self, now: Time, timeout: Duration) -> Time {
        match self {
            TimerClock::Exact => now + timeout,
            TimerClock::Ticks { tick, phase } => {
                let clock = (now + timeout).as_ps() + phase.as_ps();
                Time::from_ps(clock.next_multiple_of(tick.as_ps()) - phase.as_ps())
            }
            TimerClock::Wheel { tick, phase } => {
                let ticks = timeout.as_ps().div_ceil(tick.as_ps());
                let expires = (now.as_ps() + phase.as_ps()) / tick.as_ps() + ticks;
                let shift = LEVEL_SHIFT * level(ticks);
                let fires = ((expires >> shift) + 1) << shift;
                Time::from_ps(fires * tick.as_ps() - phase.as_ps())
            }
        }
    }

    /// Returns the time at which a timer other than the retransmission timer fires that is set now. Only the wheel
    /// holds all timers of a host.
    pub(crate) fn due_beside_rto(self, now: Time, timeout: Duration) -> Time {
        match self {
            TimerClock::Wheel { .. } => self.due(now, timeout),
            TimerClock::Exact | TimerClock::Ticks { .. } => now + timeout,
        }
    }

    /// Returns whether timers are in a wheel.
    pub(crate) const fn is_wheel(self) -> bool {
        matches!(self, TimerClock::Wheel { .. })
    }

    /// Returns the time that is added to the timeouts of probes and of the reordering window.
    pub(crate) const fn margin(self) -> Duration {
        match self {
            TimerClock::Wheel { .. } => MARGIN,
            TimerClock::Exact | TimerClock::Ticks { .. } => Duration::ZERO,
        }
    }
}

/// Returns the level of the wheel that holds a timeout.
fn level(ticks: u64) -> u32 {
    (0..LEVELS - 1).find(|level| ticks < SLOTS << (LEVEL_SHIFT * level)).unwrap_or(LEVELS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_ms(4);

    fn fires(phase_ticks: u64, set_ms: u64, timeout_ms: u64) -> Duration {
        let clock = TimerClock::Wheel { tick: TICK, phase: TICK * phase_ticks };
        clock.due(Time::ZERO + Duration::from_ms(set_ms), Duration::from_ms(timeout_ms))
            - Time::ZERO
    }

    /// By hand, from the levels in `kernel/time/timer.c`, with ticks of 4 ms.
    #[test]
    fn wheel_rounds_up_to_the_slots_of_the_level() {
        for (phase, set_ms, timeout_ms, fires_ms) in [
            // 50 ticks, set in tick 0: the first tick after 50.
            (0, 0, 200, 204),
            // The same, set in the middle of a tick.
            (0, 3, 200, 204),
            (0, 5, 200, 208),
            // 62 ticks are on the first level, 63 on the second: 63 to 64.
            (0, 0, 248, 252),
            (0, 0, 252, 256),
            // Expires in tick 64: the next multiple of 8 after it.
            (0, 0, 256, 288),
            (0, 0, 287, 320),
            // The clock is 3 ticks ahead: expires in its tick 67 and fires in its tick 72.
            (3, 0, 256, 276),
            // 503 ticks and 504 ticks: up to 8 and up to 64 late.
            (0, 0, 2012, 2016),
            (0, 0, 2016, 2048),
            (0, 0, 3000, 3072),
        ] {
            assert_eq!(
                fires(phase, set_ms, timeout_ms),
                Duration::from_ms(fires_ms),
                "{timeout_ms} ms"
            );
        }
    }

    /// By hand: 120 s are 30,000 ticks of 4 ms, on the fourth level, and 120,000 ticks of 1 ms, on the fifth.
    #[test]
    fn slots_grow_eightfold_by_level() {
        let longest = Duration::from_secs(120);
        assert_eq!(TimerClock::slot(TICK, longest), TICK * 512);
        assert_eq!(TimerClock::slot(Duration::from_ms(1), longest), Duration::from_ms(4096));
        assert_eq!(TimerClock::slot(TICK, Duration::from_ms(200)), TICK);
    }

    #[test]
    fn timers_of_the_wheel_are_never_early_and_at_most_an_eighth_and_a_tick_late() {
        for phase in 0..64 {
            for timeout_ms in (1..5000).step_by(7) {
                let timeout = Duration::from_ms(timeout_ms);
                let late = fires(phase, 0, timeout_ms) - timeout;
                let bound = Duration::from_ps(timeout.as_ps() / 7) + TICK * 2;
                assert!(late <= bound, "{timeout_ms} ms is {late} late");
            }
        }
    }
}
