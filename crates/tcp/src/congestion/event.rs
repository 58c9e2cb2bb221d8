//! Events that congestion control receives.

use optcp_units::{Duration, Time};

use crate::delivery::RateSample;
use crate::seq::Seq;

/// Timestamps of an ACK, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// Current value of the sender's clock.
    pub now: u32,
    /// Value when the acknowledged segment was sent.
    pub echo: u32,
    /// Time from then until the ACK was sent, if both clocks are synchronised.
    pub one_way: u32,
}

/// ACK event for congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent {
    /// Current time.
    pub now: Time,
    /// Number of newly acknowledged segments (cumulative).
    pub acked: u32,
    /// Number of newly reported segments, cumulatively or by SACK.
    pub delivered: u32,
    /// Number of these that were marked.
    pub marked: u32,
    /// `true`: the ECE flag is set, regardless of negotiated ECN.
    pub ece: bool,
    /// RTT sample, if any.
    pub rtt: Option<Duration>,
    /// Smoothed RTT, once available.
    pub srtt: Option<Duration>,
    /// Cumulative ACK: everything below is acknowledged.
    pub una: Seq,
    /// One past the highest segment sent: end of the current RTT.
    pub max: Seq,
    /// `true`: the window limits sending, so that it may grow.
    pub limited: bool,
    /// `true`: data outstanding at the last RTO are not yet all acknowledged.
    pub after_timeout: bool,
    /// Timestamps, if the controller uses one-way delays.
    pub stamps: Option<Stamps>,
}

/// State of a subflow, for the congestion control of all subflows of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubflowState {
    /// Congestion window in bytes, without the inflation of fast recovery.
    pub cwnd: f64,
    /// Smoothed RTT, once available.
    pub srtt: Option<Duration>,
    /// Bytes acknowledged between losses, if congestion control counts them: the larger of the number since the last loss
    /// and the number between the last two.
    pub between_losses: f64,
}

/// Repair in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// None.
    #[default]
    Nothing,
    /// Losses reported by ACKs.
    Losses,
    /// An RTO.
    Timeout,
}

/// ACK event for congestion controls that use delivery rates.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryEvent {
    /// Current time.
    pub now: Time,
    /// Number of newly delivered segments.
    pub delivered: u32,
    /// Number of segments detected as lost.
    pub lost: u32,
    /// Number of segments in flight when the ACK arrived, as estimated by the sender.
    pub prior_in_flight: u32,
    /// Number of segments in flight after the ACK.
    pub in_flight: u32,
    /// Time until pacing allows the next segment. `None` with QUIC, whose implementations do not use it.
    pub wait: Option<Duration>,
    /// Repair in progress.
    pub repair: Repair,
    /// Latest RTT sample, if any.
    pub rtt: Option<Duration>,
    /// Smoothed RTT, once available.
    pub srtt: Option<Duration>,
    /// Delivery-rate sample, if any.
    pub sample: Option<RateSample>,
}
