//! What a SACK sender knows of every outstanding segment.
//!
//! # Models
//! Each segment between the cumulative ACK and the highest sent: when it was last sent, whether it has
//! been retransmitted, whether SACK covers it, whether it is held to be lost.
//! # Source
//! RFC 6675 section 3 (scoreboard), section 4 (`Update`, `SetPipe`, `NextSeg` rule 1).
//! # Parameters
//! None.
//! # Limits
//! Data that SACK has covered is not given up by the receiver (no reneging).

use std::collections::{BTreeSet, VecDeque};

use optcp_units::Time;

use super::per_network::counts::{Counts, CountsByNetwork};
use crate::acknowledgment::SackBlocks;
use crate::ranges::Ranges;
use crate::seq::Seq;

/// One outstanding segment.
// Of each sender there are hundreds: without gaps more of them are in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(super) struct Outstanding {
    /// When it was last sent.
    pub(super) sent: Time,
    /// Whether it was ever sent again.
    pub(super) again: bool,
    /// Whether SACK covers it.
    pub(super) sacked: bool,
    /// Whether its last transmission but the retransmission under way is held to be lost.
    pub(super) lost: bool,
    /// Whether a retransmission of it is under way.
    pub(super) resent: bool,
}

impl Outstanding {
    /// Whether it is held to be lost, and no retransmission of it is under way.
    fn waits(self) -> bool {
        self.lost && !self.resent
    }
}

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    una: Seq,
    segments: VecDeque<Outstanding>,
    sacked: Ranges,
    /// Blocks that the last option reported: most of the next option are the same.
    reported: SackBlocks,
    sacked_count: u32,
    lost_count: u32,
    resent_count: u32,
    /// Segments that wait for their retransmission: held to be lost, and none is under way.
    waiting: BTreeSet<Seq>,
    /// Those found lost since they were last told of, where anybody asks.
    untold: Option<Vec<Seq>>,
    /// The counts of each network, where the state of networks is kept apart.
    pub(super) by_network: Option<Box<CountsByNetwork>>,
}

impl Scoreboard {
    /// A scoreboard of nothing, which remembers what is found lost if it `tells`.
    pub(super) fn new(tells: bool) -> Self {
        Scoreboard { untold: tells.then(Vec::new), ..Scoreboard::default() }
    }

    /// Segments found lost since this was last called, in that order.
    pub(super) fn newly_lost(&mut self) -> impl Iterator<Item = Seq> + '_ {
        self.untold.iter_mut().flat_map(|lost| lost.drain(..))
    }

    /// Oldest segment that is not cumulatively acknowledged.
    pub(super) fn una(&self) -> Seq {
        self.una
    }

    /// One past the highest segment sent.
    pub(super) fn end(&self) -> Seq {
        self.una + self.outstanding()
    }

    fn outstanding(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    /// One past the highest segment that SACK covers; `una` if there is none.
    pub(super) fn highest_sacked(&self) -> Seq {
        self.sacked.end().unwrap_or(self.una)
    }

    /// Segments that SACK covers.
    pub(super) fn sacked(&self) -> u32 {
        self.sacked_count
    }

    /// Segments held to be lost, retransmitted or not.
    pub(super) fn lost(&self) -> u32 {
        self.lost_count
    }

    /// Retransmissions under way.
    pub(super) fn resent(&self) -> u32 {
        self.resent_count
    }

    /// Segments held to be in flight (RFC 6675's pipe); on the network in view, where networks are kept apart.
    pub(super) fn pipe(&self) -> u32 {
        match &self.by_network {
            None => self.counts().pipe,
            Some(networks) => networks.in_view().pipe,
        }
    }

    /// Segments sent and not cumulatively acknowledged; on the network in view, where networks are kept apart.
    pub(super) fn flight(&self) -> u32 {
        match &self.by_network {
            None => self.outstanding(),
            Some(networks) => networks.in_view().outstanding,
        }
    }

    /// The counts of all networks together.
    pub(super) fn counts(&self) -> Counts {
        let outstanding = self.outstanding();
        let pipe = outstanding - self.sacked_count - self.lost_count + self.resent_count;
        Counts { outstanding, sacked: self.sacked_count, pipe }
    }

    /// The place of a segment from `una` on.
    pub(super) fn place(&self, seq: Seq) -> Option<usize> {
        seq.checked_since(self.una).map(|place| place as usize)
    }

    /// What is known of an outstanding segment.
    pub(super) fn get(&self, seq: Seq) -> Option<Outstanding> {
        self.segments.get(self.place(seq)?).copied()
    }

    /// The segment `seq` is sent now: the next new one, or an outstanding one again.
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

    /// Everything below `ack` has arrived; calls `delivered` for what SACK had not told.
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

    /// SACK covers `blocks`; calls `delivered` for what they cover for the first time.
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
            // Of one that reaches beyond what was sent only a part is known.
            if end <= self.end() {
                reported.push((start, end));
            }
        }
        self.reported = reported;
    }

    /// SACK covers `start..end`; calls `delivered` for what it covers for the first time.
    fn sack(&mut self, start: Seq, end: Seq, mut delivered: impl FnMut(Seq, Outstanding)) {
        let (start, end) = (start.max(self.una), end.min(self.end()));
        if start >= end {
            return;
        }
        let Scoreboard { una, segments, sacked, waiting, by_network, .. } = self;
        let (mut news, mut lost, mut resent) = (0, 0, 0);
        sacked.insert(start, end, |from, to| {
            for seq in from.until(to) {
                let place = (seq - *una) as usize;
                let segment = &mut segments[place];
                let before = *segment;
                delivered(seq, before);
                if segment.waits() {
                    waiting.remove(&seq);
                }
                news += 1;
                lost += u32::from(std::mem::take(&mut segment.lost));
                resent += u32::from(std::mem::take(&mut segment.resent));
                segment.sacked = true;
                if let Some(networks) = by_network {
                    networks.on_sacked(place, seq, before, *segment);
                }
            }
        });
        self.sacked_count += news;
        self.lost_count -= lost;
        self.resent_count -= resent;
    }

    /// Holds an outstanding segment to be lost; a retransmission under way is not doubted.
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
        self.untold.as_mut().into_iter().for_each(|lost| lost.push(seq));
        true
    }

    /// Holds the last transmission of an outstanding segment to be lost, retransmission or not.
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
        self.untold.as_mut().into_iter().for_each(|lost| lost.push(seq));
        true
    }

    /// Holds nothing to be lost any more: what was held to be lost is under way after all.
    pub(super) fn clear_lost(&mut self) {
        // They are among the lowest.
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

    /// Forgets what SACK has covered (RFC 2018 section 8, after a timeout).
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

    /// The segments from `from` on, the lowest first.
    pub(super) fn iter_from(&self, from: Seq) -> impl Iterator<Item = (Seq, Outstanding)> {
        let from = from.max(self.una);
        let segments = self.segments.iter().skip((from - self.una) as usize).copied();
        from.until(self.end()).zip(segments)
    }

    /// The lowest segment from `from` on that SACK does not cover and that was not sent again.
    pub(super) fn next_unsacked(&self, from: Seq) -> Option<Seq> {
        let waits = |seq: &Seq| self.get(*seq).is_some_and(|s| !s.sacked && !s.resent);
        from.max(self.una).until(self.highest_sacked()).find(waits)
    }

    /// The highest segment that SACK does not cover.
    pub(super) fn highest_unsacked(&self) -> Option<Seq> {
        self.una.until(self.end()).rev().find(|&seq| self.get(seq).is_some_and(|s| !s.sacked))
    }

    /// Whether a retransmission of it is under way.
    pub(super) fn is_resent(&self, seq: Seq) -> bool {
        self.get(seq).is_some_and(|segment| segment.resent)
    }

    /// The lowest segment that is held to be lost and not retransmitted (RFC 6675, `NextSeg` rule 1).
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

    /// RFC 6675 section 4, `NextSeg` rule 1: the lowest that is lost and was not sent again, also while a
    /// segment that is not held to be lost is under way twice, as a probe is.
    #[test]
    fn a_probe_under_way_keeps_no_lost_segment_back() {
        let mut board = five_sent();
        board.on_sent(seq(4), Time::ZERO);
        assert!(board.mark_lost(seq(1)));
        assert_eq!(board.next_lost(), Some(seq(1)));
    }

    /// The same rule: lowest first, each once, again if its retransmission is lost, and never once it has
    /// arrived.
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
