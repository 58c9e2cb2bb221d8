//! Delayed ACKs with one free-running timer.
//!
//! # Model
//! A clock ticks with a fixed period, independent of arrivals. Each tick sends a waiting ACK, which has
//! therefore waited for any time up to the period.
//!
//! # References
//! The fast timer of 4.3BSD (200 ms; W. R. Stevens, "TCP/IP Illustrated", volume 1, section 19.3).
//!
//! # Parameters
//! `ack_delay`: the period. The clock phase is drawn per flow.
//!
//! # Limitations
//! A segment that arrives exactly at a tick waits for the next one.

use optcp_units::{Duration, Time};

/// Delayed ACKs with a free-running timer.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    pub(super) period: Duration,
    /// Time since the last tick at time zero.
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

    /// Computed by hand: a clock with a period of 200 ms and a phase of 50 ms ticks at 150, 350, 550 ms.
    #[test]
    fn every_ack_waits_for_the_next_tick() {
        let tick = Tick { period: Duration::from_ms(200), phase: Duration::from_ms(50) };
        let ms = |m: u64| Time::from_ps(m * 1_000_000_000);
        for (now, due) in [(0, 150), (149, 150), (150, 350), (349, 350), (400, 550)] {
            assert_eq!(tick.deadline(ms(now)), ms(due));
        }
    }
}
