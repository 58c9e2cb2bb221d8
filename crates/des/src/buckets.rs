//! A calendar that carries its entries, for those that come in great numbers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optcp_units::{Duration, Time};

/// An entry of [`Buckets`]: ordered by time, then by entity, then by ordinal.
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

/// How many coarse buckets there are: what is due within so many is near.
const COARSE: u64 = 512;
const COARSE_WORDS: usize = 8;
/// Powers of two of the number of fine buckets that a coarse one is split into.
const FEWEST_FINE: u32 = 6;
const MOST_FINE: u32 = 12;
/// Offsets in a coarse bucket have 32 bits.
const WIDEST: u32 = 32;
/// Entries of a chunk of memory.
const CHUNK: usize = 64;
/// So many entries may be beyond the horizon, whatever the number of the others.
const FEW_FAR: usize = 256;
/// An open fine bucket with more entries is sorted at once.
const FEW_OPEN: usize = 8;
/// No node.
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    /// Picoseconds since the beginning of its coarse bucket.
    offset: u32,
    entity: u32,
    ordinal: u32,
    item: T,
}

impl<T> Entry<T> {
    #[inline]
    fn order(&self) -> (u64, u32) {
        ((u64::from(self.offset) << 32) | u64::from(self.entity), self.ordinal)
    }
}

/// A coarse bucket: chunks of entries, of which the last one has room.
///
/// Buckets differ much in how full they are. One piece of memory for each would grow to what the fullest
/// ever needed.
#[derive(Clone, Debug)]
struct Coarse<T> {
    full: Vec<Vec<Entry<T>>>,
    last: Vec<Entry<T>>,
}

impl<T> Coarse<T> {
    fn new() -> Self {
        Coarse { full: Vec::new(), last: Vec::new() }
    }

    #[inline]
    fn push(&mut self, entry: Entry<T>, spare: &mut Vec<Vec<Entry<T>>>) {
        if self.last.len() == self.last.capacity() {
            self.extend(spare);
        }
        self.last.push(entry);
    }

    /// Makes room.
    #[inline(never)]
    fn extend(&mut self, spare: &mut Vec<Vec<Entry<T>>>) {
        // A copy of a calendar has chunks that are only as large as what was in them.
        if (1..CHUNK).contains(&self.last.capacity()) {
            self.last.reserve_exact(CHUNK - self.last.len());
            return;
        }
        let chunk = spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
        let full = std::mem::replace(&mut self.last, chunk);
        if !full.is_empty() {
            self.full.push(full);
        }
    }

    fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.full.iter().flatten().chain(&self.last)
    }

    /// Moves everything to the end of `pool`, and the memory to `spare`.
    fn empty_into(&mut self, pool: &mut Vec<Entry<T>>, spare: &mut Vec<Vec<Entry<T>>>) {
        let last = std::mem::take(&mut self.last);
        for mut chunk in self.full.drain(..).chain([last]) {
            pool.append(&mut chunk);
            if chunk.capacity() > 0 {
                spare.push(chunk);
            }
        }
    }
}

/// Pending entries in buckets of time, each put in order when it is opened.
///
/// # Models
/// Nothing: a priority queue. An entry goes into the coarse bucket of its time. When the open coarse
/// bucket is used up, the next one that is not empty is spread over fine buckets, as many as it has
/// entries or more, and each of these is sorted when its turn comes. An entry that is due in the open
/// fine bucket is put in its place there. So an entry is written three times and compared with few
/// others, whatever their number.
/// # Source
/// R. Brown, "Calendar Queues", 1988; W. T. Tang, R. S. M. Goh, I. L.-J. Thng, "Ladder Queue", 2005.
/// # Parameters
/// The horizon: the time that most entries are put in ahead of.
/// # Limits
/// Entries beyond 512 coarse buckets wait in a heap; where they are many the buckets are made wider. Nothing may be added that is due before the last
/// entry that was taken out.
#[derive(Clone, Debug)]
pub struct Buckets<T> {
    /// A coarse bucket is 2^shift ps wide.
    shift: u32,
    /// The open coarse bucket, counted from time zero.
    current: u64,
    coarse: Vec<Coarse<T>>,
    /// Which coarse buckets are not empty.
    occupied: [u64; COARSE_WORDS],
    /// A fine bucket is 2^fine_shift ps wide.
    fine_shift: u32,
    /// The open fine bucket.
    fine: u32,
    /// First nodes of the fine buckets; without meaning where `filled` says that there is none.
    heads: Vec<u32>,
    filled: Vec<u64>,
    /// The entries of the open coarse bucket.
    pool: Vec<Entry<T>>,
    /// By place in the pool: the next entry of the same fine bucket, or the next free place.
    chain: Vec<u32>,
    /// First of the places in the pool that are free.
    free: u32,
    /// Where the entries of the open fine bucket are in the pool, the earliest at the end.
    open: Vec<u32>,
    /// Entries that have been put into the open coarse bucket's fine ones.
    spread: usize,
    far: BinaryHeap<Reverse<Due<T>>>,
    /// Chunks of coarse buckets that have been used up, the warmest last.
    spare: Vec<Vec<Entry<T>>>,
    len: usize,
}

impl<T: Copy> Buckets<T> {
    /// An empty calendar for entries that are mostly put in up to `horizon` ahead.
    #[must_use]
    pub fn new(horizon: Duration) -> Self {
        let width = horizon.as_ps().div_ceil(COARSE - 1).max(1);
        let shift = (64 - (width - 1).leading_zeros()).clamp(20, WIDEST);
        Buckets {
            shift,
            current: 0,
            coarse: (0..COARSE).map(|_| Coarse::new()).collect(),
            occupied: [0; COARSE_WORDS],
            fine_shift: shift - FEWEST_FINE,
            fine: 0,
            heads: vec![NIL; 1 << MOST_FINE],
            filled: vec![0; 1 << (MOST_FINE - 6)],
            pool: Vec::new(),
            chain: Vec::new(),
            free: NIL,
            open: Vec::new(),
            spread: 0,
            far: BinaryHeap::new(),
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
    #[inline]
    pub fn push(&mut self, due: Due<T>) {
        self.len += 1;
        let bucket = due.at.as_ps() >> self.shift;
        debug_assert!(bucket >= self.current, "nothing is due before what was taken out");
        let ahead = bucket - self.current;
        if ahead == 0 {
            self.push_near(self.entry(due));
        } else if ahead < COARSE {
            let entry = self.entry(due);
            self.push_coarse(bucket, entry);
        } else {
            self.push_far(due);
        }
    }

    /// Adds an entry beyond the horizon, or moves the horizon where these become many.
    #[inline(never)]
    fn push_far(&mut self, due: Due<T>) {
        self.far.push(Reverse(due));
        if self.far.len() > FEW_FAR && self.far.len() > self.len / 8 && self.shift < WIDEST {
            let now = self.current << self.shift;
            let all = self.drain();
            self.shift += 1;
            self.current = now >> self.shift;
            self.fine_shift = self.shift - FEWEST_FINE;
            self.spread = 0;
            all.into_iter().for_each(|due| self.push(due));
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the offset in a bucket")]
    fn entry(&self, due: Due<T>) -> Entry<T> {
        let offset = (due.at.as_ps() & ((1 << self.shift) - 1)) as u32;
        Entry { offset, entity: due.entity, ordinal: due.ordinal, item: due.item }
    }

    #[inline]
    fn push_coarse(&mut self, bucket: u64, entry: Entry<T>) {
        let place = (bucket % COARSE) as usize;
        self.occupied[place / 64] |= 1 << (place % 64);
        self.coarse[place].push(entry, &mut self.spare);
    }

    /// Adds an entry to the open coarse bucket.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 entries are pending")]
    fn push_near(&mut self, entry: Entry<T>) {
        self.spread += 1;
        let place = if self.free == NIL {
            self.pool.push(entry);
            self.chain.push(NIL);
            (self.pool.len() - 1) as u32
        } else {
            let place = self.free;
            self.free = self.chain[place as usize];
            self.pool[place as usize] = entry;
            place
        };
        let fine = entry.offset >> self.fine_shift;
        if fine > self.fine {
            self.put(fine, place);
        } else {
            self.insert_open(place);
        }
    }

    /// Puts the entry at a place of the pool into a fine bucket.
    #[inline]
    fn put(&mut self, fine: u32, place: u32) {
        let (word, bit) = (fine as usize / 64, 1 << (fine % 64));
        let head = &mut self.heads[fine as usize];
        self.chain[place as usize] = if self.filled[word] & bit == 0 { NIL } else { *head };
        self.filled[word] |= bit;
        *head = place;
    }

    /// Takes out the earliest entry if it is due before `limit`.
    // Once for every entry, from several places: a call would cost more than what is done.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<Due<T>> {
        if self.open.is_empty() && !self.advance(limit) {
            return None;
        }
        let place = *self.open.last()?;
        let entry = &self.pool[place as usize];
        let at = Time::from_ps((self.current << self.shift) + u64::from(entry.offset));
        if at >= limit {
            return None;
        }
        let due = Due { at, entity: entry.entity, ordinal: entry.ordinal, item: entry.item };
        self.open.pop();
        self.chain[place as usize] = self.free;
        self.free = place;
        self.len -= 1;
        Some(due)
    }

    /// Opens the next fine bucket that is not empty, unless it begins at or after `limit`; says whether
    /// it did.
    fn advance(&mut self, limit: Time) -> bool {
        loop {
            if let Some(fine) = self.next_fine() {
                self.open_fine(fine);
                return true;
            }
            let near = self.next_coarse();
            let far = self.far.peek().map(|Reverse(far)| far.at.as_ps() >> self.shift);
            let Some(next) = near.into_iter().chain(far).min() else { return false };
            if next << self.shift >= limit.as_ps() {
                return false;
            }
            self.open_coarse(next);
        }
    }

    /// The first fine bucket behind the open one that is not empty.
    #[expect(clippy::cast_possible_truncation, reason = "a place among 2^12")]
    fn next_fine(&self) -> Option<u32> {
        let words = (1usize << (self.shift - self.fine_shift)).div_ceil(64);
        let first = self.fine as usize / 64;
        let mut bits = self.filled[first] & (!0 << (self.fine % 64));
        for word in first..words {
            if word > first {
                bits = self.filled[word];
            }
            if bits != 0 {
                return Some((word * 64) as u32 + bits.trailing_zeros());
            }
        }
        None
    }

    fn open_fine(&mut self, fine: u32) {
        self.fine = fine;
        self.filled[fine as usize / 64] &= !(1 << (fine % 64));
        let mut place = self.heads[fine as usize];
        // Mostly one or two: each is put in its place as it comes.
        while place != NIL {
            if self.open.len() < FEW_OPEN {
                self.insert_open(place);
            } else {
                self.open.push(place);
            }
            place = self.chain[place as usize];
        }
        if self.open.len() > FEW_OPEN {
            let pool = &self.pool;
            self.open.sort_unstable_by_key(|&place| Reverse(pool[place as usize].order()));
        }
    }

    /// Puts the entry at a place of the pool in its place in the open fine bucket.
    #[inline(always)]
    fn insert_open(&mut self, place: u32) {
        let order = self.pool[place as usize].order();
        let mut rank = self.open.len();
        self.open.push(place);
        while rank > 0 && self.pool[self.open[rank - 1] as usize].order() < order {
            self.open[rank] = self.open[rank - 1];
            rank -= 1;
        }
        self.open[rank] = place;
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

    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 entries are pending")]
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
        // Everything in the pool has been taken out.
        self.pool.clear();
        self.coarse[place].empty_into(&mut self.pool, &mut self.spare);
        self.chain.clear();
        self.chain.resize(self.pool.len(), NIL);
        self.free = NIL;
        // As many fine buckets as entries; what was put in while the last one was open tells of the rest.
        let expected = self.pool.len().max(self.spread).max(1);
        let power = expected.ilog2().clamp(FEWEST_FINE, MOST_FINE.min(self.shift));
        self.fine_shift = self.shift - power;
        self.fine = 0;
        self.spread = self.pool.len();
        for place in 0..self.pool.len() {
            self.put(self.pool[place].offset >> self.fine_shift, place as u32);
        }
    }

    /// Calls `look` for everything that is pending, in no particular order.
    pub fn for_each(&self, mut look: impl FnMut(Due<T>)) {
        self.for_each_open(&mut look);
        for bucket in self.current + 1..self.current + COARSE {
            let place = (bucket % COARSE) as usize;
            self.coarse[place].entries().for_each(|entry| look(self.due(bucket, entry)));
        }
        self.far.iter().for_each(|Reverse(due)| look(*due));
    }

    /// The same for the open coarse bucket.
    fn for_each_open(&self, look: &mut impl FnMut(Due<T>)) {
        let pooled = |place: u32| self.due(self.current, &self.pool[place as usize]);
        self.open.iter().for_each(|&place| look(pooled(place)));
        for (word, &bits) in self.filled.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let mut place = self.heads[word * 64 + bits.trailing_zeros() as usize];
                bits &= bits - 1;
                while place != NIL {
                    look(pooled(place));
                    place = self.chain[place as usize];
                }
            }
        }
    }

    /// An entry of a coarse bucket.
    #[inline]
    fn due(&self, bucket: u64, entry: &Entry<T>) -> Due<T> {
        let at = Time::from_ps((bucket << self.shift) + u64::from(entry.offset));
        Due { at, entity: entry.entity, ordinal: entry.ordinal, item: entry.item }
    }

    /// Takes out everything of which `takes` says so, in no particular order.
    pub fn extract(&mut self, mut takes: impl FnMut(&Due<T>) -> bool) -> Vec<Due<T>> {
        let mut taken = Vec::new();
        let mut open = Vec::new();
        self.for_each_open(&mut |due| open.push(due));
        let mut far = std::mem::take(&mut self.far).into_vec();
        let mut pool = Vec::new();
        self.len -= open.len() + far.len();
        self.clear_open();
        for bucket in self.current + 1..self.current + COARSE {
            let place = (bucket % COARSE) as usize;
            self.coarse[place].empty_into(&mut pool, &mut self.spare);
            self.occupied[place / 64] &= !(1 << (place % 64));
            self.len -= pool.len();
            for entry in pool.drain(..) {
                let due = self.due(bucket, &entry);
                if takes(&due) {
                    taken.push(due);
                } else {
                    self.len += 1;
                    self.push_coarse(bucket, entry);
                }
            }
        }
        for due in open.into_iter().chain(far.drain(..).map(|Reverse(due)| due)) {
            if takes(&due) {
                taken.push(due);
            } else {
                self.push(due);
            }
        }
        taken
    }

    /// Empties the open coarse bucket, in which the first fine bucket is open again.
    fn clear_open(&mut self) {
        self.open.clear();
        self.filled.fill(0);
        self.pool.clear();
        self.chain.clear();
        self.free = NIL;
        self.fine = 0;
    }

    /// Takes everything out, in order.
    pub fn drain(&mut self) -> Vec<Due<T>> {
        let mut all = Vec::with_capacity(self.len);
        self.for_each(|due| all.push(due));
        self.clear_open();
        for coarse in &mut self.coarse {
            coarse.empty_into(&mut self.pool, &mut self.spare);
        }
        self.pool.clear();
        self.occupied = [0; COARSE_WORDS];
        self.far.clear();
        self.len = 0;
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    fn due(at: u64, entity: u32, ordinal: u32) -> Due<u64> {
        Due { at: Time::from_ps(at), entity, ordinal, item: at ^ u64::from(entity) }
    }

    fn order(due: &Due<u64>) -> (Time, u32, u32) {
        (due.at, due.entity, due.ordinal)
    }

    /// Entries near and far, many at one instant, put in while others are taken out, against a plain
    /// ordered set.
    #[test]
    fn entries_come_out_in_order() {
        let spreads = [1_u64 << 10, 1 << 22, 1 << 30, 1 << 38];
        // The last one begins with a horizon far too near.
        for (seed, (spread, horizon)) in
            (0..).zip(spreads.map(|s| (s, s / 4)).into_iter().chain([(1 << 36, 1)]))
        {
            let mut stream = Streams::new(seed).stream("buckets");
            let mut buckets = Buckets::new(Duration::from_ps(horizon));
            let mut plain = std::collections::BTreeSet::new();
            let (mut now, mut ordinal) = (0, 0);
            for _ in 0..20_000 {
                for _ in 0..stream.below(3) {
                    let at = now + stream.below(spread) / (1 + 100 * stream.below(2));
                    // Ties: half of the entries are due at whole thousands.
                    let at = if stream.below(2) == 0 { at.div_ceil(1000) * 1000 } else { at };
                    let entity = u32::try_from(stream.below(4)).unwrap();
                    ordinal += 1;
                    buckets.push(due(at, entity, ordinal));
                    plain.insert(order(&due(at, entity, ordinal)));
                }
                let limit = Time::from_ps(now + stream.below(spread));
                let expected = plain.first().copied().filter(|&(at, ..)| at < limit);
                let found = buckets.pop_before(limit);
                assert_eq!(found.as_ref().map(order), expected);
                if let Some(first) = expected {
                    plain.remove(&first);
                    now = first.0.as_ps();
                    assert_eq!(found.unwrap().item, now ^ u64::from(first.1));
                }
                assert_eq!(buckets.len(), plain.len());
            }
            let mut copy = buckets.clone();
            let rest: Vec<_> = plain.iter().copied().collect();
            assert_eq!(buckets.drain().iter().map(order).collect::<Vec<_>>(), rest);
            assert!(buckets.is_empty());
            let popped: Vec<_> = std::iter::from_fn(|| copy.pop_before(Time::MAX)).collect();
            assert_eq!(popped.iter().map(order).collect::<Vec<_>>(), rest);
        }
    }

    /// What is taken out by name is gone, and the rest comes in its order, also where the calendar has been
    /// left in the middle of a bucket.
    #[test]
    fn what_is_extracted_is_gone_and_the_rest_stays() {
        let mut stream = Streams::new(7).stream("buckets");
        for _ in 0..50 {
            let mut buckets = Buckets::new(Duration::from_us(1));
            let mut all: Vec<Due<u64>> = (0..500)
                .map(|ordinal| due(stream.below(1 << 24) * 1000, ordinal % 3, ordinal))
                .collect();
            all.iter().for_each(|&due| buckets.push(due));
            all.sort_unstable();
            for _ in 0..stream.below(400) {
                assert_eq!(
                    buckets.pop_before(Time::MAX).as_ref().map(order),
                    Some(order(&all.remove(0)))
                );
            }
            let (gone, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|due| due.entity == 1);
            let mut taken = buckets.extract(|due| due.entity == 1);
            taken.sort_unstable();
            assert_eq!(
                taken.iter().map(order).collect::<Vec<_>>(),
                gone.iter().map(order).collect::<Vec<_>>()
            );
            assert_eq!(buckets.len(), rest.len());
            let left: Vec<_> = std::iter::from_fn(|| buckets.pop_before(Time::MAX)).collect();
            assert_eq!(
                left.iter().map(order).collect::<Vec<_>>(),
                rest.iter().map(order).collect::<Vec<_>>()
            );
        }
    }

    /// After everything was taken out the calendar goes on where it stood.
    #[test]
    fn a_drained_calendar_can_be_filled_again() {
        let mut buckets = Buckets::new(Duration::from_ms(100));
        for at in [5, 700_000_000, 900_000_000_000] {
            buckets.push(due(at, 0, 0));
        }
        assert_eq!(buckets.pop_before(Time::from_ps(10)).map(|due| due.at.as_ps()), Some(5));
        for due in buckets.drain() {
            buckets.push(due);
        }
        buckets.push(due(6, 0, 0));
        let rest: Vec<u64> = std::iter::from_fn(|| buckets.pop_before(Time::MAX))
            .map(|due| due.at.as_ps())
            .collect();
        assert_eq!(rest, [6, 700_000_000, 900_000_000_000]);
    }
}
