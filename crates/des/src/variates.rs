//! Random numbers of distributions.
//!
//! Logarithms, powers and the like come from one portable library (`libm`) and not from the machine's,
//! so that every machine draws the same.

use crate::Stream;

/// 2^-53: as many equally likely numbers as a double can tell apart below 1.
const STEP: f64 = 1.0 / (1_u64 << 53) as f64;

/// Any number from above 0 to 1, all equally likely.
pub fn unit(stream: &mut Stream) -> f64 {
    ((stream.next_u64() >> 11) + 1) as f64 * STEP
}

/// Exponentially distributed with mean 1.
pub fn exponential(stream: &mut Stream) -> f64 {
    -libm::log(unit(stream))
}

/// Pareto distributed: above `least`, with P(X > x) = (least / x)^`shape`.
pub fn pareto(stream: &mut Stream, least: f64, shape: f64) -> f64 {
    least * libm::pow(unit(stream), -1.0 / shape)
}

/// Standard normal.
pub fn normal(stream: &mut Stream) -> f64 {
    normal_pair(stream)[0]
}

/// Lognormal with this mean and standard deviation: mu = log mean - sigma^2 / 2, sigma^2 = log (1 + (deviation / mean)^2).
pub fn lognormal(stream: &mut Stream, mean: f64, deviation: f64) -> f64 {
    let ratio = deviation / mean;
    let variance = libm::log1p(ratio * ratio);
    mean * libm::exp(libm::sqrt(variance) * normal(stream) - variance / 2.0)
}

/// Two independent standard normal numbers (Box and Muller 1958).
pub fn normal_pair(stream: &mut Stream) -> [f64; 2] {
    let radius = libm::sqrt(2.0 * exponential(stream));
    let angle = 2.0 * std::f64::consts::PI * unit(stream);
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}

/// A span of `ps` picoseconds as a whole number; what no run reaches is cut.
#[must_use]
pub fn whole_ps(ps: f64) -> u64 {
    /// 53 days, far below where sums of instants would overflow.
    const FARTHEST: u64 = 1 << 62;
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and the rest is cut")]
    let whole = libm::round(ps) as u64;
    whole.min(FARTHEST)
}
