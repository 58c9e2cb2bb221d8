//! Undoing the reaction to spurious losses.
//!
//! # Model
//! The bounds at the first loss of an episode are stored. If the losses were spurious, the bounds are raised
//! to at least these values, and a STARTUP or bandwidth probe that they ended starts again.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 section 5.5.11.
//!
//! # Parameters
//! `dsack_undo`, `timestamp_undo` and `frto` detect spurious losses.
//!
//! # Limitations
//! The bounds are stored once per episode, as the text of the section says. Its pseudocode stores
//! them at the first loss of each RTT and again at the start of recovery. This overwrites the state
//! from the start of the episode.

use super::Bandwidth;
use super::Bbr3;
use super::state::State;

/// State that a loss ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Startup,
    Up,
}

/// State of the undo.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// `true`: an episode is in progress.
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
