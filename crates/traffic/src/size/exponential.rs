//! Exponential packet sizes in whole bytes between two bounds.
//!
//! # Model
//! Small packets are common and large ones rare, as in OPNET's generators.
//!
//! # References
//! The exponential distribution on integers from `least` to `most`: P(X = k) is proportional to q^k (a truncated
//! geometric distribution). Of all distributions with these bounds and this mean it has the maximum entropy, like the
//! exponential without bounds.
//!
//! # Limitations
//! q is chosen to give the requested mean, including bounds and rounding: nothing is truncated afterwards, so there is
//! no bias. The standard deviation is smaller than the mean because of the bounds. The mean must be below the midpoint
//! of the bounds.

use optcp_des::{Stream, variates::unit};

/// Exponential packet size distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialSize {
    mean: u16,
    least: u16,
    most: u16,
    /// Natural logarithm of q, below zero.
    log_ratio: f64,
}

impl ExponentialSize {
    /// Creates a distribution from `least` to `most` bytes with mean `mean`; `None` unless the mean is between the
    /// minimum and the midpoint.
    #[must_use]
    pub fn new(mean: u16, least: u16, most: u16) -> Option<Self> {
        let above = f64::from(mean) - f64::from(least);
        let steps = f64::from(most) - f64::from(least);
        if above <= 0.0 || above >= steps / 2.0 {
            return None;
        }
        // The mean grows with ln q, so bisection finds it to the last digit.
        let (mut low, mut high) = (-1.0 / above - 1.0, -1e-9);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if mean_above_least(middle, steps + 1.0) < above {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(ExponentialSize { mean, least, most, log_ratio: f64::midpoint(low, high) })
    }

    /// Returns the mean, the minimum and the maximum size.
    #[must_use]
    pub fn parameters(self) -> [u16; 3] {
        [self.mean, self.least, self.most]
    }

    /// Draws the size of a packet.
    pub(super) fn draw(self, stream: &mut Stream) -> u16 {
        let sizes = f64::from(self.most - self.least) + 1.0;
        // P(X >= least + k) = (q^k - q^n) / (1 - q^n), inverted.
        let missing = -libm::expm1(sizes * self.log_ratio);
        let above = libm::log1p(-(1.0 - unit(stream)) * missing) / self.log_ratio;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "below the number of sizes, but for rounding"
        )]
        let above = libm::floor(above) as u16;
        self.least + above.min(self.most - self.least)
    }
}

/// Returns the mean of the distribution on 0 to n - 1 with P(k) proportional to q^k: q / (1 - q) - n q^n / (1 - q^n).
fn mean_above_least(log_ratio: f64, n: f64) -> f64 {
    1.0 / libm::expm1(-log_ratio) - n / libm::expm1(-n * log_ratio)
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    #[test]
    fn sizes_are_bounded_and_have_requested_mean() {
        // Packets of the obs paper: 1024 bits on average.
        let sizes = ExponentialSize::new(128, 40, 1500).expect("a possible mean");
        let mut stream = Streams::new(1).stream("sizes");
        let n = 400_000;
        let drawn: Vec<u16> = (0..n).map(|_| sizes.draw(&mut stream)).collect();
        assert!(drawn.iter().all(|size| (40..=1500).contains(size)));
        let mean = drawn.iter().map(|&size| f64::from(size)).sum::<f64>() / f64::from(n);
        // Above the minimum they are nearly exponential with mean 88: standard error 88 / sqrt(n) = 0.139.
        assert!((mean - 128.0).abs() < 4.0 * 0.139, "{mean}");
    }

    #[test]
    fn sizes_have_expected_probabilities() {
        let sizes = ExponentialSize::new(3, 2, 6).expect("a possible mean");
        // The mean of 0 to 4 with weights q^k must be 1.
        let q = libm::exp(sizes.log_ratio);
        let weights: Vec<f64> = (0..5).map(|k| q.powi(k)).collect();
        let mean = (0..5).zip(&weights).map(|(k, w)| f64::from(k) * w).sum::<f64>()
            / weights.iter().sum::<f64>();
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
        let mut stream = Streams::new(2).stream("sizes");
        let n = 100_000_u32;
        let mut counts = [0_u32; 5];
        (0..n).for_each(|_| counts[usize::from(sizes.draw(&mut stream) - 2)] += 1);
        for (count, weight) in counts.into_iter().zip(&weights) {
            let p = weight / weights.iter().sum::<f64>();
            let error = (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((f64::from(count) / f64::from(n) - p).abs() < 4.5 * error, "{counts:?}");
        }
    }

    #[test]
    fn impossible_means_are_rejected() {
        for (mean, least, most) in [(40, 40, 1500), (770, 40, 1500), (30, 40, 1500), (40, 40, 40)] {
            assert_eq!(ExponentialSize::new(mean, least, most), None);
        }
    }
}
