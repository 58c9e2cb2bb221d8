//! Loss detection by what SACK covers beyond a segment.
//!
//! # Models
//! A segment is lost once three segments beyond it have arrived; the test for a retransmission is the
//! retransmission timer's.
//! # Source
//! RFC 6675 section 4, `IsLost`, for full segments: three of them are more than
//! (DupThresh - 1) * SMSS bytes.
//! # Parameters
//! None.
//! # Limits
//! Reordering by three segments or more looks like loss.

use super::scoreboard::Scoreboard;
use crate::seq::Seq;

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct Duplicates {
    /// The three highest segments that SACK covers, plus one, in descending order; zeros at first.
    highest: [Seq; 3],
    /// Everything below has been looked at.
    checked: Seq,
}

impl Duplicates {
    /// SACK covers a segment that it did not cover before.
    pub(super) fn on_sacked(&mut self, seq: Seq) {
        let mut above = seq.next();
        for place in &mut self.highest {
            if above > *place {
                std::mem::swap(place, &mut above);
            }
        }
    }

    /// Marks what is lost of the segments that it `looks_at`; how many are so for the first time.
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

    /// What was held to be lost is not: the test of RFC 6675 knows nothing of before.
    pub(super) fn on_undo(&mut self, board: &Scoreboard) {
        self.checked = board.una();
    }

    /// The scoreboard forgets what SACK has covered.
    pub(super) fn forget_sacked(&mut self) {
        self.highest = [Seq::ZERO; 3];
    }

    /// The retransmission timer expired: everything that SACK does not cover is lost.
    pub(super) fn on_timeout(&mut self, board: &mut Scoreboard) {
        for seq in board.una().until(board.end()) {
            board.mark_last_lost(seq);
        }
        self.checked = self.checked.max(board.end());
    }
}
