//! Next segment of a SACK sender.
//!
//! # Model
//! Without losses, new segments are sent as the window allows. In recovery, lost segments come first, in
//! order, then new ones, then, if configured, segments that may be lost. F-RTO has its own order after an
//! RTO.
//!
//! # References
//! RFC 6675 section 4 (`NextSeg`) and section 5; RFC 5682 (F-RTO).
//!
//! # Parameters
//! `speculative_retransmit`, `rescue_retransmit`, `limited_transmit`, `frto`.
//!
//! # Limitations
//! A rescue retransmission counts as in flight, although RFC 6675 excludes it from the pipe. It is not sent
//! while another retransmission of the same segment is in flight, which the RFC does not require.

use super::frto::ForwardRto;
use super::{Phase, Sack};
use crate::recovery::policy::Recovery;
use crate::seq::Seq;
use crate::tcb::Tcb;

impl Sack {
    /// Returns the next segment that may be sent now, if any.
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
                // RFC 5681 section 3.2: segments sent by limited transmit do not count as flight.
                tcb.limited_sent += u32::from(outstanding >= cwnd);
                Some(new)
            }
            Phase::Loss if self.frto != ForwardRto::Off => self.frto_segment(tcb),
            Phase::Recovery | Phase::Loss => {
                if !std::mem::take(&mut self.forced) && self.board.pipe() >= cwnd {
                    return None;
                }
                if self.holds {
                    return new_segment(tcb);
                }
                self.board
                    .next_lost()
                    .or_else(|| new_segment(tcb))
                    .or_else(|| self.speculative_segment(tcb))
                    .or_else(|| self.rescue_segment(tcb))
            }
        }
    }

    /// Returns the next segment of F-RTO: the oldest segment, then new ones.
    fn frto_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        if self.frto == ForwardRto::Step2 {
            return self.board.next_lost().filter(|&seq| seq == tcb.una);
        }
        self.frto_new = self.frto_new.checked_sub(1)?;
        new_segment(tcb)
    }

    /// RFC 6675 `NextSeg` rule 3: returns a segment that may not be lost, if there is no better one.
    fn speculative_segment(&mut self, tcb: &Tcb) -> Option<Seq> {
        if !tcb.config.speculative_retransmit || self.phase != Phase::Recovery {
            return None;
        }
        let seq = self.board.next_unsacked(self.speculated)?;
        self.speculated = seq.next();
        Some(seq)
    }

    /// RFC 6675 `NextSeg` rule 4: returns the last segment once per recovery, because its loss cannot be
    /// detected otherwise.
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

/// Returns the next new segment, if the receive window allows it.
pub(super) fn new_segment(tcb: &mut Tcb) -> Option<Seq> {
    if tcb.max >= tcb.end || tcb.room() == 0 {
        return None;
    }
    tcb.nxt = tcb.max.next();
    Some(tcb.max)
}
