//! RTT estimator of Linux.
//!
//! # Model
//! Smoothed RTT with gain 1/8. The mean deviation has gain 1/4. A sample that falls short by more
//! than the deviation has gain 1/32, so that a shorter path does not increase the RTO. The RTO adds
//! the maximum of four times the mean deviation within the last RTT, at least `min_rto` and one
//! tick. This addition increases immediately and decreases by a quarter of the difference per RTT.
//! On a steady path the RTO is SRTT + `min_rto`.
//!
//! # References
//! Behaviour of Linux 6.
//!
//! # Parameters
//! `initial_rto`, `min_rto`, `tick`.
//!
//! # Limitations
//! Samples are in picoseconds, where Linux has microseconds. `expiry = "timer-wheel"` rounds the RTO up to ticks.

use optcp_units::Duration;

use super::Span;
use crate::seq::Seq;

/// RTT estimator of Linux.
#[derive(Clone, Debug)]
pub struct Linux {
    initial_rto: Duration,
    floor: u64,
    estimate: Option<Estimate>,
}

/// Estimate in picoseconds; deviations are four times the mean deviation.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: u64,
    deviation: u64,
    /// Maximum deviation of the current round trip, at least the floor.
    greatest: u64,
    /// Amount added to SRTT for the RTO.
    variance: u64,
    /// The current round trip ends with an ACK beyond this segment.
    end: Seq,
}

impl Linux {
    pub(super) fn new(initial_rto: Duration, floor: Duration) -> Self {
        Linux { initial_rto, floor: floor.as_ps(), estimate: None }
    }

    pub(super) fn sample(&mut self, rtt: Duration, span: Span) {
        let rtt = rtt.as_ps();
        let Some(estimate) = &mut self.estimate else {
            let deviation = 2 * rtt;
            let variance = deviation.max(self.floor);
            let (greatest, end) = (variance, span.max);
            self.estimate = Some(Estimate { srtt: rtt, deviation, greatest, variance, end });
            return;
        };
        let error = estimate.srtt.abs_diff(rtt);
        let mean = estimate.deviation / 4;
        if error < mean {
            estimate.deviation -= mean - error;
        } else if rtt < estimate.srtt {
            estimate.deviation += (error - mean) / 8;
        } else {
            estimate.deviation += error - mean;
        }
        estimate.srtt = (7 * estimate.srtt + rtt) / 8;
        estimate.greatest = estimate.greatest.max(estimate.deviation);
        estimate.variance = estimate.variance.max(estimate.greatest);
        if span.una > estimate.end {
            estimate.variance -= (estimate.variance - estimate.greatest) / 4;
            estimate.end = span.max;
            estimate.greatest = self.floor;
        }
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|estimate| Duration::from_ps(estimate.srtt))
    }

    pub(super) fn rto(&self) -> Duration {
        self.estimate.map_or(self.initial_rto, |estimate| {
            Duration::from_ps(estimate.srtt.saturating_add(estimate.variance))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand, in milliseconds: SRTT, four deviations, added amount. Every sample ends a round trip
    /// here.
    ///
    /// Round trips of ten segments, starting with the one whose ACK covers `una`.
    fn spans(una: u32) -> impl Iterator<Item = Span> {
        let una = (una..).step_by(10).map(Seq::new);
        una.map(|una| Span { una, max: una + 9 })
    }

    #[test]
    fn steady_rto_is_srtt_plus_minimum() {
        let mut linux = Linux::new(Duration::from_secs(1), Duration::from_ms(200));
        assert_eq!(linux.rto(), Duration::from_secs(1));
        for (span, (rtt_ms, rto_us)) in spans(1).zip([
            // 400; 800; 800.
            (400, 1_200_000),
            // Error 0: 800 - 200 = 600. The maximum so far was 800.
            (400, 1_200_000),
            // 450; 800 - (800 - 450) / 4.
            (400, 1_112_500),
            // Error 400: SRTT 450; 450 - 112.5 + 400 = 737.5, more than 712.5.
            (800, 1_187_500),
        ]) {
            linux.sample(Duration::from_ms(rtt_ms), span);
            assert_eq!(linux.rto(), Duration::from_us(rto_us), "{span:?}");
        }
        for span in spans(100).take(200) {
            linux.sample(Duration::from_ms(50), span);
        }
        let over = linux.rto().as_ps().abs_diff(Duration::from_ms(250).as_ps());
        assert!(over < Duration::from_us(1).as_ps(), "{}", linux.rto());
    }

    /// First 100 ms and four deviations of 200 ms, then 20 ms. The error of 80 ms exceeds the mean
    /// deviation of 50 ms by 30 ms, and counts for an eighth.
    #[test]
    fn shorter_rtt_barely_increases_deviation() {
        let mut linux = Linux::new(Duration::from_secs(1), Duration::ZERO);
        for rtt_ms in [100, 20] {
            linux.sample(Duration::from_ms(rtt_ms), Span { una: Seq::ZERO, max: Seq::new(10) });
        }
        assert_eq!(linux.srtt(), Some(Duration::from_ms(90)));
        assert_eq!(linux.rto(), Duration::from_us(90_000 + 203_750));
    }
}
