//! Sequence numbers.

use std::ops::{Add, AddAssign, Sub};

/// The number of a segment: segments of the transfer count from 0; with a handshake the SYN is number 0.
///
/// How many segments there are is a plain `u32`: the difference of two numbers is such a count, and a number and
/// a count make a number. Numbers do not wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Seq(u32);

impl Seq {
    /// The first.
    pub const ZERO: Seq = Seq(0);
    /// The last; as an end, that of data without end.
    pub const MAX: Seq = Seq(u32::MAX);

    /// Of a number.
    #[inline(always)]
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Seq(number)
    }

    /// The number.
    #[inline(always)]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The segment behind it.
    #[inline(always)]
    #[must_use]
    pub const fn next(self) -> Self {
        Seq(self.0 + 1)
    }

    /// The segment `count` further on, the last at most.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_add(self, count: u32) -> Self {
        Seq(self.0.saturating_add(count))
    }

    /// The segment `count` before it, the first at least.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_sub(self, count: u32) -> Self {
        Seq(self.0.saturating_sub(count))
    }

    /// How many segments there are from `earlier` up to this one, without it; none if it comes before.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_since(self, earlier: Seq) -> u32 {
        self.0.saturating_sub(earlier.0)
    }

    /// The same; `None` if it comes before.
    #[inline(always)]
    #[must_use]
    pub const fn checked_since(self, earlier: Seq) -> Option<u32> {
        self.0.checked_sub(earlier.0)
    }

    /// The segments from this one up to `end`, without it.
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
