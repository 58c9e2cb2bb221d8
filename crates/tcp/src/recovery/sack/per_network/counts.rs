//! Scoreboard counts per network.
//!
//! # Model
//! A segment belongs to the network of its first transmission; a retransmission in flight belongs to the
//! network of the retransmission. Invariant: the sums over all networks equal the counts of the scoreboard.
//!
//! # References
//! S. Chen and others, SIGCOMM 2022, and their kernel: `packets_out`, `sacked_out` and `lost_out` by the
//! first transmission, `retrans_out` by the retransmission.

use std::collections::VecDeque;

use crate::recovery::sack::scoreboard::Outstanding;
use crate::seq::Seq;

/// Segments on one network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::recovery::sack) struct Counts {
    /// Segments first sent there and not cumulatively acknowledged.
    pub(in crate::recovery::sack) outstanding: u32,
    /// SACKed segments among them.
    pub(in crate::recovery::sack) sacked: u32,
    /// Segments considered in flight there (RFC 6675's pipe).
    pub(in crate::recovery::sack) pipe: u32,
}

/// Networks of a segment's first and last transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentOn {
    pub(super) first: u8,
    pub(super) last: u8,
}

/// Segment newly reported by an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub(super) seq: Seq,
    /// State when the ACK arrives.
    pub(super) segment: Outstanding,
    pub(super) sent_on: SentOn,
    /// `true`: reported by SACK.
    pub(super) sacked: bool,
}

/// Counts of all networks.
#[derive(Clone, Debug)]
pub(in crate::recovery::sack) struct CountsByNetwork {
    /// Network in view, on which segments are sent.
    pub(super) at: u8,
    pub(super) each: Vec<Counts>,
    /// Networks by outstanding segment.
    sent_on: VecDeque<SentOn>,
    /// Segments newly reported by the current ACK.
    delivered: Vec<Delivered>,
    /// Number of cumulatively acknowledged segments by network.
    acked: Vec<u32>,
}

impl CountsByNetwork {
    pub(super) fn new(networks: u8, present: u8) -> Self {
        let networks = usize::from(networks);
        CountsByNetwork {
            at: present,
            each: vec![Counts::default(); networks],
            sent_on: VecDeque::new(),
            delivered: Vec::new(),
            acked: vec![0; networks],
        }
    }

    /// Returns the counts of the network in view.
    pub(in crate::recovery::sack) fn in_view(&self) -> Counts {
        self.each[usize::from(self.at)]
    }

    /// Returns the networks of an outstanding segment, by index.
    pub(super) fn sent_on(&self, place: usize) -> Option<SentOn> {
        self.sent_on.get(place).copied()
    }

    /// Takes the segments reported since the last call, and the cumulatively acknowledged numbers by network.
    pub(super) fn take_delivered(&mut self) -> (Vec<Delivered>, Vec<u32>) {
        let none = vec![0; self.each.len()];
        (std::mem::take(&mut self.delivered), std::mem::replace(&mut self.acked, none))
    }

    /// Records the transmission of a new segment.
    pub(in crate::recovery::sack) fn on_new(&mut self) {
        self.sent_on.push_back(SentOn { first: self.at, last: self.at });
        let counts = &mut self.each[usize::from(self.at)];
        counts.outstanding += 1;
        counts.pipe += 1;
    }

    /// Records a retransmission.
    pub(in crate::recovery::sack) fn on_resent(
        &mut self,
        place: usize,
        before: Outstanding,
        after: Outstanding,
    ) {
        self.remove(place, before);
        self.sent_on[place].last = self.at;
        self.add(place, after);
    }

    /// Records a change of a segment's state.
    pub(in crate::recovery::sack) fn on_change(
        &mut self,
        place: usize,
        before: Outstanding,
        after: Outstanding,
    ) {
        self.remove(place, before);
        self.add(place, after);
    }

    /// Records the cumulative acknowledgment of the lowest segment.
    pub(in crate::recovery::sack) fn on_acknowledged(&mut self, seq: Seq, segment: Outstanding) {
        self.remove(0, segment);
        let Some(sent_on) = self.sent_on.pop_front() else { return };
        let network = usize::from(sent_on.first);
        self.each[network].outstanding -= 1;
        self.acked[network] += 1;
        if !segment.sacked {
            self.delivered.push(Delivered { seq, segment, sent_on, sacked: false });
        }
    }

    /// Records a newly SACKed segment.
    pub(in crate::recovery::sack) fn on_sacked(
        &mut self,
        place: usize,
        seq: Seq,
        before: Outstanding,
        after: Outstanding,
    ) {
        let sent_on = self.sent_on[place];
        self.delivered.push(Delivered { seq, segment: before, sent_on, sacked: true });
        self.on_change(place, before, after);
    }

    fn remove(&mut self, place: usize, segment: Outstanding) {
        let SentOn { first, last } = self.sent_on[place];
        let first = &mut self.each[usize::from(first)];
        first.pipe -= u32::from(!segment.sacked && !segment.lost);
        first.sacked -= u32::from(segment.sacked);
        self.each[usize::from(last)].pipe -= u32::from(segment.resent);
    }

    fn add(&mut self, place: usize, segment: Outstanding) {
        let SentOn { first, last } = self.sent_on[place];
        let first = &mut self.each[usize::from(first)];
        first.pipe += u32::from(!segment.sacked && !segment.lost);
        first.sacked += u32::from(segment.sacked);
        self.each[usize::from(last)].pipe += u32::from(segment.resent);
    }
}
