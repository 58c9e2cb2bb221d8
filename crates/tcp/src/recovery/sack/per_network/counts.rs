//! Counts of the segments on a scoreboard for each network.
//!
//! # Model
//! A segment belongs to the network on which it was sent first, a retransmission in flight to the one on which it was
//! sent. Invariant: summed over networks, the counts are those of the scoreboard.
//! # References
//! S. Chen and others, SIGCOMM 2022, and their kernel: `packets_out`, `sacked_out` and `lost_out` by the first transmission,
//! `retrans_out` by the retransmission.
//! # Parameters
//! None.
//! # Limitations
//! None.

use std::collections::VecDeque;

use crate::recovery::sack::scoreboard::Outstanding;
use crate::seq::Seq;

/// Segments on one network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::recovery::sack) struct Counts {
    /// Sent there first and not cumulatively acknowledged.
    pub(in crate::recovery::sack) outstanding: u32,
    /// Those of them that SACK covers.
    pub(in crate::recovery::sack) sacked: u32,
    /// Held to be in flight there (RFC 6675's pipe).
    pub(in crate::recovery::sack) pipe: u32,
}

/// The networks on which a segment was sent first and last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentOn {
    pub(super) first: u8,
    pub(super) last: u8,
}

/// A segment that an ACK reports for the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub(super) seq: Seq,
    /// Its state before the ACK.
    pub(super) segment: Outstanding,
    pub(super) sent_on: SentOn,
    /// Whether SACK reports it.
    pub(super) sacked: bool,
}

/// See the module's text.
#[derive(Clone, Debug)]
pub(in crate::recovery::sack) struct CountsByNetwork {
    /// The network in view, on which segments are sent.
    pub(super) at: u8,
    pub(super) each: Vec<Counts>,
    /// By outstanding segment.
    sent_on: VecDeque<SentOn>,
    /// Segments that the present ACK reports for the first time.
    delivered: Vec<Delivered>,
    /// By network: how many segments it acknowledges cumulatively.
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

    /// The counts of the network in view.
    pub(in crate::recovery::sack) fn in_view(&self) -> Counts {
        self.each[usize::from(self.at)]
    }

    /// Where an outstanding segment was sent, by its place.
    pub(super) fn sent_on(&self, place: usize) -> Option<SentOn> {
        self.sent_on.get(place).copied()
    }

    /// The segments that were reported since the last call, and by network how many were acknowledged cumulatively.
    pub(super) fn take_delivered(&mut self) -> (Vec<Delivered>, Vec<u32>) {
        let none = vec![0; self.each.len()];
        (std::mem::take(&mut self.delivered), std::mem::replace(&mut self.acked, none))
    }

    /// A new segment is sent.
    pub(in crate::recovery::sack) fn on_new(&mut self) {
        self.sent_on.push_back(SentOn { first: self.at, last: self.at });
        let counts = &mut self.each[usize::from(self.at)];
        counts.outstanding += 1;
        counts.pipe += 1;
    }

    /// A segment is sent again.
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

    /// The state of a segment changes.
    pub(in crate::recovery::sack) fn on_change(
        &mut self,
        place: usize,
        before: Outstanding,
        after: Outstanding,
    ) {
        self.remove(place, before);
        self.add(place, after);
    }

    /// The lowest segment is acknowledged cumulatively.
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

    /// SACK covers a segment for the first time.
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
