//! Undo of a spurious window reduction.
//!
//! # Model
//! Window and threshold before a recovery are stored. They are restored when every retransmission since has
//! been reported as a duplicate, or when a timestamp shows that the ACK answers the original.
//!
//! # References
//! RFC 2883 and RFC 3708 (duplicates), RFC 3522 (timestamps), RFC 4015 (response). The response is Linux's:
//! cwnd and ssthresh are at least their stored values. A reduction that an ECN mark also requested is not
//! undone.
//!
//! # Parameters
//! `dsack_undo`, `timestamp_undo`.
//!
//! # Limitations
//! The window is restored at once, without pacing; the retransmission timer is not adapted.

use crate::acknowledgment::Timestamp;
use crate::seq::Seq;
use crate::tcb::Tcb;
use crate::window::Window;

/// Undo state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    episode: Option<Episode>,
    /// Timestamp of the first retransmission that may still be in flight.
    first: Option<Timestamp>,
}

/// Reduction that may be undone.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// Oldest outstanding segment at its start.
    marker: Seq,
    before: Window,
    /// Number of retransmissions without a duplicate report.
    open: u32,
    /// `true`: there was a retransmission.
    any: bool,
    /// `true`: a mark also requested the reduction, so that it is not undone.
    marked: bool,
}

impl Undo {
    /// Records the start of a reduction, with `resent` retransmissions in flight that an ACK may also answer.
    pub(super) fn begin(&mut self, tcb: &mut Tcb, resent: u32) {
        tcb.congestion.save();
        if resent == 0 {
            self.first = None;
        }
        let (marker, before) = (tcb.una, tcb.window);
        let marked = tcb.echoes() || tcb.is_reduced_enough();
        self.episode = Some(Episode { marker, before, open: resent, any: resent > 0, marked });
    }

    /// Returns the oldest segment that was outstanding at the start of the reduction.
    pub(super) fn marker(&self) -> Option<Seq> {
        self.episode.map(|episode| episode.marker)
    }

    /// Records a reported mark: the reduction stays, spurious or not.
    pub(super) fn on_mark(&mut self) {
        if let Some(episode) = &mut self.episode {
            episode.marked = true;
        }
    }

    /// Records a retransmission with timestamp `stamp`.
    pub(super) fn on_retransmission(&mut self, stamp: Timestamp) {
        if let Some(episode) = &mut self.episode {
            episode.open += 1;
            episode.any = true;
        }
        self.first.get_or_insert(stamp);
    }

    /// Records duplicate segments `block`.
    pub(super) fn on_duplicate(&mut self, block: (Seq, Seq)) {
        if let Some(episode) = &mut self.episode
            && block.0 >= episode.marker
        {
            episode.open = episode.open.saturating_sub(block.1 - block.0);
        }
    }

    /// Returns whether every retransmission was spurious.
    pub(super) fn all_came_twice(&self) -> bool {
        self.episode.is_some_and(|episode| episode.any && episode.open == 0)
    }

    /// Returns whether an ACK that echoes `echo` answers a segment sent before the first retransmission.
    pub(super) fn answers_original(&self, echo: Timestamp) -> bool {
        let first = self.first.filter(|_| self.episode.is_some());
        // Timestamps wrap: the difference is taken modulo 2^32 (RFC 7323 section 5.2).
        first.is_some_and(|first| first.wrapping_sub(echo).cast_signed() > 0)
    }

    /// Undoes the reduction.
    pub(super) fn apply(&mut self, tcb: &mut Tcb) {
        if let Some(episode) = self.episode.take()
            && !episode.marked
        {
            tcb.congestion.on_undo(&mut tcb.window, episode.before);
            if let Some(ecn) = &mut tcb.ecn {
                ecn.on_undo();
            }
        }
    }
}
