//! Load: what ports transmit.

use optcp_net::PortId;
use optcp_units::{Duration, Time};

use super::IntervalSums;

/// Bytes per port and interval, counted when the last bit is sent.
#[derive(Clone, Debug)]
pub struct Load(IntervalSums);

impl Load {
    /// `rows[port]` is the row that the port counts in; intervals of `interval` up to `stop`.
    #[must_use]
    pub fn new(rows: Vec<Option<u32>>, interval: Duration, stop: Time) -> Self {
        Load(IntervalSums::new(rows, interval, stop))
    }

    pub(super) fn add(&mut self, at: Time, port: PortId, bytes: u32) {
        self.0.add(at, port, u64::from(bytes));
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
