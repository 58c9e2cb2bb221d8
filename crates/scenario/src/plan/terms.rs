//! What every part of a plan is written in.

use std::fmt;
use std::sync::Arc;

use optcp_units::{Duration, Time};

/// A span of time, or the distribution that it is drawn from once when the world is built.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// This span.
    Fixed(Duration),
    /// Any span from `low` to `high`, all equally likely.
    Uniform {
        /// The least value.
        low: Duration,
        /// The greatest value.
        high: Duration,
    },
    /// One of these, all equally likely.
    Choice(Arc<[Duration]>),
    /// A distribution of a mean, of which values above the greatest one are drawn again.
    Cut {
        /// Which distribution.
        shape: Shape,
        /// Its mean, before any are drawn again.
        mean: Duration,
        /// The greatest value.
        most: Option<Duration>,
    },
}

/// The distributions that have a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Normal with this standard deviation; values below zero are drawn again.
    Normal(Duration),
    /// Exponential.
    Exponential,
    /// Lognormal with this standard deviation (of the values, not of their logarithms).
    Lognormal(Duration),
    /// Pareto with this index of the tail, above 1.
    Pareto(f64),
}

impl Spread {
    /// Nothing at all.
    pub const ZERO: Spread = Spread::Fixed(Duration::ZERO);

    /// The greatest value that can come out; `None` where there is none.
    #[must_use]
    pub fn most(&self) -> Option<Duration> {
        match self {
            Spread::Fixed(value) => Some(*value),
            Spread::Uniform { high, .. } => Some(*high),
            Spread::Choice(values) => values.iter().copied().max(),
            Spread::Cut { most, .. } => *most,
        }
    }

    /// A value to reckon with before the run: the greatest one, or the mean where there is none.
    #[must_use]
    pub fn long(&self) -> Duration {
        match self {
            Spread::Cut { mean, most: None, .. } => *mean,
            other => other.most().unwrap_or(Duration::ZERO),
        }
    }

    /// The latest instant that it can be, as a span since the run began; `None` without a greatest value.
    #[must_use]
    pub fn latest(&self) -> Option<Time> {
        self.most().map(|most| Time::ZERO + most)
    }
}

/// As it is written in files.
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
