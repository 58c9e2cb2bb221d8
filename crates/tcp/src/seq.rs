//! Sequence numbers.

use std::ops::{Add, AddAssign, Sub};

/// Segment number. Segments of the transfer count from 0; with a handshake the SYN is number 0.
///
/// Counts of segments are plain `u32`: the difference of two numbers is a count, and a number plus a count is
/// a number. Numbers do not wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Seq(u32);

impl Seq {
    /// First number.
    pub const ZERO: Seq = Seq(0);
    /// Last number; as an end, it stands for unlimited data.
    pub const MAX: Seq = Seq(u32::MAX);

    /// Creates a segment number.
    #[inline(always)]
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Seq(number)
    }

    /// Returns the number.
    #[inline(always)]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the next segment.
    #[inline(always)]
    #[must_use]
    pub const fn next(self) -> Self {
        Seq(self.0 + 1)
    }

    /// Returns the segment `count` later, at most the last.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_add(self, count: u32) -> Self {
        Seq(self.0.saturating_add(count))
    }

    /// Returns the segment `count` earlier, at least the first.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_sub(self, count: u32) -> Self {
        Seq(self.0.saturating_sub(count))
    }

    /// Returns the number of segments from `earlier` up to this one, excluded; zero if this one is earlier.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_since(self, earlier: Seq) -> u32 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the same number; `None` if this one is earlier.
    #[inline(always)]
    #[must_use]
    pub const fn checked_since(self, earlier: Seq) -> Option<u32> {
        self.0.checked_sub(earlier.0)
    }

    /// Iterates from this segment up to `end`, excluded.
    #[inline(always)]
    pub fn until(self, end: Seq) -> impl DoubleEndedIterator<Item = Seq> + Clone {
        (self.0..end.0).map(Seq)
    }
}

impl Add<u32> for Seq {
    type Output = Seq;

    #[inline(always)]
    fn add(self, count: u32) -> Seq {
        Seq(self.0 + count)
    }
}

impl AddAssign<u32> for Seq {
    #[inline(always)]
    fn add_assign(&mut self, count: u32) {
        self.0 += count;
    }
}

impl Sub<u32> for Seq {
    type Output = Seq;

    #[inline(always)]
    fn sub(self, count: u32) -> Seq {
        Seq(self.0 - count)
    }
}

impl Sub for Seq {
    type Output = u32;

    #[inline(always)]
    fn sub(self, earlier: Seq) -> u32 {
        self.0 - earlier.0
    }
}
