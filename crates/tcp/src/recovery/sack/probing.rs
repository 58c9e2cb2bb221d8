//! Tail loss probes of a SACK sender.
//!
//! # Model
//! Schedules, sends and completes the probes. [`super::probe`] decides when a probe is due and interprets its
//! ACK.
//!
//! # References
//! RFC 8985 section 7.
//!
//! # Parameters
//! `tail_loss_probe`.
//!
//! # Limitations
//! See [`super::probe`].

use optcp_units::Time;

use super::next_segment::new_segment;
use super::probe::Verdict;
use super::{Phase, Sack};
use crate::acknowledgment::Ack;
use crate::seq::Seq;
use crate::tcb::Tcb;

impl Sack {
    /// RFC 8985 section 7.3: returns a new segment if the receive window allows it, otherwise the last one.
    pub(super) fn probe_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        let new = new_segment(tcb);
        let again = new.is_none();
        let seq = new.or_else(|| self.board.highest_unsacked());
        match seq {
            Some(seq) => self.probe.on_sent(tcb.max.max(seq.next()), again),
            None => self.probe.cancel(),
        }
        seq
    }

    /// RFC 8985 section 7.4: reduces the window if the probe repaired a loss. `plain`: the ACK reports
    /// nothing new.
    pub(super) fn look_at_probe(
        &mut self,
        tcb: &mut Tcb,
        ack: &Ack,
        duplicate: Option<(Seq, Seq)>,
        plain: bool,
    ) {
        let verdict = self.probe.on_ack(ack.seq, duplicate, plain && duplicate.is_none());
        if verdict == Verdict::Repaired && self.phase == Phase::Open {
            tcb.reduce();
            tcb.on_recovered();
        }
    }

    /// Checks whether the probe's timer has fired.
    pub(super) fn expire_probe(&mut self, tcb: &mut Tcb, now: Time) {
        if self.probe.deadline().is_none_or(|at| at > now) {
            return;
        }
        if self.probe.is_outstanding() {
            self.probe.cancel();
            let sent = self.board.get(self.board.una()).map_or(now, |oldest| oldest.sent);
            tcb.timer.restart_since(sent, now);
        } else {
            self.probe.expire();
            tcb.pacer.release(now);
            // RFC 8985 section 7.3: the retransmission timer restarts after the probe.
            tcb.timer.restart(now);
        }
    }

    /// Reschedules the probe after an ACK or a segment (`sends`), or cancels it.
    pub(super) fn schedule_probe(&mut self, tcb: &Tcb, now: Time, sends: bool) {
        if !tcb.config.tail_loss_probe {
            return;
        }
        // RFC 8985 section 7.2: no probe in recovery or while SACK shows a gap. A SYN only has the
        // retransmission timer, because nothing may be sent after it.
        if tcb.opens()
            || self.phase != Phase::Open
            || self.board.sacked() > 0
            || self.board.lost() > 0
        {
            self.probe.cancel();
        } else if !self.probe.due {
            let outstanding = self.board.end() - self.board.una();
            let sends = sends && !self.probe.is_after(self.board.end());
            let oldest = self.board.get(self.board.una()).filter(|_| sends);
            self.probe.schedule(now, outstanding, &tcb.timer, oldest.map(|segment| segment.sent));
        }
    }
}
