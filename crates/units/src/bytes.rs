//! Data sizes.

use std::fmt;
use std::ops::{Add, AddAssign};

use crate::Decimal;

/// Number of bytes. Sums beyond 64 bits saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// Creates a size of `count` bytes.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Bytes(count)
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
    }

    /// Formats the exact size in the largest decimal unit not above it: "9.375 kB".
    #[must_use]
    pub fn in_largest_unit(self) -> String {
        let (places, unit) = match self.0 {
            1_000_000_000_000.. => (12, "TB"),
            1_000_000_000.. => (9, "GB"),
            1_000_000.. => (6, "MB"),
            1_000.. => (3, "kB"),
            _ => (0, "B"),
        };
        format!("{} {unit}", Decimal::scaled(self.0, places))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}
