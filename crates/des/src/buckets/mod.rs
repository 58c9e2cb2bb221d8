//! A calendar that carries its entries, for those that come in great numbers.

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

/// How many coarse buckets there are: what is due within so many is near.
const COARSE: u64 = 512;
const COARSE_WORDS: usize = 8;
/// Offsets in a coarse bucket have 32 bits.
const WIDEST: u32 = 32;
/// So many entries may be beyond the horizon, whatever the number of the others.
const FEW_FAR: usize = 256;

/// Pending entries in buckets of time, each put in order when it is opened.
///
/// # Models
/// Nothing: a priority queue. An entry goes into the coarse bucket of its time. When the open coarse
/// bucket is used up, the next one that is not empty is spread over fine buckets, twice as many as it has
/// entries or more, and what shares one of these is put in order when its turn comes. An entry that is due
/// in the open fine bucket is put in its place there. So an entry is written twice and compared with few
/// others, whatever their number.
/// # Source
/// R. Brown, "Calendar Queues", 1988; W. T. Tang, R. S. M. Goh, I. L.-J. Thng, "Ladder Queue", 2005.
/// # Parameters
/// The horizon: the time that most entries are put in ahead of.
/// # Limits
/// Entries beyond 512 coarse buckets wait in a heap; where they are many the buckets are made wider. Nothing
/// may be added that is due before the last entry that was taken out.
#[derive(Clone, Debug)]
pub struct Buckets<T> {
    /// The open coarse bucket, counted from time zero.
    current: u64,
    /// A coarse bucket is 2^shift ps wide.
    shift: u32,
    near: Near<T>,
    coarse: Vec<Coarse<T>>,
    /// Which coarse buckets are not empty.
    occupied: [u64; COARSE_WORDS],
    far: BinaryHeap<Reverse<Due<T>>>,
    /// What is being added, where that takes longer.
    in_hand: Option<Due<T>>,
    spare: Spare<T>,
    len: usize,
}

impl<T: Copy> Buckets<T> {
    /// An empty calendar for entries that are mostly put in up to `horizon` ahead.
    #[must_use]
    pub fn new(horizon: Duration) -> Self {
        let width = horizon.as_ps().div_ceil(COARSE - 1).max(1);
        let shift = (64 - (width - 1).leading_zeros()).clamp(20, WIDEST);
        Buckets {
            current: 0,
            shift,
            near: Near::new(shift),
            coarse: (0..COARSE).map(|_| Coarse::new()).collect(),
            occupied: [0; COARSE_WORDS],
            far: BinaryHeap::new(),
            in_hand: None,
            spare: Vec::new(),
            len: 0,
        }
    }

    /// How many entries are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an entry.
    #[inline(always)]
    pub fn push(&mut self, due: Due<T>) {
        self.len += 1;
        let bucket = due.at.as_ps() >> self.shift;
        debug_assert!(bucket >= self.current, "nothing is due before what was taken out");
        let ahead = bucket - self.current;
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

    /// Adds the entry in hand where something else must be done first.
    // The entry is not an argument: what a call may take the address of is in memory for all others, too,
    // and is read there in other pieces than it was written in, for which the processor must wait.
    #[inline(never)]
    fn push_in_hand(&mut self) {
        let Some(due) = self.in_hand.take() else { return };
        if due.at.as_ps() >> self.shift == self.current {
            let entry = self.entry(due);
            self.near.push_further(entry);
        } else {
            self.push_far(due);
        }
    }

    /// Adds an entry beyond the horizon, or moves the horizon where these become many.
    fn push_far(&mut self, due: Due<T>) {
        self.far.push(Reverse(due));
        if self.far.len() > FEW_FAR && self.far.len() > self.len / 8 && self.shift < WIDEST {
            let now = self.current << self.shift;
            let all = self.drain();
            self.shift += 1;
            self.current = now >> self.shift;
            self.near.open(self.shift, 0);
            all.into_iter().for_each(|due| self.push(due));
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the offset in a bucket")]
    fn entry(&self, due: Due<T>) -> Entry<T> {
        let offset = (due.at.as_ps() & ((1 << self.shift) - 1)) as u32;
        Entry { offset, entity: due.entity, ordinal: due.ordinal, item: due.item }
    }

    #[inline(always)]
    fn push_coarse(&mut self, bucket: u64, entry: Entry<T>) {
        let place = (bucket % COARSE) as usize;
        self.occupied[place / 64] |= 1 << (place % 64);
        self.coarse[place].push(entry, &mut self.spare);
    }

    /// Takes out the earliest entry if it is due before `limit`.
    // Once for every entry, from several places: a call would cost more than what is done.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<Due<T>> {
        let first = match self.near.first() {
            Some(first) => *first,
            None => self.advance(limit)?,
        };
        let due = first.due(self.current << self.shift);
        if due.at >= limit {
            return None;
        }
        self.near.remove_first();
        self.len -= 1;
        Some(due)
    }

    /// Opens the next fine bucket that is not empty: the earliest entry, unless it is in a coarse bucket that
    /// begins at or after `limit`.
    #[inline]
    fn advance(&mut self, limit: Time) -> Option<Entry<T>> {
        if !self.near.advance() {
            self.next_open(limit)?;
        }
        self.near.first().copied()
    }

    /// Opens the next coarse bucket that is not empty, unless it begins at or after `limit`.
    #[inline(never)]
    fn next_open(&mut self, limit: Time) -> Option<()> {
        let near = self.next_coarse();
        let far = self.far.peek().map(|Reverse(far)| far.at.as_ps() >> self.shift);
        let next = near.into_iter().chain(far).min()?;
        (next << self.shift < limit.as_ps()).then(|| self.open_coarse(next))
    }

    /// The first coarse bucket behind the open one that is not empty.
    fn next_coarse(&self) -> Option<u64> {
        let start = (self.current + 1) % COARSE;
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
                return Some(self.current + 1 + (place + COARSE - start) % COARSE);
            }
        }
        None
    }

    fn open_coarse(&mut self, bucket: u64) {
        self.current = bucket;
        while let Some(Reverse(far)) = self.far.peek()
            && (far.at.as_ps() >> self.shift) - bucket < COARSE
        {
            let Some(Reverse(due)) = self.far.pop() else { break };
            let entry = self.entry(due);
            self.push_coarse(due.at.as_ps() >> self.shift, entry);
        }
        let place = (bucket % COARSE) as usize;
        self.occupied[place / 64] &= !(1 << (place % 64));
        let (coarse, near) = (&mut self.coarse[place], &mut self.near);
        near.open(self.shift, coarse.len());
        coarse.empty(&mut self.spare, |chunk| near.load(chunk));
        near.advance();
    }

    /// Calls `look` for everything that is pending, in no particular order.
    pub fn for_each(&self, mut look: impl FnMut(Due<T>)) {
        let begin = self.current << self.shift;
        self.near.entries().for_each(|entry| look(entry.due(begin)));
        for bucket in self.current + 1..self.current + COARSE {
            let place = (bucket % COARSE) as usize;
            self.coarse[place].entries().for_each(|entry| look(entry.due(bucket << self.shift)));
        }
        self.far.iter().for_each(|Reverse(due)| look(*due));
    }

    /// Takes out everything of which `takes` says so, in no particular order.
    pub fn extract(&mut self, mut takes: impl FnMut(&Due<T>) -> bool) -> Vec<Due<T>> {
        let begin = self.current << self.shift;
        let mut looked_at: Vec<Due<T>> =
            self.near.entries().map(|entry| entry.due(begin)).collect();
        self.near.clear();
        looked_at.extend(std::mem::take(&mut self.far).into_iter().map(|Reverse(due)| due));
        self.len -= looked_at.len();
        let mut taken = Vec::new();
        let mut kept = Vec::new();
        for bucket in self.current + 1..self.current + COARSE {
            let place = (bucket % COARSE) as usize;
            let coarse = &mut self.coarse[place];
            self.occupied[place / 64] &= !(1 << (place % 64));
            self.len -= coarse.len();
            coarse.empty(&mut self.spare, |chunk| {
                for entry in chunk {
                    let due = entry.due(bucket << self.shift);
                    if takes(&due) { taken.push(due) } else { kept.push(*entry) }
                }
            });
            self.len += kept.len();
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

    /// Takes everything out, in order.
    pub fn drain(&mut self) -> Vec<Due<T>> {
        let mut all = Vec::with_capacity(self.len);
        self.for_each(|due| all.push(due));
        self.near.clear();
        for coarse in &mut self.coarse {
            coarse.empty(&mut self.spare, |_| ());
        }
        self.occupied = [0; COARSE_WORDS];
        self.far.clear();
        self.len = 0;
        all.sort_unstable();
        all
    }
}
