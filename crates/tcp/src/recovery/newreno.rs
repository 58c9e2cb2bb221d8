//! NewReno.
//!
//! # Models
//! Fast recovery that a partial ACK keeps going: it retransmits the next hole at once, one a round
//! trip, until everything sent before the reduction is acknowledged.
//! # Source
//! RFC 6582 section 3.2; RFC 2582 without deflation.
//! # Parameters
//! `newreno_timer`, `partial_ack`, `recovery_exit`, `exit_ack_grows`, `recovery_burst`, `careful`,
//! `careful_until_new_ack`, `measurement`, `reduction_basis`, `halving`, `limited_transmit`.
//! # Limits
//! One retransmission a round trip, however many segments are missing.

use optcp_units::Time;

use super::policy::{CountsDuplicates, DUP_THRESH, limited_transmit};
use crate::acknowledgment::Ack;
use crate::config::{NewRenoTimer, PartialAck, RecoveryExit};
use crate::core::Core;

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery; whether a partial ACK has come yet.
    Recovery { partial_seen: bool },
}

impl CountsDuplicates for NewReno {
    fn recovers(&self) -> bool {
        self.phase != Phase::Open
    }

    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time) {
        if self.recovers() {
            core.inflation += 1;
            limit_burst(core);
            return;
        }
        limited_transmit(core);
        if core.duplicates == DUP_THRESH && core.may_fast_retransmit() {
            core.fast_retransmit(now);
            core.inflation = DUP_THRESH;
            self.phase = Phase::Recovery { partial_seen: false };
            limit_burst(core);
        }
    }

    #[inline]
    fn on_new_ack(&mut self, core: &mut Core, now: Time, ack: &Ack) {
        match (self.phase, core.recover) {
            (Phase::Recovery { partial_seen }, Some(recover)) if ack.seq < recover => {
                self.phase = Phase::Recovery { partial_seen: true };
                partial_ack(core, now, ack, !partial_seen);
            }
            (Phase::Recovery { .. }, _) => {
                self.phase = Phase::Open;
                full_ack(core, now, ack);
            }
            (Phase::Open, _) => {
                if core.config.careful_until_new_ack {
                    core.recover = None;
                }
                let event = core.acknowledge(now, ack);
                core.grow(event);
            }
        }
    }

    fn restart(&mut self, core: &mut Core) {
        *self = NewReno::default();
        core.duplicates = 0;
    }
}

fn limit_burst(core: &mut Core) {
    if let Some(burst) = core.config.recovery_burst {
        core.allowance = burst;
    }
}

/// RFC 6582 section 3.2 step 3, partial acknowledgment.
fn partial_ack(core: &mut Core, now: Time, ack: &Ack, first: bool) {
    match core.config.partial_ack {
        PartialAck::Deflate => deflate(core, ack.seq - core.una),
        PartialAck::Keep => {}
        PartialAck::Reset => core.inflation = 0,
    }
    // Without effect where a fast retransmit gives the measurement up: one that was begun inside the
    // recovery is of data beyond it.
    let rtt = core.measure(now, ack);
    if first || core.config.newreno_timer == NewRenoTimer::Patient {
        core.timer.restart(now);
    }
    let (acked, delivered) = (ack.seq - core.una, core.delivered(ack));
    core.advance(ack.seq);
    core.observe(now, acked, delivered, rtt);
    core.retransmit = Some(core.una);
    limit_burst(core);
}

/// Takes off what left the network, less one segment for the retransmission that enters it.
fn deflate(core: &mut Core, acked: u32) {
    if core.inflation > acked {
        core.inflation -= acked - 1;
    } else {
        let excess = f64::from(acked - core.inflation) * core.mss();
        core.window.cwnd = (core.window.cwnd - excess).max(core.mss());
        core.inflation = 1;
    }
}

/// RFC 6582 section 3.2 step 3, full acknowledgment.
fn full_ack(core: &mut Core, now: Time, ack: &Ack) {
    core.inflation = 0;
    let event = core.acknowledge(now, ack);
    let mss = core.mss();
    match core.config.recovery_exit {
        RecoveryExit::FlightSize => {
            core.window.cwnd = core.window.ssthresh.min(core.flight().max(mss) + mss);
        }
        RecoveryExit::Rfc3782 => core.window.cwnd = core.window.ssthresh.min(core.flight() + mss),
        RecoveryExit::Ssthresh => core.window.cwnd = core.window.ssthresh,
        RecoveryExit::Unchanged => {}
    }
    core.on_recovered();
    if core.config.exit_ack_grows {
        core.grow(event);
    }
}
