//! State of flows and ports at the current time of a run.

use optcp_net::{FlowId, Port, Tally};
use optcp_tcp::{SenderCounts, Snapshot};
use optcp_units::{Duration, Rate, Time};

/// State of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// Variables of the sender.
    pub snapshot: Snapshot,
    /// Counters of the sender.
    pub counts: SenderCounts,
    /// Smoothed RTT, once measured.
    pub srtt: Option<Duration>,
    /// Current RTO, including backoff.
    pub rto: Duration,
    /// In-order data at the receiver, in bytes.
    pub delivered_bytes: u64,
    /// Whether everything has been written and acknowledged.
    pub is_finished: bool,
    /// Whether the sender has given up.
    pub is_aborted: bool,
}

/// State of a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortState {
    /// Traffic so far. Bytes and times are zero for a port that is not in [`crate::Blueprint::tallied`].
    pub tally: Tally,
    /// Packets in the queue, including the one in transmission.
    pub queue_packets: u64,
    /// Bytes of these packets.
    pub queue_bytes: u64,
    /// Current rate.
    pub rate: Rate,
    /// Whether the link is in service.
    pub is_up: bool,
}

impl<O> crate::model::Model<O> {
    pub(crate) fn flow_state(&self, flow: FlowId) -> FlowState {
        let sender = &self.senders[flow.index()].sender;
        let info = sender.info();
        FlowState {
            snapshot: sender.snapshot(),
            counts: sender.counts(),
            srtt: info.srtt,
            rto: info.rto,
            delivered_bytes: self.receivers[flow.index()].delivered_bytes(),
            is_finished: sender.finished(),
            is_aborted: sender.aborted().is_some(),
        }
    }
}

impl PortState {
    pub(crate) fn of_port(port: &Port, now: Time) -> Self {
        PortState {
            tally: port.tally(now),
            queue_packets: port.queue_length() as u64,
            queue_bytes: port.inside().map(|packet| u64::from(packet.size())).sum(),
            rate: port.rate(),
            is_up: port.is_up(),
        }
    }
}
