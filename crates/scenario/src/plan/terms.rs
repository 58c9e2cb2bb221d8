//! What every part of a plan is written in.

/// A value, or the distribution that it is drawn from once when the world is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread<T> {
    /// This value.
    Fixed(T),
    /// Any value from `low` to `high`, all equally likely.
    Uniform {
        /// The least value.
        low: T,
        /// The greatest value.
        high: T,
    },
}

impl<T: Copy> Spread<T> {
    /// The greatest value that can come out.
    pub fn high(self) -> T {
        match self {
            Spread::Fixed(value) => value,
            Spread::Uniform { high, .. } => high,
        }
    }

    /// The same spread of another type.
    pub fn map<U>(self, f: impl Fn(T) -> U) -> Spread<U> {
        match self {
            Spread::Fixed(value) => Spread::Fixed(f(value)),
            Spread::Uniform { low, high } => Spread::Uniform { low: f(low), high: f(high) },
        }
    }
}
