//! Poisson arrivals.
//!
//! # Model
//! Many independent sources with little traffic each (Palm and Khinchine).
//!
//! # References
//! The Poisson process: inter-arrival times are exponential and independent.
//!
//! # Limitations
//! Inter-arrival times are rounded to the nearest picosecond. There is no correlation on any time scale: the index of
//! dispersion is 1 and H = 0.5.

use optcp_des::{
    Stream,
    variates::{exponential, whole_ps},
};
use optcp_units::Duration;

use crate::PacketRate;

/// Poisson process.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    mean_ps: f64,
    at_ps: u64,
    stream: Stream,
}

impl Poisson {
    /// Creates a process with mean rate `rate`.
    #[must_use]
    pub fn new(rate: PacketRate, stream: Stream) -> Self {
        Poisson { mean_ps: rate.mean_interval_ps(), at_ps: 0, stream }
    }

    /// Returns the time of the next arrival since the start of the process.
    pub fn next_arrival(&mut self) -> Duration {
        let gap = whole_ps(self.mean_ps * exponential(&mut self.stream));
        self.at_ps = self.at_ps.saturating_add(gap);
        Duration::from_ps(self.at_ps)
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    #[test]
    fn inter_arrival_times_are_exponential() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let mut poisson = Poisson::new(rate, Streams::new(3).stream("poisson"));
        let n = 200_000;
        let mut last = 0;
        let gaps: Vec<f64> = (0..n)
            .map(|_| {
                let at = poisson.next_arrival().as_ps();
                let gap = (at - last) as f64 / 1e9;
                last = at;
                gap
            })
            .collect();
        let n = f64::from(n);
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / (n - 1.0);
        // In milliseconds: mean 1 with standard error 1 / sqrt(n); variance 1 with sqrt(8 / n), because the fourth
        // central moment is 9.
        assert!((mean - 1.0).abs() < 4.0 / n.sqrt(), "mean {mean}");
        assert!((variance - 1.0).abs() < 4.0 * (8.0 / n).sqrt(), "variance {variance}");
    }

    #[test]
    fn counts_have_index_of_dispersion_one() {
        let rate = PacketRate::new(1000, 1_000_000_000_000).expect("a rate above zero");
        let mut poisson = Poisson::new(rate, Streams::new(4).stream("poisson"));
        let slots = 20_000_usize;
        let mut counts = vec![0_u32; slots];
        // Slots of 10 ms contain 10 arrivals on average.
        while let Ok(slot) = usize::try_from(poisson.next_arrival().as_ps() / 10_000_000_000)
            && slot < slots
        {
            counts[slot] += 1;
        }
        let n = slots as f64;
        let mean = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / n;
        let squares = counts.iter().map(|&c| (f64::from(c) - mean).powi(2)).sum::<f64>();
        let dispersion = squares / (n - 1.0) / mean;
        // Its standard error is sqrt(2 / n), as for a chi-squared number over its degrees of freedom.
        assert!((dispersion - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{dispersion}");
    }
}
