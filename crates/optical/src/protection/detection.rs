//! When the nodes beside a fault know of it.
//!
//! # Models
//! Loss of light, or any other way in which both nodes beside a fault know of it after a fixed time;
//! and hello packets, of which several in a row must be missing.
//! # Source
//! RFC 4427, section 4.16 (detection time); RFC 5880, section 6.8.4 (detection time: multiplier times
//! interval after the last packet that came).
//! # Parameters
//! `Fixed`: the time. `Hello`: the interval, the multiplier, and the phase at which hellos arrive.
//! # Limits
//! Hellos are not packets of the simulation: they need no capacity and only an outage keeps them
//! from arriving. A session is up again with the first hello after the repair.

use optcp_units::{Duration, Time};

/// How the nodes beside a fault learn of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// So long after the failure; of a repair at once.
    Fixed(Duration),
    /// By hello packets that no longer arrive.
    Hello {
        /// From one to the next.
        interval: Duration,
        /// How many must be missing.
        multiplier: u32,
        /// When the first one arrives; later ones an interval apart.
        phase: Duration,
    },
}

impl Detection {
    /// When a failure is known, if it lasts that long.
    pub(super) fn of_failure(self, at: Time) -> Time {
        match self {
            Detection::Fixed(delay) => at + delay,
            Detection::Hello { interval, multiplier, phase } => {
                let count = at.saturating_since(Time::ZERO + phase).as_ps() / interval.as_ps();
                let last = Time::ZERO + phase + interval * count;
                last + interval * u64::from(multiplier)
            }
        }
    }

    /// When a repair is known.
    pub(super) fn of_repair(self, at: Time) -> Time {
        match self {
            Detection::Fixed(_) => at,
            Detection::Hello { interval, phase, .. } => {
                let since = at.saturating_since(Time::ZERO + phase).as_ps();
                Time::ZERO + phase + interval * since.div_ceil(interval.as_ps())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// Hellos arrive at 3, 13, ..., 1003 ms; the third one missing is that of 1033 ms.
    #[test]
    fn hellos_are_missed_a_multiple_of_the_interval_after_the_last_one() {
        let interval = Duration::from_ms(10);
        let hello = Detection::Hello { interval, multiplier: 3, phase: Duration::from_ms(3) };
        assert_eq!(hello.of_failure(ms(1005)), ms(1033));
        assert_eq!(hello.of_failure(ms(1003)), ms(1033), "the one of that instant still came");
        assert_eq!(hello.of_failure(ms(1002)), ms(1023));
        assert_eq!(hello.of_repair(ms(2004)), ms(2013));
        assert_eq!(hello.of_repair(ms(2013)), ms(2013));
    }

    #[test]
    fn light_is_missed_after_a_fixed_time_and_seen_at_once() {
        let light = Detection::Fixed(Duration::from_ms(5));
        assert_eq!(light.of_failure(ms(1000)), ms(1005));
        assert_eq!(light.of_repair(ms(2000)), ms(2000));
    }
}
