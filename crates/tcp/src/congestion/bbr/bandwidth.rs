//! Bandwidth estimate of BBR.
//!
//! # Model
//! Maximum delivery-rate sample of the last ten RTTs. RTTs are counted by packets: one ends when a segment is
//! acknowledged that was sent after the previous one ended. Samples that something other than the network
//! limited count only if they are at least the maximum. The pipe is full when the bandwidth has not grown by
//! a quarter for three RTTs.
//!
//! # References
//! draft-cardwell-iccrg-bbr-congestion-control-00 sections 4.1.1 and 4.3.2.2; behaviour of Linux 6.
//!
//! # Limitations
//! The maximum is exact; Linux keeps three candidates and may reduce it slightly early.

use std::collections::VecDeque;

use optcp_units::Duration;

use crate::delivery::RateSample;

/// RTTs for which a sample counts (BtlBwFilterLen).
const WINDOW: u64 = 10;
/// RTTs without growth that fill the pipe.
const FLAT_ROUNDS: u32 = 3;
/// Millionths of a segment a second, from segments a picosecond.
const SCALE: u128 = 1_000_000_000_000_000_000;

/// A factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::congestion) struct Gain(pub(in crate::congestion) u32, pub(in crate::congestion) u32);

impl Gain {
    pub(in crate::congestion) const ONE: Gain = Gain(1, 1);

    pub(super) fn is_above_one(self) -> bool {
        self.0 > self.1
    }
}

/// Millionths of a segment a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::congestion) struct Bandwidth(u64);

impl Bandwidth {
    /// `segments` in an interval that is not zero.
    pub(in crate::congestion) fn of(segments: u64, interval: Duration) -> Self {
        let rate = u128::from(segments) * SCALE / u128::from(interval.as_ps());
        Bandwidth(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// `gain` times the bandwidth, rounded down.
    pub(in crate::congestion) fn times(self, gain: Gain) -> Self {
        let rate = u128::from(self.0) * u128::from(gain.0) / u128::from(gain.1);
        Bandwidth(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// Returns whole segments in a span at `gain` times the bandwidth, rounded up.
    pub(in crate::congestion) fn segments_in(self, span: Duration, gain: Gain) -> u32 {
        let amount = u128::from(self.0) * u128::from(span.as_ps()) * u128::from(gain.0);
        let segments = amount.div_ceil(SCALE * u128::from(gain.1));
        u32::try_from(segments).unwrap_or(u32::MAX)
    }

    /// Returns whether it differs from `other` by at most an eighth, or by at most 500 bytes per second with the pacing
    /// margin (`bbr_lt_bw_ratio`, `bbr_lt_bw_diff`).
    pub(super) fn is_similar(self, other: Self, mss: f64) -> bool {
        const PACED_SHARE: f64 = 0.99;
        let difference = self.0.abs_diff(other.0);
        let bytes_per_second = difference as f64 / 1e6 * mss * PACED_SHARE;
        u128::from(difference) * 8 <= u128::from(other.0) || bytes_per_second < 501.0
    }

    /// Returns the mean of two bandwidths, rounded down.
    pub(super) fn mean(self, other: Self) -> Self {
        Bandwidth(self.0.midpoint(other.0))
    }

    /// Segments that a span has completed at the bandwidth.
    pub(in crate::congestion) fn completed_in(self, span: Duration) -> u64 {
        let segments = u128::from(self.0) * u128::from(span.as_ps()) / SCALE;
        u64::try_from(segments).unwrap_or(u64::MAX)
    }

    /// The time between segments at `gain` times the bandwidth, rounded up.
    pub(in crate::congestion) fn interval(self, gain: Gain) -> Duration {
        let rate = (u128::from(self.0) * u128::from(gain.0)).max(1);
        let interval = (SCALE * u128::from(gain.1)).div_ceil(rate);
        Duration::from_ps(u64::try_from(interval).unwrap_or(u64::MAX))
    }
}

/// RTTs counted by packets.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::congestion) struct Rounds {
    pub(in crate::congestion) count: u64,
    /// Segments delivered when the present one began.
    began: u64,
    /// `true`: the current ACK starts a round trip.
    pub(in crate::congestion) starts: bool,
}

impl Rounds {
    /// Begins a new RTT without counting one.
    pub(in crate::congestion) fn restart(&mut self, delivered: u64) {
        self.began = delivered;
    }

    /// Takes a sample; `delivered` segments of the connection are now.
    pub(in crate::congestion) fn on_sample(&mut self, sample: &RateSample, delivered: u64) {
        self.starts = sample.prior_delivered >= self.began;
        if self.starts {
            self.began = delivered;
            self.count += 1;
        }
    }
}

/// State of the bandwidth estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct BandwidthModel {
    pub(super) rounds: Rounds,
    /// RTTs and samples that may yet be the maximum: the former ascend, the latter descend.
    samples: VecDeque<(u64, Bandwidth)>,
    full: Bandwidth,
    flat: u32,
    filled: bool,
}

impl BandwidthModel {
    /// The maximum, once there is one.
    pub(super) fn max(&self) -> Bandwidth {
        self.samples.front().map_or(Bandwidth::default(), |&(_, bandwidth)| bandwidth)
    }

    /// Returns whether the pipe has been full.
    pub(super) fn filled_pipe(&self) -> bool {
        self.filled
    }

    /// The search for the full pipe begins anew, if it is not over.
    pub(super) fn search_again(&mut self) {
        (self.full, self.flat) = (Bandwidth::default(), 0);
    }

    /// Takes a sample; `delivered` segments of the connection are now.
    pub(super) fn on_sample(&mut self, sample: Option<&RateSample>, delivered: u64) {
        self.rounds.starts = false;
        let Some(sample) = sample else { return };
        self.rounds.on_sample(sample, delivered);
        let bandwidth = Bandwidth::of(sample.delivered, sample.interval);
        if !sample.limited || bandwidth >= self.max() {
            let now = self.rounds.count;
            while self.samples.back().is_some_and(|&(_, smaller)| smaller <= bandwidth) {
                self.samples.pop_back();
            }
            // A smaller one of the same RTT is forgotten together with the greater one.
            if self.samples.back().is_none_or(|&(round, _)| round != now) {
                self.samples.push_back((now, bandwidth));
            }
            while self.samples.front().is_some_and(|&(round, _)| now - round > WINDOW) {
                self.samples.pop_front();
            }
        }
    }

    /// Looks for growth once per RTT.
    pub(super) fn check_full_pipe(&mut self, limited: bool) {
        if self.filled || !self.rounds.starts || limited {
            return;
        }
        let max = self.max();
        if u128::from(max.0) * 4 >= u128::from(self.full.0) * 5 {
            (self.full, self.flat) = (max, 0);
        } else {
            self.flat += 1;
            self.filled = self.flat >= FLAT_ROUNDS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    /// One sample an RTT of 100 ms.
    fn rounds(model: &mut BandwidthModel, segments: &[u64]) {
        for &segments in segments {
            let prior_delivered = model.rounds.began;
            let sample = RateSample {
                delivered: segments,
                interval: Duration::from_ms(100),
                prior_delivered,
                limited: false,
                seq: Seq::ZERO,
            };
            model.on_sample(Some(&sample), prior_delivered + segments);
            model.check_full_pipe(false);
        }
    }

    fn per_round(segments: u64) -> Bandwidth {
        Bandwidth::of(segments, Duration::from_ms(100))
    }

    #[test]
    fn maximum_bandwidth_holds_for_ten_rtts() {
        let mut model = BandwidthModel::default();
        rounds(&mut model, &[50, 20, 40]);
        assert_eq!(model.max(), per_round(50));
        rounds(&mut model, &[30; 8]);
        assert_eq!(model.max(), per_round(50));
        rounds(&mut model, &[30]);
        assert_eq!(model.max(), per_round(40));
    }

    /// Doubling is growth, 24 % is not. The base is the bandwidth at the last growth.
    #[test]
    fn three_round_trips_without_growth_by_a_quarter_fill_the_pipe() {
        let mut model = BandwidthModel::default();
        rounds(&mut model, &[10, 20, 40, 49, 49]);
        assert!(!model.filled_pipe());
        rounds(&mut model, &[50, 62, 62]);
        assert!(!model.filled_pipe());
        rounds(&mut model, &[62]);
        assert!(model.filled_pipe());
    }

    /// 100 segments in 40 ms, 2500 a second: 1000 in 400 ms, one each 400 us, and 3 / 4 of that.
    #[test]
    fn bandwidths_become_segments_and_intervals() {
        let bandwidth = Bandwidth::of(100, Duration::from_ms(40));
        assert_eq!(bandwidth.segments_in(Duration::from_ms(400), Gain::ONE), 1000);
        assert_eq!(bandwidth.segments_in(Duration::from_ps(1), Gain::ONE), 1);
        assert_eq!(bandwidth.interval(Gain::ONE), Duration::from_us(400));
        assert_eq!(bandwidth.interval(Gain(3, 4)).as_ps(), 533_333_334);
    }
}
