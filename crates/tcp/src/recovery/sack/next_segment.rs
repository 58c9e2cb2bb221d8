//! The next segment that a SACK sender may send.
//!
//! # Model
//! Without losses new segments as the window allows. In a recovery the lost ones first, in order; then new ones; then, as
//! configured, what may be lost. F-RTO has an order of its own after a timeout.
//! # References
//! RFC 6675 section 4 (`NextSeg`) and section 5; RFC 5682 (F-RTO).
//! # Parameters
//! `speculative_retransmit`, `rescue_retransmit`, `limited_transmit`, `frto`.
//! # Limitations
//! A rescue retransmission counts as in flight, which RFC 6675 leaves out of the pipe, and is not made while another
//! retransmission of the same segment is in flight, which the RFC does not say.

use super::frto::ForwardRto;
use super::{Phase, Sack};
use crate::recovery::policy::Recovery;
use crate::seq::Seq;
use crate::tcb::Tcb;

impl Sack {
    /// The next segment that may be sent now, if any.
    pub(super) fn choose_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        if self.probe.due {
            return self.probe_segment(tcb);
        }
        let cwnd = tcb.window.segments(tcb.mss());
        match self.phase {
            Phase::Open => {
                let outstanding = self.board.flight();
                if self.carried(tcb) >= cwnd {
                    return None;
                }
                let new = new_segment(tcb)?;
                // RFC 5681 section 3.2: what limited transmit sends does not count as flight.
                tcb.limited_sent += u32::from(outstanding >= cwnd);
                Some(new)
            }
            Phase::Loss if self.frto != ForwardRto::Off => self.frto_segment(tcb),
            Phase::Recovery | Phase::Loss => {
                if !std::mem::take(&mut self.forced) && self.board.pipe() >= cwnd {
                    return None;
                }
                self.board
                    .next_lost()
                    .or_else(|| new_segment(tcb))
                    .or_else(|| self.speculative_segment(tcb))
                    .or_else(|| self.rescue_segment(tcb))
            }
        }
    }

    /// F-RTO sends the oldest segment again, then new ones only.
    fn frto_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        if self.frto == ForwardRto::Step2 {
            return self.board.next_lost().filter(|&seq| seq == tcb.una);
        }
        self.frto_new = self.frto_new.checked_sub(1)?;
        new_segment(tcb)
    }

    /// RFC 6675 `NextSeg` rule 3: returns a segment that is not known to be lost, if no better one is left.
    fn speculative_segment(&mut self, tcb: &Tcb) -> Option<Seq> {
        if !tcb.config.speculative_retransmit || self.phase != Phase::Recovery {
            return None;
        }
        let seq = self.board.next_unsacked(self.speculated)?;
        self.speculated = seq.next();
        Some(seq)
    }

    /// RFC 6675 `NextSeg` rule 4: once in a recovery the last segment again, since its loss shows nowhere.
    fn rescue_segment(&mut self, tcb: &Tcb) -> Option<Seq> {
        let allowed = tcb.config.rescue_retransmit
            && self.phase == Phase::Recovery
            && self.rescued.is_none_or(|rescued| tcb.una > rescued);
        let last = self.board.highest_unsacked().filter(|_| allowed)?;
        let seq = Some(last).filter(|&seq| !self.board.is_resent(seq))?;
        self.rescued = Some(self.until);
        Some(seq)
    }
}

/// The next segment that was never sent, if the receiver has room for it.
pub(super) fn new_segment(tcb: &mut Tcb) -> Option<Seq> {
    if tcb.max >= tcb.end || tcb.room() == 0 {
        return None;
    }
    tcb.nxt = tcb.max.next();
    Some(tcb.max)
}
