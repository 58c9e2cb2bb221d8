//! SACK blocks that the receiver reports.
//!
//! # Model
//! The first block contains the most recent segment; further blocks repeat earlier first blocks, most recent
//! first. A duplicate segment is reported once, before them, or a trimmed one.
//!
//! # References
//! RFC 2018 section 4; RFC 2883 section 4 (duplicates).
//!
//! # Parameters
//! `sack_blocks`, `dsack`, `loss_detection`, `timestamps`, `ecn`, `receiver_ecn`, `accecn_option`.
//!
//! # Limitations
//! Received data are never discarded (no reneging). Free space is filled with the lowest ranges; receivers
//! that forget blocks, like ns-2's beyond three, sometimes report fewer. The AccECN option takes the space of
//! one block, also if the SYN exchange did not negotiate it.

use crate::acknowledgment::{MAX_SACK_BLOCKS, MAX_SACK_BLOCKS_WITH_TIMESTAMPS, SackBlocks};
use crate::config::Config;
use crate::ranges::Ranges;
use crate::seq::Seq;

/// SACK reports of a receiver.
#[derive(Clone, Debug)]
pub struct SackReport {
    limit: usize,
    duplicates: bool,
    /// A segment of each first block so far, most recent first, with its range. Acknowledged ones are not
    /// removed.
    recent: [(Seq, (Seq, Seq)); MAX_SACK_BLOCKS],
    count: usize,
    duplicate: Option<Seq>,
    /// Trimmed segment that the next ACK reports.
    trimmed: Option<Seq>,
}

impl SackReport {
    /// Returns the initial state; `None` without SACK.
    #[must_use]
    pub fn new(config: &Config) -> Option<Self> {
        let room =
            if config.timestamps { MAX_SACK_BLOCKS_WITH_TIMESTAMPS } else { MAX_SACK_BLOCKS };
        // The AccECN option has the place of one, as in Linux.
        let room = room - usize::from(config.sends_accecn_option());
        config.sack().then_some(SackReport {
            limit: room.min(usize::from(config.sack_blocks)),
            duplicates: config.dsack,
            recent: Default::default(),
            count: 0,
            duplicate: None,
            trimmed: None,
        })
    }

    /// Processes a segment received above a gap, in the contiguous range `around` it.
    pub(super) fn on_out_of_order(&mut self, seq: Seq, around: (Seq, Seq)) {
        let known = self.recent[..self.count].iter().position(|&(other, _)| other == seq);
        let last = known.unwrap_or_else(|| {
            self.count = (self.count + 1).min(MAX_SACK_BLOCKS);
            self.count - 1
        });
        self.recent.copy_within(..last, 1);
        self.recent[0].0 = seq;
        for (other, range) in &mut self.recent[..self.count] {
            if (around.0..around.1).contains(other) {
                *range = around;
            }
        }
    }

    /// A segment has come that was there already.
    pub(super) fn on_duplicate(&mut self, seq: Seq) {
        self.duplicate = self.duplicates.then_some(seq);
    }

    /// Processes the header of a trimmed segment that has not arrived.
    pub(super) fn on_trimmed(&mut self, seq: Seq) {
        self.trimmed = Some(seq);
    }

    /// The option of an ACK for everything below `next`, with `beyond` received beyond it.
    pub(super) fn take(&mut self, next: Seq, beyond: &Ranges) -> Option<SackBlocks> {
        if beyond.is_empty() && self.duplicate.is_none() && self.trimmed.is_none() {
            self.count = 0;
            return None;
        }
        let trimmed = self.trimmed.take();
        let mut blocks = trimmed.map_or_else(SackBlocks::new, SackBlocks::of_trimmed);
        let limit = self.limit;
        // The duplicate's own ranges need not be repeated.
        let mut around = None;
        if trimmed.is_none()
            && let Some(seq) = self.duplicate.take()
        {
            blocks.push((seq, seq.next()));
            around = beyond.around(seq).filter(|_| limit > 1);
            around.into_iter().for_each(|range| blocks.push(range));
        }
        let recent = self.recent;
        let recent = recent[..self.count].iter().copied().filter(|&(seq, _)| seq >= next);
        // Free blocks report the lowest ranges, next to the gaps that stall the transfer.
        let lowest = beyond.iter().take(2 * MAX_SACK_BLOCKS).map(|range| (range.0, range));
        self.count = 0;
        for (seq, range) in recent.chain(lowest) {
            if self.count == MAX_SACK_BLOCKS {
                break;
            }
            if self.recent[..self.count].iter().any(|&(_, kept)| kept == range) {
                continue;
            }
            self.recent[self.count] = (seq, range);
            self.count += 1;
            if Some(range) != around && blocks.as_slice().len() < limit {
                blocks.push(range);
            }
        }
        (!blocks.as_slice().is_empty()).then_some(blocks)
    }
}
