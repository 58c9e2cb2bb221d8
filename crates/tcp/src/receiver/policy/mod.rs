//! How long the ACK of an in-order segment may wait.

mod delayed;
mod tick;

use optcp_units::{Duration, Time};

use crate::config::{AckKind, Config};

pub use delayed::Delayed;
pub use tick::Tick;

/// The chosen policy.
#[derive(Clone, Copy, Debug)]
pub enum AckPolicy {
    /// Nothing waits.
    EveryPacket,
    /// See [`Delayed`].
    Delayed(Delayed),
    /// See [`Tick`].
    Tick(Tick),
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
        }
    }

    /// Until when an ACK that falls due now may wait; `None` sends it at once.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self {
            AckPolicy::EveryPacket => None,
            AckPolicy::Delayed(policy) => Some(policy.deadline(now)),
            AckPolicy::Tick(policy) => Some(policy.deadline(now)),
        }
    }
}
