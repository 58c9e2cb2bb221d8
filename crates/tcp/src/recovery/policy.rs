//! What a loss recovery is.

use optcp_units::Time;

use crate::acknowledgment::Ack;
use crate::config::AfterTimeout;
use crate::info::Tally;
use crate::seq::Seq;
use crate::tcb::Tcb;

/// Duplicate ACKs that start a fast retransmit (RFC 5681 section 3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// What ACKs and timeouts do while data is missing. During a recovery it alone writes the window, unless
/// congestion control does.
pub(crate) trait Recovery {
    /// Whether fast recovery is under way.
    fn in_recovery(&self) -> bool {
        false
    }

    /// Whether a timeout's losses are being repaired.
    fn in_loss(&self, tcb: &Tcb) -> bool {
        tcb.repairs_timeout()
    }

    /// What is known of the outstanding segments. Without SACK each duplicate ACK stands for a segment that
    /// arrived beyond the hole.
    fn tally(&self, tcb: &Tcb) -> Tally {
        let (sacked, hole) = (tcb.duplicates, u32::from(self.in_recovery()));
        Tally { sacked, lost: hole, retransmitted: hole, reordering: DUP_THRESH }
    }

    /// An ACK of data that was sent.
    fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack);

    /// The ACK was looked at, and may report marks.
    fn on_marks(&mut self, tcb: &mut Tcb) {
        reduce_at_once(self.in_recovery() || self.in_loss(tcb), tcb);
    }

    /// The retransmission timer expired: whatever was under way is over. The window is still what it was.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Time);

    /// The next segment that may be sent now, if any.
    fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        tcb.next_segment()
    }

    /// Segments that the network is held to carry, as the window counts them.
    fn carried(&self, tcb: &Tcb) -> u32 {
        tcb.nxt - tcb.una
    }

    /// A segment is sent.
    fn on_sent(&mut self, _tcb: &mut Tcb, _seq: Seq, _now: Time) {}

    /// When a timer of its own is due.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// A timer of its own has expired.
    fn on_timer(&mut self, _tcb: &mut Tcb, _now: Time) {}
}

/// The window is reduced for a mark at once, unless losses are being `repaired`.
fn reduce_at_once(repaired: bool, tcb: &mut Tcb) {
    if !repaired && tcb.reduce_for_mark() {
        tcb.on_recovered();
    }
}

/// A recovery that knows of losses by duplicate ACKs alone.
pub(super) trait CountsDuplicates {
    /// See [`Recovery::in_recovery`].
    fn recovers(&self) -> bool {
        false
    }

    /// A duplicate ACK; `tcb.duplicates` counts it already.
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time);

    /// An ACK of new data.
    fn on_new_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack);

    /// The retransmission timer expired: back to the start.
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

/// The first two duplicate ACKs may release a new segment each (RFC 3042).
pub(super) fn limited_transmit(tcb: &mut Tcb) {
    if tcb.config.limited_transmit && tcb.duplicates < DUP_THRESH {
        tcb.limited = 1;
    }
}
