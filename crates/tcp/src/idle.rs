//! Congestion window after an idle period.
//!
//! # Model
//! Information about the path may be outdated after an idle period. With `idle_restart`, an ACK or
//! data more than one RTO after the window last allowed a segment reset the window to the initial
//! window. With `restart_after_idle`, data after a pause without outstanding data halve the window
//! once per RTO of the pause, down to the initial window. They also set ssthresh to at least three
//! quarters of the previous window.
//!
//! # References
//! RFC 5681 section 4.1, as in INET in 2011 (`idle_restart`); RFC 2861 section 3.1, as in Linux
//! (`restart_after_idle`).
//!
//! # Parameters
//! `idle_restart`, `restart_after_idle`, `initial_window`.
//!
//! # Limitations
//! An unused window does not shrink while data are outstanding. Rate-based congestion controls keep their
//! window with `restart_after_idle`. With per-network state, the window of the active network shrinks.

use optcp_units::{Duration, Time};

use crate::tcb::Tcb;

impl Tcb {
    /// Resets the window to the initial window if nothing was sent for more than one RTO.
    pub(crate) fn restart_if_idle(&mut self, now: Time) {
        if self.config.idle_restart && now - self.last_sent > self.timer.rto() {
            self.restart_with(f64::from(self.config.initial_window) * self.mss());
            self.inflation = 0;
        }
    }

    /// Prepares for sending data after a time without outstanding data.
    pub(crate) fn resume(&mut self, now: Time) {
        let idle = now - self.last_departure;
        self.tell_time(now);
        self.congestion.on_resume(now, idle);
        if let Some(networks) = &mut self.networks {
            networks.on_resume(now, idle);
        }
        self.restart_if_idle(now);
        if self.config.restart_after_idle && !self.config.congestion.paces() {
            self.halve_for(idle);
        }
    }

    /// Halves cwnd once per elapsed RTO, down to the initial window.
    fn halve_for(&mut self, idle: Duration) {
        let rto = self.timer.rto();
        if idle <= rto {
            return;
        }
        let mut cwnd = self.window.segments(self.mss());
        let least = self.config.initial_window.min(cwnd);
        self.window.ssthresh = self.window.ssthresh.max(self.whole(self.window.cwnd * 0.75));
        let mut left = idle - rto;
        while left > Duration::ZERO && cwnd > least {
            cwnd /= 2;
            left = if left > rto { left - rto } else { Duration::ZERO };
        }
        self.restart_with(f64::from(cwnd.max(least)) * self.mss());
    }

    /// Restarts sending with a window of at most `bytes`.
    fn restart_with(&mut self, bytes: f64) {
        let mss = self.mss();
        self.congestion.on_idle(&mut self.window, mss, bytes);
    }
}
