//! A coarse bucket, whose entries are in no order.

use super::due::Entry;

/// Entries of a chunk of memory.
const CHUNK: usize = 64;

/// Chunks of memory that no bucket needs now, the warmest last.
pub(super) type Spare<T> = Vec<Vec<Entry<T>>>;

/// Chunks of entries, of which the last one has room.
///
/// Buckets differ much in how full they are. One piece of memory for each would grow to what the fullest
/// ever needed.
#[derive(Clone, Debug)]
pub(super) struct Coarse<T> {
    full: Vec<Vec<Entry<T>>>,
    last: Vec<Entry<T>>,
}

impl<T: Copy> Coarse<T> {
    pub(super) fn new() -> Self {
        Coarse { full: Vec::new(), last: Vec::new() }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, entry: Entry<T>, spare: &mut Spare<T>) {
        if self.last.len() == self.last.capacity() {
            self.begin_chunk(spare);
        }
        self.last.push(entry);
    }

    // Knows nothing of the entry, which so need not be in memory.
    #[inline(never)]
    fn begin_chunk(&mut self, spare: &mut Spare<T>) {
        let chunk = spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
        let full = std::mem::replace(&mut self.last, chunk);
        if !full.is_empty() {
            self.full.push(full);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.full.iter().flatten().chain(&self.last)
    }

    /// Takes out everything, and gives the memory to `spare`.
    pub(super) fn empty(&mut self, spare: &mut Spare<T>, mut take: impl FnMut(&[Entry<T>])) {
        let last = std::mem::take(&mut self.last);
        for mut chunk in self.full.drain(..).chain([last]) {
            if chunk.capacity() > 0 {
                take(&chunk);
                chunk.clear();
                spare.push(chunk);
            }
        }
    }
}
