//! Sack1, the SACK recovery of 1996.
//!
//! # Model
//! Fast recovery with one variable `pipe` for the data in flight. It starts at the outstanding data
//! minus three segments. Every ACK subtracts one, an advancing ACK subtracts two, and every
//! transmission adds one. While `pipe` is below cwnd, the lowest gap that SACK shows is
//! retransmitted, otherwise new data are sent. Lost segments stay in `pipe` until then. A burst of
//! losses longer than half a window by two or more therefore waits for the timer. After an RTO,
//! everything is retransmitted in order.
//!
//! # References
//! K. Fall and S. Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", Computer
//! Communication Review 26(3), 1996. Details not in the paper follow `Agent/TCP/Sack1` of ns-2.35.
//!
//! # Parameters
//! `careful`, `first_loss`, `reduction_basis`, `halving`, `limited_transmit`,
//! `fast_retransmit_restarts_timer`.
//!
//! # Limitations
//! A lost retransmission is repaired by the timer only. SACK information is discarded at the end of
//! a recovery and at an RTO. It is ignored between an RTO and the next ACK of new data. The ns-2
//! option of two segments per partial ACK regardless of `pipe` is off by default. It is not
//! implemented.

use optcp_units::Time;

use super::policy::{DUP_THRESH, Recovery, limited_transmit};
use crate::acknowledgment::Ack;
use crate::ranges::Ranges;
use crate::seq::Seq;
use crate::tcb::Tcb;

/// State of Sack1.
#[derive(Clone, Debug, Default)]
pub struct Sack1 {
    phase: Phase,
    /// Segments reported by SACK since the last reset.
    sacked: Ranges,
    /// End of the segments that were retransmitted in this recovery or were not missing.
    repaired: Seq,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery, until everything below `until` is acknowledged. `pipe` may be negative.
    Recovery { until: Seq, pipe: i64 },
    /// Between an RTO and the next ACK of new data.
    Loss,
}

impl Recovery for Sack1 {
    fn in_recovery(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }

    fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        match self.phase {
            Phase::Recovery { until, .. } if ack.seq >= until => {
                // No earlier segment can be mistaken for a new loss.
                tcb.recover = None;
                tcb.acknowledge(now, ack);
                tcb.on_recovered();
                *self = Sack1::default();
            }
            Phase::Recovery { until, pipe } => {
                let acked = ack.seq.saturating_since(tcb.una);
                let partial = acked > 0;
                // Partial ACK: a lost segment and its retransmission have both left the network.
                let left = if partial { 2 } else { 1 };
                self.phase = Phase::Recovery { until, pipe: pipe - left };
                if partial {
                    tcb.timer.restart(now);
                    tcb.timer.end_back_off();
                    tcb.advance(ack.seq);
                }
                // In addition to the SACK information, the retransmitted segment.
                let delivered = self.listen(tcb, ack) + u32::from(partial);
                if delivered > 0 {
                    tcb.observe(now, acked, delivered, None);
                }
            }
            Phase::Open | Phase::Loss if ack.seq > tcb.una => {
                let event = tcb.acknowledge(now, ack);
                tcb.grow(event);
                *self = Sack1::default();
            }
            Phase::Open if ack.seq == tcb.una => self.on_duplicate_ack(tcb, now, ack),
            Phase::Open | Phase::Loss => {}
        }
    }

    fn on_timeout(&mut self, tcb: &mut Tcb, _now: Time) {
        *self = Sack1 { phase: Phase::Loss, ..Sack1::default() };
        tcb.duplicates = 0;
        tcb.go_back();
    }

    fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        let hole = self.next_gap(tcb.una);
        let Phase::Recovery { pipe, .. } = &mut self.phase else { return tcb.next_segment() };
        if let Some(seq) = tcb.take_demanded() {
            return Some(seq);
        }
        let cwnd = tcb.window.segments(tcb.mss());
        if tcb.allowance == 0 || *pipe >= i64::from(cwnd) {
            return None;
        }
        let in_turn = tcb.nxt < tcb.end && (tcb.nxt < tcb.max || tcb.room() > 0);
        let seq = hole.or(in_turn.then_some(tcb.nxt))?;
        *pipe += 1;
        if hole.is_some() {
            self.repaired = seq.next();
        }
        tcb.nxt = tcb.nxt.max(seq.next());
        Some(seq)
    }
}

impl Sack1 {
    /// Processes a duplicate ACK, which counts if it reports new segments.
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        let delivered = self.listen(tcb, ack);
        if delivered == 0 {
            return;
        }
        tcb.observe(now, 0, delivered, None);
        tcb.duplicates += 1;
        limited_transmit(tcb);
        if tcb.duplicates == DUP_THRESH && tcb.may_fast_retransmit() {
            self.enter_recovery(tcb, now);
        }
    }

    fn enter_recovery(&mut self, tcb: &mut Tcb, now: Time) {
        let pipe = i64::from(tcb.max - tcb.una) - i64::from(DUP_THRESH);
        self.phase = Phase::Recovery { until: tcb.max, pipe };
        self.repaired = tcb.una.next();
        tcb.fast_retransmit(now);
        // The ACK that starts recovery only releases the first retransmission.
        tcb.allowance = 0;
    }

    /// Records the SACK information of an ACK; returns the number of newly reported segments.
    fn listen(&mut self, tcb: &Tcb, ack: &Ack) -> u32 {
        self.sacked.remove_below(tcb.una);
        let mut newly_sacked = 0;
        for &(start, end) in ack.sack.iter().flat_map(|sack| sack.as_slice()) {
            let (start, end) = (start.max(tcb.una), end.min(tcb.max));
            if start < end {
                self.sacked.insert(start, end, |start, end| newly_sacked += end - start);
            }
        }
        newly_sacked
    }

    /// Returns the lowest missing segment from `una` on that was not retransmitted.
    fn next_gap(&self, una: Seq) -> Option<Seq> {
        let from = self.repaired.max(una);
        let hole = self.sacked.around(from).map_or(from, |(_, end)| end);
        self.sacked.end().filter(|&end| hole < end).map(|_| hole)
    }
}
