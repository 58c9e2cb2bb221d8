//! Tail loss probes of a SACK sender.
//!
//! # Model
//! [`super::probe`] says when a probe is due and what its ACK means. Here it is scheduled, sent and answered.
//! # References
//! RFC 8985 section 7.
//! # Parameters
//! `tail_loss_probe`.
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
    /// RFC 8985 section 7.3: a new segment if the receiver has room for one, else the last again.
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

    /// RFC 8985 section 7.4: a probe that repaired a loss means congestion. The ACK is `plain` if it reports nothing new.
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

    /// The probe's timer may have expired.
    pub(super) fn expire_probe(&mut self, tcb: &mut Tcb, now: Time) {
        if self.probe.deadline().is_some_and(|at| at <= now) {
            self.probe.expire();
            tcb.pacer.release(now);
            // RFC 8985 section 7.3: the retransmission timer starts anew behind the probe.
            tcb.timer.restart(now);
        }
    }

    /// Puts the probe off after an ACK or a segment, or cancels it.
    pub(super) fn schedule_probe(&mut self, tcb: &Tcb, now: Time) {
        if !tcb.config.tail_loss_probe {
            return;
        }
        // RFC 8985 section 7.2: not in a recovery, nor while SACK shows a hole. A SYN has its timer alone, since
        // nothing may be sent behind it.
        if tcb.opens()
            || self.phase != Phase::Open
            || self.board.sacked() > 0
            || self.board.lost() > 0
        {
            self.probe.cancel();
        } else if !self.probe.due {
            let outstanding = self.board.end() - self.board.una();
            self.probe.schedule(now, outstanding, tcb.timer.srtt(), tcb.timer.deadline());
        }
    }
}
