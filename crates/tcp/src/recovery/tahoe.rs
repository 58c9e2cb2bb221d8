//! Tahoe.
//!
//! # Models
//! Fast retransmit without fast recovery: three duplicate ACKs mean slow start from one segment,
//! sending everything again from the hole.
//! # Source
//! V. Jacobson, "Congestion Avoidance and Control", 1988; K. Fall and S. Floyd, "Simulation-based
//! Comparisons of Tahoe, Reno, and SACK TCP", 1996.
//! # Parameters
//! `careful`, `reduction_basis`, `halving`, `limited_transmit`.
//! # Limits
//! Further duplicate ACKs are ignored.

use optcp_units::Time;

use super::policy::{CountsDuplicates, DUP_THRESH, limited_transmit};
use crate::acknowledgment::Ack;
use crate::core::Core;

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct Tahoe;

impl CountsDuplicates for Tahoe {
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time) {
        limited_transmit(core);
        if core.duplicates == DUP_THRESH && core.may_fast_retransmit() {
            core.fast_retransmit(now);
            core.window.cwnd = core.mss();
            core.go_back();
        }
    }

    #[inline]
    fn on_new_ack(&mut self, core: &mut Core, now: Time, ack: &Ack) {
        let event = core.acknowledge(now, ack);
        core.grow(event);
    }

    fn restart(&mut self, core: &mut Core) {
        if !core.config.tahoe_keeps_duplicates {
            core.duplicates = 0;
        }
    }
}
