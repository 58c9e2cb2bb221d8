//! Sources that send at a constant rate for a time and are silent for a time, both heavy-tailed.
//!
//! # Models
//! Aggregated traffic of many users, each of whom is active in turns; self-similar in the limit.
//! # Source
//! Taqqu, Willinger, Sherman, "Proof of a fundamental result in self-similar traffic modeling", 1997:
//! with on and off times that have tails of index a between 1 and 2, the sum over many sources, over long
//! times, is fractional Brownian motion with H = (3 - a) / 2.
//! # Parameters
//! The number of sources, the mean rate of all together, the mean on and off times, H; a stream. On and
//! off times are both Pareto with a = 3 - 2 H, P(T > t) = (b / t)^a above b = (a - 1) / a of the mean.
//! # Limits
//! H holds on time scales well above the mean on and off times; below, a source that is on is even. A
//! source sends at the same distance in on time throughout, what is left over from one on time being
//! carried to the next, so the mean rate is exact. It begins in its steady state: on or off by its share of
//! the time, and inside a time that is under way (the equilibrium distribution of what is left of it).

use std::collections::BTreeSet;

use optcp_des::{
    Stream,
    variates::{pareto, unit, whole_ps},
};
use optcp_units::Duration;

use crate::PacketRate;

/// See the text of the module.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// Between packets of a source that is on.
    spacing_ps: u64,
    times: Times,
    /// The next packet of each source, by instant.
    pending: BTreeSet<(u64, u32)>,
    /// When each source's on time ends.
    on_until_ps: Vec<u64>,
    stream: Stream,
}

/// The distributions of on and off times.
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

    /// What is left of a time that is under way at a random instant: its density is P(T > t) / mean.
    fn rest(self, mean_ps: f64, stream: &mut Stream) -> u64 {
        let least = mean_ps * (self.shape - 1.0) / self.shape;
        // Up to the least time lies least / mean of it, evenly; the rest has a tail of index a - 1.
        let rest = if unit(stream) <= least / mean_ps {
            least * unit(stream)
        } else {
            pareto(stream, least, self.shape - 1.0)
        };
        whole_ps(rest)
    }
}

impl OnOff {
    /// `sources` sources with mean times `on` and `off`, sending at `rate` together, with a Hurst
    /// parameter between 0.5 and 1.
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
                let until = times.rest(on_ps, &mut stream);
                if phase < until {
                    (phase, until)
                } else {
                    let off = times.draw(off_ps, &mut stream);
                    later(times, spacing_ps, until.saturating_add(off), phase - until, &mut stream)
                }
            } else {
                let off = times.rest(off_ps, &mut stream);
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

/// A source comes on at `on_at` and sends after `wait` more of on time: when that is, and when it goes
/// off then.
fn later(
    times: Times,
    spacing_ps: u64,
    mut on_at: u64,
    mut wait: u64,
    stream: &mut Stream,
) -> (u64, u64) {
    debug_assert!(wait <= spacing_ps, "what is left is less than a distance");
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
    fn times_have_their_means() {
        let times = Times { on_ps: 1e9, off_ps: 3e9, shape: 1.9 };
        let mut stream = Streams::new(1).stream("on-off");
        let mut drawn: Vec<u64> = (0..100_001).map(|_| times.draw(1e9, &mut stream)).collect();
        drawn.sort_unstable();
        // The least is 9/19 of the mean, the median that times 2^(1 / 1.9) = 1.4403: 0.68223. The
        // standard error of the median's rank is sqrt(n) / 2 = 158, of the tail 0.16 % of the median.
        let median = drawn[50_000] as f64 / 1e9;
        assert!((median - 0.682_23).abs() < 4.0 * 0.0012, "{median}");
        assert!(drawn[0] as f64 >= 1e9 * 9.0 / 19.0 - 1.0);
    }

    #[test]
    fn a_source_without_silence_is_even() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let spans = [Duration::from_ms(100), Duration::from_ps(1)];
        let mut process = OnOff::new(rate, 1, spans, 0.7, Streams::new(1).stream("on-off"));
        let arrivals: Vec<u64> = (0..1000).map(|_| process.next_arrival().as_ps()).collect();
        for pair in arrivals.windows(2) {
            // A silence of a picosecond on average, now and then.
            assert!((pair[1] - pair[0]).abs_diff(1_000_000_000) < 1000, "{pair:?}");
        }
    }

    #[test]
    fn the_mean_rate_is_kept() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let spans = [Duration::from_ms(10), Duration::from_ms(30)];
        let mut process = OnOff::new(rate, 64, spans, 0.6, Streams::new(5).stream("on-off"));
        let arrivals =
            (0..).take_while(|_| process.next_arrival() < Duration::from_secs(400)).count() as f64;
        // A source's share of the time on in 400 s varies: by the theorem's variance of about 1.4 % a
        // thousand packets. Within 3 % is far beyond what chance does here and below what a slip in the
        // carrying over of distances does.
        assert!((arrivals / 400_000.0 - 1.0).abs() < 0.03, "{arrivals}");
    }
}
