//! Transmission control block: the sender state common to all policies (sequence space, window, timer,
//! permission to send).

use std::sync::Arc;

use optcp_units::{Bytes, Duration, Marking, Time};

use crate::acknowledgment::{Ack, Timestamp};
use crate::config::{
    AfterTimeout, Config, FirstLoss, Halving, Measurement, Pacing, RecoveryKind, ReductionBasis,
    WindowValidation,
};
use crate::congestion::controller::Start;
use crate::congestion::event::{AckEvent, DeliveryEvent, Stamps};
use crate::congestion::{CongestionControl, SlowStart, WindowUse};
use crate::delivery::DeliveryRate;
use crate::info::Tally;
use crate::marks::EcnSender;
use crate::networks::Networks;
use crate::pacing::{self, Pacer};
use crate::rtt::{RetransmissionTimer, Span};
use crate::seq::Seq;
use crate::window::Window;

/// Transmission control block of a sender (RFC 9293 section 3.3.1), independent of its policies.
#[derive(Clone, Debug)]
pub struct Tcb {
    pub(crate) config: Arc<Config>,
    pub(crate) congestion: CongestionControl,
    /// Delivery-rate estimator, for congestion controls that use it.
    pub(crate) delivery: Option<Box<DeliveryRate>>,
    /// ECN state, if ECN is requested.
    pub(crate) ecn: Option<Box<EcnSender>>,
    pub(crate) timer: RetransmissionTimer,
    pub(crate) pacer: Pacer,
    /// `true`: departure times matter, for pacing or delivery rates.
    pub(crate) times_departures: bool,
    /// `true`: congestion control needs the time of each input.
    tells_time: bool,
    /// Value of the sender's clock at time zero.
    pub(crate) clock_phase: Duration,
    pub(crate) window: Window,
    /// `mss` in bytes, in the type of windows.
    mss: f64,
    /// Receive window in segments.
    window_limit: u32,
    /// Timestamps of the latest ACK, if congestion control uses one-way delays.
    stamps: Option<Stamps>,
    /// `true`: the latest ACK has the ECE flag.
    ece: bool,
    /// Segments that duplicate ACKs add to the window during fast recovery.
    pub(crate) inflation: u32,
    /// Time at which the window last allowed a segment, or the timer fired.
    pub(crate) last_sent: Time,
    /// Time at which a segment left last, new or retransmitted.
    pub(crate) last_departure: Time,
    /// Oldest unacknowledged segment.
    pub(crate) una: Seq,
    /// Next segment to send; an RTO resets it to `una`.
    pub(crate) nxt: Seq,
    /// One past the highest segment sent.
    pub(crate) max: Seq,
    /// One past the last segment of the transfer.
    pub(crate) end: Seq,
    /// Use of the window, which may decide its growth.
    pub(crate) window_use: WindowUse,
    /// Number of consecutive duplicate ACKs.
    pub(crate) duplicates: u32,
    /// `max` when the window was last reduced: RFC 6582's `recover`, plus one.
    pub(crate) recover: Option<Seq>,
    /// Oldest segment at the last RTO (RFC 5681 section 3.1 on repeated timeouts).
    pub(crate) timed_out: Option<Seq>,
    /// End of the losses of the last RTO that ACKs still repair.
    pub(crate) loss_until: Seq,
    /// Segment to retransmit before anything else.
    pub(crate) retransmit: Option<Seq>,
    /// Number of segments beyond the window that limited transmit still allows.
    pub(crate) limited: u32,
    /// Number of segments sent by limited transmit since the last new ACK; they do not count as flight.
    pub(crate) limited_sent: u32,
    /// Number of segments within the window that may still be sent before the next input.
    pub(crate) allowance: u32,
    /// State per network, if separate; the fields above then belong to the selected network.
    pub(crate) networks: Option<Box<Networks>>,
}

impl Tcb {
    pub(crate) fn new(config: Arc<Config>, segments: Option<u32>, clock_phase: Duration) -> Self {
        let mss = config.mss.count() as f64;
        let alone = config.handshake && config.recovery != RecoveryKind::Quic;
        let initial = if alone { 1 } else { config.initial_window };
        let window = Window { cwnd: f64::from(initial) * mss, ssthresh: initial_ssthresh(&config) };
        let end = segments.map_or(Seq::MAX, |s| Seq::new(s) + u32::from(config.handshake));
        let start = start(&config, clock_phase);
        let mut tcb = Tcb {
            congestion: CongestionControl::new(config.congestion, &config.controllers, start),
            delivery: config.congestion.wants_rates().then(Box::default),
            ecn: EcnSender::new(&config).map(Box::new),
            timer: RetransmissionTimer::new(&config, clock_phase),
            times_departures: config.pacing != Pacing::None || config.congestion.wants_rates(),
            pacer: Pacer::new(config.pacing, config.pacing_burst),
            tells_time: config.congestion.wants_times(),
            clock_phase,
            window,
            mss,
            window_limit: config.window_segments(),
            stamps: None,
            ece: false,
            inflation: 0,
            last_sent: Time::ZERO,
            last_departure: Time::ZERO,
            una: Seq::ZERO,
            nxt: Seq::ZERO,
            max: Seq::ZERO,
            end,
            window_use: WindowUse::default(),
            duplicates: 0,
            timed_out: None,
            recover: None,
            loss_until: Seq::ZERO,
            retransmit: None,
            limited: 0,
            limited_sent: 0,
            allowance: 0,
            networks: None,
            config,
        };
        if !tcb.config.handshake {
            tcb.tell_feedback();
        }
        tcb
    }

    pub(crate) fn mss(&self) -> f64 {
        self.mss
    }

    /// Returns whether any sent data are unacknowledged.
    pub(crate) fn outstanding(&self) -> bool {
        self.max > self.una
    }

    /// Returns whether the SYN is unanswered.
    pub(crate) fn opens(&self) -> bool {
        self.config.handshake && self.una == Seq::ZERO
    }

    /// Undoes the effects of a lost SYN, which does not indicate the path's capacity.
    #[cold]
    pub(crate) fn forget_lost_syn(&mut self) {
        if self.config.first_loss != FirstLoss::Ns2 {
            self.window.ssthresh = initial_ssthresh(&self.config);
        }
        let start = start(&self.config, self.clock_phase);
        self.congestion.on_lost_syn(&self.config.controllers, start);
        self.timer.begin_behind_lost_syn();
    }

    /// Returns the unacknowledged data in bytes (RFC 5681's FlightSize); with per-network state, of one
    /// network.
    pub(crate) fn flight(&self) -> f64 {
        let segments = match &self.networks {
            None => self.max - self.una,
            Some(networks) => networks.outstanding,
        };
        f64::from(segments) * self.mss()
    }

    /// Returns the number of segments that the receive window allows beyond the highest sent.
    pub(crate) fn room(&self) -> u32 {
        self.window_limit.saturating_sub(self.max - self.una)
    }

    /// Sets the receive window to `segments`.
    pub(crate) fn set_receiver_window(&mut self, segments: u32) {
        self.window_limit = segments;
    }

    /// Returns ssthresh in whole segments.
    pub(crate) fn ssthresh_segments(&self) -> u32 {
        Window { cwnd: self.window.ssthresh, ..self.window }.segments(self.mss())
    }

    /// Returns the number of ticks of the timestamp clock so far.
    fn ticks(&self, now: Time) -> u64 {
        (now.as_ps() + self.clock_phase.as_ps()) / self.config.timestamp_tick.as_ps()
    }

    /// Returns the timestamp of a segment that is sent now, if timestamps are in use (RFC 7323 section 3).
    #[expect(clippy::cast_possible_truncation, reason = "timestamps count modulo 2^32")]
    pub(crate) fn stamp(&self, now: Time) -> Timestamp {
        self.ticks(now) as Timestamp
    }

    /// Records the receiver's timestamp and the ECE flag of an ACK. The flag may concern congestion control
    /// even without negotiated ECN.
    #[inline]
    pub(crate) fn read(&mut self, now: Time, ack: &Ack) {
        self.ece = ack.marking.has(Marking::ECE);
        // Either all ACKs have a timestamp or none.
        if let Some(sent) = ack.stamp {
            // The receiver's clock is zero at time zero.
            let (now, here) = (self.stamp(now), self.stamp(Time::ZERO));
            let echo = ack.echo;
            let one_way = sent.wrapping_add(here).wrapping_sub(echo);
            self.stamps = Some(Stamps { now, echo, one_way });
        }
    }

    /// Returns the start of the tick in which an echoed timestamp was read, at most `now`.
    pub(crate) fn sent_at(&self, echo: Timestamp, now: Time) -> Time {
        let age = u64::from(self.stamp(now).wrapping_sub(echo));
        let read = self.ticks(now).saturating_sub(age) * self.config.timestamp_tick.as_ps();
        Time::from_ps(read.saturating_sub(self.clock_phase.as_ps()))
    }

    /// Returns the smaller of cwnd and the receive window in bytes, without inflation.
    pub(crate) fn usable_window(&self) -> f64 {
        self.window.cwnd.min(self.receiver_window())
    }

    /// Returns cwnd in bytes, including the inflation of fast recovery.
    pub(crate) fn inflated_window(&self) -> f64 {
        self.window.cwnd + f64::from(self.inflation) * self.mss()
    }

    /// Returns the receive window in bytes.
    pub(crate) fn receiver_window(&self) -> f64 {
        f64::from(self.window_limit) * self.mss()
    }

    /// Returns whether RFC 6582's condition for a fast retransmit holds: the cumulative ACK covers more than
    /// `recover`.
    pub(crate) fn may_fast_retransmit(&self) -> bool {
        let covered = !self.config.careful || self.recover.is_none_or(|recover| self.una > recover);
        match self.config.first_loss {
            FirstLoss::Ns2 if self.una == Seq::ZERO.next() => true,
            _ => covered && !self.first_waits_for_timer(),
        }
    }

    /// Returns whether the oldest segment is the first, which ns-2 only recovers by its timer.
    pub(crate) fn first_waits_for_timer(&self) -> bool {
        self.config.first_loss == FirstLoss::Ns2 && self.una == Seq::ZERO
    }

    /// Reduces the window after duplicate ACKs. Congestion control determines ssthresh and cwnd from the
    /// reduction basis. Returns whether it requests a reduction.
    pub(crate) fn reduce(&mut self) -> bool {
        if self.is_reduced_enough() {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            return true;
        }
        let Some(half) = self.set_ssthresh(self.at_stake()) else { return false };
        self.shrink(half);
        true
    }

    /// Returns the reduction basis of a fast retransmit or a mark, in bytes.
    pub(crate) fn at_stake(&self) -> f64 {
        match self.config.reduction_basis {
            // RFC 5681 section 3.2 step 2: segments sent by limited transmit do not count.
            ReductionBasis::FlightSize => self.flight() - f64::from(self.limited_sent) * self.mss(),
            ReductionBasis::Window => self.usable_window(),
        }
    }

    /// Reduces the window to the value from which ssthresh was set.
    pub(crate) fn shrink(&mut self, answer: f64) {
        self.window.cwnd = match self.config.halving {
            Halving::Whole => self.whole(answer),
            Halving::Exact | Halving::WholeBytes => self.window.ssthresh,
            Halving::WholeSsthresh => answer,
        }
        .max(self.mss());
    }

    /// Sets ssthresh after a loss from the reduction basis. Returns it before rounding, or `None` if
    /// congestion control does not change it.
    pub(crate) fn set_ssthresh(&mut self, amount: f64) -> Option<f64> {
        let mss = self.mss();
        if let Some(ecn) = &mut self.ecn {
            ecn.on_loss(self.max);
        }
        let answer = self.congestion.on_loss(&self.window, mss, amount)?;
        self.round_ssthresh(answer);
        Some(answer)
    }

    /// Sets ssthresh to `answer`, at least two segments (RFC 5681 equation 4).
    pub(crate) fn round_ssthresh(&mut self, answer: f64) {
        let half = match self.config.halving {
            Halving::Exact => answer,
            Halving::WholeBytes => answer.floor(),
            Halving::Whole | Halving::WholeSsthresh => self.whole(answer),
        };
        self.window.ssthresh = half.max(2.0 * self.mss());
    }

    /// Notifies congestion control of the current time, if it needs it.
    #[inline(always)]
    pub(crate) fn tell_time(&mut self, now: Time) {
        if self.tells_time {
            self.congestion.at(now, &self.window, self.mss);
        }
    }

    /// Notifies congestion control of an RTO.
    pub(crate) fn on_timeout(&mut self) {
        let mss = self.mss();
        self.congestion.on_timeout(&mut self.window, mss);
    }

    /// Completes the recovery of losses without changing the window.
    pub(crate) fn on_recovered(&mut self) {
        let mss = self.mss();
        self.congestion.on_recovered(&mut self.window, mss);
    }

    pub(crate) fn whole(&self, bytes: f64) -> f64 {
        (bytes / self.mss()).floor() * self.mss()
    }

    /// Starts a fast retransmit of the oldest segment.
    pub(crate) fn fast_retransmit(&mut self, now: Time) {
        self.recover = Some(self.max);
        self.reduce();
        if self.config.measurement != Measurement::UntilTimeout {
            self.timer.forget();
        }
        if self.config.fast_retransmit_restarts_timer {
            self.timer.restart(now);
        }
        self.retransmit = Some(self.una);
    }

    /// Advances the cumulative ACK to `ack`.
    pub(crate) fn advance(&mut self, ack: Seq) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
    }

    /// Takes and returns the RTT sample of an ACK of new data that has not been counted.
    #[inline]
    pub(crate) fn measure(&mut self, now: Time, ack: &Ack) -> Option<Duration> {
        if self.config.timestamps {
            let sent = self.sent_at(ack.echo, now);
            Some(self.measure_sent(now, ack, sent))
        } else {
            self.timer.measure(Span { una: ack.seq, max: self.max }, now)
        }
    }

    /// Takes the RTT sample of a segment sent at `sent`, answered by an ACK that has not been counted.
    pub(crate) fn measure_sent(&mut self, now: Time, ack: &Ack, sent: Time) -> Duration {
        let outstanding = self.max - self.una;
        let span = Span { una: ack.seq.max(self.una), max: self.max };
        self.timer.measure_sent(sent, now, outstanding, span)
    }

    /// Processes an ACK of new data that leaves no recovery behind: takes its RTT sample, and restarts or
    /// stops the timer. Returns the event for congestion control.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, ack: &Ack) -> AckEvent {
        let rtt = self.measure(now, ack);
        let delivered = self.delivered(ack);
        self.count(now, ack, delivered, rtt)
    }

    /// Returns the number of segments newly reported by an ACK that has not been counted. Without SACK, each
    /// duplicate ACK has reported one (RFC 9937, DeliveredData).
    pub(crate) fn delivered(&self, ack: &Ack) -> u32 {
        (ack.seq - self.una).saturating_sub(self.duplicates).max(1)
    }

    /// Processes an ACK with known RTT sample and `delivered` newly reported segments.
    #[inline]
    pub(crate) fn count(
        &mut self,
        now: Time,
        ack: &Ack,
        delivered: u32,
        rtt: Option<Duration>,
    ) -> AckEvent {
        let acked = ack.seq - self.una;
        self.move_on(now, ack.seq);
        self.observe(now, acked, delivered, rtt)
    }

    /// Advances the cumulative ACK to `ack`, and restarts or stops the timer.
    #[inline]
    pub(crate) fn move_on(&mut self, now: Time, ack: Seq) {
        self.advance(ack);
        self.duplicates = 0;
        self.limited_sent = 0;
        if self.outstanding() {
            self.timer.restart(now);
        } else {
            self.timer.stop();
        }
    }

    /// Notifies congestion control of `delivered` newly reported segments, `acked` of them cumulatively.
    /// Returns the event.
    #[inline]
    pub(crate) fn observe(
        &mut self,
        now: Time,
        acked: u32,
        delivered: u32,
        rtt: Option<Duration>,
    ) -> AckEvent {
        let (srtt, una, max) = (self.timer.srtt(), self.una, self.max);
        let after_timeout = self.repairs_timeout();
        let marked = self.ecn.as_mut().map_or(0, |ecn| ecn.deliver(delivered));
        let event = AckEvent {
            now,
            acked,
            delivered,
            marked,
            ece: self.ece,
            rtt,
            srtt,
            una,
            max,
            limited: true,
            after_timeout,
            stamps: self.stamps,
        };
        self.congestion.observe(&event);
        event
    }

    /// Grows the window for an ACK of new data.
    #[inline]
    pub(crate) fn grow(&mut self, mut ack: AckEvent) {
        let mss = self.mss();
        if self.echoes() && !self.congestion.grows_with_marks() {
            return;
        }
        if self.config.window_validation == WindowValidation::Linux {
            let cwnd = self.window.segments(mss);
            ack.limited = self.window_use.limits(cwnd, self.window.in_slow_start());
        }
        self.congestion.on_ack(&mut self.window, mss, &ack);
    }

    /// Completes an ACK after all its effects. `oldest`: number of the oldest outstanding packet. Congestion controls that control recovery set the window here.
    pub(crate) fn deliver(&mut self, ack: DeliveryEvent, oldest: Seq) {
        let Some(mut rate) = self.delivery.take() else { return };
        let delivered = rate.finish_ack(oldest, ack.now);
        // The SYN counts neither as data RTT nor as data window.
        if !(self.config.handshake && rate.delivered() == 1) {
            let ack = DeliveryEvent {
                delivered: delivered.segments,
                rtt: delivered.rtt,
                sample: delivered.sample,
                srtt: self.timer.srtt(),
                ..ack
            };
            let mss = self.mss();
            self.congestion.on_delivery(&mut self.window, mss, &ack, &mut rate);
        }
        self.delivery = Some(rate);
    }

    /// Records the departure of a packet with `in_flight` packets in flight, for congestion controls that use
    /// deliveries.
    pub(crate) fn on_sent(&mut self, number: Seq, in_flight: u32) {
        if let Some(rate) = &self.delivery {
            self.congestion.on_sent(number, in_flight, rate);
        }
    }

    /// Records a lost packet, for congestion controls that use deliveries.
    pub(crate) fn on_lost(&mut self, number: Seq, now: Time) {
        if let Some(rate) = &self.delivery {
            self.congestion.on_lost(&self.window, self.mss, number, now, rate);
        }
    }

    /// Processes a write after everything was sent, with `carried` segments in flight. The application limits
    /// the delivery rate, unless the window does or a loss is being repaired.
    pub(crate) fn on_write(&mut self, carried: u32, tally: Tally) {
        let room = carried < self.window.segments(self.mss) && tally.lost <= tally.retransmitted;
        if let Some(rate) = &mut self.delivery
            && room
        {
            rate.mark_limited(carried);
        }
    }

    /// Records that no segment may be sent now, with an estimated `carried` segments in the network.
    pub(crate) fn on_pause(&mut self, carried: u32) {
        let limited = carried >= self.window.segments(self.mss());
        self.window_use.on_pause(self.una, self.max, limited);
    }

    /// Resets sending to the oldest unacknowledged segment.
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una;
        self.retransmit = None;
        self.timer.forget();
    }

    /// Returns whether data outstanding at the last RTO are not yet all acknowledged.
    pub(crate) fn repairs_timeout(&self) -> bool {
        self.una < self.loss_until
    }

    /// Without SACK: retransmits the oldest segment after an RTO, and all later ones if configured.
    pub(crate) fn send_again_after_timeout(&mut self) {
        match self.config.after_timeout {
            AfterTimeout::GoBackN | AfterTimeout::Missing => self.go_back(),
            AfterTimeout::First => {
                self.retransmit = Some(self.una);
                self.timer.forget();
            }
        }
    }

    /// Takes the segment to retransmit first. An ACK may have covered it while it waited.
    pub(crate) fn take_demanded(&mut self) -> Option<Seq> {
        self.retransmit.take().filter(|&seq| seq >= self.una)
    }

    /// Returns the next segment that may be sent now, if any.
    #[inline]
    pub(crate) fn next_segment(&mut self) -> Option<Seq> {
        if let Some(seq) = self.take_demanded() {
            return Some(seq);
        }
        if self.nxt >= self.end {
            return None;
        }
        let limit = self.window_limit;
        let cwnd = self.window.segments(self.mss());
        let flight = self.nxt - self.una;
        if self.allowance > 0 && flight < cwnd.saturating_add(self.inflation).min(limit) {
            self.allowance -= 1;
        } else if self.limited > 0
            && (self.nxt >= self.max || self.config.limited_transmit_again)
            && flight < cwnd.saturating_add(self.duplicates).min(limit)
        {
            // RFC 3042: at most two segments beyond cwnd, but not beyond the receive window.
            self.limited -= 1;
            self.limited_sent += 1;
        } else {
            return None;
        }
        self.nxt += 1;
        Some(self.nxt - 1)
    }

    /// Records the departure of segment `seq` if departure times matter: for the delivery-rate estimator, and
    /// for pacing the next segment.
    #[inline(never)]
    pub(crate) fn depart(&mut self, seq: Seq, number: Seq, now: Time) {
        let outstanding = self.outstanding();
        if let Some(rate) = &mut self.delivery {
            if !outstanding && rate.is_limited() {
                self.congestion.on_restart(&mut self.window, self.mss, now, rate);
            }
            rate.on_sent(number, now, outstanding);
        }
        // The ten unpaced segments are data segments.
        if self.config.handshake && seq == Seq::ZERO {
            return;
        }
        let cwnd = self.window.segments(self.mss());
        let interval = match self.config.pacing {
            Pacing::None => None,
            Pacing::Bucket => {
                let rate = self.bucket_rate();
                self.pacer.take_token(now, rate);
                None
            }
            Pacing::Window => {
                let flight = self.max.max(seq.next()) - self.una;
                let slow = self.window.cwnd < self.window.ssthresh / 2.0;
                Some(pacing::window_interval(cwnd.max(flight), slow, self.timer.srtt()))
            }
            Pacing::Rate => {
                // The rate of some controls counts headers, and the wait after a segment only its payload.
                let whole = self.congestion.interval(cwnd, self.timer.srtt());
                let (headers, wire) = (self.congestion.paces_headers(), self.wire_size(seq));
                let share = |whole| pacing::payload_share(whole, self.config.mss, wire);
                if headers { whole.map(share) } else { whole }
            }
        };
        if let Some(interval) = interval {
            self.pacer.on_sent(now, interval);
        }
    }

    /// Returns whether pacing holds the next segment.
    #[inline]
    pub(crate) fn paces(&mut self, now: Time) -> bool {
        if !self.pacer.holds(now) {
            return false;
        }
        let rate = self.bucket_rate();
        !self.pacer.refill(now, rate)
    }

    /// Returns the quantities from which the bucket of tokens is filled.
    fn bucket_rate(&self) -> pacing::Rate {
        let initial = Duration::from_ps(self.config.initial_rto.as_ps() / 3);
        let srtt = self.timer.srtt().unwrap_or(initial);
        pacing::Rate { window: self.window.segments(self.mss), srtt }
    }

    /// Returns the size of a segment on the wire; the SYN has only a header.
    pub(crate) fn wire_size(&self, seq: Seq) -> Bytes {
        if self.config.handshake && seq == Seq::ZERO {
            self.config.opening_size()
        } else {
            self.config.segment_wire_size()
        }
    }
}

/// Returns the initial slow-start threshold in bytes.
pub(crate) fn initial_ssthresh(config: &Config) -> f64 {
    let mss = config.mss.count() as f64;
    config.initial_ssthresh.map_or(f64::INFINITY, |segments| f64::from(segments) * mss)
}

/// Returns the initial state of congestion control.
pub(crate) fn start(config: &Config, clock_phase: Duration) -> Start {
    let paced = config.pacing != Pacing::None;
    let slow_start = SlowStart::new(config.slow_start, config.ack_counting, paced);
    Start { slow_start, clock_phase }
}
