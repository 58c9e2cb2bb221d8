//! Loss detection from reports of trimmed segments.
//!
//! # Model
//! A queue with `kind = "trim"` cuts a segment to its header, and the receiver reports it at once, as the first block of
//! the SACK option. The last transmission of that segment is lost. Later segments never declare a loss, so that packets
//! may overtake each other. Everything else waits for the retransmission timer.
//!
//! # References
//! M. Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance (NDP), SIGCOMM
//! 2017, section 3.2; Ultra Ethernet specification 1.0, packet trimming.
//!
//! # Parameters
//! `loss_detection = "trimmed"`.
//!
//! # Limitations
//! A header that is lost is not missed before the RTO. Ultra Ethernet also infers losses from the number of segments that
//! arrive out of order, and from the entropy value of a segment.

use super::scoreboard::Scoreboard;
use crate::seq::Seq;

/// State of the detection.
#[derive(Clone, Debug, Default)]
pub(super) struct Trimmed {
    /// Segments reported since the last check.
    reported: Vec<Seq>,
}

impl Trimmed {
    /// Records the report of a trimmed segment.
    pub(super) fn on_trimmed(&mut self, seq: Seq) {
        self.reported.push(seq);
    }

    /// Marks reported segments that `looks_at` selects as lost; returns the number of new losses.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) -> u32 {
        let mut lost = 0;
        for seq in self.reported.drain(..) {
            let outstanding = board.get(seq).is_some();
            lost += u32::from(outstanding && looks_at(board, seq) && board.mark_last_lost(seq));
        }
        lost
    }

    /// Processes an RTO: everything that is not SACKed is lost.
    pub(super) fn on_timeout(&mut self, board: &mut Scoreboard) {
        self.reported.clear();
        board.una().until(board.end()).for_each(|seq| _ = board.mark_last_lost(seq));
    }
}
