//! RTT estimator of RFC 6298.
//!
//! # Model
//! Smoothed RTT and mean deviation; RTO = SRTT + max(G, 4 RTTVAR).
//!
//! # References
//! RFC 6298 section 2.
//!
//! # Parameters
//! `tick`: clock granularity G; `initial_rto`: RTO before the first sample.
//!
//! # Limitations
//! Samples are exact, in picoseconds. Minimum, maximum and backoff belong to the timer.

use optcp_units::Duration;

/// RTT estimator of RFC 6298.
#[derive(Clone, Debug)]
pub struct Rfc6298 {
    granularity: Duration,
    initial_rto: Duration,
    /// (SRTT, RTTVAR), once there is a sample.
    estimate: Option<(Duration, Duration)>,
}

impl Rfc6298 {
    pub(super) fn new(granularity: Duration, initial_rto: Duration) -> Self {
        Rfc6298 { granularity, initial_rto, estimate: None }
    }

    /// Takes a sample, one of `expected` in the same window. Its weights are divided by that number
    /// (RFC 7323 appendix G; 1 is RFC 6298 itself).
    pub(super) fn sample(&mut self, rtt: Duration, expected: u32) {
        let r = rtt.as_ps();
        let n = u64::from(expected);
        self.estimate = Some(match self.estimate {
            // (2.2) the first measurement
            None => (rtt, Duration::from_ps(r / 2)),
            // (2.3) RTTVAR before SRTT, alpha = 1/8, beta = 1/4
            Some((srtt, rttvar)) => {
                let (srtt, rttvar) = (srtt.as_ps(), rttvar.as_ps());
                let rttvar = average(rttvar, srtt.abs_diff(r), 4 * n);
                let srtt = average(srtt, r, 8 * n);
                (Duration::from_ps(srtt), Duration::from_ps(rttvar))
            }
        });
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|(srtt, _)| srtt)
    }

    pub(super) fn rto(&self) -> Duration {
        match self.estimate {
            None => self.initial_rto,
            Some((srtt, rttvar)) => srtt + (rttvar * 4).max(self.granularity),
        }
    }
}

/// Returns `old` with a weight of one in `parts` for `new`, without overflow.
pub(super) fn average(old: u64, new: u64, parts: u64) -> u64 {
    let sum = u128::from(old) * u128::from(parts - 1) + u128::from(new);
    u64::try_from(sum / u128::from(parts)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use optcp_units::Time;

    use super::super::{Estimator, RetransmissionTimer, Span};
    use super::*;
    use crate::profile::Profile;
    use crate::seq::Seq;

    fn column(value: &serde_json::Value) -> f64 {
        value.as_f64().unwrap()
    }

    fn close(got: Duration, want: f64) -> bool {
        // The vectors are rounded to six places.
        (got.as_secs_f64() - want).abs() <= 1e-6
    }

    /// Computed from the text of RFC 6298 outside this code: tests/reference/tcp/analytic.json.
    #[test]
    fn rfc_vectors_are_reproduced() {
        let text = include_str!("../../../../tests/reference/tcp/analytic.json");
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        let vectors = &file["rfc6298"];
        for (name, min_rto) in [("steady", 1000), ("long", 1000), ("min02", 200)] {
            let mut config = Profile::Rfc.config();
            config.min_rto = Duration::from_ms(min_rto);
            let mut timer = RetransmissionTimer::new(&config, Duration::ZERO);
            let mut now = Time::ZERO;
            for (seq, row) in (0..).zip(vectors[name].as_array().unwrap()) {
                timer.time(Seq::new(seq), now);
                now = now + Duration::from_secs_f64(column(&row[0])).unwrap();
                let behind = Seq::new(seq + 1);
                timer.measure(Span { una: behind, max: behind }, now);
                let Estimator::Rfc6298(estimator) = &timer.estimator else { unreachable!() };
                let (srtt, rttvar) = estimator.estimate.unwrap();
                let got = (srtt, rttvar, timer.rto());
                let [want_srtt, want_rttvar, want_rto] = [1, 2, 3].map(|i| column(&row[i]));
                let same = close(srtt, want_srtt)
                    && close(rttvar, want_rttvar)
                    && close(timer.rto(), want_rto);
                assert!(same, "{name} {seq}: {got:?}, expected {row}");
            }
        }
        let mut timer = RetransmissionTimer::new(&Profile::Rfc.config(), Duration::ZERO);
        for want in vectors["backoff"].as_array().unwrap() {
            assert!(close(timer.rto(), column(want)), "{:?}, expected {want} s", timer.rto());
            timer.back_off();
        }
    }
}
