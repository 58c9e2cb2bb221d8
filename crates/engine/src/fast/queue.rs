//! What stands in a port's queue, where the time up to which the transmitter is busy does not tell it.

use std::collections::VecDeque;

/// The sizes of packets whose transmissions follow one another without a gap.
///
/// Those that have been sent are forgotten only when it matters, so what is kept may be more than what
/// stands in the queue, never less.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    sizes: VecDeque<u16>,
    bytes: u64,
    /// When the first one has been sent, in picoseconds.
    first_end: u64,
}

impl Queue {
    /// Packets of these sizes, the last of which has been sent at `last_end`.
    pub(super) fn ending_at(
        last_end: u64,
        sizes: VecDeque<u16>,
        transmission: impl Fn(u16) -> u64,
    ) -> Self {
        let behind_first: u64 = sizes.iter().skip(1).map(|&size| transmission(size)).sum();
        let bytes = sizes.iter().map(|&size| u64::from(size)).sum();
        Queue { sizes, bytes, first_end: last_end.saturating_sub(behind_first) }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether one more needs more memory.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.sizes.len() == self.sizes.capacity()
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.sizes.clear();
        self.bytes = 0;
    }

    /// A packet that has been sent at `end`, right after the one before it.
    #[inline]
    pub(super) fn push(&mut self, size: u16, end: u64) {
        if self.sizes.is_empty() {
            self.first_end = end;
        }
        self.sizes.push_back(size);
        self.bytes += u64::from(size);
    }

    /// Forgets what has been sent at `now` or before; returns how many packets that are.
    #[inline]
    pub(super) fn forget_sent(&mut self, now: u64, transmission: impl Fn(u16) -> u64) -> usize {
        let before = self.sizes.len();
        while self.first_end <= now
            && let Some(size) = self.sizes.pop_front()
        {
            self.bytes -= u64::from(size);
            self.first_end += self.sizes.front().map_or(0, |&next| transmission(next));
        }
        before - self.sizes.len()
    }

    /// When each has been sent.
    pub(super) fn ends(&self, transmission: impl Fn(u16) -> u64) -> Vec<u64> {
        let mut end = self.first_end;
        let followed = self.sizes.iter().skip(1).map(|&size| {
            end += transmission(size);
            end
        });
        self.sizes.front().map(|_| self.first_end).into_iter().chain(followed).collect()
    }

    /// The sizes from the place `first` on.
    pub(super) fn sizes_from(&self, first: usize) -> impl Iterator<Item = u16> {
        self.sizes.range(first..).copied()
    }
}
