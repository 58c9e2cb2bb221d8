//! Sizes of queued packets, for ports whose busy time does not determine the queue.

use std::collections::VecDeque;

use optcp_net::NEVER_SENT;

/// Sizes of packets that are transmitted back to back.
///
/// Sent packets are removed lazily, so the list may include more than the queue but never less.
#[derive(Clone, Debug, Default)]
pub(super) struct SizeQueue {
    /// Size of the first packet.
    first: Option<u16>,
    /// Departure time of the first packet, in picoseconds.
    first_end: u64,
    bytes: u64,
    /// Sizes of the other packets. A packet at an idle port does not touch this memory.
    others: VecDeque<u16>,
}

impl SizeQueue {
    /// Creates a queue of these sizes whose first packet departs at `first_end`.
    pub(super) fn of(mut sizes: VecDeque<u16>, first_end: u64) -> Self {
        let bytes = sizes.iter().map(|&size| u64::from(size)).sum();
        let first = sizes.pop_front();
        SizeQueue { first, first_end, bytes, others: sizes }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// Returns whether another packet would need a new allocation.
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

    /// Adds a packet that departs at `end`, directly after the one before it.
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

    /// Removes packets that have been sent by `now`. Returns their number.
    #[inline]
    pub(super) fn remove_sent(&mut self, now: u64, transmission: impl Fn(u16) -> u64) -> usize {
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

    /// Returns the departure time of each packet.
    pub(super) fn ends(&self, transmission: impl Fn(u16) -> u64) -> Vec<u64> {
        let mut end = self.first_end;
        let followed = self.others.iter().map(|&size| {
            end = (end + transmission(size)).min(NEVER_SENT.as_ps());
            end
        });
        self.first.map(|_| self.first_end).into_iter().chain(followed).collect()
    }

    /// Returns the sizes from index `first` on.
    pub(super) fn sizes_from(&self, first: usize) -> impl Iterator<Item = u16> {
        self.first.iter().chain(self.others.iter()).skip(first).copied()
    }
}
