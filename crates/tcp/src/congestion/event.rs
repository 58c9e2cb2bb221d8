//! What congestion control is told.

use optcp_units::{Duration, Time};

use crate::delivery::RateSample;
use crate::seq::Seq;

/// What the timestamps of an ACK say, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// The sender's clock now.
    pub now: u32,
    /// And when the segment was sent that the ACK answers.
    pub echo: u32,
    /// From then until the ACK was sent, if both clocks show the same time.
    pub one_way: u32,
}

/// What an ACK tells congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent {
    /// The present.
    pub now: Time,
    /// Segments that it acknowledges cumulatively for the first time.
    pub acked: u32,
    /// Segments of which no ACK had told before, be it cumulatively or by SACK.
    pub delivered: u32,
    /// How many of these it reports to have been marked.
    pub marked: u32,
    /// Whether its flag ECE is set, whatever was agreed upon about marks.
    pub ece: bool,
    /// The round trip that it measures, if it does.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, once there is one.
    pub srtt: Option<Duration>,
    /// Everything below is acknowledged now.
    pub una: Seq,
    /// One past the highest segment sent: where the present round trip ends.
    pub max: Seq,
    /// Whether the window limits what is sent, so that it may grow.
    pub limited: bool,
    /// Whether something is not acknowledged yet that was outstanding at the last timeout.
    pub after_timeout: bool,
    /// What timestamps say, where it asks for one-way delays.
    pub stamps: Option<Stamps>,
}

/// What the sender is repairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    #[default]
    Nothing,
    /// Losses that ACKs revealed.
    Losses,
    /// A timeout.
    Timeout,
}

/// What an ACK tells congestion control that asked for delivery rates.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryEvent {
    /// The present.
    pub now: Time,
    /// Segments delivered that no ACK had told of before.
    pub delivered: u32,
    /// Segments found lost.
    pub lost: u32,
    /// Segments that the network carried before the ACK, as far as the sender knew.
    pub prior_in_flight: u32,
    /// And after it.
    pub in_flight: u32,
    /// What the sender is repairing now.
    pub repair: Repair,
    /// The latest round trip that it measures, if it does.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, once there is one.
    pub srtt: Option<Duration>,
    /// The rate of delivery that it measures, if it does.
    pub sample: Option<RateSample>,
}
