//! Lists of rows sorted by event.

use std::sync::Arc;

use optcp_des::Key;

/// Rows per chunk of memory.
const CHUNK: usize = 1 << 10;

/// Rows, each with its event.
///
/// Forks of a run share full chunks, so the cost of a fork hardly depends on the number of rows.
#[derive(Clone, Debug)]
pub(super) struct Listed<T> {
    full: Vec<Arc<Vec<(Key, T)>>>,
    last: Vec<(Key, T)>,
    /// All rows in order, at the end of the run.
    rows: Vec<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { full: Vec::new(), last: Vec::new(), rows: Vec::new() }
    }
}

impl<T: Copy> Listed<T> {
    /// Adds a row. Rows of the same event keep their order.
    pub(super) fn add(&mut self, event: Key, row: T) {
        if self.last.len() == CHUNK {
            let full = std::mem::replace(&mut self.last, Vec::with_capacity(CHUNK));
            self.full.push(Arc::new(full));
        }
        self.last.push((event, row));
    }

    /// Sorts the rows. No row may be added afterwards.
    pub(super) fn finish(&mut self) {
        let mut order = Vec::with_capacity(self.full.len() * CHUNK + self.last.len());
        for chunk in std::mem::take(&mut self.full) {
            order.extend_from_slice(&chunk);
        }
        order.append(&mut self.last);
        order.sort_by_key(|&(event, _)| event);
        self.rows = order.into_iter().map(|(_, row)| row).collect();
    }

    /// Changes the sorted rows.
    pub(super) fn change(&mut self, change: impl FnMut(&mut T)) {
        self.rows.iter_mut().for_each(change);
    }

    /// Returns the sorted rows.
    pub(super) fn rows(&self) -> &[T] {
        &self.rows
    }
}
