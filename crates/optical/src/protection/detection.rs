//! Failure detection by the nodes adjacent to a failure.
//!
//! # Model
//! Two methods: both adjacent nodes detect a failure after a fixed time, for example by loss of signal; or several
//! consecutive hello packets are missing.
//!
//! # References
//! RFC 4427, section 4.16 (detection time); RFC 5880, section 6.8.4 (detection time: multiplier times interval after
//! the last packet received).
//!
//! # Limitations
//! Hellos are not simulated as packets: they use no capacity, and only an outage suppresses them. A session is up again
//! with the first hello after the repair.

use optcp_units::{Duration, Time};

/// Method by which the nodes adjacent to a failure detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// Failures are detected after a fixed delay, repairs immediately.
    Fixed(Duration),
    /// Failures are detected by missing hello packets.
    Hello {
        /// Time between hello packets.
        interval: Duration,
        /// Number of consecutive missing hellos that indicates a failure.
        multiplier: u32,
        /// Arrival time of the first hello, from the start of the run.
        phase: Duration,
    },
}

impl Detection {
    /// Returns the detection time of a failure that lasts until then.
    pub(super) fn failure_detected_at(self, at: Time) -> Time {
        match self {
            Detection::Fixed(delay) => at + delay,
            Detection::Hello { interval, multiplier, phase } => {
                let count = at.saturating_since(Time::ZERO + phase).as_ps() / interval.as_ps();
                let last = Time::ZERO + phase + interval * count;
                last + interval * u64::from(multiplier)
            }
        }
    }

    /// Returns the detection time of a repair.
    pub(super) fn repair_detected_at(self, at: Time) -> Time {
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

    /// Hellos arrive at 3, 13, ..., 1003 ms; the third missing one is due at 1033 ms.
    #[test]
    fn failure_is_detected_after_missing_hellos() {
        let interval = Duration::from_ms(10);
        let hello = Detection::Hello { interval, multiplier: 3, phase: Duration::from_ms(3) };
        assert_eq!(hello.failure_detected_at(ms(1005)), ms(1033));
        assert_eq!(
            hello.failure_detected_at(ms(1003)),
            ms(1033),
            "the hello at that time has arrived"
        );
        assert_eq!(hello.failure_detected_at(ms(1002)), ms(1023));
        assert_eq!(hello.repair_detected_at(ms(2004)), ms(2013));
        assert_eq!(hello.repair_detected_at(ms(2013)), ms(2013));
    }

    #[test]
    fn fixed_detection_delays_failures_but_not_repairs() {
        let light = Detection::Fixed(Duration::from_ms(5));
        assert_eq!(light.failure_detected_at(ms(1000)), ms(1005));
        assert_eq!(light.repair_detected_at(ms(2000)), ms(2000));
    }
}
