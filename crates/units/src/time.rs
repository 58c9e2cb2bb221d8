//! Simulated time and durations.
//!
//! Sums and products beyond 64 bits saturate, and [`Time::MAX`] means never: no event at that time is executed.
//! Durations in scenarios are at most [`Duration::LONGEST`], so only products, and sums of ten or more, can saturate.
//! Differences are exact: the later time minus the earlier one.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use crate::Decimal;

/// Picoseconds per second.
const PS_PER_S: u64 = 1_000_000_000_000;

/// Simulated time: picoseconds since the start of the run (at most about 213 days).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// Duration of simulated time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Time {
    /// Start of every run.
    pub const ZERO: Time = Time(0);
    /// Never: later than any time that a run can reach.
    pub const MAX: Time = Time(u64::MAX);

    /// Creates the time `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Time(ps)
    }

    /// Returns the picoseconds since the start.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start, for display and statistics only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns the duration since `earlier`, or zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// Maximum duration in scenarios, 480 h; ten times as much fits into 64 bits.
    pub const LONGEST: Duration = Duration(480 * 3600 * PS_PER_S);

    /// Creates a duration of `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Duration(ps)
    }

    /// Creates a duration of `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Duration(us * 1_000_000)
    }

    /// Creates a duration of `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Duration(ms * 1_000_000_000)
    }

    /// Creates a duration of `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Duration(s * PS_PER_S)
    }

    /// Creates a duration rounded to the nearest picosecond; `None` if negative, not finite or too long.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
    pub fn from_secs_f64(seconds: f64) -> Option<Self> {
        let ps = (seconds * PS_PER_S as f64).round();
        (0.0..u64::MAX as f64).contains(&ps).then_some(Duration(ps as u64))
    }

    /// Returns the picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the seconds, for display and statistics only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns the longer of two durations.
    #[must_use]
    pub fn max(self, other: Duration) -> Duration {
        Ord::max(self, other)
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub for Time {
    type Output = Duration;
    fn sub(self, earlier: Time) -> Duration {
        Duration(self.0 - earlier.0)
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", Decimal::scaled(self.0, 12))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (places, unit) = match self.0 {
            ps if ps % PS_PER_S == 0 || ps >= 10 * PS_PER_S => (12, "s"),
            1_000_000_000.. => (9, "ms"),
            1_000_000.. => (6, "us"),
            1_000.. => (3, "ns"),
            _ => (0, "ps"),
        };
        write!(f, "{} {unit}", Decimal::scaled(self.0, places))
    }
}
