//! The RFC's estimator of the retransmission timeout.
//!
//! # Models
//! Smoothed round-trip time and its mean deviation, RTO = SRTT + max(G, 4 RTTVAR).
//! # Source
//! RFC 6298 section 2.
//! # Parameters
//! `tick`: clock granularity G; `initial_rto`: RTO before the first measurement.
//! # Limits
//! Measurements themselves are exact, in picoseconds; minimum, maximum and back-off are the timer's.

use optcp_units::Duration;

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Rfc6298 {
    granularity: Duration,
    initial_rto: Duration,
    /// (SRTT, RTTVAR) once there is a measurement.
    estimate: Option<(Duration, Duration)>,
}

impl Rfc6298 {
    pub(super) fn new(granularity: Duration, initial_rto: Duration) -> Self {
        Rfc6298 { granularity, initial_rto, estimate: None }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        let r = rtt.as_ps();
        self.estimate = Some(match self.estimate {
            // (2.2) the first measurement
            None => (rtt, Duration::from_ps(r / 2)),
            // (2.3) RTTVAR before SRTT, alpha = 1/8, beta = 1/4
            Some((srtt, rttvar)) => {
                let (srtt, rttvar) = (srtt.as_ps(), rttvar.as_ps());
                let rttvar = (3 * rttvar + srtt.abs_diff(r)) / 4;
                (Duration::from_ps((7 * srtt + r) / 8), Duration::from_ps(rttvar))
            }
        });
    }

    pub(super) fn rto(&self) -> Duration {
        match self.estimate {
            None => self.initial_rto,
            Some((srtt, rttvar)) => srtt + (rttvar * 4).max(self.granularity),
        }
    }
}
