//! What the threads of a run have beside the first one, which has the run itself.

use crate::in_flight::STRIPES;

/// What each further thread has; between stretches of the run it is of no meaning, and is not cloned.
#[derive(Debug)]
pub(crate) struct WorkerState<T> {
    /// How many threads there are at most, the first one included.
    pub(crate) threads: usize,
    pub(crate) each: Vec<T>,
}

impl<T> Clone for WorkerState<T> {
    fn clone(&self) -> Self {
        WorkerState::new(self.threads)
    }
}

impl<T> WorkerState<T> {
    /// For a run on so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        WorkerState { threads: threads.clamp(1, STRIPES), each: Vec::new() }
    }
}
