//! Random choices of a world.

use optcp_des::{Stream, Streams};

/// The choices that make one world: a function of its number.
pub(crate) struct Draw(Stream);

impl Draw {
    pub(crate) fn new(number: u64) -> Self {
        Draw(Streams::new(number).stream("world"))
    }

    /// A whole number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Whether something happens that happens in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A place in a list of so many, which is not empty.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("below a usize")
    }

    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())].clone()
    }

    /// As many of a list as chance has it, in its order; one at least, unless the list is empty.
    pub(crate) fn some<T: Clone>(&mut self, list: &[T]) -> Vec<T> {
        let chosen: Vec<T> = list.iter().filter(|_| self.chance(50)).cloned().collect();
        if chosen.is_empty() && !list.is_empty() { vec![self.pick(list)] } else { chosen }
    }
}
