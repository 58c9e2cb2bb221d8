//! What comes back when losses turn out to have been none.
//!
//! # Models
//! The bounds at the first loss of an episode. When the losses were none, bounds are at least that again, and STARTUP or a
//! probe for bandwidth that they ended begins anew.
//! # Source
//! draft-ietf-ccwg-bbr-06 section 5.5.11.
//! # Parameters
//! None; `dsack_undo`, `timestamp_undo` and `frto` find such losses.
//! # Limits
//! The bounds are stored once an episode, as the section's text says. Its pseudocode stores them at the first loss of each
//! round trip, and again when recovery begins, which forgets what an earlier loss of the same episode ended.

use super::Bandwidth;
use super::Bbr3;
use super::state::State;

/// What a loss ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Startup,
    Up,
}

/// See the module's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// Whether an episode is under way.
    open: bool,
    /// `BBR.undo_state`.
    pub(super) left: Option<Left>,
    bandwidth: Option<Bandwidth>,
    in_flight: Option<u32>,
    limit: Option<u32>,
}

impl Undo {
    /// Nothing is being repaired: the next loss begins an episode.
    pub(super) fn close(&mut self) {
        self.open = false;
    }
}

impl Bbr3 {
    /// `SaveStateUponLoss`, at the first loss of an episode.
    pub(super) fn save_bounds(&mut self) {
        if !self.undo.open {
            self.undo = Undo {
                open: true,
                left: None,
                bandwidth: self.short.bandwidth,
                in_flight: self.short.in_flight,
                limit: self.long.limit,
            };
        }
    }

    /// `HandleSpuriousLossDetection`, but for the window.
    pub(super) fn take_back(&mut self, delivered: u64) {
        self.short.lost = false;
        self.full.search_from(Bandwidth::default());
        let Undo { left, bandwidth, in_flight, limit, .. } = self.undo;
        self.short.bandwidth = greater(self.short.bandwidth, bandwidth);
        self.short.in_flight = greater(self.short.in_flight, in_flight);
        self.long.limit = greater(self.long.limit, limit);
        let probes_rtt = self.state.is_probe_rtt();
        match left {
            Some(Left::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if !probes_rtt {
                    self.enter_startup();
                }
            }
            Some(Left::Up) if self.state != State::UP && !probes_rtt => {
                self.start_refill(delivered);
            }
            _ => {}
        }
        self.undo.left = None;
    }
}

/// The greater of two bounds, of which `None` bounds nothing.
fn greater<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.zip(other).map(|(one, other)| one.max(other))
}
