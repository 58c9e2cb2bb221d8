//! Duplicate ACKs for out-of-order segments.

mod das;
mod das_bounded;
mod seen;

use optcp_units::Time;

use crate::config::{Config, DuplicateAckKind};
use crate::seq::Seq;

pub use das::Das;
pub use das_bounded::DasBounded;
pub(super) use seen::Seen;

/// Policy that suppresses duplicate ACKs of some out-of-order segments.
#[derive(Clone, Debug)]
pub enum Suppression {
    /// See [`Das`].
    Das(Das),
    /// See [`DasBounded`].
    Bounded(DasBounded),
}

impl Suppression {
    /// Returns the policy of a new receiver; `None` if every out-of-order segment triggers a duplicate ACK.
    #[must_use]
    pub fn new(config: &Config) -> Option<Self> {
        match config.duplicate_acks {
            DuplicateAckKind::Every => None,
            DuplicateAckKind::Das => Some(Suppression::Das(Das::default())),
            DuplicateAckKind::DasBounded => Some(Suppression::Bounded(DasBounded::new(config))),
        }
    }

    /// Processes an in-order segment. `whole`: no gap remains.
    pub(super) fn on_in_order(&mut self, segment: Seen, whole: bool) {
        match self {
            Suppression::Das(das) => das.on_in_order(segment),
            Suppression::Bounded(das) => das.on_in_order(segment, whole),
        }
    }

    /// Processes an out-of-order segment; returns whether its duplicate ACK is sent.
    pub(super) fn answers(&mut self, segment: Seen) -> bool {
        match self {
            Suppression::Das(das) => das.answers(segment),
            Suppression::Bounded(das) => das.answers(segment),
        }
    }

    /// Records an ACK for everything below `next`, sent without a gap.
    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        if let Suppression::Bounded(das) = self {
            das.on_ack(now, next);
        }
    }

    /// Returns the time at which withheld duplicate ACKs are due.
    pub(super) fn deadline(&self) -> Option<Time> {
        if let Suppression::Bounded(das) = self { das.deadline() } else { None }
    }

    /// Records that one withheld duplicate ACK is sent. `beyond`: number of out-of-order segments.
    pub(super) fn on_release(&mut self, beyond: u32) {
        if let Suppression::Bounded(das) = self {
            das.on_release(beyond);
        }
    }

    /// Returns whether ACKs of in-order segments omit SACK blocks now.
    pub(super) fn withholds(&self) -> bool {
        if let Suppression::Bounded(das) = self { das.withholds() } else { false }
    }
}
