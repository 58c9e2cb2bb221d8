//! Senders' variables over time.

use optcp_des::Key;
use optcp_net::FlowId;
use optcp_tcp::Snapshot;
use optcp_units::Time;

use super::listed::Listed;

/// What made a sender look at its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// It started.
    Start = 0,
    /// An ACK came.
    Ack = 1,
    /// Its retransmission timer expired.
    Timer = 2,
}

impl Cause {
    /// Names in results, in the order of their numbers.
    pub const NAMES: [&'static str; 3] = ["start", "ack", "timer"];
}

/// A sender's variables after something came to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderRow {
    /// When.
    pub at: Time,
    /// Which flow.
    pub flow: FlowId,
    /// What came.
    pub cause: Cause,
    /// The variables then.
    pub snapshot: Snapshot,
}

/// A row whenever a variable of a chosen sender has changed.
#[derive(Clone, Debug)]
pub struct Senders {
    /// Whether a flow is watched.
    watched: Vec<bool>,
    /// What was written last for each flow.
    last: Vec<Option<Snapshot>>,
    rows: Listed<SenderRow>,
}

impl Senders {
    /// Watches the flows that are marked.
    #[must_use]
    pub fn new(watched: Vec<bool>) -> Self {
        Senders { last: vec![None; watched.len()], watched, rows: Listed::default() }
    }

    pub(super) fn add(&mut self, event: Key, flow: FlowId, cause: Cause, snapshot: Snapshot) {
        if self.watched[flow as usize] && self.last[flow as usize] != Some(snapshot) {
            self.last[flow as usize] = Some(snapshot);
            self.rows.add(event, SenderRow { at: event.time(), flow, cause, snapshot });
        }
    }

    /// The run has ended.
    pub(super) fn finish(&mut self) {
        self.rows.finish();
    }

    /// Rows in order of time, once the run has ended.
    #[must_use]
    pub fn rows(&self) -> &[SenderRow] {
        self.rows.rows()
    }
}
