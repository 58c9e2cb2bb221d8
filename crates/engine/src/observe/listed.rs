//! Lists of rows sorted by event.

use optcp_des::Key;

/// Rows, each with its event.
#[derive(Clone, Debug)]
pub(super) struct Listed<T> {
    events: Vec<Key>,
    rows: Vec<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { events: Vec::new(), rows: Vec::new() }
    }
}

impl<T: Copy> Listed<T> {
    /// Adds a row. Rows of the same event keep their order.
    pub(super) fn add(&mut self, event: Key, row: T) {
        self.events.push(event);
        self.rows.push(row);
    }

    /// Changes existing rows.
    pub(super) fn change(&mut self, change: impl FnMut(&mut T)) {
        self.rows.iter_mut().for_each(change);
    }

    /// Sorts the rows. No row may be added afterwards.
    pub(super) fn finish(&mut self) {
        let events = std::mem::take(&mut self.events);
        if !events.is_sorted() {
            let mut order: Vec<(Key, T)> = events.into_iter().zip(self.rows.drain(..)).collect();
            order.sort_by_key(|&(event, _)| event);
            self.rows.extend(order.into_iter().map(|(_, row)| row));
        }
    }

    /// Returns the rows.
    pub(super) fn rows(&self) -> &[T] {
        &self.rows
    }
}
