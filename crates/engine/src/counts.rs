//! What has happened in a run, counted; and whether it adds up.

use std::fmt;

use optcp_net::DropReason;

/// Packets, data and ACKs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Put on the network by endpoints.
    pub sent: u64,
    /// Second copies that bridges and links made.
    pub copied: u64,
    /// Of those, the ones that links made of packets without copies: packets of their own.
    pub duplicated: u64,
    /// Taken off the network by endpoints, each packet once.
    pub delivered: u64,
    /// Lost, each packet once, by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Copies that ended and are neither of these: their packet was delivered or lost by another copy, or may be yet.
    pub copies_discarded: u64,
    /// Marked by queue disciplines, by each of them that did.
    pub marked: u64,
    /// Events executed: the engine's affair, another executes fewer for the same run.
    pub events: u64,
}

impl Counts {
    /// Adds those of another part of the run.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.with(other, |ours, theirs| *ours += theirs);
    }

    /// What was counted after `before`.
    #[must_use]
    pub fn since(mut self, before: &Counts) -> Counts {
        self.with(before, |ours, theirs| *ours -= theirs);
        self
    }

    /// Changes each count by the same count of `other`.
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

    /// Lost for any reason.
    #[must_use]
    pub fn dropped_in_all(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// A run whose packets do not add up: a defect of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conservation {
    /// Packets put on the network.
    pub sent: u64,
    /// Copies made of them.
    pub copied: u64,
    /// Packets taken off it.
    pub delivered: u64,
    /// Packets lost.
    pub dropped: u64,
    /// Copies of other packets that ended.
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
