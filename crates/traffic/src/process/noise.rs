//! Packets whose number per slot is fractional Gaussian noise.
//!
//! # Model
//! Traffic of very many sources: Gaussian amounts, exactly self-similar.
//!
//! # References
//! The noise: Davies and Harte, "Tests for Hurst effect", Biometrika 1987. Circulant embedding is
//! exact, not an approximation; Craigmile 2003 shows that it always works for this noise. As a
//! traffic model: Norros, "On the use of fractional Brownian motion in the theory of connectionless
//! networks", 1995.
//!
//! # Limitations
//! - The whole noise is drawn when the scenario is built: 4 bytes per slot.
//! - Amounts are rounded by carrying the remainder to the next slot. A negative amount reduces
//!   later slots, which preserves the mean. Correlations match the noise while negative amounts are
//!   rare: `dispersion` must be well below the mean count.
//! - Packets are uniformly and independently distributed within their slot; counts are self-similar only from one slot
//!   on.

use std::sync::Arc;

use optcp_des::{
    Stream,
    variates::{normal_pair, unit, whole_ps},
};
use optcp_units::Duration;

use crate::PacketRate;
use crate::spectrum::transform;

/// Number of slots above which a mistake is assumed.
const MOST_SLOTS: u64 = 1 << 22;

/// Process with fractional Gaussian noise.
#[derive(Clone, Debug, PartialEq)]
pub struct FractionalNoise {
    slot_ps: u64,
    counts: Arc<[u32]>,
    slot: usize,
    /// Packets of the current slot still to come, and the offset of the last one.
    left: u32,
    within_ps: u64,
    stream: Stream,
}

/// Reason for which noise cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseError {
    /// Too many slots are needed.
    TooManySlots {
        /// Number of slots needed.
        slots: u64,
        /// Maximum number of slots.
        most: u64,
    },
}

impl FractionalNoise {
    /// Checks whether noise over `span` in slots of `slot` can be generated.
    ///
    /// # Errors
    /// Returns an error if too many slots are needed.
    pub const fn check(slot: Duration, span: Duration) -> Result<(), NoiseError> {
        let slots = span.as_ps().div_ceil(slot.as_ps());
        if slots > MOST_SLOTS {
            return Err(NoiseError::TooManySlots { slots, most: MOST_SLOTS });
        }
        Ok(())
    }

    /// Creates a process of duration `span` with a Hurst parameter in (0, 1).
    #[must_use]
    pub fn new(
        rate: PacketRate,
        hurst: f64,
        (slot, dispersion): (Duration, f64),
        span: Duration,
        mut stream: Stream,
    ) -> Self {
        let slots = span.as_ps().div_ceil(slot.as_ps()).min(MOST_SLOTS);
        let slots = usize::try_from(slots).unwrap_or(0);
        let mean = slot.as_ps() as f64 / rate.mean_interval_ps();
        let deviation = libm::sqrt(dispersion * mean);
        let noise = noise(hurst, slots, &mut stream);
        let mut owed = 0.0;
        let counts: Vec<u32> = noise
            .iter()
            .map(|noise| {
                owed += mean + deviation * noise;
                let whole = libm::floor(owed).max(0.0);
                owed -= whole;
                #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
                let count = whole as u32;
                count
            })
            .collect();
        let left = counts.first().copied().unwrap_or(0);
        let slot_ps = slot.as_ps();
        FractionalNoise { slot_ps, counts: counts.into(), slot: 0, left, within_ps: 0, stream }
    }

    pub(super) fn next_arrival(&mut self) -> Option<Duration> {
        while self.left == 0 {
            self.slot += 1;
            self.left = *self.counts.get(self.slot)?;
            self.within_ps = 0;
        }
        // Minimum of k uniform numbers over the rest of the slot.
        let rest = (self.slot_ps - self.within_ps) as f64;
        let part = 1.0 - libm::pow(unit(&mut self.stream), 1.0 / f64::from(self.left));
        self.within_ps = (self.within_ps + whole_ps(rest * part)).min(self.slot_ps - 1);
        self.left -= 1;
        let began = (self.slot as u64).saturating_mul(self.slot_ps);
        Some(Duration::from_ps(began.saturating_add(self.within_ps)))
    }
}

/// Returns `length` values of fractional Gaussian noise with variance 1.
pub(crate) fn noise(hurst: f64, length: usize, stream: &mut Stream) -> Vec<f64> {
    let n = length.next_power_of_two().max(2);
    let power = |k: f64| libm::pow(k, 2.0 * hurst);
    let covariance = |k: usize| {
        let k = k as f64;
        0.5 * (power(k + 1.0) - 2.0 * power(k) + power((k - 1.0).abs()))
    };
    // Circulant covariance of twice the length, and its eigenvalues.
    let mut re: Vec<f64> = (0..2 * n).map(|k| covariance(k.min(2 * n - k))).collect();
    let mut im = vec![0.0; 2 * n];
    transform(&mut re, &mut im);
    let root: Vec<f64> = re[..=n].iter().map(|value| libm::sqrt(value.max(0.0))).collect();
    let scale = libm::sqrt(1.0 / (2 * n) as f64);
    for k in 0..=n {
        let [a, b] = normal_pair(stream);
        if k == 0 || k == n {
            (re[k], im[k]) = (root[k] * a * scale, 0.0);
            continue;
        }
        let half = root[k] * scale * std::f64::consts::FRAC_1_SQRT_2;
        (re[k], im[k]) = (half * a, half * b);
        (re[2 * n - k], im[2 * n - k]) = (half * a, -half * b);
    }
    transform(&mut re, &mut im);
    re.truncate(length);
    re
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    /// Covariances over many independent draws match the formula (|k + 1|^2H - 2 |k|^2H + |k - 1|^2H) / 2.
    #[test]
    fn noise_has_expected_covariances() {
        for hurst in [0.3, 0.7, 0.9] {
            let mut stream = Streams::new(1).stream("noise");
            let (draws, length) = (4000, 64);
            let mut sums = [0.0; 4];
            let lags = [0_usize, 1, 2, 40];
            for _ in 0..draws {
                let x = noise(hurst, length, &mut stream);
                for (sum, lag) in sums.iter_mut().zip(lags) {
                    *sum += x[3] * x[3 + lag];
                }
            }
            for (sum, lag) in sums.into_iter().zip(lags) {
                let k = lag as f64;
                let expected = 0.5
                    * ((k + 1.0).powf(2.0 * hurst) - 2.0 * k.powf(2.0 * hurst)
                        + (k - 1.0).abs().powf(2.0 * hurst));
                // A product of two standard normal numbers with correlation r has variance 1 + r^2.
                let error = ((1.0 + expected * expected) / f64::from(draws)).sqrt();
                let found = sum / f64::from(draws);
                assert!((found - expected).abs() < 4.0 * error, "H {hurst}, lag {lag}: {found}");
            }
        }
    }

    #[test]
    fn packets_are_ordered_within_slots_with_expected_mean() {
        let rate = PacketRate::new(10_000, 1_000_000_000_000).expect("a rate above zero");
        let span = Duration::from_secs(10);
        let slot = Duration::from_ms(10);
        let stream = Streams::new(7).stream("noise");
        let mut process = FractionalNoise::new(rate, 0.5, (slot, 1.0), span, stream);
        let counts = Arc::clone(&process.counts);
        let mut seen = vec![0; counts.len()];
        let mut before = 0;
        while let Some(at) = process.next_arrival() {
            assert!(at.as_ps() >= before);
            before = at.as_ps();
            seen[usize::try_from(before / slot.as_ps()).expect("a slot")] += 1;
        }
        assert_eq!(seen, counts.to_vec());
        // 1000 independent slots of 100 with variance 100 each: 100 000 with a standard deviation of 316.
        let all: u32 = counts.iter().sum();
        assert!(all.abs_diff(100_000) < 4 * 316, "{all}");
    }
}
