//! Events with a given probability.

use optcp_des::Stream;

/// Probability from 0 to 1, as a multiple of 2^-64: of 2^64 equally likely numbers, those below this value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(u128);

impl Chance {
    /// Creates a probability from 0 to 1.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        debug_assert!((0.0..=1.0).contains(&probability), "a probability, not {probability}");
        let numbers = (1_u128 << 64) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most 2^64; fractions are rounded down"
        )]
        Chance((probability * numbers) as u128)
    }

    /// Returns the probability as a number from 0 to 1.
    #[must_use]
    pub fn probability(self) -> f64 {
        self.0 as f64 / (1_u128 << 64) as f64
    }

    /// Draws the next number. Returns whether the event occurs.
    pub(super) fn occurs(self, stream: &mut Stream) -> bool {
        u128::from(stream.next_u64()) < self.0
    }
}
