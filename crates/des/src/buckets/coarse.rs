//! Coarse bucket with unordered entries.

use super::due::Entry;

/// Entries per chunk of memory.
const CHUNK: usize = 64;

/// Chunks that no bucket needs at present; the most recently used one is last.
pub(super) type Spare<T> = Vec<Vec<Entry<T>>>;

/// Chunks of entries, of which the last one has free places.
///
/// Fill levels differ greatly between buckets. With one allocation per bucket, each would grow to the maximum fill
/// level.
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

    // The entry is not a parameter, which keeps it in registers.
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

    /// Removes all entries and gives their memory to `spare`.
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
