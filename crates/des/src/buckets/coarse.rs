//! A coarse bucket, whose entries are in no order.

use super::due::Entry;

/// Entries of a chunk of memory.
const CHUNK: usize = 64;

/// Chunks of memory that no bucket needs now, the warmest last.
pub(super) type Spare<T> = Vec<Vec<Entry<T>>>;

/// Chunks of entries, of which the last one has room.
///
/// Buckets differ much in how full they are. One piece of memory for each would grow to what the fullest
/// ever needed. Places of a chunk beyond those that are used hold entries of no meaning.
#[derive(Clone, Debug)]
pub(super) struct Coarse<T> {
    full: Vec<Vec<Entry<T>>>,
    last: Vec<Entry<T>>,
    /// How many places of the last chunk are used.
    used: usize,
}

impl<T: Copy> Coarse<T> {
    pub(super) fn new() -> Self {
        Coarse { full: Vec::new(), last: Vec::new(), used: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, entry: Entry<T>, spare: &mut Spare<T>) {
        let Some(place) = self.last.get_mut(self.used) else {
            return self.push_further(entry, spare);
        };
        *place = entry;
        self.used += 1;
    }

    /// Adds an entry in another chunk.
    #[inline(never)]
    fn push_further(&mut self, entry: Entry<T>, spare: &mut Spare<T>) {
        let mut chunk = spare.pop().unwrap_or_else(|| vec![entry; CHUNK]);
        chunk[0] = entry;
        let full = std::mem::replace(&mut self.last, chunk);
        if !full.is_empty() {
            self.full.push(full);
        }
        self.used = 1;
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * CHUNK + self.used
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.full.iter().flatten().chain(&self.last[..self.used])
    }

    /// Takes out everything, and gives the memory to `spare`.
    pub(super) fn empty(&mut self, spare: &mut Spare<T>, mut take: impl FnMut(&Entry<T>)) {
        self.entries().for_each(&mut take);
        let last = std::mem::take(&mut self.last);
        spare.extend(self.full.drain(..).chain([last]).filter(|chunk| !chunk.is_empty()));
        self.used = 0;
    }
}
