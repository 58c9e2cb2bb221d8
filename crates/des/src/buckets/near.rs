//! The open coarse bucket: its entries by fine buckets, and those of the open fine bucket in order.

use std::mem::replace;

use super::due::Entry;

/// Powers of two of the number of fine buckets that a coarse one is split into.
const FEWEST_FINE: u32 = 6;
const MOST_FINE: u32 = 16;
/// A fine bucket with more entries is sorted when it is opened, not put in order one by one.
const FEW: usize = 8;
/// No place.
const NIL: u32 = u32::MAX;

/// Entries at places, chained by fine bucket.
#[derive(Clone, Debug)]
pub(super) struct Near<T> {
    entries: Vec<Entry<T>>,
    /// By place: the next one of the same fine bucket, or the next free place.
    nexts: Vec<u32>,
    /// First of the places that are free.
    free: u32,
    /// The earliest entry of the open fine bucket; the others follow in their order.
    first: u32,
    /// The open fine bucket.
    fine: u32,
    /// A fine bucket is 2^shift ps wide.
    shift: u32,
    /// First entries of the others.
    heads: Heads,
    /// Entries that have been put in since the coarse bucket was opened, and before.
    put_in: usize,
}

/// The first entries of fine buckets; the others are chained to them, in no order.
#[derive(Clone, Debug)]
struct Heads {
    places: Vec<u32>,
    /// Which of these are not empty.
    filled: Vec<u64>,
}

impl Heads {
    /// Makes the entry at a place the first one; gives the place of the one that was so.
    #[inline(always)]
    fn put(&mut self, fine: u32, place: u32) -> u32 {
        self.filled[fine as usize / 64] |= 1 << (fine % 64);
        replace(&mut self.places[fine as usize], place)
    }

    /// The first fine bucket from `fine` on that is not empty.
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

    /// Takes what is in a fine bucket out.
    #[inline(always)]
    fn take(&mut self, fine: u32) -> u32 {
        self.filled[fine as usize / 64] &= !(1 << (fine % 64));
        replace(&mut self.places[fine as usize], NIL)
    }
}

impl<T: Copy> Near<T> {
    /// Without entries, for a coarse bucket that is 2^width ps wide.
    pub(super) fn new(width: u32) -> Self {
        Near {
            entries: Vec::new(),
            nexts: Vec::new(),
            free: NIL,
            first: NIL,
            fine: 0,
            shift: width - FEWEST_FINE,
            heads: Heads {
                places: vec![NIL; 1 << FEWEST_FINE],
                filled: vec![0; 1 << (FEWEST_FINE - 6)],
            },
            put_in: 0,
        }
    }

    /// Makes ready for about `coming` entries of a coarse bucket that is 2^width ps wide. There are none
    /// at this time.
    pub(super) fn open(&mut self, width: u32, coming: usize) {
        self.entries.clear();
        self.nexts.clear();
        self.free = NIL;
        self.fine = 0;
        // Twice as many fine buckets as entries, so that most have none or one. What was put in while the
        // last one was open tells what is still to come.
        let expected = 2 * coming.max(self.put_in).max(1);
        let power = expected.ilog2().clamp(FEWEST_FINE, MOST_FINE.min(width));
        self.shift = width - power;
        self.heads.places.resize(1 << power, NIL);
        self.heads.filled.resize(1 << (power - 6), 0);
        self.put_in = coming;
    }

    /// Adds entries of the coarse bucket that is being opened; the first fine bucket is open once all are
    /// there and it has been advanced to.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 entries are pending")]
    pub(super) fn load(&mut self, chunk: &[Entry<T>]) {
        let places = self.entries.len() as u32..;
        let (heads, shift) = (&mut self.heads, self.shift);
        self.entries.extend(chunk.iter().copied());
        let firsts = chunk.iter().map(|entry| entry.offset >> shift);
        self.nexts.extend(firsts.zip(places).map(|(fine, place)| heads.put(fine, place)));
    }

    /// Adds an entry if a place is free: whether it is so.
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

    /// Adds an entry where no place is free.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 entries are pending")]
    pub(super) fn push_further(&mut self, entry: Entry<T>) {
        self.free = self.entries.len() as u32;
        self.entries.push(entry);
        self.nexts.push(NIL);
        self.push(entry);
    }

    /// The earliest entry of the open fine bucket.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&Entry<T>> {
        self.entries.get(self.first as usize)
    }

    /// Whether there is no entry.
    pub(super) fn is_empty(&self) -> bool {
        self.first().is_none() && self.heads.next(self.fine).is_none()
    }

    /// Takes it out.
    #[inline(always)]
    pub(super) fn remove_first(&mut self) {
        let place = self.first;
        self.first = replace(&mut self.nexts[place as usize], self.free);
        self.free = place;
    }

    /// Opens the next fine bucket that is not empty, the open one being so: whether there is one.
    #[inline(always)]
    pub(super) fn advance(&mut self) -> bool {
        let Some(fine) = self.heads.next(self.fine) else { return false };
        self.fine = fine;
        self.first = self.heads.take(fine);
        if self.nexts[self.first as usize] != NIL {
            self.put_in_order();
        }
        true
    }

    /// Puts the entries of the fine bucket that is being opened in order. Mostly there are two.
    #[inline(never)]
    fn put_in_order(&mut self) {
        let first = self.first;
        let second = self.nexts[first as usize];
        if self.nexts[second as usize] != NIL {
            return self.put_many_in_order();
        }
        if self.order(second) < self.order(first) {
            self.nexts[first as usize] = NIL;
            self.nexts[second as usize] = first;
            self.first = second;
        }
    }

    #[inline(never)]
    fn put_many_in_order(&mut self) {
        let mut place = replace(&mut self.first, NIL);
        for _ in 0..FEW {
            if place == NIL {
                return;
            }
            let next = self.nexts[place as usize];
            self.insert(place);
            place = next;
        }
        let rest = self.places(place);
        let mut all: Vec<u32> = self.places(self.first).chain(rest).collect();
        all.sort_unstable_by_key(|&place| self.order(place));
        self.first = NIL;
        for place in all.into_iter().rev() {
            self.nexts[place as usize] = replace(&mut self.first, place);
        }
    }

    /// Puts the entry at a place in its place among those of the open fine bucket.
    #[inline]
    fn insert(&mut self, place: u32) {
        let order = self.order(place);
        let (mut before, mut next) = (NIL, self.first);
        while next != NIL && self.order(next) < order {
            before = next;
            next = self.nexts[next as usize];
        }
        self.nexts[place as usize] = next;
        match self.nexts.get_mut(before as usize) {
            Some(next) => *next = place,
            None => self.first = place,
        }
    }

    /// What the entry at a place is ordered by.
    #[inline(always)]
    fn order(&self, place: u32) -> (u64, u32) {
        self.entries[place as usize].order()
    }

    /// The places from one on.
    fn places(&self, first: u32) -> impl Iterator<Item = u32> {
        let known = |place: u32| (place != NIL).then_some(place);
        std::iter::successors(known(first), move |&at| known(self.nexts[at as usize]))
    }

    /// All entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        let waiting = self.heads.places.iter().copied().filter(|&head| head != NIL);
        let firsts = std::iter::once(self.first).chain(waiting);
        firsts.flat_map(|first| self.places(first)).map(|at| &self.entries[at as usize])
    }

    /// Takes everything out; the first fine bucket is open again.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.nexts.clear();
        (self.free, self.first, self.fine) = (NIL, NIL, 0);
        self.heads.places.fill(NIL);
        self.heads.filled.fill(0);
    }
}
