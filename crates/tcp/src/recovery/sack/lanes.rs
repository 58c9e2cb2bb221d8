//! What each network carries of the segments on a scoreboard.
//!
//! # Models
//! A segment belongs to the network on which it was sent first, a retransmission under way to the one on which it was sent.
//! # Source
//! S. Chen and others, SIGCOMM 2022, and their kernel: `packets_out`, `sacked_out` and `lost_out` by the first transmission,
//! `retrans_out` by the retransmission.
//! # Parameters
//! None.
//! # Limits
//! None.

use std::collections::VecDeque;

use super::scoreboard::Outstanding;
use crate::seq::Seq;

/// What one network carries, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lane {
    /// Sent there first and not cumulatively acknowledged.
    pub(super) outstanding: u32,
    /// Those of them that SACK covers.
    pub(super) sacked: u32,
    /// What it is held to carry (RFC 6675's pipe).
    pub(super) carried: u32,
}

/// On which networks a segment was sent first and last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) first: u8,
    pub(super) last: u8,
}

/// A segment of which an ACK tells for the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    pub(super) seq: Seq,
    /// As it was before.
    pub(super) segment: Outstanding,
    pub(super) sent: Sent,
    /// Whether SACK tells.
    pub(super) sacked: bool,
}

/// See the module's text.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// The network that is looked at, on which segments are sent.
    pub(super) at: u8,
    pub(super) each: Vec<Lane>,
    /// By outstanding segment.
    sent: VecDeque<Sent>,
    /// What the ACK that is looked at tells for the first time.
    pub(super) news: Vec<News>,
    /// By network, how many segments it acknowledges cumulatively.
    pub(super) acked: Vec<u32>,
}

impl Lanes {
    pub(super) fn new(networks: u8, present: u8) -> Self {
        let networks = usize::from(networks);
        Lanes {
            at: present,
            each: vec![Lane::default(); networks],
            sent: VecDeque::new(),
            news: Vec::new(),
            acked: vec![0; networks],
        }
    }

    /// What the network that is looked at carries.
    pub(super) fn lane(&self) -> Lane {
        self.each[usize::from(self.at)]
    }

    /// Where an outstanding segment was sent, by its place.
    pub(super) fn sent(&self, place: usize) -> Option<Sent> {
        self.sent.get(place).copied()
    }

    /// A new segment is sent.
    pub(super) fn push(&mut self) {
        let sent = Sent { first: self.at, last: self.at };
        self.sent.push_back(sent);
        let lane = &mut self.each[usize::from(self.at)];
        lane.outstanding += 1;
        lane.carried += 1;
    }

    /// A segment is sent again.
    pub(super) fn again(&mut self, place: usize, before: Outstanding, after: Outstanding) {
        self.take(place, before);
        self.sent[place].last = self.at;
        self.give(place, after);
    }

    /// Something else about a segment changes.
    pub(super) fn turn(&mut self, place: usize, before: Outstanding, after: Outstanding) {
        self.take(place, before);
        self.give(place, after);
    }

    /// The lowest segment is acknowledged cumulatively.
    pub(super) fn pop(&mut self, seq: Seq, segment: Outstanding) {
        self.take(0, segment);
        let Some(sent) = self.sent.pop_front() else { return };
        let network = usize::from(sent.first);
        self.each[network].outstanding -= 1;
        self.acked[network] += 1;
        if !segment.sacked {
            self.news.push(News { seq, segment, sent, sacked: false });
        }
    }

    /// SACK covers a segment for the first time.
    pub(super) fn sack(&mut self, place: usize, seq: Seq, before: Outstanding, after: Outstanding) {
        self.news.push(News { seq, segment: before, sent: self.sent[place], sacked: true });
        self.turn(place, before, after);
    }

    fn take(&mut self, place: usize, segment: Outstanding) {
        let Sent { first, last } = self.sent[place];
        let first = &mut self.each[usize::from(first)];
        first.carried -= u32::from(!segment.sacked && !segment.lost);
        first.sacked -= u32::from(segment.sacked);
        self.each[usize::from(last)].carried -= u32::from(segment.resent);
    }

    fn give(&mut self, place: usize, segment: Outstanding) {
        let Sent { first, last } = self.sent[place];
        let first = &mut self.each[usize::from(first)];
        first.carried += u32::from(!segment.sacked && !segment.lost);
        first.sacked += u32::from(segment.sacked);
        self.each[usize::from(last)].carried += u32::from(segment.resent);
    }
}
