//! INET's estimator of the retransmission timeout in 2011.
//!
//! # Models
//! Smoothed round-trip time and mean deviation with gain 1/8 for both, RTO = SRTT + 4 RTTVAR. SRTT
//! starts at zero and RTTVAR at a quarter of the initial timeout, so the first measurement is one like
//! any other and the timeout comes down from its initial value over some ten round trips.
//! # Source
//! Behaviour of INET 1.99; V. Jacobson, "Congestion Avoidance and Control", 1988; RFC 1122 section
//! 4.2.3.1 for the initial values.
//! # Parameters
//! `initial_rto`.
//! # Limits
//! Fractions of a picosecond are cut. Minimum, maximum and back-off are the timer's.

use optcp_units::Duration;

/// See the module's text.
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

    /// Worked by hand, for an initial timeout of 3 s and round trips of 100 ms.
    #[test]
    fn the_timeout_comes_down_from_its_initial_value() {
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
        // A round trip that falls short counts as much as one that is late: error 13.4375 ms,
        // SRTT 23.4375 - 13.4375 / 8 ms, RTTVAR (7 * 596.09375 + 13.4375) / 8 ms.
        inet.sample(Duration::from_ms(10));
        assert_eq!(inet.srtt, Duration::from_ps(21_757_812_500));
        assert_eq!(inet.rttvar, Duration::from_ps(523_261_718_750));
    }

    /// With equal round trips r, SRTT is r (1 - (7/8)^n): the closed form of the recursion.
    #[test]
    fn the_average_approaches_equal_round_trips_by_an_eighth_of_the_rest() {
        let mut inet = Inet::new(Duration::from_secs(3));
        let mut rest = 1.0;
        for _ in 0..60 {
            inet.sample(Duration::from_ms(80));
            rest *= 7.0 / 8.0;
            assert!((inet.srtt.as_secs_f64() - 0.08 * (1.0 - rest)).abs() < 1e-9);
        }
    }
}
