//! The aggregated-variance estimate.
//!
//! # Models
//! Means over m slots of a self-similar count have a variance proportional to m^(2 H - 2).
//! # Source
//! Beran, "Statistics for Long-Memory Processes", 1994, section 4.4; Leland et al. 1994 ("variance-time
//! plot").
//! # Parameters
//! Block lengths double from 8 slots up to where 32 blocks are left; the slope of log variance against
//! log m is by least squares.
//! # Limits
//! Biased downward, the more so the nearer H is to 1 (variances are taken about the mean of the same
//! counts, which takes b^(2 H - 2) of them with b blocks: 0.84 for 0.9 with 16 384 slots), and by whatever is not self-similar on the time scales in between; it has
//! no simple error. [`super::local_whittle`] is the better estimate; this one is the one that papers show.

/// The first block length, in slots.
const FIRST: usize = 8;
/// As many blocks are left at the greatest length.
const BLOCKS: usize = 32;

/// H, or `None` for counts that are too few or all alike.
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
