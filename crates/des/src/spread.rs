//! Constant and random durations.

use std::fmt;
use std::sync::Arc;

use optcp_units::{Duration, Time};

use crate::Stream;
use crate::variates::{exponential, lognormal, normal, pareto, whole_ps};

/// Constant duration, or a distribution of durations.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// Constant.
    Fixed(Duration),
    /// Uniform distribution from `low` to `high`.
    Uniform {
        /// Minimum.
        low: Duration,
        /// Maximum.
        high: Duration,
    },
    /// Uniform distribution over these values.
    Choice(Arc<[Duration]>),
    /// Distribution with a given mean; values above the maximum are redrawn.
    Cut {
        /// Distribution.
        shape: Shape,
        /// Mean before redrawing.
        mean: Duration,
        /// Maximum.
        most: Option<Duration>,
    },
}

/// Distributions with a given mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Normal with this standard deviation; values below zero are redrawn.
    Normal(Duration),
    /// Exponential.
    Exponential,
    /// Lognormal with this standard deviation of the values (not of their logarithms).
    Lognormal(Duration),
    /// Pareto with this tail index, above 1.
    Pareto(f64),
}

impl Spread {
    /// Zero.
    pub const ZERO: Spread = Spread::Fixed(Duration::ZERO);

    /// Returns the maximum; `None` if unbounded.
    #[must_use]
    pub fn most(&self) -> Option<Duration> {
        match self {
            Spread::Fixed(value) => Some(*value),
            Spread::Uniform { high, .. } => Some(*high),
            Spread::Choice(values) => values.iter().copied().max(),
            Spread::Cut { most, .. } => *most,
        }
    }

    /// Returns a typical large value for checks of a scenario: the maximum, or the mean if
    /// unbounded.
    #[must_use]
    pub fn long(&self) -> Duration {
        match self {
            Spread::Cut { mean, most: None, .. } => *mean,
            other => other.most().unwrap_or(Duration::ZERO),
        }
    }

    /// Returns the maximum as a time from the start of the run; `None` if unbounded.
    #[must_use]
    pub fn latest(&self) -> Option<Time> {
        self.most().map(|most| Time::ZERO + most)
    }

    /// Draws a value. A constant uses no random numbers.
    #[must_use]
    pub fn draw(&self, stream: &mut Stream) -> Duration {
        match self {
            Spread::Fixed(value) => *value,
            Spread::Uniform { low, high } => stream.uniform(*low, *high),
            Spread::Choice(values) => {
                let at = stream.below(values.len() as u64);
                values[usize::try_from(at).expect("below a length")]
            }
            Spread::Cut { shape, mean, most } => {
                let mean = mean.as_ps() as f64;
                let most = most.unwrap_or(Duration::LONGEST);
                // The maximum is at least the mean, so at most about half of the values are redrawn.
                loop {
                    let ps = match shape {
                        Shape::Normal(deviation) => {
                            mean + deviation.as_ps() as f64 * normal(stream)
                        }
                        Shape::Exponential => mean * exponential(stream),
                        Shape::Lognormal(deviation) => {
                            lognormal(stream, mean, deviation.as_ps() as f64)
                        }
                        Shape::Pareto(shape) => {
                            pareto(stream, mean * (shape - 1.0) / shape, *shape)
                        }
                    };
                    if ps >= 0.0 && ps <= most.as_ps() as f64 {
                        return Duration::from_ps(whole_ps(ps)).min(most);
                    }
                }
            }
        }
    }
}

/// Format of scenario files.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spread::Fixed(value) => write!(f, "{value}"),
            Spread::Uniform { low, high } => write!(f, "uniform({low}, {high})"),
            Spread::Choice(values) => {
                let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(f, "choice({})", texts.join(", "))
            }
            Spread::Cut { shape, mean, most } => {
                match shape {
                    Shape::Normal(deviation) => write!(f, "normal({mean}, {deviation}")?,
                    Shape::Exponential => write!(f, "exponential({mean}")?,
                    Shape::Lognormal(deviation) => write!(f, "lognormal({mean}, {deviation}")?,
                    Shape::Pareto(shape) => write!(f, "pareto({mean}, {shape}")?,
                }
                most.map_or(Ok(()), |most| write!(f, ", {most}"))?;
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    const DRAWS: u32 = 20_000;

    /// Draws one value in ms from each stream.
    fn drawn(spread: &Spread) -> Vec<f64> {
        let one = |i| {
            spread.draw(&mut Streams::new(1).stream(&format!("draws/{i}"))).as_ps() as f64 / 1e9
        };
        (0..DRAWS).map(one).collect()
    }

    fn cut(shape: Shape, mean_ms: u64, most_ms: Option<u64>) -> Spread {
        Spread::Cut {
            shape,
            mean: Duration::from_ms(mean_ms),
            most: most_ms.map(Duration::from_ms),
        }
    }

    fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / f64::from(DRAWS)
    }

    /// Asserts that the share of draws up to `end` is as expected, within four standard errors.
    fn below(draws: &[f64], end: f64, expected: f64) {
        let share = draws.iter().filter(|&&draw| draw <= end).count() as f64 / f64::from(DRAWS);
        let error = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
        assert!((share - expected).abs() <= 4.0 * error, "{share} up to {end}, not {expected}");
    }

    /// P(X <= mean) = 1 - 1/e. Truncated at two means, the mean is 1 - 2 e^-2 / (1 - e^-2) = 0.68696 of it.
    #[test]
    fn exponential_draws_match_distribution() {
        let draws = drawn(&cut(Shape::Exponential, 10, None));
        below(&draws, 10.0, 1.0 - 1.0_f64.exp().recip());
        below(&draws, 20.0, 1.0 - 2.0_f64.exp().recip());
        let draws = drawn(&cut(Shape::Exponential, 10, Some(20)));
        assert!(draws.iter().all(|&draw| draw <= 20.0));
        // The standard deviation of the truncated distribution is below 20 / sqrt(12) = 5.8: four errors are 0.17.
        assert!((mean(&draws) - 6.8696).abs() < 0.17, "{}", mean(&draws));
    }

    /// Phi(-1) = 0.158655. With a standard deviation of twice the mean, P(0 < X <= mean) is (0.5 - Phi(-0.5)) / (1 -
    /// Phi(-0.5)) with Phi(-0.5) = 0.308538.
    #[test]
    fn normal_draws_match_distribution() {
        let draws = drawn(&cut(Shape::Normal(Duration::from_ms(2)), 10, None));
        below(&draws, 8.0, 0.158_655);
        below(&draws, 10.0, 0.5);
        let draws = drawn(&cut(Shape::Normal(Duration::from_ms(20)), 10, None));
        assert!(draws.iter().all(|&draw| draw >= 0.0));
        below(&draws, 10.0, (0.5 - 0.308_538) / (1.0 - 0.308_538));
    }

    /// The median is mean / sqrt(1 + (deviation / mean)^2) = 10 / sqrt(1.25). The mean is above it at the quantile
    /// Phi(sigma / 2), sigma = sqrt(log 1.25) = 0.472381, Phi(0.236190) = 0.593357.
    #[test]
    fn lognormal_draws_match_distribution() {
        let draws = drawn(&cut(Shape::Lognormal(Duration::from_ms(5)), 10, None));
        below(&draws, 10.0 / 1.25_f64.sqrt(), 0.5);
        below(&draws, 10.0, 0.593_357);
        assert!((mean(&draws) - 10.0).abs() < 4.0 * 5.0 / f64::from(DRAWS).sqrt());
    }

    /// With shape 3 the minimum is 2/3 of the mean, and P(X > x) = (minimum / x)^3.
    #[test]
    fn pareto_draws_match_distribution() {
        let draws = drawn(&cut(Shape::Pareto(3.0), 9, None));
        assert!(draws.iter().all(|&draw| draw >= 6.0 - 1e-9));
        below(&draws, 12.0, 1.0 - 1.0 / 8.0);
    }

    #[test]
    fn choices_are_equally_likely() {
        let values = [1, 2, 5].map(Duration::from_ms);
        let draws = drawn(&Spread::Choice(values.into()));
        below(&draws, 1.0, 1.0 / 3.0);
        below(&draws, 2.0, 2.0 / 3.0);
        below(&draws, 5.0, 1.0);
    }
}
