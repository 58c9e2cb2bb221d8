//! Flows that end, one by one.

use optcp_des::Key;
use optcp_units::Time;

use super::listed::Listed;

/// A flow that has ended, or was to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionRow {
    /// When it had started.
    pub start: Time,
    /// When its receiver had everything in order; of a flow that had not ended, when the run did.
    pub end: Time,
    /// Which one.
    pub flow: u32,
    /// What it transfers, in bytes of whole segments.
    pub bytes: u64,
    /// Whether it has ended.
    pub finished: bool,
}

/// What is left to transfer.
#[derive(Clone, Copy, Debug)]
struct Left {
    start: Time,
    all: u64,
    bytes: u64,
}

/// The flows that end, in the order of their ends; then those that started and did not, by number.
#[derive(Clone, Debug)]
pub struct Completions {
    left: Vec<Option<Left>>,
    ended: Listed<CompletionRow>,
    rows: Vec<CompletionRow>,
}

impl Completions {
    /// Watches flows that are to end: when each starts and what it transfers; `None` for others.
    #[must_use]
    pub fn new(flows: &[Option<(Time, u64)>]) -> Self {
        let left = |&(start, bytes): &(Time, u64)| Left { start, all: bytes, bytes };
        Completions {
            left: flows.iter().map(|flow| flow.as_ref().map(left)).collect(),
            ended: Listed::default(),
            rows: Vec::new(),
        }
    }

    pub(super) fn progress(&mut self, event: Key, flow: u32, bytes: u64) {
        let Some(slot) = self.left.get_mut(flow as usize) else { return };
        let Some(left) = slot else { return };
        left.bytes = left.bytes.saturating_sub(bytes);
        if left.bytes == 0 {
            let Left { start, all, .. } = *left;
            *slot = None;
            let end = event.time();
            self.ended.add(event, CompletionRow { start, end, flow, bytes: all, finished: true });
        }
    }

    /// The run has ended at `at`.
    pub(super) fn finish(&mut self, at: Time) {
        self.ended.finish();
        self.rows = self.ended.rows().to_vec();
        let started = |(flow, left): (u32, &Option<Left>)| {
            left.filter(|left| left.start <= at).map(|Left { start, all, .. }| CompletionRow {
                start,
                end: at,
                flow,
                bytes: all,
                finished: false,
            })
        };
        self.rows.extend((0..).zip(&self.left).filter_map(started));
    }

    /// The rows, once the run has ended.
    #[must_use]
    pub fn rows(&self) -> &[CompletionRow] {
        &self.rows
    }
}
