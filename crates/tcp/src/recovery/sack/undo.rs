//! Taking back a reduction that was not needed.
//!
//! # Models
//! The window and threshold before a recovery are kept. They come back when every retransmission since
//! has been reported as a duplicate, or when a timestamp shows that the ACK was for the original.
//! # Source
//! RFC 2883 and RFC 3708 (duplicates), RFC 3522 (timestamps), RFC 4015 (response); the response is that
//! of Linux: cwnd and ssthresh are at least what they were. A reduction that a mark asked for too stays.
//! # Parameters
//! `dsack_undo`, `timestamp_undo`.
//! # Limits
//! The window comes back at once, not paced; the retransmission timer is not adapted.

use crate::acknowledgment::Timestamp;
use crate::seq::Seq;
use crate::tcb::Tcb;
use crate::window::Window;

/// See the module's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    episode: Option<Episode>,
    /// Timestamp of the first retransmission of those that may still be under way.
    first: Option<Timestamp>,
}

/// One reduction that may yet be taken back.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// Oldest outstanding segment at its start.
    marker: Seq,
    before: Window,
    /// Retransmissions that no duplicate report has accounted for.
    open: u32,
    /// Whether there was any.
    any: bool,
    /// Whether a mark asked for the reduction too, so that it stays.
    marked: bool,
}

impl Undo {
    /// The window is about to be reduced, while `resent` retransmissions are under way, which an ACK may answer too.
    pub(super) fn begin(&mut self, tcb: &mut Tcb, resent: u32) {
        tcb.congestion.save();
        if resent == 0 {
            self.first = None;
        }
        let (marker, before) = (tcb.una, tcb.window);
        let marked = tcb.echoes() || tcb.is_reduced_enough();
        self.episode = Some(Episode { marker, before, open: resent, any: resent > 0, marked });
    }

    /// The oldest segment outstanding when the reduction began that may be taken back.
    pub(super) fn marker(&self) -> Option<Seq> {
        self.episode.map(|episode| episode.marker)
    }

    /// An ACK reports a mark, which is no error: the reduction stays, be it needless or not.
    pub(super) fn on_mark(&mut self) {
        if let Some(episode) = &mut self.episode {
            episode.marked = true;
        }
    }

    /// A segment is sent again, with `stamp` on it.
    pub(super) fn on_retransmission(&mut self, stamp: Timestamp) {
        if let Some(episode) = &mut self.episode {
            episode.open += 1;
            episode.any = true;
        }
        self.first.get_or_insert(stamp);
    }

    /// Segments `block` have come twice.
    pub(super) fn on_duplicate(&mut self, block: (Seq, Seq)) {
        if let Some(episode) = &mut self.episode
            && block.0 >= episode.marker
        {
            episode.open = episode.open.saturating_sub(block.1 - block.0);
        }
    }

    /// Whether every retransmission was needless.
    pub(super) fn all_came_twice(&self) -> bool {
        self.episode.is_some_and(|episode| episode.any && episode.open == 0)
    }

    /// Whether an ACK that echoes `echo` answers something sent before the first retransmission.
    pub(super) fn answers_original(&self, echo: Timestamp) -> bool {
        let first = self.first.filter(|_| self.episode.is_some());
        // Timestamps wrap: the difference is taken modulo 2^32 (RFC 7323 section 5.2).
        first.is_some_and(|first| first.wrapping_sub(echo).cast_signed() > 0)
    }

    /// Takes the reduction back.
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
