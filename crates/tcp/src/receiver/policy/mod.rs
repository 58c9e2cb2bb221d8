//! How long the ACK of an in-order segment may wait.

mod delayed;
mod linux;
mod tick;

use optcp_units::{Duration, Time};

use crate::config::{AckKind, Config};
use crate::seq::Seq;

pub use delayed::Delayed;
pub use linux::Linux;
pub use tick::Tick;

/// The chosen policy.
#[derive(Clone, Debug)]
pub enum AckPolicy {
    /// Nothing waits.
    EveryPacket,
    /// See [`Delayed`].
    Delayed(Delayed),
    /// See [`Tick`].
    Tick(Tick),
    /// See [`Linux`].
    Linux(Box<Linux>),
}

impl AckPolicy {
    /// The policy of a receiver whose clock stands at `clock_phase` at time zero.
    #[must_use]
    pub fn new(config: &Config, clock_phase: Duration) -> Self {
        match config.ack {
            AckKind::EveryPacket => AckPolicy::EveryPacket,
            AckKind::Delayed => AckPolicy::Delayed(Delayed { delay: config.ack_delay }),
            AckKind::DelayedTick => {
                AckPolicy::Tick(Tick { period: config.ack_delay, phase: clock_phase })
            }
            AckKind::Linux => AckPolicy::Linux(Box::new(Linux::new(config))),
        }
    }

    /// Until when an ACK that falls due now may wait; `None` sends it at once.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self {
            AckPolicy::EveryPacket => None,
            AckPolicy::Delayed(policy) => Some(policy.deadline(now)),
            AckPolicy::Tick(policy) => Some(policy.deadline(now)),
            AckPolicy::Linux(policy) => Some(now + policy.delay),
        }
    }

    /// Segment `seq` has come, everything below `next` is in order now, and `quick` more segments are acknowledged at
    /// once: how many are, by this policy.
    pub(super) fn on_in_order(&mut self, now: Time, seq: Seq, next: Seq, quick: u32) -> u32 {
        match self {
            AckPolicy::Linux(policy) => policy.on_in_order(now, seq, next, quick),
            _ => quick,
        }
    }

    /// A segment has come beyond a hole.
    pub(super) fn on_hole(&mut self) {
        if let AckPolicy::Linux(policy) = self {
            policy.on_hole();
        }
    }

    /// An ACK for everything below `next` is sent while nothing is missing.
    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        if let AckPolicy::Linux(policy) = self {
            policy.on_ack(now, next);
        }
    }
}
