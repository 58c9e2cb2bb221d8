//! Open coarse bucket: entries by fine bucket, and the sorted entries of the open fine bucket.

use std::mem::replace;

use super::due::Entry;

/// Exponents of the number of fine buckets in a coarse one, minimum and maximum.
const MIN_FINE_LOG2: u32 = 6;
const MAX_FINE_LOG2: u32 = 16;
/// Maximum number of entries that are sorted by insertion when a fine bucket is opened.
const MAX_INSERTIONS: usize = 8;
/// No place.
const NO_PLACE: u32 = u32::MAX;

/// Entries, chained by fine bucket.
#[derive(Clone, Debug)]
pub(super) struct Near<T> {
    entries: Vec<Entry<T>>,
    /// Next entry of the same fine bucket, or next free place, by place.
    nexts: Vec<u32>,
    /// First free place.
    free: u32,
    /// Earliest entry of the open fine bucket; the others follow in order.
    first: u32,
    /// Open fine bucket.
    fine: u32,
    /// Width exponent of a fine bucket, 2^shift ps.
    shift: u32,
    /// First entries of the other fine buckets.
    heads: Heads,
    /// Number of entries added since the coarse bucket was opened, plus those before.
    put_in: usize,
}

/// First entries of fine buckets; the others are chained to them, unordered.
#[derive(Clone, Debug)]
struct Heads {
    places: Vec<u32>,
    /// Bit mask of non-empty fine buckets.
    filled: Vec<u64>,
}

impl Heads {
    /// Makes a place the first one of its fine bucket. Returns the previous first place.
    #[inline(always)]
    fn put(&mut self, fine: u32, place: u32) -> u32 {
        self.filled[fine as usize / 64] |= 1 << (fine % 64);
        replace(&mut self.places[fine as usize], place)
    }

    /// Returns the first non-empty fine bucket from `fine` on.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a place among 2^16")]
    fn next(&self, fine: u32) -> Option<u32> {
        let mut word = fine as usize / 64;
        let mut bits = self.filled[word] & (!0 << (fine % 64));
        while bits == 0 {
            word += 1;
            bits = *self.filled.get(word)?;
        }
        Some((word * 64) as u32 + bits.trailing_zeros())
    }

    /// Empties a fine bucket. Returns its first place.
    #[inline(always)]
    fn take(&mut self, fine: u32) -> u32 {
        self.filled[fine as usize / 64] &= !(1 << (fine % 64));
        replace(&mut self.places[fine as usize], NO_PLACE)
    }
}

impl<T: Copy> Near<T> {
    /// Creates an empty bucket of width 2^width ps.
    pub(super) fn new(width: u32) -> Self {
        Near {
            entries: Vec::new(),
            nexts: Vec::new(),
            free: NO_PLACE,
            first: NO_PLACE,
            fine: 0,
            shift: width - MIN_FINE_LOG2,
            heads: Heads {
                places: vec![NO_PLACE; 1 << MIN_FINE_LOG2],
                filled: vec![0; 1 << (MIN_FINE_LOG2 - 6)],
            },
            put_in: 0,
        }
    }

    /// Prepares the empty bucket for about `coming` entries of a coarse bucket of width 2^width ps.
    pub(super) fn open(&mut self, width: u32, coming: usize) {
        self.entries.clear();
        self.nexts.clear();
        self.free = NO_PLACE;
        self.fine = 0;
        // Twice as many fine buckets as entries leave most of them with at most one. The number of entries in the last
        // coarse bucket predicts how many are still to be added.
        let expected = 2 * coming.max(self.put_in).max(1);
        let power = expected.ilog2().clamp(MIN_FINE_LOG2, MAX_FINE_LOG2.min(width));
        self.shift = width - power;
        self.heads.places.resize(1 << power, NO_PLACE);
        self.heads.filled.resize(1 << (power - 6), 0);
        self.put_in = coming;
    }

    /// Adds entries of the coarse bucket being opened. The caller must advance to the first fine bucket afterwards.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 entries are pending")]
    pub(super) fn load(&mut self, chunk: &[Entry<T>]) {
        let places = self.entries.len() as u32..;
        let (heads, shift) = (&mut self.heads, self.shift);
        self.entries.extend(chunk.iter().copied());
        let firsts = chunk.iter().map(|entry| entry.offset >> shift);
        self.nexts.extend(firsts.zip(places).map(|(fine, place)| heads.put(fine, place)));
    }

    /// Adds an entry if a place is free. Returns whether it was.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: Entry<T>) -> bool {
        let place = self.free;
        let Some(next) = self.nexts.get_mut(place as usize) else { return false };
        self.put_in += 1;
        self.free = *next;
        self.entries[place as usize] = entry;
        let fine = entry.offset >> self.shift;
        if fine > self.fine {
            *next = self.heads.put(fine, place);
        } else {
            self.insert(place);
        }
        true
    }

    /// Adds an entry when no place is free.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 entries are pending")]
    pub(super) fn push_further(&mut self, entry: Entry<T>) {
        self.free = self.entries.len() as u32;
        self.entries.push(entry);
        self.nexts.push(NO_PLACE);
        self.push(entry);
    }

    /// Returns the earliest entry of the open fine bucket.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&Entry<T>> {
        self.entries.get(self.first as usize)
    }

    /// Returns whether there are no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.first().is_none() && self.heads.next(self.fine).is_none()
    }

    /// Removes the earliest entry of the open fine bucket.
    #[inline(always)]
    pub(super) fn remove_first(&mut self) {
        let place = self.first;
        self.first = replace(&mut self.nexts[place as usize], self.free);
        self.free = place;
    }

    /// Opens the next non-empty fine bucket after the open one is empty. Returns whether there is one.
    #[inline(always)]
    pub(super) fn advance(&mut self) -> bool {
        let Some(fine) = self.heads.next(self.fine) else { return false };
        self.fine = fine;
        self.first = self.heads.take(fine);
        if self.nexts[self.first as usize] != NO_PLACE {
            self.put_in_order();
        }
        true
    }

    /// Sorts the fine bucket being opened. Most have two entries.
    #[inline(never)]
    fn put_in_order(&mut self) {
        let first = self.first;
        let second = self.nexts[first as usize];
        if self.nexts[second as usize] != NO_PLACE {
            return self.put_many_in_order();
        }
        if self.order(second) < self.order(first) {
            self.nexts[first as usize] = NO_PLACE;
            self.nexts[second as usize] = first;
            self.first = second;
        }
    }

    #[inline(never)]
    fn put_many_in_order(&mut self) {
        let mut place = replace(&mut self.first, NO_PLACE);
        for _ in 0..MAX_INSERTIONS {
            if place == NO_PLACE {
                return;
            }
            let next = self.nexts[place as usize];
            self.insert(place);
            place = next;
        }
        let rest = self.places(place);
        let mut all: Vec<u32> = self.places(self.first).chain(rest).collect();
        all.sort_unstable_by_key(|&place| self.order(place));
        self.first = NO_PLACE;
        for place in all.into_iter().rev() {
            self.nexts[place as usize] = replace(&mut self.first, place);
        }
    }

    /// Inserts an entry in order into the open fine bucket.
    #[inline]
    fn insert(&mut self, place: u32) {
        let order = self.order(place);
        let (mut before, mut next) = (NO_PLACE, self.first);
        while next != NO_PLACE && self.order(next) < order {
            before = next;
            next = self.nexts[next as usize];
        }
        self.nexts[place as usize] = next;
        match self.nexts.get_mut(before as usize) {
            Some(next) => *next = place,
            None => self.first = place,
        }
    }

    /// Returns the sort key of an entry.
    #[inline(always)]
    fn order(&self, place: u32) -> (u64, u32) {
        self.entries[place as usize].order()
    }

    /// Returns the chain of places that begins at `first`.
    fn places(&self, first: u32) -> impl Iterator<Item = u32> {
        let known = |place: u32| (place != NO_PLACE).then_some(place);
        std::iter::successors(known(first), move |&at| known(self.nexts[at as usize]))
    }

    /// Returns all entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        let waiting = self.heads.places.iter().copied().filter(|&head| head != NO_PLACE);
        let firsts = std::iter::once(self.first).chain(waiting);
        firsts.flat_map(|first| self.places(first)).map(|at| &self.entries[at as usize])
    }

    /// Removes all entries and opens the first fine bucket.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.nexts.clear();
        (self.free, self.first, self.fine) = (NO_PLACE, NO_PLACE, 0);
        self.heads.places.fill(NO_PLACE);
        self.heads.filled.fill(0);
    }
}
