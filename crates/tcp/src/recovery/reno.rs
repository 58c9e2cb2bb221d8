//! Reno fast recovery.
//!
//! # Model
//! Fast retransmit and fast recovery with half the window, inflated by duplicate ACKs. The first ACK of new
//! data ends it, even if more segments are missing.
//!
//! # References
//! RFC 5681 section 3.2.
//!
//! # Parameters
//! `careful`, `reduction_basis`, `halving`, `limited_transmit`, `exit_ack_grows`.
//!
//! # Limitations
//! Each loss in a window needs its own fast retransmit, or an RTO.

use optcp_units::Time;

use super::policy::{CountsDuplicates, DUP_THRESH, limited_transmit};
use crate::acknowledgment::Ack;
use crate::tcb::Tcb;

/// State of Reno.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    recovering: bool,
}

impl CountsDuplicates for Reno {
    fn recovers(&self) -> bool {
        self.recovering
    }

    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time) {
        if self.recovering {
            tcb.inflation += 1;
            return;
        }
        limited_transmit(tcb);
        if tcb.duplicates == DUP_THRESH && tcb.may_fast_retransmit() {
            tcb.fast_retransmit(now);
            tcb.inflation = DUP_THRESH;
            self.recovering = true;
        }
    }

    #[inline]
    fn on_new_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        let event = tcb.acknowledge(now, ack);
        let was_recovering = std::mem::take(&mut self.recovering);
        tcb.inflation = 0;
        if was_recovering {
            tcb.on_recovered();
        }
        if !was_recovering || tcb.config.exit_ack_grows {
            tcb.grow(event);
        }
    }

    fn restart(&mut self, tcb: &mut Tcb) {
        *self = Reno::default();
        tcb.duplicates = 0;
    }
}
