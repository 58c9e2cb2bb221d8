//! The end of a connection without progress.
//!
//! # Model
//! A sender gives up at an RTO, and sends nothing afterwards. It limits the time since the first retransmission of the
//! same data to `user_timeout`, or to the time of `retries` back-offs from 200 ms. The first RTO at or after the limit
//! closes the connection, if a retransmission preceded it. With a user timeout, the retransmission timer fires at the
//! limit at the latest. A SYN is retransmitted `syn_retries` times, and `syn_linear_timeouts` times without back-off.
//!
//! # References
//! RFC 9293 section 3.8.3 (R2) and section 3.10.8 (user timeout); RFC 5482 section 3. Linux:
//! `net/ipv4/tcp_timer.c` (`tcp_write_timeout`, `retransmits_timed_out`, `tcp_model_timeout`,
//! `tcp_clamp_rto_to_user_timeout`).
//!
//! # Parameters
//! `retries`, `syn_retries`, `user_timeout`.
//!
//! # Limitations
//! An ACK of new data restarts the count, also during a recovery that continues. No RST is sent: an expired
//! retransmission ends a connection of Linux without one. The receiver is not told, and keeps what has arrived.

use optcp_units::{Duration, Time};

use crate::config::Config;

/// Linux's `TCP_RTO_MIN`, on which `retries` is based independently of the RTO.
const BASE_RTO: Duration = Duration::from_ms(200);

/// Progress of a sender towards giving up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GivingUp {
    /// Time of the first retransmission since the last ACK of new data.
    since: Option<Time>,
    /// RTOs since the last ACK of new data.
    timeouts: u32,
    /// Time at which the sender gave up.
    pub(crate) at: Option<Time>,
}

impl GivingUp {
    /// Restarts the count after an ACK of new data.
    #[inline]
    pub(crate) fn on_progress(&mut self) {
        (self.since, self.timeouts) = (None, 0);
    }

    /// Records a retransmission during a recovery.
    #[inline]
    pub(crate) fn on_retransmission(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// Records an RTO, of a SYN if `opens`. Returns whether the sender gives up.
    pub(crate) fn on_timeout(&mut self, config: &Config, now: Time, opens: bool) -> bool {
        let earlier = self.timeouts;
        self.timeouts += 1;
        let since = *self.since.get_or_insert(now);
        let exceeded = |limit: Duration| earlier > 0 && now.saturating_since(since) >= limit;
        let gives_up = if opens
            && config.syn_retries.is_some_and(|most| {
                earlier >= u32::from(most) + u32::from(config.syn_linear_timeouts)
            }) {
            true
        } else if config.user_timeout > Duration::ZERO {
            exceeded(config.user_timeout)
        } else {
            !opens && config.retries.is_some_and(|most| exceeded(time_of(most, config.max_rto)))
        };
        if gives_up {
            self.at = Some(now);
        }
        gives_up
    }

    /// Returns the time of the first retransmission since the last ACK of new data, if any.
    pub(crate) const fn since(&self) -> Option<Time> {
        self.since
    }
}

impl Config {
    /// Returns whether a sender may give up.
    #[must_use]
    pub fn may_give_up(&self) -> bool {
        let data = self.retries.is_some() || self.user_timeout > Duration::ZERO;
        data || (self.handshake && self.syn_retries.is_some())
    }
}

/// Returns the time that a first RTO and `retries` back-offs of it take, from 200 ms up to `max_rto`.
#[must_use]
pub fn time_of(retries: u8, max_rto: Duration) -> Duration {
    let doublings = (max_rto.as_ps() / BASE_RTO.as_ps()).max(1).ilog2();
    let retries = u32::from(retries);
    let doubled = retries.min(doublings);
    BASE_RTO * ((2_u64 << doubled) - 1) + max_rto * u64::from(retries - doubled)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's documentation of `tcp_retries2`: 15 retries are 924.6 s, and RFC 1122 requires at least 100 s for R2,
    /// which corresponds to 8.
    #[test]
    fn time_of_retries_matches_the_documentation_of_linux() {
        let time = |retries| time_of(retries, Duration::from_secs(120));
        assert_eq!(time(15), Duration::from_ms(924_600));
        assert_eq!(time(8), Duration::from_ms(102_200));
        assert_eq!(time(3), Duration::from_ms(200 + 400 + 800 + 1600));
        assert_eq!(time(0), Duration::from_ms(200));
    }

    /// 200 ms, 400 ms and then two times the maximum of 500 ms.
    #[test]
    fn maximum_rto_limits_the_time_of_retries() {
        assert_eq!(time_of(3, Duration::from_ms(500)), Duration::from_ms(1600));
    }
}
