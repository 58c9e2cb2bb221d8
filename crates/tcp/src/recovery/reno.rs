//! Reno.
//!
//! # Models
//! Fast retransmit and fast recovery: half the window, inflated by the duplicate ACKs; the first
//! ACK of new data ends it, also when more is missing.
//! # Source
//! RFC 5681 section 3.2.
//! # Parameters
//! `careful`, `reduction_basis`, `halving`, `limited_transmit`, `exit_ack_grows`.
//! # Limits
//! Several losses in a window need a fast retransmit each, or a timeout.

use optcp_units::Time;

use super::policy::{CountsDuplicates, DUP_THRESH, limited_transmit};
use crate::acknowledgment::Ack;
use crate::core::Core;

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    recovering: bool,
}

impl CountsDuplicates for Reno {
    fn recovers(&self) -> bool {
        self.recovering
    }

    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time) {
        if self.recovering {
            core.inflation += 1;
            return;
        }
        limited_transmit(core);
        if core.duplicates == DUP_THRESH && core.may_fast_retransmit() {
            core.fast_retransmit(now);
            core.inflation = DUP_THRESH;
            self.recovering = true;
        }
    }

    #[inline]
    fn on_new_ack(&mut self, core: &mut Core, now: Time, ack: &Ack) {
        let event = core.acknowledge(now, ack);
        let was_recovering = std::mem::take(&mut self.recovering);
        core.inflation = 0;
        if was_recovering {
            core.on_recovered();
        }
        if !was_recovering || core.config.exit_ack_grows {
            core.grow(event);
        }
    }

    fn restart(&mut self, core: &mut Core) {
        *self = Reno::default();
        core.duplicates = 0;
    }
}
