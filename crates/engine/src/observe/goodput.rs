//! Goodput: newly acknowledged in-order bytes at the receivers.

use optcp_net::FlowId;
use optcp_units::{Duration, Time};

use super::IntervalSums;

/// Bytes per group of flows and interval: the numerator of the gmpls paper's equation 4.
#[derive(Clone, Debug)]
pub struct Goodput(IntervalSums);

impl Goodput {
    /// `rows[flow]` is the row that the flow counts in; intervals of `interval` up to `stop`.
    #[must_use]
    pub fn new(rows: Vec<Option<u32>>, interval: Duration, stop: Time) -> Self {
        Goodput(IntervalSums::new(rows, interval, stop))
    }

    pub(super) fn add(&mut self, at: Time, flow: FlowId, bytes: u64) {
        self.0.add(at, flow, bytes);
    }

    /// Bytes, row after row.
    #[must_use]
    pub fn bytes(&self) -> &[u64] {
        &self.0.sums
    }

    /// Intervals in a row.
    #[must_use]
    pub fn intervals(&self) -> usize {
        self.0.intervals
    }
}
