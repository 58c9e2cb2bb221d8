//! Packet counts of a run and the check that they add up.

use std::fmt;

use optcp_net::DropReason;

/// Number of packets by fate, data and ACKs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent by endpoints.
    pub sent: u64,
    /// Additional copies made by bridges and links.
    pub copied: u64,
    /// Part of `copied`: duplicates that links made of uncopied packets. They count as separate packets.
    pub duplicated: u64,
    /// Packets received by endpoints, each counted once.
    pub delivered: u64,
    /// Lost packets by [`DropReason`], each counted once.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Copies that ended without counting as delivered or dropped: another copy decides the fate of their packet.
    pub copies_discarded: u64,
    /// CE marks set by queue disciplines; a packet marked twice counts twice.
    pub marked: u64,
    /// Events executed. The number differs between engines for the same run.
    pub events: u64,
}

impl Counts {
    /// Adds the counts of another part of the run.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.with(other, |ours, theirs| *ours += theirs);
    }

    /// Returns the counts since `before`.
    #[must_use]
    pub fn since(mut self, before: &Counts) -> Counts {
        self.with(before, |ours, theirs| *ours -= theirs);
        self
    }

    /// Applies `change` to each count and the same count of `other`.
    fn with(&mut self, other: &Counts, change: impl Fn(&mut u64, u64)) {
        let Counts {
            sent,
            copied,
            duplicated,
            delivered,
            dropped,
            copies_discarded,
            marked,
            events,
        } = other;
        for (ours, theirs) in [
            (&mut self.sent, sent),
            (&mut self.copied, copied),
            (&mut self.duplicated, duplicated),
            (&mut self.delivered, delivered),
            (&mut self.copies_discarded, copies_discarded),
            (&mut self.marked, marked),
            (&mut self.events, events),
        ] {
            change(ours, *theirs);
        }
        self.dropped.iter_mut().zip(dropped).for_each(|(ours, theirs)| change(ours, *theirs));
    }

    /// Returns the number of packets lost for any reason.
    #[must_use]
    pub fn dropped_in_all(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// Violation of packet conservation: a defect of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conservation {
    /// Packets sent.
    pub sent: u64,
    /// Copies made of packets.
    pub copied: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets lost.
    pub dropped: u64,
    /// Copies that ended without counting as delivered or dropped.
    pub copies_discarded: u64,
    /// Packets in queues and on links.
    pub in_flight: u64,
}

impl fmt::Display for Conservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conservation { sent, copied, delivered, dropped, copies_discarded, in_flight } = self;
        write!(
            f,
            "sent {sent}, copied {copied}, delivered {delivered}, dropped {dropped}, copies discarded {copies_discarded}, in flight {in_flight}"
        )
    }
}

impl std::error::Error for Conservation {}
