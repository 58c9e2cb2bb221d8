//! State of the additional threads of a run. The first thread owns the run.

use crate::in_flight::STRIPES;

/// State of each additional thread. It is valid only while the run executes and is not cloned.
#[derive(Debug)]
pub(crate) struct WorkerState<T> {
    /// Maximum number of threads, including the first one.
    pub(crate) threads: usize,
    pub(crate) each: Vec<T>,
}

impl<T> Clone for WorkerState<T> {
    fn clone(&self) -> Self {
        WorkerState::new(self.threads)
    }
}

impl<T> WorkerState<T> {
    /// Creates the state for at most `threads` threads.
    pub(crate) fn new(threads: usize) -> Self {
        WorkerState { threads: threads.clamp(1, STRIPES), each: Vec::new() }
    }
}
