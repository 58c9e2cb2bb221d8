//! The window after a pause.
//!
//! # Models
//! What was found out about the path before a pause may no longer hold. With `idle_restart` an ACK or data that come more
//! than a timeout after the window last let a segment out find the initial window. With `restart_after_idle` data behind
//! a pause with nothing outstanding find half of the window for each timeout that the pause lasted, down to the initial
//! one, and an ssthresh of three quarters of it at least.
//! # Source
//! RFC 5681 section 4.1, as INET had it in 2011 (`idle_restart`); RFC 2861 section 3.1, as in Linux
//! (`restart_after_idle`).
//! # Parameters
//! `idle_restart`, `restart_after_idle`, `initial_window`.
//! # Limits
//! A window that is not used while data are outstanding does not shrink. A control that governs sending keeps its window
//! with `restart_after_idle`. Of several networks the present one's window falls.

use optcp_units::{Duration, Time};

use crate::tcb::Tcb;

impl Tcb {
    /// Takes the window back to the initial one where nothing was sent for longer than the timeout.
    pub(crate) fn restart_if_idle(&mut self, now: Time) {
        if self.config.idle_restart && now - self.last_sent > self.timer.rto() {
            self.restart_with(f64::from(self.config.initial_window) * self.mss());
            self.inflation = 0;
        }
    }

    /// Data is about to be sent with nothing outstanding.
    pub(crate) fn resume(&mut self, now: Time) {
        let idle = now - self.last_departure;
        self.congestion.on_resume(now, idle);
        if let Some(networks) = &mut self.networks {
            networks.on_resume(now, idle);
        }
        self.restart_if_idle(now);
        if self.config.restart_after_idle && !self.config.congestion.paces() {
            self.halve_for(idle);
        }
    }

    /// Halves cwnd for each timeout that passed, down to the initial window.
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

    /// Sending goes on with `bytes` of window at most.
    fn restart_with(&mut self, bytes: f64) {
        let mss = self.mss();
        self.congestion.on_idle(&mut self.window, mss, bytes);
    }
}
