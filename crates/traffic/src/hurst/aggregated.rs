//! Aggregated-variance estimate of the Hurst parameter.
//!
//! # Model
//! Means over m slots of a self-similar count have a variance proportional to m^(2 H - 2). Block lengths double from 8
//! slots until 32 blocks are left; the slope of log variance against log m is estimated by least squares.
//!
//! # References
//! Beran, "Statistics for Long-Memory Processes", 1994, section 4.4; Leland et al. 1994 ("variance-time plot").
//!
//! # Limitations
//! The estimate is biased downward, more so for H close to 1. With b blocks, variances about the sample mean lack b^(2
//! H - 2) of the variance: 0.84 results for 0.9 with 16 384 slots. Deviations from self-similarity on the time scales
//! in between add bias. There is no simple error. [`super::local_whittle`] is the better estimate; this one is common
//! in papers.

/// Initial block length in slots.
const FIRST: usize = 8;
/// Minimum number of blocks at the maximum length.
const BLOCKS: usize = 32;

/// Returns H, or `None` if there are too few counts or all are equal.
#[must_use]
pub fn aggregated_variance(counts: &[f64]) -> Option<f64> {
    let mut points = Vec::new();
    let mut length = FIRST;
    while counts.len() / length >= BLOCKS {
        let means: Vec<f64> =
            counts.chunks_exact(length).map(|c| c.iter().sum::<f64>() / length as f64).collect();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        if variance <= 0.0 {
            return None;
        }
        points.push((libm::log(length as f64), libm::log(variance)));
        length *= 2;
    }
    if points.len() < 2 {
        return None;
    }
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let covariance: f64 = points.iter().map(|(a, b)| (a - x) * (b - y)).sum();
    let spread: f64 = points.iter().map(|(a, _)| (a - x) * (a - x)).sum();
    Some(1.0 + covariance / spread / 2.0)
}
