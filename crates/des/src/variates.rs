//! Random variates.
//!
//! Logarithms, powers and similar functions come from one portable library (`libm`), so draws are equal on all
//! machines.

use crate::Stream;

/// 2^-53: resolution of a double below 1.
const STEP: f64 = 1.0 / (1_u64 << 53) as f64;

/// Returns a uniform number in (0, 1].
pub fn unit(stream: &mut Stream) -> f64 {
    ((stream.next_u64() >> 11) + 1) as f64 * STEP
}

/// Returns an exponential number with mean 1.
pub fn exponential(stream: &mut Stream) -> f64 {
    -libm::log(unit(stream))
}

/// Returns a Pareto number above `least`, with P(X > x) = (least / x)^`shape`.
pub fn pareto(stream: &mut Stream, least: f64, shape: f64) -> f64 {
    least * libm::pow(unit(stream), -1.0 / shape)
}

/// Returns a standard normal number.
pub fn normal(stream: &mut Stream) -> f64 {
    normal_pair(stream)[0]
}

/// Returns a lognormal number with this mean and standard deviation: mu = log mean - sigma^2 / 2, sigma^2 = log (1 +
/// (deviation / mean)^2).
pub fn lognormal(stream: &mut Stream, mean: f64, deviation: f64) -> f64 {
    let ratio = deviation / mean;
    let variance = libm::log1p(ratio * ratio);
    mean * libm::exp(libm::sqrt(variance) * normal(stream) - variance / 2.0)
}

/// Returns two independent standard normal numbers (Box and Muller 1958).
pub fn normal_pair(stream: &mut Stream) -> [f64; 2] {
    let radius = libm::sqrt(2.0 * exponential(stream));
    let angle = 2.0 * std::f64::consts::PI * unit(stream);
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}

/// Rounds picoseconds to an integer; values beyond the end of any run are truncated.
#[must_use]
pub fn whole_ps(ps: f64) -> u64 {
    /// 53 days, far below the overflow of sums of times.
    const FARTHEST: u64 = 1 << 62;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast saturates, and larger values are truncated"
    )]
    let whole = libm::round(ps) as u64;
    whole.min(FARTHEST)
}
