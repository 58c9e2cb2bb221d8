//! Sender of a connection.

use std::sync::Arc;

use optcp_units::{Bytes, Duration, Marking, Time};

use crate::acknowledgment::{Ack, Timestamp};
use crate::config::{Config, Measurement, PathState, RecoveryKind, TimeoutBasis, WindowValidation};
use crate::congestion::event::SubflowState;
use crate::ecn::Feedback;
use crate::giving_up::GivingUp;
use crate::info::{CongestionState, Tally, TcpInfo};
use crate::recovery::LossRecovery;
use crate::repathing::Repathing;
use crate::seq::Seq;
use crate::tcb::Tcb;
use crate::window::Window;

/// Segment to transmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Segment number.
    pub seq: Seq,
    /// Size on the wire.
    pub size: Bytes,
    /// `true`: it was sent before.
    pub retransmission: bool,
    /// Timestamp, or packet number of QUIC; otherwise undefined.
    pub stamp: Timestamp,
    /// ECN fields.
    pub marking: Marking,
}

/// Phase of a sender, for observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Slow start: one segment per ACK.
    SlowStart = 0,
    /// Congestion avoidance: one segment per RTT.
    Avoidance = 1,
    /// Fast recovery.
    Recovery = 2,
    /// After an RTO, until all data outstanding at that time are acknowledged.
    Loss = 3,
    /// The sender has given up.
    Aborted = 4,
}

impl Phase {
    /// Names in results, by number.
    pub const NAMES: [&'static str; 5] = ["slow-start", "avoidance", "recovery", "loss", "aborted"];
}

/// Variables of a sender at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Congestion window in bytes, including the inflation of fast recovery.
    pub cwnd: f64,
    /// Slow-start threshold in bytes.
    pub ssthresh: f64,
    /// Unacknowledged segments (RFC 5681's FlightSize).
    pub flight: u32,
    /// Phase.
    pub phase: Phase,
    /// Number of RTOs so far.
    pub timeouts: u64,
    /// Number of window reductions caused by ECN marks so far.
    pub ecn_reductions: u64,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Segments sent, including retransmissions.
    pub sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// RTOs with outstanding data.
    pub timeouts: u64,
    /// Segments reported as marked.
    pub delivered_ce: u64,
    /// Window reductions caused by ECN marks.
    pub ecn_reductions: u64,
}

/// Sender of a connection.
///
/// After every `start` or `handle_*`, call `poll_transmit` until it returns `None`, then query `deadline`.
#[derive(Clone, Debug)]
pub struct Sender {
    tcb: Tcb,
    recovery: LossRecovery,
    /// Segments that the application has not written yet.
    unwritten: u32,
    giving_up: GivingUp,
    repathing: Repathing,
    counts: SenderCounts,
}

impl Sender {
    /// Creates a sender of `segments` full segments, or of unlimited data. `clock_phase` is the value of its
    /// clock at time zero, which matters for coarse ticks.
    #[must_use]
    pub fn new(config: Arc<Config>, segments: Option<u32>, clock_phase: Duration) -> Self {
        Sender {
            recovery: LossRecovery::new(&config),
            repathing: Repathing::new(config.repath, clock_phase),
            tcb: Tcb::new(config, segments, clock_phase),
            unwritten: 0,
            giving_up: GivingUp::default(),
            counts: SenderCounts::default(),
        }
    }

    /// Starts sending.
    pub fn start(&mut self) {
        self.tcb.allowance = u32::MAX;
    }

    /// Withholds `segments` of the data, which the application writes later: see [`Sender::supply`].
    pub fn withhold(&mut self, segments: u32) {
        self.tcb.end = Seq::new(self.tcb.end.number() - segments);
        self.unwritten = segments;
    }

    /// Returns whether the application has not written everything.
    #[must_use]
    pub const fn withholds(&self) -> bool {
        self.unwritten > 0
    }

    /// Adds `segments` full segments written by the application.
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

    /// Sets whether a connection over several subflows has data for one more segment of this subflow, which is
    /// [`poll_transmit`](Self::poll_transmit)'s next new segment.
    pub fn set_supplied(&mut self, is_supplied: bool) {
        let tcb = &mut self.tcb;
        let sent = tcb.max.max(Seq::ZERO + u32::from(tcb.config.handshake));
        tcb.end = sent + u32::from(is_supplied);
    }

    /// Enables separate state for `networks` networks, of which `present` is active, if `path_state` requests
    /// it and SACK is used. Call it before the start.
    pub fn enable_per_network_state(&mut self, networks: u8, present: u8) {
        if self.tcb.config.path_state == PathState::PerNetwork {
            self.recovery.enable_per_network_state(&mut self.tcb, networks, present);
        }
    }

    /// Returns whether it has separate state per network.
    #[must_use]
    pub const fn is_divided(&self) -> bool {
        self.tcb.networks.is_some()
    }

    /// Notifies the sender of the network that its data use from now on. No segment becomes ready: the
    /// authors' kernel sends at the next ACK, timer or write.
    pub fn change_network(&mut self, now: Time, network: u8) {
        self.recovery.change_network(&mut self.tcb, now, network);
    }

    /// Sets the receive window to `segments`.
    pub fn set_receiver_window(&mut self, segments: u32) {
        self.tcb.set_receiver_window(segments);
        self.tcb.allowance = u32::MAX;
    }

    /// Sets cwnd to `bytes`, at least one segment, and ssthresh to the same value. No segment becomes ready: the
    /// sender sends at the next ACK, timer or write.
    pub fn set_cwnd(&mut self, bytes: f64) {
        let cwnd = bytes.max(self.tcb.mss());
        self.tcb.window = Window { cwnd, ssthresh: cwnd };
    }

    /// Passes the states of all subflows of its connection to congestion control. `own` is this one's index.
    pub fn couple(&mut self, subflows: &[SubflowState], own: usize) {
        self.tcb.congestion.couple(subflows, own);
    }

    /// Returns its state for the congestion control of other subflows of its connection.
    #[must_use]
    pub fn subflow_state(&self) -> SubflowState {
        let tcb = &self.tcb;
        SubflowState {
            cwnd: tcb.window.cwnd,
            srtt: tcb.timer.srtt(),
            between_losses: tcb.congestion.between_losses(),
        }
    }

    /// Processes an ACK. ACKs for data never sent are ignored.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, ack: &Ack) {
        let tcb = &mut self.tcb;
        if ack.seq > tcb.max || self.giving_up.at.is_some() {
            return;
        }
        tcb.allowance = u32::MAX;
        tcb.limited = 0;
        tcb.tell_time(now);
        tcb.read(now, ack);
        let (advances, answers) = (ack.seq > tcb.una, ack.seq >= tcb.una);
        let opens = tcb.opens() && advances;
        if advances && self.giving_up.since().is_some() {
            self.giving_up.on_progress();
            tcb.timer.end_limit();
        }
        let hears = answers && tcb.ecn.is_some();
        if hears {
            tcb.hear(ack, opens);
        }
        self.recovery.on_ack(tcb, now, ack);
        if hears {
            self.recovery.on_marks(tcb);
        }
        if advances && self.repathing.balances() {
            let marked = tcb.ecn.as_ref().map_or(0, |ecn| ecn.delivered_ce);
            self.repathing.on_ack(now, tcb.una, tcb.max, marked);
        }
        if advances || (answers && self.recovery.in_recovery()) {
            tcb.restart_if_idle(now);
        }
        if opens {
            // ACK of the SYN: the window becomes the initial window. It is one segment if the SYN was
            // retransmitted (RFC 5681 section 3.1) more often than allowed.
            let lost = tcb.timed_out.is_some();
            let again = self.counts.timeouts > u64::from(tcb.config.syn_retransmissions_forgiven);
            let initial = if again { 1 } else { tcb.config.initial_window };
            // QUIC has its initial window from the start, and losses of the handshake reduce it.
            if tcb.config.recovery != RecoveryKind::Quic {
                tcb.window.cwnd = f64::from(initial) * tcb.mss();
            }
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

    /// Processes the timer at the time given by `deadline`.
    pub fn handle_timer(&mut self, now: Time) {
        let tcb = &mut self.tcb;
        tcb.tell_time(now);
        let paced = tcb.pacer.deadline().is_some_and(|at| at <= now);
        tcb.pacer.expire(now);
        if self.recovery.deadline().is_some_and(|at| at <= now) {
            tcb.allowance = u32::MAX;
            if self.recovery.on_timer(tcb, now) {
                self.on_timeout(now);
            }
            return;
        }
        if paced && tcb.timer.deadline().is_none_or(|at| at > now) {
            return;
        }
        if !tcb.outstanding() {
            tcb.timer.stop();
            return;
        }
        if self.on_timeout(now) {
            return;
        }
        let tcb = &mut self.tcb;
        let interrupted = self.recovery.in_recovery() || tcb.is_reduced_enough();
        let inflated = tcb.inflated_window();
        tcb.inflation = 0;
        tcb.limited = 0;
        tcb.limited_sent = 0;
        self.recovery.on_timeout(tcb, now);

        let repeated = tcb.timed_out == Some(tcb.una);
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
        tcb.timed_out = Some(tcb.una);
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

    /// Counts a timeout and changes the flow label. Returns whether the sender gives up.
    fn on_timeout(&mut self, now: Time) -> bool {
        let tcb = &mut self.tcb;
        self.counts.timeouts += 1;
        if self.giving_up.on_timeout(&tcb.config, now, tcb.opens()) {
            return true;
        }
        if let Some(since) = self.giving_up.since()
            && tcb.config.user_timeout > Duration::ZERO
        {
            tcb.timer.limit(since, tcb.config.user_timeout);
        }
        self.repathing.on_timeout(now);
        false
    }

    /// Returns the next segment to send, if one may be sent now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmission> {
        if self.giving_up.at.is_some() {
            return None;
        }
        let tcb = &mut self.tcb;
        let demanded = tcb.retransmit.is_some();
        let held = tcb.paces(now) && !self.recovery.probes();
        let next = if held { None } else { self.recovery.next_segment(tcb) };
        let Some(seq) = next else {
            if tcb.config.window_validation == WindowValidation::Linux {
                tcb.on_pause(self.recovery.carried(tcb));
            }
            return None;
        };
        let repair = demanded || (tcb.config.sack() && seq < tcb.max);
        let retransmission = seq < tcb.max;
        if tcb.times_departures {
            tcb.depart(seq, self.recovery.number(seq), now);
        }
        if !retransmission {
            if tcb.max == tcb.una && seq > Seq::ZERO {
                tcb.resume(now);
            }
            tcb.max = seq.next();
            tcb.timer.time(seq, now);
        } else {
            if tcb.config.measurement == Measurement::UntilTimeout
                && !repair
                && tcb.timed_out != Some(seq)
            {
                tcb.timer.time(seq, now);
            }
            if self.recovery.in_recovery() || tcb.repairs_timeout() {
                self.giving_up.on_retransmission(now);
            }
        }
        if !repair {
            tcb.last_sent = now;
        }
        tcb.last_departure = now;
        tcb.timer.start(now);
        self.recovery.on_sent(tcb, seq, now);
        self.counts.sent += 1;
        self.counts.retransmissions += u64::from(retransmission);
        let stamp = match tcb.config.recovery {
            RecoveryKind::Quic => packet_number(self.counts.sent),
            _ if tcb.config.timestamps => tcb.stamp(now),
            _ => 0,
        };
        let marking = match tcb.ecn {
            None => Marking::NONE,
            Some(_) => tcb.marking(seq, retransmission),
        };
        Some(Transmission { seq, size: tcb.wire_size(seq), retransmission, stamp, marking })
    }

    /// Returns the time at which `handle_timer` is due.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        if self.giving_up.at.is_some() {
            return None;
        }
        let tcb = &self.tcb;
        let due = earlier(tcb.timer.deadline(), self.recovery.deadline());
        match tcb.pacer.deadline() {
            Some(at) if tcb.una != tcb.end => earlier(due, Some(at)),
            _ => due,
        }
    }

    /// Returns whether everything has been written and acknowledged.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.tcb.una == self.tcb.end && self.unwritten == 0
    }

    /// Returns the time at which the sender gave up, if it has.
    #[must_use]
    pub fn aborted(&self) -> Option<Time> {
        self.giving_up.at
    }

    /// Returns the flow label of its last segment.
    #[inline]
    #[must_use]
    pub const fn flow_label(&self) -> u8 {
        self.repathing.label(self.counts.sent)
    }

    /// Returns the oldest unacknowledged segment.
    #[must_use]
    pub fn una(&self) -> Seq {
        self.tcb.una
    }

    /// Returns the next segment to send when the window allows it; an RTO resets it to `una`.
    #[must_use]
    pub fn next(&self) -> Seq {
        self.tcb.nxt
    }

    /// Returns one past the highest segment sent.
    #[must_use]
    pub fn max_sent(&self) -> Seq {
        self.tcb.max
    }

    /// Returns the congestion window, without the inflation of fast recovery.
    #[must_use]
    pub fn window(&self) -> Window {
        self.tcb.window
    }

    /// Returns whether fast recovery is in progress.
    #[must_use]
    pub fn in_recovery(&self) -> bool {
        self.recovery.in_recovery()
    }

    /// Returns its current variables.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let tcb = &self.tcb;
        let phase = match () {
            () if self.giving_up.at.is_some() => Phase::Aborted,
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

    /// Returns its variables by Linux's names.
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

    /// Returns the ECN feedback that it interprets.
    #[must_use]
    pub fn feedback(&self) -> Feedback {
        self.tcb.ecn.as_ref().map_or(Feedback::None, |ecn| ecn.feedback())
    }

    /// Returns the timestamp of a segment without data that is sent now, if timestamps are in use.
    #[must_use]
    pub fn stamp(&self, now: Time) -> Timestamp {
        self.tcb.stamp(now)
    }

    /// Returns its counters.
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

    /// Returns its configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.tcb.config
    }
}

/// Returns the packet number of the `sent`-th packet of QUIC. Like segment numbers, it does not wrap.
fn packet_number(sent: u64) -> u32 {
    u32::try_from(sent - 1).unwrap_or(u32::MAX)
}

/// Returns the earlier of two optional times.
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    other.map_or(one, |other| Some(one.map_or(other, |one| one.min(other))))
}
