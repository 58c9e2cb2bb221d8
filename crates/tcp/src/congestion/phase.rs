//! Congestion states of Linux, derived from the events that a congestion control receives.

use super::event::{AckEvent, Repair};

/// State of Congestion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phase {
    repairs: Repair,
    /// Number of segments received above a gap.
    beyond: u32,
}

impl Phase {
    /// Processes an ACK and returns the previous phase.
    pub(super) fn observe(&mut self, ack: &AckEvent) -> Phase {
        let before = *self;
        let outstanding = ack.max - ack.una;
        self.beyond = (self.beyond + ack.delivered).saturating_sub(ack.acked).min(outstanding);
        if self.repairs == Repair::Timeout && !ack.after_timeout {
            self.repairs = Repair::Nothing;
        }
        before
    }

    /// The window may grow: no recovery of losses is in flight, also if nobody said that it ended (Tahoe).
    pub(super) fn on_ack(&mut self) {
        if self.repairs == Repair::Losses {
            self.repairs = Repair::Nothing;
        }
    }

    pub(super) fn on_loss(&mut self) {
        self.repairs = Repair::Losses;
    }

    pub(super) fn on_timeout(&mut self) {
        self.repairs = Repair::Timeout;
    }

    /// A recovery is complete or undone.
    pub(super) fn on_recovered(&mut self) {
        self.repairs = Repair::Nothing;
    }

    /// Nothing is amiss.
    pub(super) fn open(self) -> bool {
        !self.repairing() && self.in_order()
    }

    /// Returns whether no segment was received above a gap.
    pub(super) fn in_order(self) -> bool {
        self.beyond == 0
    }

    /// Returns the number of segments reported above a gap.
    pub(super) fn beyond(self) -> u32 {
        self.beyond
    }

    /// Losses or a timeout are being repaired.
    pub(super) fn repairing(self) -> bool {
        self.repairs != Repair::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    /// The first of ten segments is lost. Two later arrivals do not yet prove a loss. The ACK of
    /// its retransmission also acknowledges the earlier arrivals.
    #[test]
    fn arrivals_after_a_gap_leave_the_open_state() {
        let mut phase = Phase::default();
        let ack = |acked, delivered, una| AckEvent {
            acked,
            delivered,
            una: Seq::new(una),
            max: Seq::new(10),
            ..AckEvent::default()
        };
        assert!(phase.observe(&ack(0, 1, 0)).open() && !phase.open());
        assert!(!phase.repairing());
        phase.observe(&ack(0, 2, 0));
        phase.on_loss();
        assert_eq!((phase.beyond(), phase.repairing()), (3, true));
        phase.observe(&ack(4, 1, 4));
        phase.on_recovered();
        assert!(phase.open());
    }
}
