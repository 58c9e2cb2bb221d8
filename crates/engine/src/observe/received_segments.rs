//! Set of a flow's segments that have arrived at its receiver.

use std::collections::BTreeSet;

/// Segments of a flow that have arrived so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedSegments {
    /// Highest received number plus one.
    reached: u32,
    /// Missing numbers below `reached`.
    missing: BTreeSet<u32>,
}

/// Order of a segment relative to earlier arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The number is the highest so far.
    Ahead,
    /// A higher number has arrived, but not this one.
    Late,
    /// The segment has arrived before.
    Again,
}

impl ReceivedSegments {
    /// Registers an arrival.
    pub(super) fn take(&mut self, seq: u32) -> Order {
        if seq < self.reached {
            return if self.missing.remove(&seq) { Order::Late } else { Order::Again };
        }
        self.missing.extend(self.reached..seq);
        self.reached = seq + 1;
        Order::Ahead
    }
}
