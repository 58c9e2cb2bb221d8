//! What every sender has, whatever its policies: sequence space, window, timer, what may be sent.

use std::sync::Arc;

use optcp_units::{Bytes, Duration, Marking, Time};

use crate::acknowledgment::{Ack, Timestamp};
use crate::config::{
    AfterTimeout, Config, FirstLoss, Halving, Measurement, Pacing, ReductionBasis, WindowValidation,
};
use crate::congestion::controller::Start;
use crate::congestion::event::{AckEvent, DeliveryEvent, Stamps};
use crate::congestion::{CongestionControl, SlowStart, WindowUse};
use crate::delivery::DeliveryRate;
use crate::info::Tally;
use crate::marks::EcnSender;
use crate::networks::Networks;
use crate::pacing::{Pacer, UNMEASURED};
use crate::rtt::{RetransmissionTimer, Span};
use crate::seq::Seq;
use crate::window::Window;

/// The sending end's transmission control block (RFC 9293 section 3.3.1): the mechanism under its policies.
#[derive(Clone, Debug)]
pub struct Tcb {
    pub(crate) config: Arc<Config>,
    pub(crate) congestion: CongestionControl,
    /// Kept for a congestion control that asks for it.
    pub(crate) delivery: Option<Box<DeliveryRate>>,
    /// What marks are known, if anything is asked for.
    pub(crate) ecn: Option<Box<EcnSender>>,
    pub(crate) timer: RetransmissionTimer,
    pub(crate) pacer: Pacer,
    /// Whether it matters when a segment leaves: to pacing, or to the rate of delivery.
    pub(crate) times_departures: bool,
    /// Where the sender's clock stands at time zero.
    pub(crate) clock_phase: Duration,
    pub(crate) window: Window,
    /// `mss` in bytes, as windows count them.
    mss: f64,
    /// The receiver's window in segments.
    window_limit: u32,
    /// What the timestamps of the latest ACK say, where congestion control asks for one-way delays.
    stamps: Option<Stamps>,
    /// Whether the latest ACK has the flag ECE.
    ece: bool,
    /// Segments that duplicate ACKs add to the window during fast recovery.
    pub(crate) inflation: u32,
    /// When the window last let a segment out, or the timer expired.
    pub(crate) last_sent: Time,
    /// When a segment left last, be it for the first time or again.
    pub(crate) last_departure: Time,
    /// Oldest unacknowledged segment.
    pub(crate) una: Seq,
    /// Next segment to send; after a timeout it goes back to `una`.
    pub(crate) nxt: Seq,
    /// One past the highest segment ever sent.
    pub(crate) max: Seq,
    /// One past the last segment of the transfer.
    pub(crate) end: Seq,
    /// How the window was used, where that decides its growth.
    pub(crate) window_use: WindowUse,
    /// Duplicate ACKs in a row.
    pub(crate) duplicates: u32,
    /// `max` when the window was last reduced: RFC 6582's `recover`, plus one.
    pub(crate) recover: Option<Seq>,
    /// Up to where ACKs still repair the last timeout's losses.
    pub(crate) loss_until: Seq,
    /// A segment to retransmit before anything else.
    pub(crate) retransmit: Option<Seq>,
    /// Segments beyond the window that limited transmit still allows.
    pub(crate) limited: u32,
    /// Segments sent by limited transmit since the last new ACK; they do not count as flight.
    pub(crate) limited_sent: u32,
    /// Window-permitted segments that may still be sent before the next input.
    pub(crate) allowance: u32,
    /// What is known of each network, if that is kept apart; what is above is of one of them then.
    pub(crate) networks: Option<Box<Networks>>,
}

impl Tcb {
    pub(crate) fn new(config: Arc<Config>, segments: Option<u32>, clock_phase: Duration) -> Self {
        let mss = config.mss.count() as f64;
        let initial = if config.handshake { 1 } else { config.initial_window };
        let window = Window { cwnd: f64::from(initial) * mss, ssthresh: initial_ssthresh(&config) };
        let end = segments.map_or(Seq::MAX, |s| Seq::new(s) + u32::from(config.handshake));
        let start = start(&config, clock_phase);
        let mut tcb = Tcb {
            congestion: CongestionControl::new(config.congestion, &config.controllers, start),
            delivery: config.congestion.wants_rates().then(Box::default),
            ecn: EcnSender::new(&config).map(Box::new),
            timer: RetransmissionTimer::new(&config, clock_phase),
            times_departures: config.pacing != Pacing::None || config.congestion.wants_rates(),
            pacer: Pacer::new(config.pacing_burst),
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

    /// Whether anything sent is unacknowledged.
    pub(crate) fn outstanding(&self) -> bool {
        self.max > self.una
    }

    /// Whether the SYN is unanswered.
    pub(crate) fn opens(&self) -> bool {
        self.config.handshake && self.una == Seq::ZERO
    }

    /// What the loss of a SYN did is taken back: it says nothing of the path's capacity.
    #[cold]
    pub(crate) fn forget_lost_syn(&mut self) {
        if self.config.first_loss != FirstLoss::Ns2 {
            self.window.ssthresh = initial_ssthresh(&self.config);
        }
        let start = start(&self.config, self.clock_phase);
        self.congestion.on_lost_syn(&self.config.controllers, start);
        self.timer.begin_behind_lost_syn();
    }

    /// Data sent and not yet acknowledged, in bytes (RFC 5681's FlightSize); where networks are kept apart, that on one.
    pub(crate) fn flight(&self) -> f64 {
        let segments = match &self.networks {
            None => self.max - self.una,
            Some(networks) => networks.outstanding,
        };
        f64::from(segments) * self.mss()
    }

    /// Segments that the receiver's window still takes, beyond the highest sent.
    pub(crate) fn room(&self) -> u32 {
        self.window_limit.saturating_sub(self.max - self.una)
    }

    /// The receiver takes `segments` from now on.
    pub(crate) fn set_receiver_window(&mut self, segments: u32) {
        self.window_limit = segments;
    }

    /// ssthresh in whole segments.
    pub(crate) fn ssthresh_segments(&self) -> u32 {
        Window { cwnd: self.window.ssthresh, ..self.window }.segments(self.mss())
    }

    /// Ticks of the timestamp clock so far.
    fn ticks(&self, now: Time) -> u64 {
        (now.as_ps() + self.clock_phase.as_ps()) / self.config.timestamp_tick.as_ps()
    }

    /// What goes on a segment that is sent now, if timestamps are in use (RFC 7323 section 3).
    #[expect(clippy::cast_possible_truncation, reason = "timestamps count modulo 2^32")]
    pub(crate) fn stamp(&self, now: Time) -> Timestamp {
        self.ticks(now) as Timestamp
    }

    /// An ACK has come, perhaps with the receiver's timestamp on it, and with a flag that concerns congestion control also
    /// where nothing was agreed upon about marks.
    #[inline]
    pub(crate) fn read(&mut self, now: Time, ack: &Ack) {
        self.ece = ack.marking.has(Marking::ECE);
        // Either all ACKs have one or none has.
        if let Some(sent) = ack.stamp {
            // The receiver's clock stands at nought at time zero.
            let (now, here) = (self.stamp(now), self.stamp(Time::ZERO));
            let echo = ack.echo;
            let one_way = sent.wrapping_add(here).wrapping_sub(echo);
            self.stamps = Some(Stamps { now, echo, one_way });
        }
    }

    /// The beginning of the tick at which an echoed timestamp was read, `now` at the latest.
    pub(crate) fn sent_at(&self, echo: Timestamp, now: Time) -> Time {
        let age = u64::from(self.stamp(now).wrapping_sub(echo));
        let read = self.ticks(now).saturating_sub(age) * self.config.timestamp_tick.as_ps();
        Time::from_ps(read.saturating_sub(self.clock_phase.as_ps()))
    }

    /// The smaller of cwnd and the receiver's window, in bytes, without inflation.
    pub(crate) fn usable_window(&self) -> f64 {
        self.window.cwnd.min(self.receiver_window())
    }

    /// cwnd in bytes, with the inflation of fast recovery.
    pub(crate) fn inflated_window(&self) -> f64 {
        self.window.cwnd + f64::from(self.inflation) * self.mss()
    }

    /// The receiver's window in bytes.
    pub(crate) fn receiver_window(&self) -> f64 {
        f64::from(self.window_limit) * self.mss()
    }

    /// Whether RFC 6582's condition for a fast retransmit holds: the cumulative ACK covers more
    /// than `recover`.
    pub(crate) fn may_fast_retransmit(&self) -> bool {
        let covered = !self.config.careful || self.recover.is_none_or(|recover| self.una > recover);
        match self.config.first_loss {
            FirstLoss::Ns2 if self.una == Seq::ZERO.next() => true,
            _ => covered && !self.first_waits_for_timer(),
        }
    }

    /// Whether the oldest segment is the first, which ns-2 never recovers without its timer.
    pub(crate) fn first_waits_for_timer(&self) -> bool {
        self.config.first_loss == FirstLoss::Ns2 && self.una == Seq::ZERO
    }

    /// Reduces the window after duplicate ACKs: ssthresh and cwnd become what congestion control answers for
    /// what is at stake. Gives whether it asks for a reduction.
    pub(crate) fn reduce(&mut self) -> bool {
        if self.is_reduced_enough() {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            return true;
        }
        let Some(half) = self.set_ssthresh(self.at_stake()) else { return false };
        self.shrink(half);
        true
    }

    /// What a fast retransmit or a mark puts at stake, in bytes.
    pub(crate) fn at_stake(&self) -> f64 {
        match self.config.reduction_basis {
            // RFC 5681 section 3.2 step 2: segments sent by limited transmit do not count.
            ReductionBasis::FlightSize => self.flight() - f64::from(self.limited_sent) * self.mss(),
            ReductionBasis::Window => self.usable_window(),
        }
    }

    /// The window falls to what ssthresh was set from.
    pub(crate) fn shrink(&mut self, answer: f64) {
        self.window.cwnd = match self.config.halving {
            Halving::Whole => self.whole(answer),
            Halving::Exact | Halving::WholeBytes => self.window.ssthresh,
            Halving::WholeSsthresh => answer,
        }
        .max(self.mss());
    }

    /// Sets ssthresh after a loss from the amount at stake; gives it as it is before it is rounded, or nothing if
    /// congestion control leaves it.
    pub(crate) fn set_ssthresh(&mut self, amount: f64) -> Option<f64> {
        let mss = self.mss();
        if let Some(ecn) = &mut self.ecn {
            ecn.on_loss(self.max);
        }
        let answer = self.congestion.on_loss(&self.window, mss, amount)?;
        self.round_ssthresh(answer);
        Some(answer)
    }

    /// ssthresh becomes `answer`, at least two segments (RFC 5681 equation 4).
    pub(crate) fn round_ssthresh(&mut self, answer: f64) {
        let half = match self.config.halving {
            Halving::Exact => answer,
            Halving::WholeBytes => answer.floor(),
            Halving::Whole | Halving::WholeSsthresh => self.whole(answer),
        };
        self.window.ssthresh = half.max(2.0 * self.mss());
    }

    /// Tells congestion control that the retransmission timer has expired.
    pub(crate) fn on_timeout(&mut self) {
        let mss = self.mss();
        self.congestion.on_timeout(&mut self.window, mss);
    }

    /// A recovery of losses is complete, and the window what it left.
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

    /// Everything below `ack` has arrived.
    pub(crate) fn advance(&mut self, ack: Seq) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
    }

    /// Takes the round trip that an ACK of new data, not yet counted, measures; gives it.
    #[inline]
    pub(crate) fn measure(&mut self, now: Time, ack: &Ack) -> Option<Duration> {
        if self.config.timestamps {
            let sent = self.sent_at(ack.echo, now);
            Some(self.measure_sent(now, ack, sent))
        } else {
            self.timer.measure(Span { una: ack.seq, max: self.max }, now)
        }
    }

    /// Takes the round trip of a segment that was sent at `sent`, which an ACK that is not yet counted
    /// answers.
    pub(crate) fn measure_sent(&mut self, now: Time, ack: &Ack, sent: Time) -> Duration {
        let outstanding = self.max - self.una;
        let span = Span { una: ack.seq.max(self.una), max: self.max };
        self.timer.measure_sent(sent, now, outstanding, span)
    }

    /// An ACK of new data that leaves no recovery behind: measures, restarts or stops the timer. What it
    /// tells congestion control.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, ack: &Ack) -> AckEvent {
        let rtt = self.measure(now, ack);
        let delivered = self.delivered(ack);
        self.count(now, ack, delivered, rtt)
    }

    /// Segments of which an ACK of new data, not yet counted, tells for the first time. Without SACK each
    /// duplicate ACK has told of one that arrived (RFC 9937, DeliveredData).
    pub(crate) fn delivered(&self, ack: &Ack) -> u32 {
        (ack.seq - self.una).saturating_sub(self.duplicates).max(1)
    }

    /// The same for an ACK that was measured, and tells of `delivered` segments for the first time.
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

    /// Everything below `ack` has arrived, and was not known to: restarts or stops the timer.
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

    /// Tells congestion control of `delivered` segments that an ACK tells of for the first time, `acked`
    /// cumulatively; gives what it was told.
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

    /// An ACK has been looked at, with everything that follows from it: congestion control that governs
    /// recovery sets the window.
    pub(crate) fn deliver(&mut self, ack: DeliveryEvent) {
        let Some(mut rate) = self.delivery.take() else { return };
        let delivered = rate.finish_ack(self.una, ack.now);
        // The SYN's round trip is not one of data, nor is its window.
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

    /// A segment has left, which makes `in_flight` under way, where congestion control goes by deliveries.
    pub(crate) fn on_sent(&mut self, seq: Seq, in_flight: u32) {
        if let Some(rate) = &self.delivery {
            self.congestion.on_sent(seq, in_flight, rate);
        }
    }

    /// A segment is found lost, where congestion control goes by deliveries.
    pub(crate) fn on_lost(&mut self, seq: Seq, now: Time) {
        if let Some(rate) = &self.delivery {
            self.congestion.on_lost(&self.window, self.mss, seq, now, rate);
        }
    }

    /// The application writes after everything was sent, with `carried` segments under way: it limits what is
    /// delivered, unless the window does or a loss waits to be repaired.
    pub(crate) fn on_write(&mut self, carried: u32, tally: Tally) {
        let room = carried < self.window.segments(self.mss) && tally.lost <= tally.retransmitted;
        if let Some(rate) = &mut self.delivery
            && room
        {
            rate.mark_limited(carried);
        }
    }

    /// Nothing more may be sent now, while the network is held to carry `carried` segments.
    pub(crate) fn on_pause(&mut self, carried: u32) {
        let limited = carried >= self.window.segments(self.mss());
        self.window_use.on_pause(self.una, self.max, limited);
    }

    /// Goes back to the oldest unacknowledged segment and sends everything again from there.
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una;
        self.retransmit = None;
        self.timer.forget();
    }

    /// Whether what was outstanding at the last timeout is not all acknowledged.
    pub(crate) fn repairs_timeout(&self) -> bool {
        self.una < self.loss_until
    }

    /// Without SACK: the oldest segment is sent again after a timeout, and perhaps all behind it.
    pub(crate) fn send_again_after_timeout(&mut self) {
        match self.config.after_timeout {
            AfterTimeout::GoBackN | AfterTimeout::Missing => self.go_back(),
            AfterTimeout::First => {
                self.retransmit = Some(self.una);
                self.timer.forget();
            }
        }
    }

    /// The segment to retransmit before anything else. While it waited for its time, an ACK may have
    /// covered it.
    pub(crate) fn take_demanded(&mut self) -> Option<Seq> {
        self.retransmit.take().filter(|&seq| seq >= self.una)
    }

    /// The next segment that may be sent now, if any.
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
            // RFC 3042: at most two segments beyond cwnd, never beyond the receiver's window.
            self.limited -= 1;
            self.limited_sent += 1;
        } else {
            return None;
        }
        self.nxt += 1;
        Some(self.nxt - 1)
    }

    /// The segment `seq` is about to leave, and it matters when: what measures the rate of delivery learns of
    /// it, and with pacing the next one waits.
    #[inline(never)]
    pub(crate) fn depart(&mut self, seq: Seq, now: Time) {
        let outstanding = self.outstanding();
        if let Some(rate) = &mut self.delivery {
            if !outstanding && rate.is_limited() {
                self.congestion.on_restart(&mut self.window, self.mss, now, rate);
            }
            rate.on_sent(seq, now, outstanding);
        }
        // The ten segments are of data.
        if self.config.handshake && seq == Seq::ZERO {
            return;
        }
        let cwnd = self.window.segments(self.mss());
        let interval = match self.config.pacing {
            Pacing::None => None,
            Pacing::Window => Some(self.window_interval(self.max.max(seq.next()) - self.una)),
            Pacing::Rate => self.congestion.interval(cwnd, self.timer.srtt()),
        };
        if let Some(interval) = interval {
            self.pacer.on_sent(now, interval);
        }
    }

    /// The share of a segment in a round trip that the window, or `flight` segments if that is more,
    /// fills twice, or 1.2 times.
    fn window_interval(&self, flight: u32) -> Duration {
        let percent = if self.window.cwnd < self.window.ssthresh / 2.0 { 200 } else { 120 };
        let segments = self.window.segments(self.mss()).max(flight);
        let round_trip = u128::from(self.timer.srtt().unwrap_or(UNMEASURED).as_ps());
        let interval = (round_trip * 100).div_ceil(u128::from(segments) * percent);
        Duration::from_ps(u64::try_from(interval).unwrap_or(u64::MAX))
    }

    /// Size of a data segment on the wire; the SYN is a header alone.
    pub(crate) fn wire_size(&self, seq: Seq) -> Bytes {
        const SYN_SIZE: Bytes = Bytes::new(40);
        if self.config.handshake && seq == Seq::ZERO {
            SYN_SIZE
        } else {
            self.config.mss + self.config.header + self.config.timestamp_size()
        }
    }
}

/// The initial slow-start threshold in bytes.
pub(crate) fn initial_ssthresh(config: &Config) -> f64 {
    let mss = config.mss.count() as f64;
    config.initial_ssthresh.map_or(f64::INFINITY, |segments| f64::from(segments) * mss)
}

/// What congestion control starts from.
pub(crate) fn start(config: &Config, clock_phase: Duration) -> Start {
    let paced = config.pacing != Pacing::None;
    let slow_start = SlowStart::new(config.slow_start, config.ack_counting, paced);
    Start { slow_start, clock_phase }
}
