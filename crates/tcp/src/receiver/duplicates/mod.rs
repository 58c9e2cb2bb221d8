//! Whether a segment beyond a hole brings a duplicate ACK.

mod das;
mod das_bounded;
mod seen;

use optcp_units::Time;

use crate::config::{Config, DuplicateAckKind};
use crate::seq::Seq;

pub use das::Das;
pub use das_bounded::DasBounded;
pub(super) use seen::Seen;

/// A policy by which some segments beyond a hole bring none.
#[derive(Clone, Debug)]
pub enum Suppression {
    /// See [`Das`].
    Das(Das),
    /// See [`DasBounded`].
    Bounded(DasBounded),
}

impl Suppression {
    /// The policy of a receiver that has got nothing yet; `None` if every segment brings one.
    #[must_use]
    pub fn new(config: &Config) -> Option<Self> {
        match config.duplicate_acks {
            DuplicateAckKind::Every => None,
            DuplicateAckKind::Das => Some(Suppression::Das(Das::default())),
            DuplicateAckKind::DasBounded => Some(Suppression::Bounded(DasBounded::new(config))),
        }
    }

    /// A segment has come that was the next in order; `whole` if nothing lies beyond a hole after it.
    pub(super) fn on_in_order(&mut self, segment: Seen, whole: bool) {
        match self {
            Suppression::Das(das) => das.on_in_order(segment),
            Suppression::Bounded(das) => das.on_in_order(segment, whole),
        }
    }

    /// A segment has come that lies beyond a hole: whether its duplicate ACK is sent.
    pub(super) fn answers(&mut self, segment: Seen) -> bool {
        match self {
            Suppression::Das(das) => das.answers(segment),
            Suppression::Bounded(das) => das.answers(segment),
        }
    }

    /// An ACK for everything below `next` is sent while nothing is missing.
    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        if let Suppression::Bounded(das) = self {
            das.on_ack(now, next);
        }
    }

    /// When duplicate ACKs that were held back are due.
    pub(super) fn deadline(&self) -> Option<Time> {
        if let Suppression::Bounded(das) = self { das.deadline() } else { None }
    }

    /// One duplicate ACK that was held back is sent; `beyond` segments lie beyond the hole.
    pub(super) fn on_release(&mut self, beyond: u32) {
        if let Suppression::Bounded(das) = self {
            das.on_release(beyond);
        }
    }

    /// Whether ACKs of segments in order carry no SACK blocks now.
    pub(super) fn withholds(&self) -> bool {
        if let Suppression::Bounded(das) = self { das.withholds() } else { false }
    }
}
