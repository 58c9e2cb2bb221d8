//! RTT estimator of INET in 2011.
//!
//! # Model
//! Smoothed RTT and mean deviation with gain 1/8 for both; RTO = SRTT + 4 RTTVAR. SRTT starts at zero and
//! RTTVAR at a quarter of the initial RTO. The first sample is treated like all others, so that the RTO
//! decreases from its initial value over about ten RTTs.
//!
//! # References
//! Behaviour of INET 1.99; V. Jacobson, "Congestion Avoidance and Control", 1988; RFC 1122 section 4.2.3.1
//! for the initial values.
//!
//! # Parameters
//! `initial_rto`.
//!
//! # Limitations
//! Fractions of a picosecond are truncated. Minimum, maximum and backoff belong to the timer.

use optcp_units::Duration;

/// RTT estimator of INET in 2011.
#[derive(Clone, Debug)]
pub struct Inet {
    srtt: Duration,
    rttvar: Duration,
}

impl Inet {
    pub(super) fn new(initial_rto: Duration) -> Self {
        Inet { srtt: Duration::ZERO, rttvar: Duration::from_ps(initial_rto.as_ps() / 4) }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        let error = self.srtt.as_ps().abs_diff(rtt.as_ps());
        self.srtt = Duration::from_ps((7 * self.srtt.as_ps() + rtt.as_ps()) / 8);
        self.rttvar = Duration::from_ps((7 * self.rttvar.as_ps() + error) / 8);
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        (self.srtt > Duration::ZERO).then_some(self.srtt)
    }

    pub(super) fn rto(&self) -> Duration {
        self.srtt + self.rttvar * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand for an initial RTO of 3 s and RTTs of 100 ms.
    #[test]
    fn rto_decreases_from_its_initial_value() {
        let mut inet = Inet::new(Duration::from_secs(3));
        // SRTT 0, RTTVAR 750 ms.
        assert_eq!(inet.rto(), Duration::from_secs(3));
        for (srtt_ns, rttvar_ns, rto_ns) in [
            // Error 100 ms: 100 / 8; (7 * 750 + 100) / 8; 12.5 + 4 * 668.75.
            (12_500_000, 668_750_000, 2_687_500_000),
            // Error 87.5 ms: 12.5 + 87.5 / 8; (7 * 668.75 + 87.5) / 8.
            (23_437_500, 596_093_750, 2_407_812_500),
        ] {
            inet.sample(Duration::from_ms(100));
            assert_eq!(inet.srtt, Duration::from_ps(srtt_ns * 1000));
            assert_eq!(inet.rttvar, Duration::from_ps(rttvar_ns * 1000));
            assert_eq!(inet.rto(), Duration::from_ps(rto_ns * 1000));
        }
        // A shorter RTT counts as much as a longer one: error 13.4375 ms, SRTT 23.4375 - 13.4375 / 8 ms,
        // RTTVAR (7 * 596.09375 + 13.4375) / 8 ms.
        inet.sample(Duration::from_ms(10));
        assert_eq!(inet.srtt, Duration::from_ps(21_757_812_500));
        assert_eq!(inet.rttvar, Duration::from_ps(523_261_718_750));
    }

    /// With constant RTT r, SRTT is r (1 - (7/8)^n): the closed form of the recursion.
    #[test]
    fn srtt_converges_with_gain_one_eighth() {
        let mut inet = Inet::new(Duration::from_secs(3));
        let mut rest = 1.0;
        for _ in 0..60 {
            inet.sample(Duration::from_ms(80));
            rest *= 7.0 / 8.0;
            assert!((inet.srtt.as_secs_f64() - 0.08 * (1.0 - rest)).abs() < 1e-9);
        }
    }
}
