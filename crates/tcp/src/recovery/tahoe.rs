//! Tahoe.
//!
//! # Model
//! Fast retransmit without fast recovery: three duplicate ACKs cause slow start from one segment, which
//! retransmits everything from the gap on.
//!
//! # References
//! V. Jacobson, "Congestion Avoidance and Control", 1988; K. Fall and S. Floyd, "Simulation-based Comparisons
//! of Tahoe, Reno, and SACK TCP", 1996.
//!
//! # Parameters
//! `careful`, `reduction_basis`, `halving`, `limited_transmit`.
//!
//! # Limitations
//! Further duplicate ACKs are ignored.

use optcp_units::Time;

use super::policy::{CountsDuplicates, DUP_THRESH, limited_transmit};
use crate::acknowledgment::Ack;
use crate::tcb::Tcb;

/// Tahoe, which has no state.
#[derive(Clone, Copy, Debug)]
pub struct Tahoe;

impl CountsDuplicates for Tahoe {
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time) {
        limited_transmit(tcb);
        if tcb.duplicates == DUP_THRESH && tcb.may_fast_retransmit() {
            tcb.fast_retransmit(now);
            tcb.window.cwnd = tcb.mss();
            tcb.go_back();
        }
    }

    #[inline]
    fn on_new_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        let event = tcb.acknowledge(now, ack);
        tcb.grow(event);
    }

    fn restart(&mut self, tcb: &mut Tcb) {
        if !tcb.config.tahoe_keeps_duplicates {
            tcb.duplicates = 0;
        }
    }
}
