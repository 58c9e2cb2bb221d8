//! Short-term bounds of rate and flight, set by losses.
//!
//! # Model
//! After an RTT with losses and without bandwidth probing, rate and flight are bounded by the
//! delivery of that RTT. If 0.7 times the last bounds is larger, that is the bound. Bandwidth
//! probing removes the bounds.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 section 5.5.10.3.
//!
//! # Limitations
//! Counts whole segments, rounded down.

use super::{BETA, Bandwidth, seven_tenths};
use crate::delivery::RateSample;

/// State of the short-term bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShortTerm {
    /// `BBR.bw_shortterm`; `None` bounds nothing.
    pub(super) bandwidth: Option<Bandwidth>,
    /// `BBR.inflight_shortterm`, in segments.
    pub(super) in_flight: Option<u32>,
    /// The most of this RTT: `BBR.bw_latest` and `BBR.inflight_latest`.
    latest: Bandwidth,
    pub(super) latest_in_flight: u32,
    /// Segments delivered when the present RTT began.
    began: u64,
    /// `true`: the current ACK ends the round trip.
    pub(super) ends_round: bool,
    /// `true`: a loss occurred in it.
    pub(super) lost: bool,
}

impl ShortTerm {
    /// `UpdateLatestDeliverySignals`; `delivered` segments of the connection are now.
    pub(super) fn on_sample(&mut self, sample: &RateSample, bandwidth: Bandwidth, delivered: u64) {
        self.latest = self.latest.max(bandwidth);
        self.latest_in_flight = self.latest_in_flight.max(volume(sample));
        self.ends_round = sample.prior_delivered >= self.began;
        if self.ends_round {
            self.began = delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals`, at the end of an ACK.
    pub(super) fn end_ack(&mut self, sample: &RateSample, bandwidth: Bandwidth) {
        if self.ends_round {
            (self.latest, self.latest_in_flight) = (bandwidth, volume(sample));
        }
    }

    /// A loss: the first one of an RTT begins a new one, to see all that it delivers (`NoteLoss`).
    pub(super) fn on_loss(&mut self, delivered: u64) {
        if !self.lost {
            self.began = delivered;
        }
        self.lost = true;
    }

    /// An RTT with a loss is over (`InitLowerBounds`, `LossLowerBounds`).
    pub(super) fn bound(&mut self, max: Bandwidth, window: u32) {
        let bandwidth = self.bandwidth.unwrap_or(max).times(BETA);
        let in_flight = seven_tenths(self.in_flight.unwrap_or(window));
        self.bandwidth = Some(bandwidth.max(self.latest));
        self.in_flight = Some(in_flight.max(self.latest_in_flight));
    }

    /// `ResetCongestionSignals`.
    pub(super) fn forget_round(&mut self) {
        (self.lost, self.latest, self.latest_in_flight) = (false, Bandwidth::default(), 0);
    }

    /// `ResetShortTermModel`.
    pub(super) fn forget_bounds(&mut self) {
        (self.bandwidth, self.in_flight) = (None, None);
    }
}

fn volume(sample: &RateSample) -> u32 {
    u32::try_from(sample.delivered).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;
    use crate::seq::Seq;

    /// From 1000 segments per second and a window of 100: 0.7 of each. If an RTT of 100 ms delivers
    /// more, the bound is that delivery: 60 segments, or 600 per second.
    #[test]
    fn lossy_round_trip_leaves_seven_tenths_or_its_delivery() {
        let interval = Duration::from_ms(100);
        let of = |segments| Bandwidth::of(segments, interval);
        let mut short = ShortTerm::default();
        let sample = |delivered, prior_delivered| RateSample {
            delivered,
            interval,
            prior_delivered,
            limited: false,
            seq: Seq::ZERO,
        };
        short.on_loss(0);
        for (delivered, want) in [(50, (70, 70)), (60, (60, 60))] {
            short.on_sample(&sample(delivered, 0), of(delivered), 0);
            assert!(short.ends_round);
            short.bound(of(100), 100);
            short.end_ack(&sample(0, 0), Bandwidth::default());
            assert_eq!((short.bandwidth, short.in_flight), (Some(of(want.0)), Some(want.1)));
        }
        short.bound(of(100), 100);
        assert_eq!((short.bandwidth, short.in_flight), (Some(of(42)), Some(42)));
    }
}
