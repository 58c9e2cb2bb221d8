//! Policer: a meter with one rate, and optionally a peak rate.

use optcp_units::{Bytes, Rate, Time};

use super::Colour;
use super::action::Action;
use super::tokens::Tokens;

/// Single-rate policer: packets without tokens are dropped, marked, or coloured red.
///
/// # Model
/// A packet conforms if each bucket holds tokens for all of its bytes, and then takes them. Packets that do not conform
/// take no tokens. With a peak rate there are two buckets.
///
/// # References
/// RFC 2698 section 3 (its token counts); Linux's action `police`, with `peakrate`.
///
/// # Limitations
/// Colours of conforming packets stay. Sizes are those on the wire of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policer {
    buckets: Vec<Tokens>,
    exceeding: Action,
}

impl Policer {
    /// Creates a policer with a rate and burst, and optionally a peak rate and burst.
    #[must_use]
    pub fn new(bucket: (Rate, Bytes), peak: Option<(Rate, Bytes)>, exceeding: Action) -> Self {
        let all = std::iter::once(bucket).chain(peak);
        Policer { buckets: all.map(|(rate, burst)| Tokens::new(rate, burst)).collect(), exceeding }
    }

    /// Meters a packet of `size` bytes. Returns its new colour, if that changes, and the action.
    pub(super) fn meter(&mut self, now: Time, size: u16) -> (Option<Colour>, Action) {
        if self.buckets.iter_mut().all(|bucket| bucket.holds(now, size)) {
            self.buckets.iter_mut().for_each(|bucket| bucket.take(now, size));
            return (None, Action::Pass);
        }
        (Some(Colour::Red), self.exceeding)
    }
}
