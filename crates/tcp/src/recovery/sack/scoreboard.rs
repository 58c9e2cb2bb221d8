//! Scoreboard of a SACK sender.
//!
//! # Model
//! One entry per segment between the cumulative ACK and the highest one sent. It holds the time of
//! the last transmission, and whether the segment was retransmitted, SACKed, or considered lost.
//!
//! # References
//! RFC 6675 section 3 (scoreboard), section 4 (`Update`, `SetPipe`, `NextSeg` rule 1).
//!
//! # Limitations
//! The receiver never discards SACKed data (no reneging).

use std::collections::{BTreeSet, VecDeque};

use optcp_units::Time;

use super::per_network::counts::{Counts, CountsByNetwork};
use crate::acknowledgment::SackBlocks;
use crate::ranges::Ranges;
use crate::seq::Seq;

/// Outstanding segment.
// Hundreds exist per sender: a compact layout keeps more of them in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(super) struct Outstanding {
    /// Time of the last transmission.
    pub(super) sent: Time,
    /// `true`: it was retransmitted.
    pub(super) again: bool,
    /// `true`: it is SACKed.
    pub(super) sacked: bool,
    /// `true`: its last transmission, except a retransmission in flight, is considered lost.
    pub(super) lost: bool,
    /// `true`: a retransmission is in flight.
    pub(super) resent: bool,
}

impl Outstanding {
    /// Returns whether it is considered lost without a retransmission in flight.
    fn waits(self) -> bool {
        self.lost && !self.resent
    }
}

/// Scoreboard.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    una: Seq,
    segments: VecDeque<Outstanding>,
    sacked: Ranges,
    /// Blocks of the last option, which are mostly repeated in the next one.
    reported: SackBlocks,
    sacked_count: u32,
    lost_count: u32,
    resent_count: u32,
    /// Segments awaiting retransmission: considered lost, with no retransmission in flight.
    waiting: BTreeSet<Seq>,
    /// Losses detected since the last query, if they are recorded.
    unreported: Option<Vec<Seq>>,
    /// Counts per network, with per-network state.
    pub(super) by_network: Option<Box<CountsByNetwork>>,
}

impl Scoreboard {
    /// Creates an empty scoreboard. `tells`: it records detected losses.
    pub(super) fn new(tells: bool) -> Self {
        Scoreboard { unreported: tells.then(Vec::new), ..Scoreboard::default() }
    }

    /// Takes the losses detected since the last call, in order of detection.
    pub(super) fn newly_lost(&mut self) -> impl Iterator<Item = Seq> + '_ {
        self.unreported.iter_mut().flat_map(|lost| lost.drain(..))
    }

    /// Returns the oldest segment that is not cumulatively acknowledged.
    pub(super) fn una(&self) -> Seq {
        self.una
    }

    /// Returns one past the highest segment sent.
    pub(super) fn end(&self) -> Seq {
        self.una + self.outstanding()
    }

    fn outstanding(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    /// Returns one past the highest SACKed segment; `una` without any.
    pub(super) fn highest_sacked(&self) -> Seq {
        self.sacked.end().unwrap_or(self.una)
    }

    /// Returns the number of SACKed segments.
    pub(super) fn sacked(&self) -> u32 {
        self.sacked_count
    }

    /// Returns the number of segments considered lost, retransmitted or not.
    pub(super) fn lost(&self) -> u32 {
        self.lost_count
    }

    /// Returns the number of retransmissions in flight.
    pub(super) fn resent(&self) -> u32 {
        self.resent_count
    }

    /// Returns the number of segments considered in flight (RFC 6675's pipe); with per-network state, on the
    /// network in view.
    pub(super) fn pipe(&self) -> u32 {
        match &self.by_network {
            None => self.counts().pipe,
            Some(networks) => networks.in_view().pipe,
        }
    }

    /// Returns the number of segments not cumulatively acknowledged; with per-network state, on the network
    /// in view.
    pub(super) fn flight(&self) -> u32 {
        match &self.by_network {
            None => self.outstanding(),
            Some(networks) => networks.in_view().outstanding,
        }
    }

    /// Returns the counts of all networks together.
    pub(super) fn counts(&self) -> Counts {
        let outstanding = self.outstanding();
        let pipe = outstanding - self.sacked_count - self.lost_count + self.resent_count;
        Counts { outstanding, sacked: self.sacked_count, pipe }
    }

    /// Returns the index of a segment, counted from `una`.
    pub(super) fn place(&self, seq: Seq) -> Option<usize> {
        seq.checked_since(self.una).map(|place| place as usize)
    }

    /// Returns the state of an outstanding segment.
    pub(super) fn get(&self, seq: Seq) -> Option<Outstanding> {
        self.segments.get(self.place(seq)?).copied()
    }

    /// Records the transmission of `seq`: the next new segment, or a retransmission.
    pub(super) fn on_sent(&mut self, seq: Seq, now: Time) {
        let place = (seq - self.una) as usize;
        let Some(segment) = self.segments.get_mut(place) else {
            debug_assert_eq!(seq, self.end(), "new segments are sent in order");
            self.segments.push_back(Outstanding {
                sent: now,
                again: false,
                sacked: false,
                lost: false,
                resent: false,
            });
            self.by_network.iter_mut().for_each(|networks| networks.on_new());
            return;
        };
        if segment.waits() {
            self.waiting.remove(&seq);
        }
        let before = *segment;
        segment.sent = now;
        segment.again = true;
        self.resent_count += u32::from(!segment.resent);
        segment.resent = true;
        if let Some(networks) = &mut self.by_network {
            networks.on_resent(place, before, *segment);
        }
    }

    /// Processes a cumulative ACK; calls `delivered` for segments that SACK had not reported.
    pub(super) fn acknowledge(&mut self, ack: Seq, mut delivered: impl FnMut(Seq, Outstanding)) {
        while self.una < ack
            && let Some(segment) = self.segments.pop_front()
        {
            self.lost_count -= u32::from(segment.lost);
            self.resent_count -= u32::from(segment.resent);
            if segment.waits() {
                self.waiting.remove(&self.una);
            }
            if let Some(networks) = &mut self.by_network {
                networks.on_acknowledged(self.una, segment);
            }
            if segment.sacked {
                self.sacked_count -= 1;
            } else {
                delivered(self.una, segment);
            }
            self.una += 1;
        }
        self.sacked.remove_below(self.una);
    }

    /// Processes SACK `blocks`; calls `delivered` for newly covered segments.
    pub(super) fn sack_all(
        &mut self,
        blocks: &[(Seq, Seq)],
        mut delivered: impl FnMut(Seq, Outstanding),
    ) {
        let mut reported = SackBlocks::new();
        for &(start, end) in blocks {
            if !self.reported.as_slice().contains(&(start, end)) {
                self.sack(start, end, &mut delivered);
            }
            // Blocks beyond the highest segment sent are ignored.
            if end <= self.end() {
                reported.push((start, end));
            }
        }
        self.reported = reported;
    }

    /// Processes one block `start..end`; calls `delivered` for newly covered segments.
    fn sack(&mut self, start: Seq, end: Seq, mut delivered: impl FnMut(Seq, Outstanding)) {
        let (start, end) = (start.max(self.una), end.min(self.end()));
        if start >= end {
            return;
        }
        let Scoreboard { una, segments, sacked, waiting, by_network, .. } = self;
        let (mut newly_sacked, mut lost, mut resent) = (0, 0, 0);
        sacked.insert(start, end, |from, to| {
            for seq in from.until(to) {
                let place = (seq - *una) as usize;
                let segment = &mut segments[place];
                let before = *segment;
                delivered(seq, before);
                if segment.waits() {
                    waiting.remove(&seq);
                }
                newly_sacked += 1;
                lost += u32::from(std::mem::take(&mut segment.lost));
                resent += u32::from(std::mem::take(&mut segment.resent));
                segment.sacked = true;
                if let Some(networks) = by_network {
                    networks.on_sacked(place, seq, before, *segment);
                }
            }
        });
        self.sacked_count += newly_sacked;
        self.lost_count -= lost;
        self.resent_count -= resent;
    }

    /// Marks an outstanding segment as lost, unless a retransmission is in flight.
    pub(super) fn mark_lost(&mut self, seq: Seq) -> bool {
        let place = (seq - self.una) as usize;
        let segment = &mut self.segments[place];
        if segment.sacked || segment.lost {
            return false;
        }
        let before = *segment;
        segment.lost = true;
        if let Some(networks) = &mut self.by_network {
            networks.on_change(place, before, *segment);
        }
        self.lost_count += 1;
        if segment.waits() {
            self.waiting.insert(seq);
        }
        self.unreported.as_mut().into_iter().for_each(|lost| lost.push(seq));
        true
    }

    /// Marks the last transmission of an outstanding segment as lost, retransmission or not.
    pub(super) fn mark_last_lost(&mut self, seq: Seq) -> bool {
        let place = (seq - self.una) as usize;
        let segment = &mut self.segments[place];
        if segment.sacked || (segment.lost && !segment.resent) {
            return false;
        }
        let before = *segment;
        self.lost_count += u32::from(!segment.lost);
        self.resent_count -= u32::from(segment.resent);
        segment.lost = true;
        segment.resent = false;
        if let Some(networks) = &mut self.by_network {
            networks.on_change(place, before, *segment);
        }
        self.waiting.insert(seq);
        self.unreported.as_mut().into_iter().for_each(|lost| lost.push(seq));
        true
    }

    /// Clears all loss marks: these segments count as in flight again.
    pub(super) fn clear_lost(&mut self) {
        // They are among the lowest segments.
        let mut left = self.lost_count + self.resent_count;
        for (place, segment) in self.segments.iter_mut().enumerate() {
            if left == 0 {
                break;
            }
            let before = *segment;
            left -= u32::from(segment.lost) + u32::from(segment.resent);
            (segment.lost, segment.resent) = (false, false);
            if let Some(networks) = &mut self.by_network {
                networks.on_change(place, before, *segment);
            }
        }
        self.waiting.clear();
        (self.lost_count, self.resent_count) = (0, 0);
    }

    /// Clears the SACK information (RFC 2018 section 8, after an RTO).
    pub(super) fn forget_sacked(&mut self) {
        for (place, segment) in self.segments.iter_mut().enumerate() {
            let before = *segment;
            segment.sacked = false;
            if let Some(networks) = &mut self.by_network {
                networks.on_change(place, before, *segment);
            }
        }
        self.sacked.clear();
        self.reported = SackBlocks::new();
        self.sacked_count = 0;
    }

    /// Iterates over the segments from `from` on, in ascending order.
    pub(super) fn iter_from(&self, from: Seq) -> impl Iterator<Item = (Seq, Outstanding)> {
        let from = from.max(self.una);
        let segments = self.segments.iter().skip((from - self.una) as usize).copied();
        from.until(self.end()).zip(segments)
    }

    /// Returns the lowest segment from `from` on that is neither SACKed nor retransmitted.
    pub(super) fn next_unsacked(&self, from: Seq) -> Option<Seq> {
        let waits = |seq: &Seq| self.get(*seq).is_some_and(|s| !s.sacked && !s.resent);
        from.max(self.una).until(self.highest_sacked()).find(waits)
    }

    /// Returns the highest segment that is not SACKed.
    pub(super) fn highest_unsacked(&self) -> Option<Seq> {
        self.una.until(self.end()).rev().find(|&seq| self.get(seq).is_some_and(|s| !s.sacked))
    }

    /// Returns whether a retransmission of the segment is in flight.
    pub(super) fn is_resent(&self, seq: Seq) -> bool {
        self.get(seq).is_some_and(|segment| segment.resent)
    }

    /// Returns the lowest segment that is lost and not retransmitted (RFC 6675, `NextSeg` rule 1).
    pub(super) fn next_lost(&self) -> Option<Seq> {
        self.waiting.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn five_sent() -> Scoreboard {
        let mut board = Scoreboard::default();
        seq(0).until(seq(5)).for_each(|seq| board.on_sent(seq, Time::ZERO));
        board
    }

    fn seq(number: u32) -> Seq {
        Seq::new(number)
    }

    /// RFC 6675 section 4, `NextSeg` rule 1: the lowest lost segment that was not retransmitted.
    /// This holds also while a segment not considered lost is in flight twice, like a probe.
    #[test]
    fn probe_in_flight_does_not_delay_lost_segments() {
        let mut board = five_sent();
        board.on_sent(seq(4), Time::ZERO);
        assert!(board.mark_lost(seq(1)));
        assert_eq!(board.next_lost(), Some(seq(1)));
    }

    /// The same rule: lowest first, each once, again if its retransmission is lost, and never after its
    /// arrival.
    #[test]
    fn lost_segments_wait_in_order_until_they_are_sent_or_arrive() {
        let mut board = five_sent();
        for seq in [2, 0, 1].map(seq) {
            assert!(board.mark_lost(seq));
        }
        assert_eq!(board.next_lost(), Some(seq(0)));
        board.on_sent(seq(0), Time::ZERO);
        assert_eq!(board.next_lost(), Some(seq(1)));
        board.sack(seq(1), seq(2), |_, _| {});
        assert_eq!(board.next_lost(), Some(seq(2)));
        assert!(board.mark_last_lost(seq(0)));
        assert_eq!(board.next_lost(), Some(seq(0)));
        board.acknowledge(seq(3), |_, _| {});
        assert_eq!(board.next_lost(), None);
    }
}
