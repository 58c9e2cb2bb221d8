//! What a sender tells about itself: the variables of Linux's `tcp_info` that describe its window and its
//! losses.

use optcp_units::Duration;

/// The state of the congestion control, as Linux calls and numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CongestionState {
    /// Nothing is amiss.
    Open = 0,
    /// Something has arrived out of order, and no recovery has begun.
    Disorder = 1,
    /// The window was reduced for a mark.
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// After a timeout.
    Loss = 4,
}

/// A sender's variables. Counts are in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// What it does about losses.
    pub state: CongestionState,
    /// Congestion window, without the inflation of fast recovery.
    pub cwnd: u32,
    /// Slow-start threshold, once one is set.
    pub ssthresh: Option<u32>,
    /// Sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Covered by SACK; without SACK, duplicate ACKs.
    pub sacked: u32,
    /// Held to be lost, retransmitted or not.
    pub lost: u32,
    /// Retransmissions under way.
    pub retransmitted: u32,
    /// Segments beyond a hole that make it a loss: 3, or how far behind the highest one has come since.
    pub reordering: u32,
    /// Segments sent again so far.
    pub retransmissions: u64,
    /// The timeout in force, backed off.
    pub rto: Duration,
    /// The smoothed round trip, once measured.
    pub srtt: Option<Duration>,
    /// Segments that were marked, as ACKs have reported.
    pub delivered_ce: u64,
}

/// What a loss recovery knows of outstanding segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retransmitted: u32,
    pub(crate) reordering: u32,
}
