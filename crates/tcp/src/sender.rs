//! The sending end of a connection.

use std::sync::Arc;

use optcp_units::{Bytes, Duration, Time};

use crate::acknowledgment::{Ack, Timestamp};
use crate::config::{Config, Measurement, TimeoutBasis, WindowValidation};
use crate::core::Core;
use crate::info::{CongestionState, Tally, TcpInfo};
use crate::recovery::LossRecovery;
use crate::seq::Seq;
use crate::window::Window;

/// A segment to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Segment number.
    pub seq: Seq,
    /// Size on the wire.
    pub size: Bytes,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Its timestamp; without meaning unless timestamps are in use.
    pub stamp: Timestamp,
}

/// What a sender is doing, for observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The window grows by a segment an ACK.
    SlowStart = 0,
    /// The window grows by a segment a round trip.
    Avoidance = 1,
    /// Fast recovery.
    Recovery = 2,
    /// After a timeout, until what was outstanding then is acknowledged.
    Loss = 3,
}

impl Phase {
    /// Names in results, in the order of their numbers.
    pub const NAMES: [&'static str; 4] = ["slow-start", "avoidance", "recovery", "loss"];
}

/// A sender's variables at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Congestion window in bytes, with the inflation of fast recovery.
    pub cwnd: f64,
    /// Slow-start threshold in bytes.
    pub ssthresh: f64,
    /// Segments sent and not acknowledged (RFC 5681's FlightSize).
    pub flight: u32,
    /// What it is doing.
    pub phase: Phase,
    /// Expiries of the retransmission timer so far.
    pub timeouts: u64,
}

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
}

/// The sending end: tell it what happens, then take what it sends.
///
/// After every `start`, `handle_*` call `poll_transmit` until it gives nothing, then look at
/// `deadline`.
#[derive(Clone, Debug)]
pub struct Sender {
    core: Core,
    recovery: LossRecovery,
    /// The segment whose timer expired last (RFC 5681 section 3.1 on repeated timeouts).
    timed_out: Option<Seq>,
    counts: SenderCounts,
}

impl Sender {
    /// A sender of `segments` full segments, or of data without end. Its clock stands at
    /// `clock_phase` at time zero, which matters where it ticks coarsely.
    #[must_use]
    pub fn new(config: Arc<Config>, segments: Option<u32>, clock_phase: Duration) -> Self {
        Sender {
            recovery: LossRecovery::new(&config),
            core: Core::new(config, segments, clock_phase),
            timed_out: None,
            counts: SenderCounts::default(),
        }
    }

    /// The application has data.
    pub fn start(&mut self) {
        self.core.allowance = u32::MAX;
    }

    /// The application has `segments` full segments more.
    pub fn supply(&mut self, segments: u32) {
        self.core.end = self.core.end.saturating_add(segments);
        self.core.allowance = u32::MAX;
    }

    /// The receiver's window is `segments` from now on.
    pub fn set_receiver_window(&mut self, segments: u32) {
        self.core.set_receiver_window(segments);
        self.core.allowance = u32::MAX;
    }

    /// An ACK has come. One for data never sent is ignored.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, ack: &Ack) {
        let core = &mut self.core;
        if ack.seq > core.max {
            return;
        }
        core.allowance = u32::MAX;
        core.limited = 0;
        let (advances, answers) = (ack.seq > core.una, ack.seq >= core.una);
        let opens = core.opens() && advances;
        self.recovery.on_ack(core, now, ack);
        if advances || (answers && self.recovery.in_recovery()) {
            core.restart_if_idle(now);
        }
        if opens {
            // The SYN's ACK: the window is the initial one, however it was grown; one segment if
            // the SYN had to be sent again (RFC 5681 section 3.1).
            let lost = self.timed_out.is_some();
            let initial = if lost { 1 } else { core.config.initial_window };
            core.window.cwnd = f64::from(initial) * core.mss();
            if lost {
                core.forget_lost_syn();
            } else {
                core.congestion.on_open();
            }
        }
    }

    /// The time given by `deadline` has come.
    pub fn handle_timer(&mut self, now: Time) {
        let core = &mut self.core;
        let paced = core.pacer.deadline().is_some_and(|at| at <= now);
        core.pacer.expire(now);
        if self.recovery.deadline().is_some_and(|at| at <= now) {
            core.allowance = u32::MAX;
            self.recovery.on_timer(core, now);
            return;
        }
        if paced && core.timer.deadline().is_none_or(|at| at > now) {
            return;
        }
        if !core.outstanding() {
            core.timer.stop();
            return;
        }
        self.counts.timeouts += 1;
        let interrupted = self.recovery.in_recovery();
        let inflated = core.inflated_window();
        core.inflation = 0;
        core.limited = 0;
        core.limited_sent = 0;
        self.recovery.on_timeout(core, now);

        let repeated = self.timed_out == Some(core.una);
        let keeps = repeated && core.config.repeated_timeout_keeps_ssthresh;
        if !keeps {
            let amount = match core.config.timeout_basis {
                TimeoutBasis::KeepRecovery | TimeoutBasis::WindowKeepRecovery if interrupted => {
                    None
                }
                TimeoutBasis::HalveAgain if interrupted => Some(core.window.ssthresh),
                TimeoutBasis::KeepRecovery
                | TimeoutBasis::HalveAgain
                | TimeoutBasis::FlightSize => Some(core.flight()),
                TimeoutBasis::Window | TimeoutBasis::WindowKeepRecovery => {
                    Some(core.usable_window())
                }
                TimeoutBasis::InflatedWindow => Some(inflated.min(core.receiver_window())),
            };
            if let Some(amount) = amount {
                core.set_ssthresh(amount);
            }
        }
        core.on_timeout();
        self.timed_out = Some(core.una);
        core.loss_until = core.max;
        core.window.cwnd = core.mss();
        core.recover = Some(core.max);
        core.timer.back_off();
        core.timer.restart(now);
        core.pacer.release(now);
        core.allowance = u32::MAX;
        core.last_sent = now;
    }

    /// The next segment to send, if any may be sent now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmission> {
        let core = &mut self.core;
        let demanded = core.retransmit.is_some();
        let next = if core.pacer.holds(now) { None } else { self.recovery.next_segment(core) };
        let Some(seq) = next else {
            if core.config.window_validation == WindowValidation::Linux {
                core.on_pause(self.recovery.carried(core));
            }
            return None;
        };
        let repair = demanded || (core.config.sack() && seq < core.max);
        let retransmission = seq < core.max;
        if core.pacer.paces() {
            core.pace(seq, now);
        }
        if !retransmission {
            core.max = seq + 1;
            core.timer.time(seq, now);
        } else if core.config.measurement == Measurement::UntilTimeout
            && !repair
            && self.timed_out != Some(seq)
        {
            core.timer.time(seq, now);
        }
        if !repair {
            core.last_sent = now;
        }
        core.timer.start(now);
        self.recovery.on_sent(core, seq, now);
        self.counts.sent += 1;
        self.counts.retransmissions += u64::from(retransmission);
        let stamp = if core.config.timestamps { core.stamp(now) } else { 0 };
        Some(Transmission { seq, size: core.wire_size(seq), retransmission, stamp })
    }

    /// When `handle_timer` is due.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let core = &self.core;
        let due = earlier(core.timer.deadline(), self.recovery.deadline());
        match core.pacer.deadline() {
            Some(at) if !self.finished() => earlier(due, Some(at)),
            _ => due,
        }
    }

    /// Whether everything has been acknowledged.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.core.una == self.core.end
    }

    /// Oldest unacknowledged segment.
    #[must_use]
    pub fn una(&self) -> Seq {
        self.core.una
    }

    /// The segment that is sent next when the window allows it; a timeout takes it back to `una`.
    #[must_use]
    pub fn next(&self) -> Seq {
        self.core.nxt
    }

    /// One past the highest segment sent.
    #[must_use]
    pub fn max_sent(&self) -> Seq {
        self.core.max
    }

    /// The congestion window, not counting the inflation of fast recovery.
    #[must_use]
    pub fn window(&self) -> Window {
        self.core.window
    }

    /// Whether fast recovery is under way.
    #[must_use]
    pub fn in_recovery(&self) -> bool {
        self.recovery.in_recovery()
    }

    /// Its variables now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let core = &self.core;
        let phase = match () {
            () if self.recovery.in_recovery() => Phase::Recovery,
            () if core.repairs_timeout() => Phase::Loss,
            () if core.window.in_slow_start() => Phase::SlowStart,
            () => Phase::Avoidance,
        };
        Snapshot {
            cwnd: core.inflated_window(),
            ssthresh: core.window.ssthresh,
            flight: core.max - core.una,
            phase,
            timeouts: self.counts.timeouts,
        }
    }

    /// Its variables by the names that Linux has for them.
    #[must_use]
    pub fn info(&self) -> TcpInfo {
        let core = &self.core;
        let Tally { sacked, lost, retransmitted, reordering } = self.recovery.tally(core);
        let state = match () {
            () if self.recovery.in_recovery() => CongestionState::Recovery,
            () if self.recovery.in_loss(core) => CongestionState::Loss,
            () if sacked + lost > 0 => CongestionState::Disorder,
            () => CongestionState::Open,
        };
        TcpInfo {
            state,
            cwnd: core.window.segments(core.mss()),
            ssthresh: core.window.ssthresh.is_finite().then(|| core.ssthresh_segments()),
            unacked: core.max - core.una,
            sacked,
            lost,
            retransmitted,
            reordering,
            retransmissions: self.counts.retransmissions,
            rto: core.timer.rto(),
            srtt: core.timer.srtt(),
        }
    }

    /// What goes on a segment without data that is sent now, if timestamps are in use.
    #[must_use]
    pub fn stamp(&self, now: Time) -> Timestamp {
        self.core.stamp(now)
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> SenderCounts {
        self.counts
    }

    #[cfg(test)]
    pub(crate) fn congestion(&self) -> &crate::congestion::CongestionControl {
        &self.core.congestion
    }

    /// The choices it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.core.config
    }
}

/// The earlier of two instants, of those that there are.
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    other.map_or(one, |other| Some(one.map_or(other, |one| one.min(other))))
}
