//! State of a sender as in Linux's `tcp_info`: the variables of its window and its losses.

use optcp_units::Duration;

/// Congestion state, with Linux's names and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CongestionState {
    /// No losses or reordering.
    Open = 0,
    /// Out-of-order segments have arrived, but no recovery has started.
    Disorder = 1,
    /// The window was reduced for an ECN mark.
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// After an RTO.
    Loss = 4,
}

/// Variables of a sender. Counts are in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion state.
    pub state: CongestionState,
    /// Congestion window, without the inflation of fast recovery.
    pub cwnd: u32,
    /// Slow-start threshold, once set.
    pub ssthresh: Option<u32>,
    /// Segments sent but not cumulatively acknowledged.
    pub unacked: u32,
    /// SACKed segments; without SACK, duplicate ACKs.
    pub sacked: u32,
    /// Segments considered lost, retransmitted or not.
    pub lost: u32,
    /// Retransmissions in flight.
    pub retransmitted: u32,
    /// Number of later segments that declares a loss: 3, or the largest reordering distance seen.
    pub reordering: u32,
    /// Number of retransmissions so far.
    pub retransmissions: u64,
    /// Current RTO, including backoff.
    pub rto: Duration,
    /// Smoothed RTT, once measured.
    pub srtt: Option<Duration>,
    /// Number of segments reported as marked.
    pub delivered_ce: u64,
}

/// Knowledge of a loss recovery about outstanding segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retransmitted: u32,
    pub(crate) reordering: u32,
}
