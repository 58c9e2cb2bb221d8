//! Trait of loss recoveries.

use optcp_units::Time;

use crate::acknowledgment::Ack;
use crate::config::AfterTimeout;
use crate::info::Tally;
use crate::seq::Seq;
use crate::tcb::Tcb;

/// Number of duplicate ACKs that start a fast retransmit (RFC 5681 section 3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// Reactions to ACKs and RTOs while data are missing. During a recovery, only its implementation changes the
/// window, unless congestion control does.
pub(crate) trait Recovery {
    /// Returns whether fast recovery is in progress.
    fn in_recovery(&self) -> bool {
        false
    }

    /// Returns whether losses of an RTO are being repaired.
    fn in_loss(&self, tcb: &Tcb) -> bool {
        tcb.repairs_timeout()
    }

    /// Returns the counts of outstanding segments. Without SACK, each duplicate ACK counts as a segment
    /// received after the gap.
    fn tally(&self, tcb: &Tcb) -> Tally {
        let (sacked, hole) = (tcb.duplicates, u32::from(self.in_recovery()));
        Tally { sacked, lost: hole, retransmitted: hole, reordering: DUP_THRESH }
    }

    /// Processes an ACK of data that were sent.
    fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack);

    /// Processes the marks that an ACK reports, after `on_ack`.
    fn on_marks(&mut self, tcb: &mut Tcb) {
        reduce_at_once(self.in_recovery() || self.in_loss(tcb), tcb);
    }

    /// Processes an RTO, which ends any recovery. The window is unchanged at the call.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Time);

    /// Returns the next segment that may be sent now, if any.
    fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        tcb.next_segment()
    }

    /// Returns whether the next segment is a probe, which pacing does not hold.
    fn probes(&self) -> bool {
        false
    }

    /// Returns the number of segments that count as in flight for the window.
    fn carried(&self, tcb: &Tcb) -> u32 {
        tcb.nxt - tcb.una
    }

    /// Returns the number of the packet that carries segment `seq` next, for the delivery rate. Only QUIC numbers packets
    /// apart from their data.
    fn number(&self, seq: Seq) -> Seq {
        seq
    }

    /// Records the transmission of a segment.
    fn on_sent(&mut self, _tcb: &mut Tcb, _seq: Seq, _now: Time) {}

    /// Returns the time at which the recovery's timer fires.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Processes its own timer. Returns whether it counts as an RTO.
    fn on_timer(&mut self, _tcb: &mut Tcb, _now: Time) -> bool {
        false
    }
}

/// Reduces the window for a mark immediately, unless losses are being repaired (`repaired`).
fn reduce_at_once(repaired: bool, tcb: &mut Tcb) {
    if !repaired && tcb.reduce_for_mark() {
        tcb.on_recovered();
    }
}

/// Recovery that detects losses by duplicate ACKs only.
pub(super) trait CountsDuplicates {
    /// See [`Recovery::in_recovery`].
    fn recovers(&self) -> bool {
        false
    }

    /// Processes a duplicate ACK, which `tcb.duplicates` already counts.
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time);

    /// Processes an ACK of new data.
    fn on_new_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack);

    /// Resets the state after an RTO.
    fn restart(&mut self, tcb: &mut Tcb);
}

impl<R: CountsDuplicates> Recovery for R {
    #[inline]
    fn in_recovery(&self) -> bool {
        self.recovers()
    }

    #[inline]
    fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        if ack.seq > tcb.una {
            self.on_new_ack(tcb, now, ack);
            if tcb.config.after_timeout == AfterTimeout::First && tcb.repairs_timeout() {
                tcb.retransmit = Some(tcb.una);
            }
        } else if ack.seq == tcb.una && tcb.outstanding() {
            tcb.duplicates += 1;
            tcb.observe(now, 0, 1, None);
            self.on_duplicate_ack(tcb, now);
        }
    }

    fn on_timeout(&mut self, tcb: &mut Tcb, _now: Time) {
        self.restart(tcb);
        tcb.send_again_after_timeout();
    }
}

/// Allows a new segment for each of the first two duplicate ACKs (RFC 3042).
pub(super) fn limited_transmit(tcb: &mut Tcb) {
    if tcb.config.limited_transmit && tcb.duplicates < DUP_THRESH {
        tcb.limited = 1;
    }
}
