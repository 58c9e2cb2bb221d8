//! Loss detection from SACKed segments (duplicate threshold).
//!
//! # Model
//! A segment is lost once three later segments have arrived. Lost retransmissions are detected by the
//! retransmission timer only.
//!
//! # References
//! RFC 6675 section 4, `IsLost`, for full segments: three of them are more than (DupThresh - 1) * SMSS bytes.
//!
//! # Limitations
//! Reordering by three or more segments looks like loss.

use super::scoreboard::Scoreboard;
use crate::seq::Seq;

/// State of duplicate-based loss detection.
#[derive(Clone, Debug, Default)]
pub(super) struct Duplicates {
    /// The three highest SACKed segments, plus one, in descending order; initially zeros.
    highest: [Seq; 3],
    /// Everything below has been checked.
    checked: Seq,
}

impl Duplicates {
    /// Records a newly SACKed segment.
    pub(super) fn on_sacked(&mut self, seq: Seq) {
        let mut above = seq.next();
        for place in &mut self.highest {
            if above > *place {
                std::mem::swap(place, &mut above);
            }
        }
    }

    /// Marks losses among the segments that `looks_at` selects; returns the number of new losses.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) -> u32 {
        let third = self.highest[2].saturating_sub(1);
        let mut lost = 0;
        for seq in self.checked.max(board.una()).until(third) {
            lost += u32::from(looks_at(board, seq) && board.mark_lost(seq));
        }
        self.checked = self.checked.max(third);
        lost
    }

    /// Resets the check after an undo: RFC 6675's test has no memory.
    pub(super) fn on_undo(&mut self, board: &Scoreboard) {
        self.checked = board.una();
    }

    /// Records that the scoreboard clears its SACK information.
    pub(super) fn forget_sacked(&mut self) {
        self.highest = [Seq::ZERO; 3];
    }

    /// Processes an RTO: everything that is not SACKed is lost.
    pub(super) fn on_timeout(&mut self, board: &mut Scoreboard) {
        for seq in board.una().until(board.end()) {
            board.mark_last_lost(seq);
        }
        self.checked = self.checked.max(board.end());
    }
}
