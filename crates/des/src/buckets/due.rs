//! Entries of a bucket queue.

use optcp_units::Time;

/// Entry of [`super::Buckets`], ordered by time, entity and ordinal. Entries with equal order compare equal.
#[derive(Clone, Copy, Debug)]
pub struct Due<T> {
    /// Time.
    pub at: Time,
    /// Entity that handles the entry.
    pub entity: u32,
    /// Ordinal within the entity, modulo 2^32.
    pub ordinal: u32,
    /// Payload.
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

/// Entry within a coarse bucket. An entry with a packet fits in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Entry<T> {
    /// Picoseconds since the start of the coarse bucket.
    pub(super) offset: u32,
    pub(super) entity: u32,
    pub(super) ordinal: u32,
    pub(super) item: T,
}

impl<T: Copy> Entry<T> {
    /// Returns the entry with its absolute time, for a bucket that starts at `begin` picoseconds.
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
