//! Bucket queue: event queue that stores its entries, for large numbers of them.

mod coarse;
mod due;
mod near;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optcp_units::{Duration, Time};

use coarse::{Coarse, Spare};
pub use due::Due;
use due::Entry;
use near::Near;

/// Number of coarse buckets, which limits the near range.
const COARSE: u64 = 512;
const COARSE_WORDS: usize = 8;
/// Maximum width exponent, because offsets in a coarse bucket have 32 bits.
const MAX_WIDTH_LOG2: u32 = 32;
/// Number of entries always allowed beyond the horizon.
const MIN_FAR: usize = 256;

/// Priority queue of pending entries in time buckets, each sorted when it is opened.
///
/// # Model
/// An entry is added to the coarse bucket of its time. When the open coarse bucket is empty, the next one is
/// distributed to at least twice as many fine buckets as it has entries. Each fine bucket is sorted when it is opened.
/// Entries for the open fine bucket are inserted in order. An entry is therefore written twice and compared with few
/// others, regardless of the total. The horizon is the time by which most entries are added in advance.
///
/// # References
/// R. Brown, "Calendar Queues", 1988; W. T. Tang, R. S. M. Goh, I. L.-J. Thng, "Ladder Queue", 2005.
///
/// # Limitations
/// Entries beyond 512 coarse buckets are stored in a heap; if they are numerous, buckets are widened. No entry may be
/// added that is due before the last removed one.
#[derive(Clone, Debug)]
pub struct Buckets<T> {
    wheel: Wheel<T>,
    near: Near<T>,
    /// Entry being added, on the slow path.
    in_hand: Option<Due<T>>,
    spare: Spare<T>,
}

/// Pending entries of [`Buckets`] outside the open coarse bucket. A wheel can be exchanged for another one.
#[derive(Clone, Debug)]
pub struct Wheel<T> {
    /// Open coarse bucket, counted from time zero; the one before it if it was closed again.
    current: u64,
    /// Width exponent of a coarse bucket, 2^shift ps.
    shift: u32,
    coarse: Vec<Coarse<T>>,
    /// Bit mask of non-empty coarse buckets.
    occupied: [u64; COARSE_WORDS],
    far: BinaryHeap<Reverse<Due<T>>>,
    /// Number of entries, including the open coarse bucket.
    len: usize,
}

impl<T: Copy> Wheel<T> {
    /// Creates an empty wheel for [`Buckets::of_width`] with the same width.
    #[must_use]
    pub fn of_width(shift: u32) -> Self {
        Wheel {
            current: 0,
            shift,
            coarse: (0..COARSE).map(|_| Coarse::new()).collect(),
            occupied: [0; COARSE_WORDS],
            far: BinaryHeap::new(),
            len: 0,
        }
    }

    /// Returns the number of pending entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no entries are pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a time before which no entry is due, close to the earliest entry.
    #[must_use]
    pub fn not_before(&self) -> Time {
        let coarse = self.next_coarse().map_or(Time::MAX, |next| Time::from_ps(next << self.shift));
        self.far.peek().map_or(coarse, |Reverse(far)| far.at.min(coarse))
    }

    /// Calls `look` for every pending entry, in no particular order.
    pub fn for_each(&self, mut look: impl FnMut(Due<T>)) {
        for bucket in self.closed() {
            let place = (bucket % COARSE) as usize;
            self.coarse[place].entries().for_each(|entry| look(entry.due(bucket << self.shift)));
        }
        self.far.iter().for_each(|Reverse(due)| look(*due));
    }

    /// Returns the coarse buckets after the open one. All are included, because the open one may have been closed
    /// again.
    fn closed(&self) -> impl Iterator<Item = u64> + use<T> {
        let current = self.current;
        (1..=COARSE).map(move |ahead| current.wrapping_add(ahead))
    }

    /// Returns the first non-empty coarse bucket after the open one.
    fn next_coarse(&self) -> Option<u64> {
        let next = self.current.wrapping_add(1);
        let start = next % COARSE;
        let (first, bit) = ((start / 64) as usize, start % 64);
        for step in 0..=COARSE_WORDS {
            let word = (first + step) % COARSE_WORDS;
            let mut bits = self.occupied[word];
            match step {
                0 => bits &= !0 << bit,
                COARSE_WORDS => bits &= !(!0 << bit),
                _ => {}
            }
            if bits != 0 {
                let place = word as u64 * 64 + u64::from(bits.trailing_zeros());
                return Some(next + (place + COARSE - start) % COARSE);
            }
        }
        None
    }
}

impl<T: Copy> Buckets<T> {
    /// Creates an empty queue for entries that are mostly added up to `horizon` in advance.
    #[must_use]
    pub fn new(horizon: Duration) -> Self {
        let width = horizon.as_ps().div_ceil(COARSE - 1).max(1);
        Self::of_width((64 - (width - 1).leading_zeros()).clamp(20, MAX_WIDTH_LOG2))
    }

    /// Creates an empty queue whose buckets are initially 2^shift ps wide, with `shift` from 6 to 32.
    #[must_use]
    pub fn of_width(shift: u32) -> Self {
        assert!((6..=MAX_WIDTH_LOG2).contains(&shift), "offsets in a bucket have 32 bits");
        let near = Near::new(shift);
        Buckets { wheel: Wheel::of_width(shift), near, in_hand: None, spare: Vec::new() }
    }

    /// Exchanges the pending entries with a wheel.
    pub fn exchange(&mut self, wheel: &mut Wheel<T>) {
        self.close_near();
        std::mem::swap(&mut self.wheel, wheel);
        self.near.open(self.wheel.shift, 0);
    }

    /// Closes the open coarse bucket and returns its entries to the wheel.
    fn close_near(&mut self) {
        if self.near.is_empty() {
            return;
        }
        let left: Vec<Entry<T>> = self.near.entries().copied().collect();
        self.near.clear();
        let bucket = self.wheel.current;
        left.into_iter().for_each(|entry| self.push_coarse(bucket, entry));
        self.wheel.current = bucket.wrapping_sub(1);
    }

    /// Returns the number of pending entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.wheel.len
    }

    /// Returns whether no entries are pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wheel.len == 0
    }

    /// Returns a time before which no entry is due, close to the earliest entry.
    #[must_use]
    pub fn not_before(&self) -> Time {
        match self.near.is_empty() {
            true => self.wheel.not_before(),
            false => Time::from_ps(self.wheel.current << self.wheel.shift),
        }
    }

    /// Adds an entry.
    #[inline(always)]
    pub fn push(&mut self, due: Due<T>) {
        self.wheel.len += 1;
        let bucket = due.at.as_ps() >> self.wheel.shift;
        let ahead = bucket.wrapping_sub(self.wheel.current);
        debug_assert!(ahead < 1 << 63, "no entry is due before the last removed one");
        if ahead == 0 {
            if self.near.push(self.entry(due)) {
                return;
            }
        } else if ahead < COARSE {
            let entry = self.entry(due);
            return self.push_coarse(bucket, entry);
        }
        self.in_hand = Some(due);
        self.push_in_hand();
    }

    /// Adds the entry in `in_hand` on the slow path.
    // The entry is not a parameter: passing its address would force it into memory on the fast path. Reading it in
    // other widths than it was written stalls the processor.
    #[inline(never)]
    fn push_in_hand(&mut self) {
        let Some(due) = self.in_hand.take() else { return };
        if due.at.as_ps() >> self.wheel.shift == self.wheel.current {
            let entry = self.entry(due);
            self.near.push_further(entry);
        } else {
            self.push_far(due);
        }
    }

    /// Adds an entry beyond the horizon, or extends the horizon if these are numerous.
    fn push_far(&mut self, due: Due<T>) {
        self.wheel.far.push(Reverse(due));
        if self.wheel.far.len() > MIN_FAR
            && self.wheel.far.len() > self.wheel.len / 8
            && self.wheel.shift < MAX_WIDTH_LOG2
        {
            let all = self.drain();
            self.wheel.shift += 1;
            // Arithmetic shift: halves the bucket number and keeps -1, which stands for "none".
            self.wheel.current = (self.wheel.current.cast_signed() >> 1).cast_unsigned();
            self.near.open(self.wheel.shift, 0);
            all.into_iter().for_each(|due| self.push(due));
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the offset in a bucket")]
    fn entry(&self, due: Due<T>) -> Entry<T> {
        let offset = (due.at.as_ps() & ((1 << self.wheel.shift) - 1)) as u32;
        Entry { offset, entity: due.entity, ordinal: due.ordinal, item: due.item }
    }

    #[inline(always)]
    fn push_coarse(&mut self, bucket: u64, entry: Entry<T>) {
        let place = (bucket % COARSE) as usize;
        self.wheel.occupied[place / 64] |= 1 << (place % 64);
        self.wheel.coarse[place].push(entry, &mut self.spare);
    }

    /// Removes the earliest entry if it is due before `limit`.
    // Inlined: a call per entry would cost more than the work.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<Due<T>> {
        let first = match self.near.first() {
            Some(first) => *first,
            None => self.advance(limit)?,
        };
        let due = first.due(self.wheel.current << self.wheel.shift);
        if due.at >= limit {
            return None;
        }
        self.near.remove_first();
        self.wheel.len -= 1;
        Some(due)
    }

    /// Opens the next non-empty fine bucket and returns the earliest entry, unless its coarse bucket begins at or after
    /// `limit`.
    #[inline]
    fn advance(&mut self, limit: Time) -> Option<Entry<T>> {
        if !self.near.advance() {
            self.next_open(limit)?;
        }
        self.near.first().copied()
    }

    /// Opens the next non-empty coarse bucket, unless it begins at or after `limit`.
    #[inline(never)]
    fn next_open(&mut self, limit: Time) -> Option<()> {
        let near = self.wheel.next_coarse();
        let far = self.wheel.far.peek().map(|Reverse(far)| far.at.as_ps() >> self.wheel.shift);
        let next = near.into_iter().chain(far).min()?;
        (next << self.wheel.shift < limit.as_ps()).then(|| self.open_coarse(next))
    }

    fn open_coarse(&mut self, bucket: u64) {
        self.wheel.current = bucket;
        while let Some(Reverse(far)) = self.wheel.far.peek()
            && (far.at.as_ps() >> self.wheel.shift) - bucket < COARSE
        {
            let Some(Reverse(due)) = self.wheel.far.pop() else { break };
            let entry = self.entry(due);
            self.push_coarse(due.at.as_ps() >> self.wheel.shift, entry);
        }
        let place = (bucket % COARSE) as usize;
        self.wheel.occupied[place / 64] &= !(1 << (place % 64));
        let (coarse, near) = (&mut self.wheel.coarse[place], &mut self.near);
        near.open(self.wheel.shift, coarse.len());
        coarse.empty(&mut self.spare, |chunk| near.load(chunk));
        near.advance();
    }

    /// Calls `look` for every pending entry, in no particular order.
    pub fn for_each(&self, mut look: impl FnMut(Due<T>)) {
        let begin = self.wheel.current << self.wheel.shift;
        self.near.entries().for_each(|entry| look(entry.due(begin)));
        self.wheel.for_each(look);
    }

    /// Removes all entries that `takes` selects, in no particular order.
    pub fn extract(&mut self, mut takes: impl FnMut(&Due<T>) -> bool) -> Vec<Due<T>> {
        let begin = self.wheel.current << self.wheel.shift;
        let mut looked_at: Vec<Due<T>> =
            self.near.entries().map(|entry| entry.due(begin)).collect();
        self.near.clear();
        looked_at.extend(std::mem::take(&mut self.wheel.far).into_iter().map(|Reverse(due)| due));
        self.wheel.len -= looked_at.len();
        let mut taken = Vec::new();
        let mut kept = Vec::new();
        for bucket in self.wheel.closed() {
            let place = (bucket % COARSE) as usize;
            // Runs with many cuts have few entries, and most buckets are empty.
            if self.wheel.occupied[place / 64] >> (place % 64) & 1 == 0 {
                continue;
            }
            let coarse = &mut self.wheel.coarse[place];
            self.wheel.occupied[place / 64] &= !(1 << (place % 64));
            self.wheel.len -= coarse.len();
            coarse.empty(&mut self.spare, |chunk| {
                for entry in chunk {
                    let due = entry.due(bucket << self.wheel.shift);
                    if takes(&due) { taken.push(due) } else { kept.push(*entry) }
                }
            });
            self.wheel.len += kept.len();
            kept.drain(..).for_each(|entry| self.push_coarse(bucket, entry));
        }
        for due in looked_at {
            if takes(&due) {
                taken.push(due);
            } else {
                self.push(due);
            }
        }
        taken
    }

    /// Removes all entries in order.
    pub fn drain(&mut self) -> Vec<Due<T>> {
        let mut all = Vec::with_capacity(self.wheel.len);
        self.for_each(|due| all.push(due));
        self.near.clear();
        for coarse in &mut self.wheel.coarse {
            coarse.empty(&mut self.spare, |_| ());
        }
        self.wheel.occupied = [0; COARSE_WORDS];
        self.wheel.far.clear();
        self.wheel.len = 0;
        all.sort_unstable();
        all
    }
}
