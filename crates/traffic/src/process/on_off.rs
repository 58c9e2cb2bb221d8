//! On-off sources with heavy-tailed on and off times, sending at a constant rate while on.
//!
//! # Model
//! Aggregated traffic of many users with alternating activity, self-similar in the limit. On and off times are Pareto
//! with a = 3 - 2 H, P(T > t) = (b / t)^a above b = (a - 1) / a of the mean.
//!
//! # References
//! Taqqu, Willinger, Sherman, "Proof of a fundamental result in self-similar traffic modeling",
//! 1997. On and off times have a tail index a between 1 and 2. The sum over many sources, over long
//! times, is fractional Brownian motion with H = (3 - a) / 2.
//!
//! # Limitations
//! - H holds on time scales well above the mean on and off times; on shorter scales a source sends regularly.
//! - Packet intervals are constant in on time. The remainder of an interval carries over to the next on time, so the
//!   mean rate is exact.
//! - Sources start in steady state: on or off by the share of time, and within a period (equilibrium distribution of
//!   the residual).

use std::collections::BTreeSet;

use optcp_des::{
    Stream,
    variates::{pareto, unit, whole_ps},
};
use optcp_units::Duration;

use crate::PacketRate;

/// Process of superposed on-off sources.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// Interval between packets of a source that is on.
    spacing_ps: u64,
    times: Times,
    /// Next packet of each source, by time.
    pending: BTreeSet<(u64, u32)>,
    /// End of each source's on time.
    on_until_ps: Vec<u64>,
    stream: Stream,
}

/// Distributions of on and off times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    on_ps: f64,
    off_ps: f64,
    shape: f64,
}

impl Times {
    fn draw(self, mean_ps: f64, stream: &mut Stream) -> u64 {
        whole_ps(pareto(stream, mean_ps * (self.shape - 1.0) / self.shape, self.shape))
    }

    /// Draws the residual of a period at a random time; its density is P(T > t) / mean.
    fn residual(self, mean_ps: f64, stream: &mut Stream) -> u64 {
        let least = mean_ps * (self.shape - 1.0) / self.shape;
        // The part up to the minimum is uniform with weight least / mean; the rest has tail index a - 1.
        let residual = if unit(stream) <= least / mean_ps {
            least * unit(stream)
        } else {
            pareto(stream, least, self.shape - 1.0)
        };
        whole_ps(residual)
    }
}

impl OnOff {
    /// Creates `sources` sources with mean times `on` and `off` and the total rate `rate`, with a Hurst parameter in
    /// (0.5, 1).
    #[must_use]
    pub fn new(
        rate: PacketRate,
        sources: u32,
        [on, off]: [Duration; 2],
        hurst: f64,
        mut stream: Stream,
    ) -> Self {
        let [on_ps, off_ps] = [on, off].map(|mean| mean.as_ps() as f64);
        let times = Times { on_ps, off_ps, shape: 3.0 - 2.0 * hurst };
        let share = on_ps / (on_ps + off_ps);
        let spacing = rate.mean_interval_ps() * f64::from(sources) * share;
        let spacing_ps = whole_ps(spacing).max(1);
        let mut process = OnOff {
            spacing_ps,
            times,
            pending: BTreeSet::new(),
            on_until_ps: Vec::new(),
            stream: stream.clone(),
        };
        for source in 0..sources {
            let phase = stream.below(spacing_ps);
            let (next, until) = if unit(&mut stream) <= share {
                let until = times.residual(on_ps, &mut stream);
                if phase < until {
                    (phase, until)
                } else {
                    let off = times.draw(off_ps, &mut stream);
                    later(times, spacing_ps, until.saturating_add(off), phase - until, &mut stream)
                }
            } else {
                let off = times.residual(off_ps, &mut stream);
                later(times, spacing_ps, off, phase, &mut stream)
            };
            process.pending.insert((next, source));
            process.on_until_ps.push(until);
        }
        process.stream = stream;
        process
    }

    pub(super) fn next_arrival(&mut self) -> Duration {
        let Some((at, source)) = self.pending.pop_first() else {
            return Duration::from_ps(u64::MAX);
        };
        let until = &mut self.on_until_ps[source as usize];
        let mut next = at.saturating_add(self.spacing_ps);
        if next >= *until {
            let off = self.times.draw(self.times.off_ps, &mut self.stream);
            let on_at = until.saturating_add(off);
            (next, *until) =
                later(self.times, self.spacing_ps, on_at, next - *until, &mut self.stream);
        }
        self.pending.insert((next, source));
        Duration::from_ps(at)
    }
}

/// Returns the time at which a source sends its next packet, and the end of its on time then. The
/// source turns on at `on_at` and needs `wait` more on time.
fn later(
    times: Times,
    spacing_ps: u64,
    mut on_at: u64,
    mut wait: u64,
    stream: &mut Stream,
) -> (u64, u64) {
    debug_assert!(wait <= spacing_ps, "the remaining time is at most an interval");
    loop {
        let on = times.draw(times.on_ps, stream);
        let until = on_at.saturating_add(on);
        if wait < on || until == u64::MAX {
            return (on_at.saturating_add(wait), until);
        }
        wait -= on;
        on_at = until.saturating_add(times.draw(times.off_ps, stream));
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    #[test]
    fn on_and_off_times_have_expected_means() {
        let times = Times { on_ps: 1e9, off_ps: 3e9, shape: 1.9 };
        let mut stream = Streams::new(1).stream("on-off");
        let mut drawn: Vec<u64> = (0..100_001).map(|_| times.draw(1e9, &mut stream)).collect();
        drawn.sort_unstable();
        // The minimum is 9/19 of the mean, and the median is the minimum times 2^(1 / 1.9) = 1.4403: 0.68223. The
        // standard error of the median's rank is sqrt(n) / 2 = 158, in the tail 0.16 % of the median.
        let median = drawn[50_000] as f64 / 1e9;
        assert!((median - 0.682_23).abs() < 4.0 * 0.0012, "{median}");
        assert!(drawn[0] as f64 >= 1e9 * 9.0 / 19.0 - 1.0);
    }

    #[test]
    fn source_without_off_times_is_regular() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let spans = [Duration::from_ms(100), Duration::from_ps(1)];
        let mut process = OnOff::new(rate, 1, spans, 0.7, Streams::new(1).stream("on-off"));
        let arrivals: Vec<u64> = (0..1000).map(|_| process.next_arrival().as_ps()).collect();
        for pair in arrivals.windows(2) {
            // Off times average one picosecond.
            assert!((pair[1] - pair[0]).abs_diff(1_000_000_000) < 1000, "{pair:?}");
        }
    }

    #[test]
    fn mean_rate_is_exact() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let spans = [Duration::from_ms(10), Duration::from_ms(30)];
        let mut process = OnOff::new(rate, 64, spans, 0.6, Streams::new(5).stream("on-off"));
        let arrivals =
            (0..).take_while(|_| process.next_arrival() < Duration::from_secs(400)).count() as f64;
        // The on-time share of a source in 400 s varies: by the theorem, with a variance of about 1.4 % per thousand
        // packets. The tolerance of 3 % far exceeds random variation but detects errors in carrying over intervals.
        assert!((arrivals / 400_000.0 - 1.0).abs() < 0.03, "{arrivals}");
    }
}
