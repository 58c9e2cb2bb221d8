//! Two-rate three-colour marker.

use optcp_units::{Bytes, Rate, Time};

use super::Colour;
use super::action::Action;
use super::tokens::Tokens;

/// Two-rate three-colour marker (trTCM): packets become green, yellow or red, and each colour has an action.
///
/// # Model
/// A packet without tokens in the peak bucket is red and takes none. Others take tokens from the peak bucket. They are
/// yellow without tokens in the committed bucket, and otherwise green and take tokens there, too. Colour-aware, a
/// packet never gets a better colour than it has.
///
/// # References
/// RFC 2698 section 3.
///
/// # Limitations
/// The colour is not part of an IP header: only other markers read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trtcm {
    committed: Tokens,
    peak: Tokens,
    aware: bool,
    /// Action by colour.
    actions: [Action; 3],
}

impl Trtcm {
    /// Creates a marker with the committed rate and burst, the peak rate and burst, and the actions for green, yellow
    /// and red packets.
    #[must_use]
    pub fn new(
        committed: (Rate, Bytes),
        peak: (Rate, Bytes),
        aware: bool,
        actions: [Action; 3],
    ) -> Self {
        let [committed, peak] = [committed, peak].map(|(rate, burst)| Tokens::new(rate, burst));
        Trtcm { committed, peak, aware, actions }
    }

    /// Meters a packet of `size` bytes. Returns its new colour and the action.
    pub(super) fn meter(
        &mut self,
        now: Time,
        size: u16,
        before: Colour,
    ) -> (Option<Colour>, Action) {
        let before = if self.aware { before } else { Colour::Green };
        let colour = if before == Colour::Red || !self.peak.holds(now, size) {
            Colour::Red
        } else if before == Colour::Yellow || !self.committed.holds(now, size) {
            self.peak.take(now, size);
            Colour::Yellow
        } else {
            self.peak.take(now, size);
            self.committed.take(now, size);
            Colour::Green
        };
        (Some(colour), self.actions[colour as usize])
    }
}
