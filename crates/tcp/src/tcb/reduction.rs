//! Window reductions and retransmissions after losses.

use optcp_units::Time;

use super::Tcb;
use crate::config::{AfterTimeout, FirstLoss, Halving, Measurement, ReductionBasis};
use crate::seq::Seq;

impl Tcb {
    /// Returns whether RFC 6582's condition for a fast retransmit holds: the cumulative ACK covers more than
    /// `recover`.
    pub(crate) fn may_fast_retransmit(&self) -> bool {
        let covered = !self.config.careful || self.recover.is_none_or(|recover| self.una > recover);
        match self.config.first_loss {
            FirstLoss::Ns2 if self.una == Seq::ZERO.next() => true,
            _ => covered && !self.first_waits_for_timer(),
        }
    }

    /// Returns whether the oldest segment is the first, which ns-2 only recovers by its timer.
    pub(crate) fn first_waits_for_timer(&self) -> bool {
        self.config.first_loss == FirstLoss::Ns2 && self.una == Seq::ZERO
    }

    /// Reduces the window after duplicate ACKs. Congestion control determines ssthresh and cwnd from the
    /// reduction basis. Returns whether it requests a reduction.
    pub(crate) fn reduce(&mut self) -> bool {
        if self.is_reduced_enough() {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            return true;
        }
        let Some(half) = self.set_ssthresh(self.at_stake()) else { return false };
        self.shrink(half);
        true
    }

    /// Returns the reduction basis of a fast retransmit or a mark, in bytes.
    pub(crate) fn at_stake(&self) -> f64 {
        match self.config.reduction_basis {
            // RFC 5681 section 3.2 step 2: segments sent by limited transmit do not count.
            ReductionBasis::FlightSize => self.flight() - f64::from(self.limited_sent) * self.mss(),
            ReductionBasis::Window => self.usable_window(),
        }
    }

    /// Reduces the window to the value from which ssthresh was set.
    pub(crate) fn shrink(&mut self, answer: f64) {
        self.window.cwnd = match self.config.halving {
            Halving::Whole => self.whole(answer),
            Halving::Exact | Halving::WholeBytes => self.window.ssthresh,
            Halving::WholeSsthresh => answer,
        }
        .max(self.mss());
    }

    /// Sets ssthresh after a loss from the reduction basis. Returns it before rounding, or `None` if
    /// congestion control does not change it.
    pub(crate) fn set_ssthresh(&mut self, amount: f64) -> Option<f64> {
        let mss = self.mss();
        if let Some(ecn) = &mut self.ecn {
            ecn.on_loss(self.max);
        }
        let answer = self.congestion.on_loss(&self.window, mss, amount)?;
        self.round_ssthresh(answer);
        Some(answer)
    }

    /// Sets ssthresh to `answer`, at least two segments (RFC 5681 equation 4).
    pub(crate) fn round_ssthresh(&mut self, answer: f64) {
        let half = match self.config.halving {
            Halving::Exact => answer,
            Halving::WholeBytes => answer.floor(),
            Halving::Whole | Halving::WholeSsthresh => self.whole(answer),
        };
        self.window.ssthresh = half.max(2.0 * self.mss());
    }

    /// Notifies congestion control of an RTO.
    pub(crate) fn on_timeout(&mut self) {
        let mss = self.mss();
        self.congestion.on_timeout(&mut self.window, mss);
    }

    /// Completes the recovery of losses without changing the window.
    pub(crate) fn on_recovered(&mut self) {
        let mss = self.mss();
        self.congestion.on_recovered(&mut self.window, mss);
    }

    pub(crate) fn whole(&self, bytes: f64) -> f64 {
        (bytes / self.mss()).floor() * self.mss()
    }

    /// Starts a fast retransmit of the oldest segment.
    pub(crate) fn fast_retransmit(&mut self, now: Time) {
        self.recover = Some(self.max);
        self.reduce();
        if self.config.measurement != Measurement::UntilTimeout {
            self.timer.forget();
        }
        if self.config.fast_retransmit_restarts_timer {
            self.timer.restart(now);
        }
        self.retransmit = Some(self.una);
    }

    /// Resets sending to the oldest unacknowledged segment.
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una;
        self.retransmit = None;
        self.timer.forget();
    }

    /// Returns whether data outstanding at the last RTO are not yet all acknowledged.
    pub(crate) fn repairs_timeout(&self) -> bool {
        self.una < self.loss_until
    }

    /// Without SACK: retransmits the oldest segment after an RTO, and all later ones if configured.
    pub(crate) fn send_again_after_timeout(&mut self) {
        match self.config.after_timeout {
            AfterTimeout::GoBackN | AfterTimeout::Missing => self.go_back(),
            AfterTimeout::First => {
                self.retransmit = Some(self.una);
                self.timer.forget();
            }
        }
    }
}
