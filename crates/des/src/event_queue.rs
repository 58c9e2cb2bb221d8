//! Event queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optcp_units::Time;

use crate::Key;

/// Pending events in a binary heap of keys, earliest first.
///
/// Entries have no payload: the key identifies the port, flow or link that handles the event. Obsolete entries are
/// ignored there.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<Key>>,
}

impl EventQueue {
    /// Adds an event.
    pub fn push(&mut self, key: Key) {
        self.heap.push(Reverse(key));
    }

    /// Removes the earliest event if it is before `limit`.
    pub fn pop_before(&mut self, limit: Time) -> Option<Key> {
        let first = self.heap.peek_mut()?;
        if first.0.time() >= limit {
            return None;
        }
        Some(std::collections::binary_heap::PeekMut::pop(first).0)
    }

    /// Returns the time of the earliest event, or [`Time::MAX`].
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |first| first.0.time())
    }

    /// Returns the pending events, in no particular order.
    pub fn events(&self) -> impl Iterator<Item = Key> + use<'_> {
        self.heap.iter().map(|Reverse(key)| *key)
    }

    /// Returns all events, in no particular order.
    pub fn into_events(self) -> impl Iterator<Item = Key> {
        self.heap.into_iter().map(|Reverse(key)| key)
    }

    /// Returns the number of pending events, including obsolete ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns whether no events are pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    #[test]
    fn events_are_removed_in_order() {
        let key = |ps, class, entity| Key::new(Time::from_ps(ps), class, entity, 0);
        let keys = [
            key(3, Class::Arrival, 0),
            key(1, Class::Arrival, 5),
            key(3, Class::TransmissionEnd, 9),
            key(1, Class::Timer, 7),
        ];
        let mut event_queue = EventQueue::default();
        keys.iter().for_each(|&k| event_queue.push(k));
        let mut out = Vec::new();
        while let Some(k) = event_queue.pop_before(Time::from_ps(3)) {
            out.push(k);
        }
        assert_eq!(out, [keys[3], keys[1]]);
        assert_eq!(event_queue.len(), 2);
        assert_eq!(event_queue.pop_before(Time::MAX), Some(keys[2]));
    }
}
