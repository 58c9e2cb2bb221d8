//! The sending end of a connection.

use std::sync::Arc;

use optcp_units::{Bytes, Duration, Marking, Time};

use crate::acknowledgment::{Ack, Timestamp};
use crate::config::{Config, Measurement, PathState, TimeoutBasis, WindowValidation};
use crate::ecn::Feedback;
use crate::info::{CongestionState, Tally, TcpInfo};
use crate::recovery::LossRecovery;
use crate::seq::Seq;
use crate::tcb::Tcb;
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
    /// What its headers say of congestion.
    pub marking: Marking,
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
    /// Reductions of the window that marks led to, so far.
    pub ecn_reductions: u64,
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
    /// Segments that were marked, as ACKs have reported.
    pub delivered_ce: u64,
    /// Reductions of the window that marks led to.
    pub ecn_reductions: u64,
}

/// The sending end: tell it what happens, then take what it sends.
///
/// After every `start`, `handle_*` call `poll_transmit` until it gives nothing, then look at
/// `deadline`.
#[derive(Clone, Debug)]
pub struct Sender {
    tcb: Tcb,
    recovery: LossRecovery,
    /// The segment whose timer expired last (RFC 5681 section 3.1 on repeated timeouts).
    timed_out: Option<Seq>,
    /// What the application has not written yet.
    unwritten: u32,
    counts: SenderCounts,
}

impl Sender {
    /// A sender of `segments` full segments, or of data without end. Its clock stands at
    /// `clock_phase` at time zero, which matters where it ticks coarsely.
    #[must_use]
    pub fn new(config: Arc<Config>, segments: Option<u32>, clock_phase: Duration) -> Self {
        Sender {
            recovery: LossRecovery::new(&config),
            tcb: Tcb::new(config, segments, clock_phase),
            timed_out: None,
            unwritten: 0,
            counts: SenderCounts::default(),
        }
    }

    /// The application has data.
    pub fn start(&mut self) {
        self.tcb.allowance = u32::MAX;
    }

    /// Of all that is to be sent, the application writes `segments` later: see [`Sender::supply`].
    pub fn withhold(&mut self, segments: u32) {
        self.tcb.end = Seq::new(self.tcb.end.number() - segments);
        self.unwritten = segments;
    }

    /// Whether the application has yet to write something.
    #[must_use]
    pub const fn withholds(&self) -> bool {
        self.unwritten > 0
    }

    /// The application has `segments` full segments more.
    pub fn supply(&mut self, segments: u32) {
        self.unwritten = self.unwritten.saturating_sub(segments);
        if self.tcb.max == self.tcb.end {
            let (carried, tally) =
                (self.recovery.carried(&self.tcb), self.recovery.tally(&self.tcb));
            self.tcb.on_write(carried, tally);
        }
        self.tcb.end = self.tcb.end.saturating_add(segments);
        self.tcb.allowance = u32::MAX;
    }

    /// Its data go over one of `networks` networks at a time, at present over `present`: keeps what it knows of each apart, if
    /// it was made to (`path_state`) and goes by SACK. To be said before it starts.
    pub fn enable_per_network_state(&mut self, networks: u8, present: u8) {
        if self.tcb.config.path_state == PathState::PerNetwork {
            self.recovery.enable_per_network_state(&mut self.tcb, networks, present);
        }
    }

    /// Whether it keeps apart what it knows of several networks.
    #[must_use]
    pub const fn is_divided(&self) -> bool {
        self.tcb.networks.is_some()
    }

    /// It is told over which network its data go from now on. Its owner need not ask for segments now: the authors' kernel sends
    /// when the next ACK, timer or data come.
    pub fn change_network(&mut self, now: Time, network: u8) {
        self.recovery.change_network(&mut self.tcb, now, network);
    }

    /// The receiver's window is `segments` from now on.
    pub fn set_receiver_window(&mut self, segments: u32) {
        self.tcb.set_receiver_window(segments);
        self.tcb.allowance = u32::MAX;
    }

    /// An ACK has come. One for data never sent is ignored.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, ack: &Ack) {
        let tcb = &mut self.tcb;
        if ack.seq > tcb.max {
            return;
        }
        tcb.allowance = u32::MAX;
        tcb.limited = 0;
        tcb.read(now, ack);
        let (advances, answers) = (ack.seq > tcb.una, ack.seq >= tcb.una);
        let opens = tcb.opens() && advances;
        let hears = answers && tcb.ecn.is_some();
        if hears {
            tcb.hear(ack, opens);
        }
        self.recovery.on_ack(tcb, now, ack);
        if hears {
            self.recovery.on_marks(tcb);
        }
        if advances || (answers && self.recovery.in_recovery()) {
            tcb.restart_if_idle(now);
        }
        if opens {
            // The SYN's ACK: the window is the initial one, however it was grown; one segment if
            // the SYN had to be sent again (RFC 5681 section 3.1), or more often than is forgiven.
            let lost = self.timed_out.is_some();
            let again = self.counts.timeouts > u64::from(tcb.config.syn_retransmissions_forgiven);
            let initial = if again { 1 } else { tcb.config.initial_window };
            tcb.window.cwnd = f64::from(initial) * tcb.mss();
            tcb.open_networks(tcb.window.cwnd);
            if lost {
                tcb.forget_lost_syn();
                tcb.tell_feedback();
            } else {
                if let Some(rtt) = tcb.timer.srtt() {
                    let mss = tcb.mss();
                    tcb.congestion.on_handshake(&mut tcb.window, mss, now, rtt);
                }
                tcb.tell_feedback();
                tcb.congestion.on_open();
            }
        }
    }

    /// The time given by `deadline` has come.
    pub fn handle_timer(&mut self, now: Time) {
        let tcb = &mut self.tcb;
        let paced = tcb.pacer.deadline().is_some_and(|at| at <= now);
        tcb.pacer.expire(now);
        if self.recovery.deadline().is_some_and(|at| at <= now) {
            tcb.allowance = u32::MAX;
            self.recovery.on_timer(tcb, now);
            return;
        }
        if paced && tcb.timer.deadline().is_none_or(|at| at > now) {
            return;
        }
        if !tcb.outstanding() {
            tcb.timer.stop();
            return;
        }
        self.counts.timeouts += 1;
        let interrupted = self.recovery.in_recovery() || tcb.is_reduced_enough();
        let inflated = tcb.inflated_window();
        tcb.inflation = 0;
        tcb.limited = 0;
        tcb.limited_sent = 0;
        self.recovery.on_timeout(tcb, now);

        let repeated = self.timed_out == Some(tcb.una);
        let keeps = repeated && tcb.config.repeated_timeout_keeps_ssthresh;
        if !keeps {
            let amount = match tcb.config.timeout_basis {
                TimeoutBasis::KeepRecovery | TimeoutBasis::WindowKeepRecovery if interrupted => {
                    None
                }
                TimeoutBasis::HalveAgain if interrupted => Some(tcb.window.ssthresh),
                TimeoutBasis::KeepRecovery
                | TimeoutBasis::HalveAgain
                | TimeoutBasis::FlightSize => Some(tcb.flight()),
                TimeoutBasis::Window | TimeoutBasis::WindowKeepRecovery => {
                    Some(tcb.usable_window())
                }
                TimeoutBasis::InflatedWindow => Some(inflated.min(tcb.receiver_window())),
            };
            if let Some(amount) = amount {
                tcb.set_ssthresh(amount);
            }
        }
        tcb.on_timeout();
        self.timed_out = Some(tcb.una);
        tcb.loss_until = tcb.max;
        if let Some(ecn) = &mut tcb.ecn {
            ecn.on_loss(tcb.max);
        }
        tcb.window.cwnd = tcb.mss();
        tcb.recover = Some(tcb.max);
        let linear =
            tcb.opens() && self.counts.timeouts <= u64::from(tcb.config.syn_linear_timeouts);
        if !linear {
            tcb.timer.back_off();
        }
        tcb.timer.restart(now);
        tcb.pacer.release(now);
        tcb.allowance = u32::MAX;
        tcb.last_sent = now;
    }

    /// The next segment to send, if any may be sent now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmission> {
        let tcb = &mut self.tcb;
        let demanded = tcb.retransmit.is_some();
        let next = if tcb.pacer.holds(now) { None } else { self.recovery.next_segment(tcb) };
        let Some(seq) = next else {
            if tcb.config.window_validation == WindowValidation::Linux {
                tcb.on_pause(self.recovery.carried(tcb));
            }
            return None;
        };
        let repair = demanded || (tcb.config.sack() && seq < tcb.max);
        let retransmission = seq < tcb.max;
        if tcb.times_departures {
            tcb.depart(seq, now);
        }
        if !retransmission {
            if tcb.max == tcb.una && seq > Seq::ZERO {
                tcb.resume(now);
            }
            tcb.max = seq.next();
            tcb.timer.time(seq, now);
        } else if tcb.config.measurement == Measurement::UntilTimeout
            && !repair
            && self.timed_out != Some(seq)
        {
            tcb.timer.time(seq, now);
        }
        if !repair {
            tcb.last_sent = now;
        }
        tcb.last_departure = now;
        tcb.timer.start(now);
        self.recovery.on_sent(tcb, seq, now);
        self.counts.sent += 1;
        self.counts.retransmissions += u64::from(retransmission);
        let stamp = if tcb.config.timestamps { tcb.stamp(now) } else { 0 };
        let marking = match tcb.ecn {
            None => Marking::NONE,
            Some(_) => tcb.marking(seq, retransmission),
        };
        Some(Transmission { seq, size: tcb.wire_size(seq), retransmission, stamp, marking })
    }

    /// When `handle_timer` is due.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let tcb = &self.tcb;
        let due = earlier(tcb.timer.deadline(), self.recovery.deadline());
        match tcb.pacer.deadline() {
            Some(at) if tcb.una != tcb.end => earlier(due, Some(at)),
            _ => due,
        }
    }

    /// Whether everything has been written and acknowledged.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.tcb.una == self.tcb.end && self.unwritten == 0
    }

    /// Oldest unacknowledged segment.
    #[must_use]
    pub fn una(&self) -> Seq {
        self.tcb.una
    }

    /// The segment that is sent next when the window allows it; a timeout takes it back to `una`.
    #[must_use]
    pub fn next(&self) -> Seq {
        self.tcb.nxt
    }

    /// One past the highest segment sent.
    #[must_use]
    pub fn max_sent(&self) -> Seq {
        self.tcb.max
    }

    /// The congestion window, not counting the inflation of fast recovery.
    #[must_use]
    pub fn window(&self) -> Window {
        self.tcb.window
    }

    /// Whether fast recovery is under way.
    #[must_use]
    pub fn in_recovery(&self) -> bool {
        self.recovery.in_recovery()
    }

    /// Its variables now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let tcb = &self.tcb;
        let phase = match () {
            () if self.recovery.in_recovery() => Phase::Recovery,
            () if tcb.repairs_timeout() => Phase::Loss,
            () if tcb.window.in_slow_start() => Phase::SlowStart,
            () => Phase::Avoidance,
        };
        Snapshot {
            cwnd: tcb.inflated_window(),
            ssthresh: tcb.window.ssthresh,
            flight: tcb.max - tcb.una,
            phase,
            timeouts: self.counts.timeouts,
            ecn_reductions: tcb.ecn.as_ref().map_or(0, |ecn| ecn.reductions),
        }
    }

    /// Its variables by the names that Linux has for them.
    #[must_use]
    pub fn info(&self) -> TcpInfo {
        let tcb = &self.tcb;
        let Tally { sacked, lost, retransmitted, reordering } = self.recovery.tally(tcb);
        let state = match () {
            () if self.recovery.in_recovery() => CongestionState::Recovery,
            () if self.recovery.in_loss(tcb) => CongestionState::Loss,
            () if tcb.ecn.as_ref().is_some_and(|ecn| ecn.reducing(tcb.una)) => CongestionState::Cwr,
            () if sacked + lost > 0 => CongestionState::Disorder,
            () => CongestionState::Open,
        };
        TcpInfo {
            state,
            cwnd: tcb.window.segments(tcb.mss()),
            ssthresh: tcb.window.ssthresh.is_finite().then(|| tcb.ssthresh_segments()),
            unacked: tcb.max - tcb.una,
            sacked,
            lost,
            retransmitted,
            reordering,
            retransmissions: self.counts.retransmissions,
            rto: tcb.timer.rto(),
            srtt: tcb.timer.srtt(),
            delivered_ce: tcb.ecn.as_ref().map_or(0, |ecn| ecn.delivered_ce),
        }
    }

    /// What it understands of marks that ACKs report.
    #[must_use]
    pub fn feedback(&self) -> Feedback {
        self.tcb.ecn.as_ref().map_or(Feedback::None, |ecn| ecn.feedback())
    }

    /// What goes on a segment without data that is sent now, if timestamps are in use.
    #[must_use]
    pub fn stamp(&self, now: Time) -> Timestamp {
        self.tcb.stamp(now)
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> SenderCounts {
        match &self.tcb.ecn {
            None => self.counts,
            Some(ecn) => SenderCounts {
                delivered_ce: ecn.delivered_ce,
                ecn_reductions: ecn.reductions,
                ..self.counts
            },
        }
    }

    #[cfg(test)]
    pub(crate) fn congestion(&self) -> &crate::congestion::CongestionControl {
        &self.tcb.congestion
    }

    /// The choices it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.tcb.config
    }
}

/// The earlier of two instants, of those that there are.
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    other.map_or(one, |other| Some(one.map_or(other, |one| one.min(other))))
}
