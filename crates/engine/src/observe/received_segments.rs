//! Which segments of a flow have come to its receiver.

use std::collections::BTreeSet;

/// The segments of a flow that have come so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedSegments {
    /// One more than the greatest number among them.
    reached: u32,
    /// Numbers below that which are not among them.
    missing: BTreeSet<u32>,
}

/// How a segment stands to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Its number is the greatest so far.
    Ahead,
    /// One with a greater number has come, and this one had not.
    Late,
    /// It had come before.
    Again,
}

impl ReceivedSegments {
    /// A segment has come.
    pub(super) fn take(&mut self, seq: u32) -> Order {
        if seq < self.reached {
            return if self.missing.remove(&seq) { Order::Late } else { Order::Again };
        }
        self.missing.extend(self.reached..seq);
        self.reached = seq + 1;
        Order::Ahead
    }
}
