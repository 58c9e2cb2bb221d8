//! What stands in a port's queue, where the time up to which the transmitter is busy does not tell it.

use std::collections::VecDeque;

use optcp_net::NEVER_SENT;

/// The sizes of packets whose transmissions follow one another without a gap.
///
/// Those that have been sent are forgotten only when it matters, so what is kept may be more than what
/// stands in the queue, never less.
#[derive(Clone, Debug, Default)]
pub(super) struct SizeQueue {
    /// The size of the first one.
    first: Option<u16>,
    /// When the first one has been sent, in picoseconds.
    first_end: u64,
    bytes: u64,
    /// The sizes of those behind the first one: a packet that finds an idle port does not go where they are stored.
    others: VecDeque<u16>,
}

impl SizeQueue {
    /// Packets of these sizes, the first of which has been sent at `first_end`.
    pub(super) fn of(mut sizes: VecDeque<u16>, first_end: u64) -> Self {
        let bytes = sizes.iter().map(|&size| u64::from(size)).sum();
        let first = sizes.pop_front();
        SizeQueue { first, first_end, bytes, others: sizes }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// Whether one more needs more memory.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.others.len() == self.others.capacity()
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.first = None;
        self.bytes = 0;
        self.others.clear();
    }

    /// A packet that has been sent at `end`, right after the one before it.
    #[inline]
    pub(super) fn push(&mut self, size: u16, end: u64) {
        self.bytes += u64::from(size);
        if self.first.is_none() {
            self.first = Some(size);
            self.first_end = end;
        } else {
            self.others.push_back(size);
        }
    }

    /// Forgets what has been sent at `now` or before; returns how many packets that are.
    #[inline]
    pub(super) fn forget_sent(&mut self, now: u64, transmission: impl Fn(u16) -> u64) -> usize {
        let mut sent = 0;
        while self.first_end <= now
            && let Some(size) = self.first
        {
            self.bytes -= u64::from(size);
            self.first = self.others.pop_front();
            self.first_end += self.first.map_or(0, &transmission);
            sent += 1;
        }
        sent
    }

    /// When each has been sent.
    pub(super) fn ends(&self, transmission: impl Fn(u16) -> u64) -> Vec<u64> {
        let mut end = self.first_end;
        let followed = self.others.iter().map(|&size| {
            end = (end + transmission(size)).min(NEVER_SENT.as_ps());
            end
        });
        self.first.map(|_| self.first_end).into_iter().chain(followed).collect()
    }

    /// The sizes from the place `first` on.
    pub(super) fn sizes_from(&self, first: usize) -> impl Iterator<Item = u16> {
        self.first.iter().chain(self.others.iter()).skip(first).copied()
    }
}
