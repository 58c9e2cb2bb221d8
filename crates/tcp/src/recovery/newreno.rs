//! NewReno.
//!
//! # Model
//! Fast recovery that continues after partial ACKs: each retransmits the next gap immediately, one per RTT,
//! until all data sent before the reduction are acknowledged.
//!
//! # References
//! RFC 6582 section 3.2; RFC 2582 without deflation.
//!
//! # Parameters
//! `newreno_timer`, `partial_ack`, `recovery_exit`, `exit_ack_grows`, `recovery_burst`, `careful`,
//! `careful_until_new_ack`, `measurement`, `reduction_basis`, `halving`, `limited_transmit`.
//!
//! # Limitations
//! One retransmission per RTT, for any number of missing segments.

use optcp_units::Time;

use super::policy::{CountsDuplicates, DUP_THRESH, limited_transmit};
use crate::acknowledgment::Ack;
use crate::config::{NewRenoTimer, PartialAck, RecoveryExit};
use crate::tcb::Tcb;

/// State of NewReno.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery. `partial_seen`: a partial ACK has arrived.
    Recovery { partial_seen: bool },
}

impl CountsDuplicates for NewReno {
    fn recovers(&self) -> bool {
        self.phase != Phase::Open
    }

    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time) {
        if self.recovers() {
            tcb.inflation += 1;
            limit_burst(tcb);
            return;
        }
        limited_transmit(tcb);
        if tcb.duplicates == DUP_THRESH && tcb.may_fast_retransmit() {
            tcb.fast_retransmit(now);
            tcb.inflation = DUP_THRESH;
            self.phase = Phase::Recovery { partial_seen: false };
            limit_burst(tcb);
        }
    }

    #[inline]
    fn on_new_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        match (self.phase, tcb.recover) {
            (Phase::Recovery { partial_seen }, Some(recover)) if ack.seq < recover => {
                self.phase = Phase::Recovery { partial_seen: true };
                partial_ack(tcb, now, ack, !partial_seen);
            }
            (Phase::Recovery { .. }, _) => {
                self.phase = Phase::Open;
                full_ack(tcb, now, ack);
            }
            (Phase::Open, _) => {
                if tcb.config.careful_until_new_ack {
                    tcb.recover = None;
                }
                let event = tcb.acknowledge(now, ack);
                tcb.grow(event);
            }
        }
    }

    fn restart(&mut self, tcb: &mut Tcb) {
        *self = NewReno::default();
        tcb.duplicates = 0;
    }
}

fn limit_burst(tcb: &mut Tcb) {
    if let Some(burst) = tcb.config.recovery_burst {
        tcb.allowance = burst;
    }
}

/// RFC 6582 section 3.2 step 3, partial acknowledgment.
fn partial_ack(tcb: &mut Tcb, now: Time, ack: &Ack, first: bool) {
    match tcb.config.partial_ack {
        PartialAck::Deflate => deflate(tcb, ack.seq - tcb.una),
        PartialAck::Keep => {}
        PartialAck::Reset => tcb.inflation = 0,
    }
    // No effect if a fast retransmit discards the measurement: a measurement started in recovery belongs to
    // later data.
    let rtt = tcb.measure(now, ack);
    if first || tcb.config.newreno_timer == NewRenoTimer::Patient {
        tcb.timer.restart(now);
    }
    let (acked, delivered) = (ack.seq - tcb.una, tcb.delivered(ack));
    tcb.advance(ack.seq);
    tcb.observe(now, acked, delivered, rtt);
    tcb.retransmit = Some(tcb.una);
    limit_burst(tcb);
}

/// Subtracts the segments that left the network, minus one for the retransmission.
fn deflate(tcb: &mut Tcb, acked: u32) {
    if tcb.inflation > acked {
        tcb.inflation -= acked - 1;
    } else {
        let excess = f64::from(acked - tcb.inflation) * tcb.mss();
        tcb.window.cwnd = (tcb.window.cwnd - excess).max(tcb.mss());
        tcb.inflation = 1;
    }
}

/// RFC 6582 section 3.2 step 3, full acknowledgment.
fn full_ack(tcb: &mut Tcb, now: Time, ack: &Ack) {
    tcb.inflation = 0;
    let event = tcb.acknowledge(now, ack);
    let mss = tcb.mss();
    match tcb.config.recovery_exit {
        RecoveryExit::FlightSize => {
            tcb.window.cwnd = tcb.window.ssthresh.min(tcb.flight().max(mss) + mss);
        }
        RecoveryExit::Rfc3782 => tcb.window.cwnd = tcb.window.ssthresh.min(tcb.flight() + mss),
        RecoveryExit::Ssthresh => tcb.window.cwnd = tcb.window.ssthresh,
        RecoveryExit::Unchanged => {}
    }
    tcb.on_recovered();
    if tcb.config.exit_ack_grows {
        tcb.grow(event);
    }
}
