//! ACK policy: delay of the ACK of an in-order segment.

mod delayed;
mod linux;
mod tick;

use optcp_units::{Duration, Time};

use crate::config::{AckKind, Config};
use crate::seq::Seq;

pub use delayed::Delayed;
pub use linux::Linux;
pub use tick::Tick;

/// Selected policy.
#[derive(Clone, Debug)]
pub enum AckPolicy {
    /// No delay.
    EveryPacket,
    /// See [`Delayed`].
    Delayed(Delayed),
    /// See [`Tick`].
    Tick(Tick),
    /// See [`Linux`].
    Linux(Box<Linux>),
}

impl AckPolicy {
    /// Creates the policy of a receiver. `clock_phase` is the value of its clock at time zero.
    #[must_use]
    pub fn new(config: &Config, clock_phase: Duration) -> Self {
        match config.ack {
            AckKind::EveryPacket => AckPolicy::EveryPacket,
            AckKind::Delayed => AckPolicy::Delayed(Delayed { delay: config.ack_delay }),
            AckKind::DelayedTick => {
                AckPolicy::Tick(Tick { period: config.ack_delay, phase: clock_phase })
            }
            AckKind::Linux => AckPolicy::Linux(Box::new(Linux::new(config, clock_phase))),
        }
    }

    /// Returns the time until which an ACK that is due now may wait; `None` sends it immediately.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self {
            AckPolicy::EveryPacket => None,
            AckPolicy::Delayed(policy) => Some(policy.deadline(now)),
            AckPolicy::Tick(policy) => Some(policy.deadline(now)),
            AckPolicy::Linux(policy) => Some(policy.deadline(now)),
        }
    }

    /// Processes segment `seq` with everything below `next` in order and `quick` immediate ACKs left. Returns
    /// the number of immediate ACKs under this policy.
    pub(super) fn on_in_order(&mut self, now: Time, seq: Seq, next: Seq, quick: u32) -> u32 {
        match self {
            AckPolicy::Linux(policy) => policy.on_in_order(now, seq, next, quick),
            _ => quick,
        }
    }

    /// Processes an out-of-order segment.
    pub(super) fn on_gap(&mut self) {
        if let AckPolicy::Linux(policy) = self {
            policy.on_gap();
        }
    }

    /// Records an ACK for everything below `next`, sent without a gap.
    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        if let AckPolicy::Linux(policy) = self {
            policy.on_ack(now, next);
        }
    }
}
