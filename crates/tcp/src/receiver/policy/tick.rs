//! Delayed ACKs with one timer that runs freely.
//!
//! # Models
//! A clock ticks with a fixed period, whatever arrives; each tick sends the ACK that waits. An ACK
//! therefore waits for any time up to the period, not for all of it.
//! # Source
//! The fast timer of 4.3BSD (200 ms; W. R. Stevens, "TCP/IP Illustrated", volume 1, section 19.3).
//! # Parameters
//! `ack_delay`: the period. Where a flow's clock stands at time zero is the flow's own.
//! # Limits
//! A segment that comes at the instant of a tick waits for the next one.

use optcp_units::{Duration, Time};

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    pub(super) period: Duration,
    /// How far the clock is into a period at time zero.
    pub(super) phase: Duration,
}

impl Tick {
    pub(super) fn deadline(self, now: Time) -> Time {
        let into = (now.as_ps() + self.phase.as_ps()) % self.period.as_ps();
        now + Duration::from_ps(self.period.as_ps() - into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand: a clock of 200 ms that is 50 ms into its period ticks at 150, 350, 550 ms.
    #[test]
    fn every_ack_waits_for_the_next_tick() {
        let tick = Tick { period: Duration::from_ms(200), phase: Duration::from_ms(50) };
        let ms = |m: u64| Time::from_ps(m * 1_000_000_000);
        for (now, due) in [(0, 150), (149, 150), (150, 350), (349, 350), (400, 550)] {
            assert_eq!(tick.deadline(ms(now)), ms(due));
        }
    }
}
