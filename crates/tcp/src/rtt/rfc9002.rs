//! RTT estimator of QUIC.
//!
//! # Model
//! Smoothed RTT and mean deviation. The receiver reports by how long it delayed an ACK, and a sample is without this delay
//! unless it would fall below the minimum RTT. Timeout = SRTT + max(4 RTTVAR, G).
//!
//! # References
//! RFC 9002 sections 5.2, 5.3 and 6.2.1.
//!
//! # Parameters
//! `tick`: kGranularity; `initial_rto`: timeout before the first sample, three times kInitialRtt; `ack_delay`: maximum
//! delay that counts.
//!
//! # Limitations
//! The minimum RTT covers the whole connection. Delays during the handshake count like later ones.

use optcp_units::Duration;

use super::rfc6298::average;

/// RTT estimator of RFC 9002.
#[derive(Clone, Debug)]
pub struct Rfc9002 {
    granularity: Duration,
    initial_rto: Duration,
    max_delay: Duration,
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Estimate {
    min: Duration,
    smoothed: Duration,
    variation: Duration,
}

impl Rfc9002 {
    pub(super) fn new(granularity: Duration, initial_rto: Duration, max_delay: Duration) -> Self {
        Rfc9002 { granularity, initial_rto, max_delay, estimate: None }
    }

    /// Takes a sample from an ACK that the receiver delayed by `delay`.
    pub(super) fn sample(&mut self, rtt: Duration, delay: Duration) {
        self.estimate = Some(match self.estimate {
            None => {
                Estimate { min: rtt, smoothed: rtt, variation: Duration::from_ps(rtt.as_ps() / 2) }
            }
            Some(Estimate { min, smoothed, variation }) => {
                let min = min.min(rtt);
                let delay = delay.min(self.max_delay);
                let adjusted = if rtt >= min + delay { rtt - delay } else { rtt };
                let (mean, sample) = (smoothed.as_ps(), adjusted.as_ps());
                Estimate {
                    min,
                    smoothed: Duration::from_ps(average(mean, sample, 8)),
                    variation: Duration::from_ps(average(
                        variation.as_ps(),
                        mean.abs_diff(sample),
                        4,
                    )),
                }
            }
        });
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|estimate| estimate.smoothed)
    }

    pub(super) fn rto(&self) -> Duration {
        self.estimate.map_or(self.initial_rto, |estimate| {
            estimate.smoothed + (estimate.variation * 4).max(self.granularity)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(microseconds: u64) -> Duration {
        Duration::from_us(microseconds)
    }

    /// Computed by hand from RFC 9002 section 5.3, with a granularity of 1 ms and at most 25 ms of delay.
    #[test]
    fn samples_are_without_the_delay_of_the_receiver() {
        let mut rtt = Rfc9002::new(us(1000), us(999_000), us(25_000));
        assert_eq!(rtt.rto(), us(999_000));
        // The first sample ignores the delay: 100 ms, variation 50 ms.
        rtt.sample(us(100_000), us(20_000));
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(us(100_000)), us(300_000)));
        // 124 - 20 ms: variation (3 * 50 + 4) / 4 = 38.5 ms, mean (7 * 100 + 104) / 8 = 100.5 ms.
        rtt.sample(us(124_000), us(20_000));
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(us(100_500)), us(254_500)));
        // Without its delay, the sample would be below the minimum: 108 ms.
        // Variation (3 * 38.5 + 7.5) / 4 = 30.75 ms, mean (7 * 100.5 + 108) / 8 = 101.4375 ms.
        rtt.sample(us(108_000), us(20_000));
        assert_eq!(rtt.rto(), Duration::from_ps(101_437_500_000) + us(123_000));
        // At most 25 ms of delay count: 140 - 25 ms.
        rtt.sample(us(140_000), us(90_000));
        assert_eq!(
            rtt.srtt(),
            Some(Duration::from_ps((7 * 101_437_500_000 + 115_000_000_000) / 8))
        );
    }

    /// With a constant RTT, the variation vanishes and the granularity counts.
    #[test]
    fn timeout_is_at_least_the_granularity_above_the_mean() {
        let mut rtt = Rfc9002::new(us(1000), us(999_000), us(25_000));
        (0..60).for_each(|_| rtt.sample(us(100_000), us(0)));
        assert_eq!(rtt.rto(), us(101_000));
    }
}
