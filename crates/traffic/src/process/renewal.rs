//! Superposed fractal renewal processes.
//!
//! # Model
//! Self-similar traffic with individual packets: OPNET's generator ("Sup-FRP"), which the obs paper used.
//!
//! M independent renewal processes have Hurst parameter H and a total mean rate; either M or the fractal onset time
//! scale T0 is given. With g = 3 - 2 H (so 1 < g < 2) and a cut A, an inter-arrival time of one process exceeds t with
//! probability
//!
//! ```text
//! S(t) = exp(-g t / A)         up to A,
//! S(t) = exp(-g) (A / t)^g     beyond.
//! ```
//!
//! The mean is the integral of S, mu = (A / g) (1 + exp(-g) / (g - 1)), and the mean rate is M /
//! mu. Consider a stationary renewal process with tail S(t) = c t^-g. The variance of the count in
//! a time t is asymptotically `rate t + 2 rate^3 c t^(3 - g) / ((g - 1) (2 - g) (3 - g))`, with
//! rate = 1 / mu and c = exp(-g) A^g. The index of dispersion is therefore 1 + (t / T0)^(2 H - 1),
//! also for the sum, with
//!
//! ```text
//! (T0 / A)^(2 - g) = exp(g) (1 + exp(-g) / (g - 1))^2 (g - 1) (2 - g) (3 - g) / (2 g^2).
//! ```
//!
//! Given T0, M is the nearest integer, at least 1, and A is then chosen to make the rate exact. The effective T0
//! ([`FractalRenewal::onset_of`]) may therefore differ slightly, and greatly if M would be below 1.
//!
//! # References
//! B. Ryu, S. Lowen, "Point process approaches to the modeling and analysis of self-similar traffic", INFOCOM 1996, and
//! "Fractal traffic models for Internet simulation", ISCC 2000.
//!
//! # Limitations
//! Below T0, arrivals are about as bursty as Poisson arrivals; an estimate of H needs slots that are not short compared
//! with T0. Each process starts in steady state: its first arrival follows the equilibrium distribution of the residual
//! time. Times are rounded to the nearest picosecond.

use std::collections::BTreeSet;

use optcp_des::{
    Stream,
    variates::{pareto, unit, whole_ps},
};
use optcp_units::Duration;

use crate::PacketRate;

/// Parameter that determines the time scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RenewalShape {
    /// Number of processes.
    Processes(u32),
    /// Fractal onset time scale, at which the index of dispersion is 2.
    Onset(Duration),
}

/// Superposition of fractal renewal processes.
#[derive(Clone, Debug, PartialEq)]
pub struct FractalRenewal {
    times: Times,
    /// Next arrival of each process, by time.
    pending: BTreeSet<(u64, u32)>,
    stream: Stream,
}

/// Distribution of inter-arrival times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    /// Parameter g of the module header.
    index: f64,
    /// Parameter A of the module header.
    cut_ps: f64,
}

impl Times {
    /// Returns mu / A.
    fn mean_over_cut(index: f64) -> f64 {
        (1.0 + libm::exp(-index) / (index - 1.0)) / index
    }

    /// Returns T0 / A.
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

    /// Draws the residual of an inter-arrival time at a random time; its density is S(t) / mu.
    fn residual(self, stream: &mut Stream) -> u64 {
        let kept = 1.0 - libm::exp(-self.index);
        let body = kept / self.index / Times::mean_over_cut(self.index);
        let time = if unit(stream) <= body {
            // Exponential, conditioned on being below the cut.
            -self.cut_ps / self.index * libm::log1p(-unit(stream) * kept)
        } else {
            pareto(stream, self.cut_ps, self.index - 1.0)
        };
        whole_ps(time)
    }
}

impl FractalRenewal {
    /// Creates a process with mean rate `rate` and a Hurst parameter in (0.5, 1).
    #[must_use]
    pub fn new(rate: PacketRate, hurst: f64, shape: RenewalShape, mut stream: Stream) -> Self {
        let index = 3.0 - 2.0 * hurst;
        let mean_over_cut = Times::mean_over_cut(index);
        let processes = FractalRenewal::superposed(rate, hurst, shape);
        let cut_ps = f64::from(processes) * rate.mean_interval_ps() / mean_over_cut;
        let times = Times { index, cut_ps };
        let pending =
            (0..processes).map(|process| (times.residual(&mut stream), process)).collect();
        FractalRenewal { times, pending, stream }
    }

    /// Returns the number of processes, at least one.
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

    /// Returns the fractal onset time scale T0 of `superposed` processes.
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

    /// Mean and onset by the formulas of the module header for g = 1.6, computed by hand: exp(-1.6)
    /// = 0.201897. The mean is mu / A = (1 + 0.201897 / 0.6) / 1.6 = 0.835309. The onset is (T0 /
    /// A)^0.4 = `4.953032 x 0.697742 x 0.6 x 0.4 x 1.4 / 2` = 0.580597, so T0 / A = 0.256854.
    #[test]
    fn mean_and_onset_match_formulas() {
        assert!((Times::mean_over_cut(1.6) - 0.835_309).abs() < 1e-5);
        assert!(
            (Times::onset_over_cut(1.6) - 0.256_854).abs() < 1e-4,
            "{}",
            Times::onset_over_cut(1.6)
        );
    }

    #[test]
    fn inter_arrival_times_match_survival_function() {
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
    fn onset_is_met_to_within_one_process() {
        let rate = PacketRate::new(900, 1_000_000_000_000).expect("a rate above zero");
        let wanted = RenewalShape::Onset(Duration::from_ms(100));
        let superposed = FractalRenewal::superposed(rate, 0.7, wanted);
        // mu = 100 ms x 0.835309 / 0.256854 = 325.2 ms: 292.7 processes at 900 packets per second.
        assert_eq!(superposed, 293);
        assert!(
            FractalRenewal::onset_of(rate, 0.7, superposed).as_ps().abs_diff(100_000_000_000)
                < 200_000_000
        );
    }

    /// Every process starts in steady state: the first second has as many arrivals as any other.
    #[test]
    fn process_starts_in_steady_state() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let (runs, mut first) = (400_u32, 0);
        for seed in 0..runs {
            let stream = Streams::new(u64::from(seed)).stream("renewal");
            let shape = RenewalShape::Processes(300);
            let mut process = FractalRenewal::new(rate, 0.7, shape, stream);
            first += (0..).take_while(|_| process.next_arrival() < Duration::from_ms(100)).count();
        }
        // 100 arrivals on average. The variance at 100 ms is 100 (1 + (t / T0)^0.4), with mu = 300
        // ms and T0 = 92.2 ms. The standard deviation is 14.2, and 0.71 for the mean of 400.
        let mean = first as f64 / f64::from(runs);
        assert!((mean - 100.0).abs() < 4.0 * 0.71, "{mean}");
    }
}
