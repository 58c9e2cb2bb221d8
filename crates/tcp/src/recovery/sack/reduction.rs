//! Window reduction during loss recovery, or after a reported ECN mark.
//!
//! # Model
//! A reduction takes effect immediately or is spread over an RTT ([`super::prr`]). While it is spread, the
//! window follows the segments that ACKs deliver; otherwise congestion control increases it.
//!
//! # References
//! RFC 6675 section 5; RFC 9937 (proportional rate reduction); RFC 3168 section 6.1.2 (marks).
//!
//! # Parameters
//! `rate_reduction`, `exit_ack_grows`.
//!
//! # Limitations
//! If congestion control does not change ssthresh at a loss, the window is not reduced here.

use super::prr::{Progress, ProportionalRateReduction};
use super::{Before, Phase, Sack};
use crate::congestion::event::AckEvent;
use crate::tcb::Tcb;

impl Sack {
    /// Returns the reduction spread over an RTT, if reductions are spread.
    pub(super) fn begin_reduction(tcb: &Tcb, before: Before) -> Option<ProportionalRateReduction> {
        let Before { outstanding, sacked } = before;
        let (kind, ssthresh) = (tcb.config.rate_reduction, tcb.ssthresh_segments());
        ProportionalRateReduction::begin(kind, outstanding, sacked, ssthresh)
    }

    /// Sets the window after an ACK that delivers these segments, without new loss if `safe`: by the
    /// reduction in progress, or by congestion control.
    pub(super) fn set_window(
        &mut self,
        tcb: &mut Tcb,
        delivered: u32,
        safe: bool,
        event: Option<AckEvent>,
        phase_before: Phase,
    ) {
        if self.phase == Phase::Recovery || self.reduction.is_some() {
            self.reduce(tcb, delivered, safe);
        } else if let Some(event) = event
            && (phase_before != Phase::Recovery || tcb.config.exit_ack_grows)
        {
            tcb.grow(event);
        }
    }

    /// Sets the window by the delivered segments, if the reduction is spread over the recovery.
    pub(super) fn reduce(&mut self, tcb: &mut Tcb, delivered: u32, safe: bool) {
        let progress = Progress { delivered, safe, pipe: self.board.pipe() };
        if let Some(window) = self.reduction.as_mut().and_then(|prr| prr.on_ack(progress)) {
            tcb.window.cwnd = f64::from(window) * tcb.mss();
        }
    }

    /// Reduces the window for a reported mark, spread over an RTT if reductions are spread.
    pub(super) fn reduce_for_mark(&mut self, tcb: &mut Tcb, before: Before) {
        let cwnd = tcb.window.cwnd;
        if !tcb.reduce_for_mark() {
            return;
        }
        self.reduction =
            Self::begin_reduction(tcb, before).filter(|_| !tcb.congestion.marks_exact());
        if self.reduction.is_some() {
            tcb.window.cwnd = cwnd;
        } else {
            tcb.on_recovered();
        }
    }

    /// Ends a reduction for a mark with its final value.
    pub(super) fn end_reduction_for_mark(&mut self, tcb: &mut Tcb) {
        if self.phase == Phase::Open && self.reduction.is_some() && !tcb.reduces_for_mark() {
            self.reduction = None;
            tcb.window.cwnd = tcb.window.ssthresh;
            tcb.on_recovered();
        }
    }
}
