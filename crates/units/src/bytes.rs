//! Amounts of data.

use std::fmt;
use std::ops::{Add, AddAssign};

/// A number of bytes. Sums beyond 64 bits stay at the greatest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// No data.
    pub const ZERO: Bytes = Bytes(0);

    /// `count` bytes.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Bytes(count)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
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
