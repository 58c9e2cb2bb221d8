//! What a run starts from.

use std::sync::Arc;

use optcp_net::{Control, Label, LabelTable, Loss, PortConfig};
use optcp_tcp::Config;
use optcp_units::{Duration, Time};

/// One connection.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// TCP at both ends.
    pub config: Arc<Config>,
    /// Full segments to transfer; `None` is data without end.
    pub segments: Option<u32>,
    /// When it starts.
    pub start: Time,
    /// Where the sender's clock stands at time zero.
    pub clock_phase: Duration,
    /// Where the receiver's clock stands at time zero.
    pub ack_clock_phase: Duration,
    /// Where its data segments enter the network.
    pub data: Label,
    /// Where its ACKs enter the network.
    pub acks: Label,
}

/// Everything that a run starts from, with all random choices made.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    /// Ports by number, each with the ways in which it loses packets.
    pub ports: Vec<(PortConfig, Vec<Loss>)>,
    /// Forwarding at time zero.
    pub labels: LabelTable,
    /// Flows by number.
    pub flows: Vec<FlowSpec>,
    /// What changes when, in ascending order of time.
    pub controls: Vec<Control>,
    /// The last instant that is simulated.
    pub stop: Time,
}

impl Blueprint {
    /// The instant before which runs of both are the same: nothing at or after it may be shared.
    /// Zero where they differ from the start.
    #[must_use]
    pub fn shared_until(&self, other: &Blueprint) -> Time {
        let same_start =
            self.ports == other.ports && self.labels == other.labels && self.flows == other.flows;
        if !same_start {
            return Time::ZERO;
        }
        let end = self.stop.min(other.stop);
        let mut theirs = other.controls.iter();
        for ours in &self.controls {
            match theirs.next() {
                Some(control) if control == ours => {}
                Some(control) => return ours.at.min(control.at).min(end),
                None => return ours.at.min(end),
            }
        }
        theirs.next().map_or(end, |control| control.at.min(end))
    }
}
