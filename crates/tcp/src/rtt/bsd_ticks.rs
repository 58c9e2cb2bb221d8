//! RTT estimator of 4.3BSD with a coarse clock, as in ns-2.
//!
//! # Model
//! RTTs in ticks of a free-running clock, smoothed in fixed point (SRTT with 3, RTTVAR with 2 binary places).
//! After more than three backoffs, SRTT is moved into RTTVAR and cleared.
//!
//! # References
//! V. Jacobson, "Congestion Avoidance and Control", 1988, appendix A; behaviour of ns-2.
//!
//! # Parameters
//! `tick`, `initial_rto`. The clock phase is drawn per flow.
//!
//! # Limitations
//! The RTO is at least two ticks.

use optcp_units::{Duration, Time};

/// RTT estimator of 4.3BSD.
#[derive(Clone, Debug)]
pub struct BsdTicks {
    tick: Duration,
    phase: Duration,
    initial_rto: Duration,
    /// 8 x the smoothed RTT in ticks; 0 before the first sample.
    srtt: i64,
    /// 4 x the mean deviation in ticks.
    rttvar: i64,
    /// RTO in ticks, once measured. It stays when `srtt` is cleared.
    rto_ticks: Option<u64>,
}

const SRTT_BITS: u32 = 3;
const RTTVAR_BITS: u32 = 2;

impl BsdTicks {
    pub(super) fn new(tick: Duration, phase: Duration, initial_rto: Duration) -> Self {
        BsdTicks { tick, phase, initial_rto, srtt: 0, rttvar: 0, rto_ticks: None }
    }

    /// Takes a sample of the clock ticks between `sent` and `now`; at least one.
    pub(super) fn sample(&mut self, sent: Time, now: Time) {
        let ticks_at = |t: Time| (t.as_ps() + self.phase.as_ps()) / self.tick.as_ps();
        let ticks = i64::try_from(ticks_at(now) - ticks_at(sent)).unwrap_or(i64::MAX).max(1);
        if self.srtt == 0 {
            self.srtt = ticks << SRTT_BITS;
            self.rttvar = ticks << (RTTVAR_BITS - 1);
        } else {
            let error = ticks - (self.srtt >> SRTT_BITS);
            self.srtt = (self.srtt + error).max(1);
            self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> RTTVAR_BITS)).max(1);
        }
        // srtt + 4 deviations: rttvar contains the factor 4 as its two binary places.
        self.rto_ticks = Some((self.rttvar + (self.srtt >> SRTT_BITS)).unsigned_abs());
    }

    /// Records that the timer was backed off to 2^`backoff`.
    pub(super) fn on_back_off(&mut self, backoff: u32) {
        const FORGET_BEYOND: u32 = 3;
        if backoff > FORGET_BEYOND {
            self.rttvar += self.srtt >> SRTT_BITS;
            self.srtt = 0;
        }
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        let ticks = u64::try_from(self.srtt).ok().filter(|&srtt| srtt > 0)?;
        Some(Duration::from_ps((self.tick * ticks).as_ps() >> SRTT_BITS))
    }

    pub(super) fn rto(&self) -> Duration {
        match self.rto_ticks {
            None => self.initial_rto.max(self.tick * 2),
            Some(ticks) => self.tick * ticks.max(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand for a tick of 100 ms and RTTs of 130 ms.
    #[test]
    fn ticks_of_a_free_running_clock_are_counted() {
        let ms = |m: u64| Time::from_ps(m * 1_000_000_000);
        let mut e = BsdTicks::new(Duration::from_ms(100), Duration::ZERO, Duration::from_secs(6));
        assert_eq!(e.rto(), Duration::from_secs(6));
        // 10..140 ms: one tick passes. srtt = 8, rttvar = 2: RTO = 2 + 1 ticks.
        e.sample(ms(10), ms(140));
        assert_eq!(e.rto(), Duration::from_ms(300));
        // 80..210 ms: two ticks. Error 1: srtt = 9, rttvar = 2 + 1 - 0 = 3: RTO = 3 + 1.
        e.sample(ms(80), ms(210));
        assert_eq!(e.rto(), Duration::from_ms(400));
        // 200..290 ms: none, counted as one. Error 0: srtt = 9, rttvar = 3.
        e.sample(ms(200), ms(290));
        assert_eq!(e.rto(), Duration::from_ms(400));
    }
}
