//! What stands in a calendar that carries its entries.

use optcp_units::Time;

/// An entry of [`super::Buckets`]: ordered by time, then by entity, then by ordinal.
///
/// Two entries are the same if they stand at the same place in this order.
#[derive(Clone, Copy, Debug)]
pub struct Due<T> {
    /// When it happens.
    pub at: Time,
    /// Whom it concerns.
    pub entity: u32,
    /// Which of the entity's entries it is; counts modulo 2^32.
    pub ordinal: u32,
    /// What it carries.
    pub item: T,
}

impl<T> Due<T> {
    fn order(&self) -> (Time, u32, u32) {
        (self.at, self.entity, self.ordinal)
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl<T> Eq for Due<T> {}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// An entry of a known coarse bucket. Those that carry a packet lie in one cache line each.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Entry<T> {
    /// Picoseconds since the beginning of its coarse bucket.
    pub(super) offset: u32,
    pub(super) entity: u32,
    pub(super) ordinal: u32,
    pub(super) item: T,
}

impl<T: Copy> Entry<T> {
    /// The same out of a bucket that begins at `begin` picoseconds.
    #[inline(always)]
    pub(super) fn due(&self, begin: u64) -> Due<T> {
        let at = Time::from_ps(begin + u64::from(self.offset));
        Due { at, entity: self.entity, ordinal: self.ordinal, item: self.item }
    }

    #[inline(always)]
    pub(super) fn order(&self) -> (u64, u32) {
        ((u64::from(self.offset) << 32) | u64::from(self.entity), self.ordinal)
    }
}
