//! Superposed fractal renewal processes.
//!
//! # Models
//! Self-similar traffic, one packet at a time: the generator of OPNET ("Sup-FRP") that the obs paper
//! used.
//! # Source
//! B. Ryu, S. Lowen, "Point process approaches to the modeling and analysis of self-similar traffic",
//! INFOCOM 1996, and "Fractal traffic models for Internet simulation", ISCC 2000.
//! # Parameters
//! M independent renewal processes, H, the mean rate of all together, and either M or the fractal onset
//! time scale T0; a stream. With g = 3 - 2 H (so 1 < g < 2) and a cut A, a time between two arrivals of
//! one process is longer than t with probability
//!
//! ```text
//! S(t) = exp(-g t / A)         up to A,
//! S(t) = exp(-g) (A / t)^g     beyond.
//! ```
//!
//! Its mean is the integral of S, mu = (A / g) (1 + exp(-g) / (g - 1)), and the mean rate M / mu. For a
//! stationary renewal process with tail S(t) = c t^-g the variance of the count in a time t is
//! rate t + 2 rate^3 c t^(3 - g) / ((g - 1) (2 - g) (3 - g)) asymptotically, with rate = 1 / mu and
//! c = exp(-g) A^g. So the index of dispersion is 1 + (t / T0)^(2 H - 1), the same for the sum, with
//!
//! ```text
//! (T0 / A)^(2 - g) = exp(g) (1 + exp(-g) / (g - 1))^2 (g - 1) (2 - g) (3 - g) / (2 g^2).
//! ```
//!
//! Given T0, M is the nearest whole number, at least 1, and A is then what keeps the rate exact, so that
//! the T0 in force ([`FractalRenewal::onset_of`]) may differ a little, and much where M would be below 1.
//! # Limits
//! Below T0 arrivals are about as bursty as Poisson ones; an estimate of H needs counts over slots that are
//! not small against it. Each process begins in its steady state: its first arrival has the equilibrium
//! distribution of what is left of a time. Times are rounded to the nearest picosecond.

use std::collections::BTreeSet;

use optcp_des::{
    Stream,
    variates::{pareto, unit, whole_ps},
};
use optcp_units::Duration;

use crate::PacketRate;

/// What fixes the time scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RenewalShape {
    /// The number of processes.
    Processes(u32),
    /// The fractal onset time scale: where the index of dispersion is 2.
    Onset(Duration),
}

/// See the text of the module.
#[derive(Clone, Debug, PartialEq)]
pub struct FractalRenewal {
    times: Times,
    /// The next arrival of each process, by instant.
    pending: BTreeSet<(u64, u32)>,
    stream: Stream,
}

/// The distribution of times between arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    /// g.
    index: f64,
    /// A.
    cut_ps: f64,
}

impl Times {
    /// mu / A.
    fn mean_over_cut(index: f64) -> f64 {
        (1.0 + libm::exp(-index) / (index - 1.0)) / index
    }

    /// T0 / A.
    fn onset_over_cut(index: f64) -> f64 {
        let mean = Times::mean_over_cut(index);
        let products = (index - 1.0) * (2.0 - index) * (3.0 - index);
        libm::pow(libm::exp(index) * mean * mean * products / 2.0, 1.0 / (2.0 - index))
    }

    fn draw(self, stream: &mut Stream) -> u64 {
        let survival = unit(stream);
        let time = if survival >= libm::exp(-self.index) {
            -self.cut_ps / self.index * libm::log(survival)
        } else {
            self.cut_ps * libm::exp(-1.0) * libm::pow(survival, -1.0 / self.index)
        };
        whole_ps(time)
    }

    /// What is left of a time that is under way at a random instant: its density is S(t) / mu.
    fn rest(self, stream: &mut Stream) -> u64 {
        let kept = 1.0 - libm::exp(-self.index);
        let body = kept / self.index / Times::mean_over_cut(self.index);
        let time = if unit(stream) <= body {
            // Exponential, given that it is below the cut.
            -self.cut_ps / self.index * libm::log1p(-unit(stream) * kept)
        } else {
            pareto(stream, self.cut_ps, self.index - 1.0)
        };
        whole_ps(time)
    }
}

impl FractalRenewal {
    /// Arrivals at `rate` with a Hurst parameter between 0.5 and 1.
    #[must_use]
    pub fn new(rate: PacketRate, hurst: f64, shape: RenewalShape, mut stream: Stream) -> Self {
        let index = 3.0 - 2.0 * hurst;
        let mean_over_cut = Times::mean_over_cut(index);
        let processes = FractalRenewal::superposed(rate, hurst, shape);
        let cut_ps = f64::from(processes) * rate.mean_interval_ps() / mean_over_cut;
        let times = Times { index, cut_ps };
        let pending = (0..processes).map(|process| (times.rest(&mut stream), process)).collect();
        FractalRenewal { times, pending, stream }
    }

    /// How many processes it takes; one at least.
    #[must_use]
    pub fn superposed(rate: PacketRate, hurst: f64, shape: RenewalShape) -> u32 {
        let index = 3.0 - 2.0 * hurst;
        match shape {
            RenewalShape::Processes(processes) => processes.max(1),
            RenewalShape::Onset(onset) => {
                let cut_ps = onset.as_ps() as f64 / Times::onset_over_cut(index);
                let mean_ps = cut_ps * Times::mean_over_cut(index);
                #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
                let wanted = libm::round(mean_ps / rate.mean_interval_ps()) as u32;
                wanted.max(1)
            }
        }
    }

    /// The fractal onset time scale T0 of so many processes.
    #[must_use]
    pub fn onset_of(rate: PacketRate, hurst: f64, superposed: u32) -> Duration {
        let index = 3.0 - 2.0 * hurst;
        let mean_ps = f64::from(superposed) * rate.mean_interval_ps();
        let cut_ps = mean_ps / Times::mean_over_cut(index);
        Duration::from_ps(whole_ps(Times::onset_over_cut(index) * cut_ps))
    }

    pub(super) fn next_arrival(&mut self) -> Duration {
        let Some((at, process)) = self.pending.pop_first() else {
            return Duration::from_ps(u64::MAX);
        };
        let next = at.saturating_add(self.times.draw(&mut self.stream));
        self.pending.insert((next, process));
        Duration::from_ps(at)
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    /// The mean and the onset by the formulas of the module's text for g = 1.6, worked by hand:
    /// exp(-1.6) = 0.201897; mu / A = (1 + 0.201897 / 0.6) / 1.6 = 0.835309;
    /// (T0 / A)^0.4 = 4.953032 x 0.697742 x 0.6 x 0.4 x 1.4 / 2 = 0.580597, so T0 / A = 0.256854.
    #[test]
    fn mean_and_onset_are_those_of_the_formulas() {
        assert!((Times::mean_over_cut(1.6) - 0.835_309).abs() < 1e-5);
        assert!(
            (Times::onset_over_cut(1.6) - 0.256_854).abs() < 1e-4,
            "{}",
            Times::onset_over_cut(1.6)
        );
    }

    #[test]
    fn times_have_the_survival_function() {
        let times = Times { index: 1.6, cut_ps: 1e9 };
        let mut stream = Streams::new(1).stream("renewal");
        let n = 200_000;
        let drawn: Vec<f64> = (0..n).map(|_| times.draw(&mut stream) as f64 / 1e9).collect();
        for t in [0.1_f64, 0.5, 1.0, 2.0, 10.0] {
            let expected: f64 =
                if t <= 1.0 { (-1.6 * t).exp() } else { (-1.6_f64).exp() * t.powf(-1.6) };
            let found = drawn.iter().filter(|&&x| x > t).count() as f64 / f64::from(n);
            let error = (expected * (1.0 - expected) / f64::from(n)).sqrt();
            assert!((found - expected).abs() < 4.5 * error, "{t}: {found} for {expected}");
        }
    }

    #[test]
    fn the_onset_asked_for_is_met_to_within_a_process() {
        let rate = PacketRate::new(900, 1_000_000_000_000).expect("a rate above zero");
        let wanted = RenewalShape::Onset(Duration::from_ms(100));
        let superposed = FractalRenewal::superposed(rate, 0.7, wanted);
        // mu = 100 ms x 0.835309 / 0.256854 = 325.2 ms: 292.7 processes at 900 a second.
        assert_eq!(superposed, 293);
        assert!(
            FractalRenewal::onset_of(rate, 0.7, superposed).as_ps().abs_diff(100_000_000_000)
                < 200_000_000
        );
    }

    /// Every process starts in its steady state: as many arrivals in the first second as in any other.
    #[test]
    fn it_begins_in_its_steady_state() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let (runs, mut first) = (400_u32, 0);
        for seed in 0..runs {
            let stream = Streams::new(u64::from(seed)).stream("renewal");
            let shape = RenewalShape::Processes(300);
            let mut process = FractalRenewal::new(rate, 0.7, shape, stream);
            first += (0..).take_while(|_| process.next_arrival() < Duration::from_ms(100)).count();
        }
        // 100 on average; its variance at 100 ms is 100 (1 + (t / T0)^0.4), where mu is 300 ms and T0 is
        // 92.2 ms: a deviation of 14.2, and 0.71 for the mean of 400.
        let mean = first as f64 / f64::from(runs);
        assert!((mean - 100.0).abs() < 4.0 * 0.71, "{mean}");
    }
}
