//! Loss recovery with selective acknowledgments.
//!
//! # Model
//! A scoreboard records received and lost segments. A recovery retransmits the lost ones as fast as
//! the window allows, in one round trip if possible. After a timeout only missing segments are
//! retransmitted. Separate files contain loss detection ([`detection`]), the next segment
//! ([`next_segment`]), the window ([`reduction`]), tail loss probes ([`probing`]) and undoing
//! ([`undo`]).
//!
//! # References
//! RFC 6675 sections 4 and 5; RFC 2018 section 8 (forgetting at a timeout).
//!
//! # Parameters
//! `loss_detection`, `rate_reduction`, `speculative_retransmit`, `rescue_retransmit`, `after_timeout`,
//! `limited_transmit`, `tail_loss_probe`, `frto`, `dsack_undo`, `timestamp_undo`, `exit_ack_grows`,
//! `reduction_basis`, `halving`, `fast_retransmit_restarts_timer`, `measurement`.
//!
//! # Limitations
//! One state serves the whole connection; [`SackPerNetwork`] keeps one for each of several networks.

mod delivered;
mod detection;
mod duplicates;
mod frto;
mod next_segment;
mod per_network;
mod probe;
mod probing;
mod prr;
mod rack;
mod reduction;
mod round_trip;
mod scoreboard;
mod trimmed;
mod undo;

use optcp_units::{Duration, Time};

use crate::acknowledgment::Ack;
use crate::config::{AfterTimeout, Config, Measurement};
use crate::congestion::event::{DeliveryEvent, Repair};
use crate::info::Tally;
use crate::recovery::policy::Recovery;
use crate::seq::Seq;
use crate::tcb::Tcb;

use delivered::Delivery;
use detection::LossDetection;
use frto::{Conclusion, ForwardRto};
use probe::TailLossProbe;
use prr::ProportionalRateReduction;
use rack::View;
use round_trip::measure;
use scoreboard::{Outstanding, Scoreboard};
use undo::Undo;

pub use per_network::SackPerNetwork;

/// SACK loss recovery.
#[derive(Clone, Debug)]
pub struct Sack {
    board: Scoreboard,
    detection: LossDetection,
    phase: Phase,
    /// RecoveryPoint, plus one: end of a recovery or of the repair after an RTO.
    until: Seq,
    /// `true`: the first retransmission of a recovery or after an RTO is sent regardless of the window.
    forced: bool,
    /// Reduction in progress, if it is spread over time.
    reduction: Option<ProportionalRateReduction>,
    /// Everything below was checked for `NextSeg` rule 3.
    speculated: Seq,
    /// RescueRxt.
    rescued: Option<Seq>,
    probe: TailLossProbe,
    frto: ForwardRto,
    /// Number of new segments that F-RTO still sends.
    frto_new: u32,
    /// `true`: the last ACK allows no retransmission.
    holds: bool,
    /// Retransmissions, and reported duplicates.
    retransmissions: u64,
    duplicates: u64,
    undo: Undo,
}

/// ACK, with information from before the change of phase.
#[derive(Clone, Copy, Debug)]
struct AckReport<'a> {
    ack: &'a Ack,
    /// `true`: it acknowledges new data cumulatively.
    advanced: bool,
    /// `true`: it may answer the original or the retransmission of a segment, so that its timestamp
    /// distinguishes them.
    answers: bool,
    delivery: Delivery,
}

/// Counts when an ACK arrives or a timer fires, from which a reduction starts.
#[derive(Clone, Copy, Debug)]
struct Before {
    outstanding: u32,
    sacked: u32,
}

/// Losses detected by an ACK or a timer.
#[derive(Clone, Copy, Debug, Default)]
struct NewLosses {
    /// Number of newly lost segments.
    lost: u32,
    /// `true`: a retransmission is among them, so that the repair after an RTO becomes a recovery.
    again: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Recovery,
    Loss,
}

impl Sack {
    pub(super) fn new(config: &Config) -> Self {
        Sack {
            board: Scoreboard::new(config.congestion.wants_rates()),
            detection: LossDetection::new(config.loss_detection),
            phase: Phase::Open,
            until: Seq::ZERO,
            forced: false,
            reduction: None,
            speculated: Seq::ZERO,
            rescued: None,
            probe: TailLossProbe::default(),
            frto: ForwardRto::Off,
            frto_new: 0,
            holds: false,
            retransmissions: 0,
            duplicates: 0,
            undo: Undo::default(),
        }
    }

    /// Updates the scoreboard. `reports`: the first SACK block reports a duplicate or a trimmed segment.
    fn update(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack, reports: bool) -> Delivery {
        let Sack { board, detection, until, phase, .. } = self;
        detection.begin_ack();
        let mut delivery = Delivery::default();
        let mut rate = tcb.delivery.take();
        let mut delivered = |seq: Seq, segment: Outstanding, sacked: bool| {
            delivery.add(segment, sacked);
            delivery.original |= *phase == Phase::Loss && !segment.again && seq < *until;
            detection.on_delivered(seq, segment, now, sacked);
            if let Some(rate) = &mut rate {
                rate.on_delivered(seq, segment.sent, segment.again);
            }
        };
        board.acknowledge(ack.seq, |seq, segment| delivered(seq, segment, false));
        if let Some(sack) = &ack.sack {
            let blocks = &sack.as_slice()[usize::from(reports)..];
            board.sack_all(blocks, |seq, segment| delivered(seq, segment, true));
        }
        tcb.delivery = rate;
        delivery
    }

    /// Returns the repair in progress, for congestion control.
    fn repair(&self) -> Repair {
        match self.phase {
            Phase::Open => Repair::Nothing,
            Phase::Recovery => Repair::Losses,
            Phase::Loss => Repair::Timeout,
        }
    }

    /// Detects lost segments. A lost retransmission is a new loss: the repair after an RTO becomes a
    /// recovery, as in Linux.
    fn detect(&mut self, tcb: &mut Tcb, now: Time) -> NewLosses {
        let resent = self.board.resent();
        let view = self.view(tcb, now, self.phase != Phase::Open);
        let lost = self.detection.detect(&mut self.board, view, every_segment);
        self.board.newly_lost().for_each(|seq| tcb.on_lost(seq, now));
        NewLosses { lost, again: self.board.resent() < resent }
    }

    /// Returns the inputs of loss detection other than the scoreboard.
    fn view(&self, tcb: &Tcb, now: Time, recovering: bool) -> View {
        let (sacked, srtt, clock) = (self.board.sacked(), tcb.timer.srtt(), tcb.timer.clock());
        View { recovering, sacked, srtt, clock, now, beyond: None }
    }

    /// Returns the number of duplicates that the receiver reports of retransmissions. As in Linux, these are delivered,
    /// too, unless more duplicates than retransmissions have been reported.
    fn spurious(&mut self, tcb: &mut Tcb, duplicate: Option<(Seq, Seq)>) -> u32 {
        let block = duplicate.filter(|_| tcb.config.dsack_undo);
        let Some(segments) = block.map(|(start, end)| end - start) else { return 0 };
        self.duplicates += u64::from(segments);
        if self.duplicates > self.retransmissions {
            return 0;
        }
        if let Some(rate) = &mut tcb.delivery {
            rate.on_duplicates(segments);
        }
        segments
    }

    /// Returns whether a partial ACK answers an original. As in Linux, such an ACK neither declares losses nor
    /// retransmits.
    fn fills_hole_with_original(&self, tcb: &Tcb, ack: &Ack) -> bool {
        self.phase == Phase::Recovery
            && ack.seq < self.until
            && tcb.config.timestamp_undo
            && self.undo.answers_original(ack.echo)
    }

    /// Ends or undoes a recovery or the repair after an RTO.
    fn change_phase(&mut self, tcb: &mut Tcb, report: AckReport<'_>) {
        let AckReport { ack, advanced, answers, delivery } = report;
        let needless = (tcb.config.dsack_undo && self.undo.all_came_twice())
            || (tcb.config.timestamp_undo && answers && self.undo.answers_original(ack.echo));
        let complete = ack.seq >= self.until;
        match self.phase {
            Phase::Open if needless => self.undo.apply(tcb),
            Phase::Open => {}
            Phase::Recovery | Phase::Loss if needless => self.undo_repair(tcb),
            Phase::Recovery if complete => {
                // A reduction spread over the recovery ends with its final value.
                if self.reduction.take().is_some() {
                    tcb.window.cwnd = tcb.window.ssthresh;
                }
                tcb.on_recovered();
                self.end_repair();
            }
            Phase::Recovery => {}
            Phase::Loss => {
                let new_data = tcb.max < tcb.end && tcb.room() > 0;
                let original = delivery.original;
                let no_progress = !advanced || delivery.reports_sacked();
                let evidence =
                    frto::Evidence { advanced, complete, original, no_progress, new_data };
                match self.frto.on_ack(evidence) {
                    Conclusion::Spurious => self.undo_repair(tcb),
                    Conclusion::SendNew => self.frto_new = 2,
                    Conclusion::Wait => self.frto_new = 0,
                }
                if complete && self.phase == Phase::Loss {
                    self.end_repair();
                }
            }
        }
    }

    /// Restarts the retransmission timer if SACK newly reports data that were sent before the last transmission of
    /// the oldest segment. As in Linux, the network still delivers, and its answer to that transmission is not due.
    fn restart_timer_for_sack(
        &self,
        tcb: &mut Tcb,
        now: Time,
        delivery: Delivery,
        rtt: Option<Duration>,
    ) {
        let every_ack = tcb.config.measurement == Measurement::EveryAck && rtt.is_some();
        let oldest = self.board.get(tcb.una).map(|segment| segment.sent);
        if every_ack && oldest.is_some_and(|sent| delivery.sacked_before(sent)) {
            tcb.timer.restart(now);
        }
    }

    fn end_repair(&mut self) {
        self.detection.on_recovered();
        self.phase = Phase::Open;
    }

    /// Undoes a repair without losses: restores the window, and counts the segments considered lost as in
    /// flight.
    fn undo_repair(&mut self, tcb: &mut Tcb) {
        self.undo.apply(tcb);
        self.board.clear_lost();
        self.detection.on_undo(&self.board);
        self.reduction = None;
        self.forced = false;
        (self.frto, self.frto_new) = (ForwardRto::Off, 0);
        self.end_repair();
    }

    /// Starts a recovery if a segment is lost and no recovery is active. During the recovery from
    /// an RTO, it starts one if a retransmission was lost (`again`).
    fn recover(&mut self, tcb: &mut Tcb, before: Before, again: bool) {
        let lost = self.board.next_lost().is_some();
        if self.begins_recovery(tcb, lost, again) {
            let resent = self.board.resent();
            self.enter_recovery(tcb, before, resent);
        }
    }

    /// Returns whether a recovery starts.
    fn begins_recovery(&self, tcb: &Tcb, lost: bool, again: bool) -> bool {
        match self.phase {
            Phase::Open => lost && !tcb.first_waits_for_timer(),
            Phase::Loss => again,
            Phase::Recovery => false,
        }
    }

    /// RFC 6675 section 5 step 4, while `resent` retransmissions are in flight.
    fn enter_recovery(&mut self, tcb: &mut Tcb, before: Before, resent: u32) {
        (self.frto, self.frto_new) = (ForwardRto::Off, 0);
        self.undo.begin(tcb, resent);
        self.probe.forget();
        self.phase = Phase::Recovery;
        self.until = tcb.max;
        self.forced = true;
        self.speculated = tcb.una;
        self.rescued = None;
        tcb.recover = Some(tcb.max);
        tcb.timer.forget();
        let cwnd = tcb.window.cwnd;
        let goes_on = tcb.is_reduced_enough();
        let reduces = tcb.reduce();
        if goes_on && self.reduction.is_some() {
            // The reduction started by a mark continues in the recovery.
            tcb.window.cwnd = cwnd;
            return;
        }
        self.reduction = Self::begin_reduction(tcb, before).filter(|_| reduces);
        if self.reduction.is_some() {
            // From here on, the window follows the delivered segments.
            tcb.window.cwnd = cwnd;
        }
    }

    /// Starts the repair after an RTO, with `resent` retransmissions in flight.
    fn enter_loss(&mut self, tcb: &mut Tcb, resent: u32) {
        let repeated = tcb.timed_out == Some(tcb.una);
        let tries = tcb.config.frto && (self.phase == Phase::Open || repeated);
        self.frto = if tries { ForwardRto::Step2 } else { ForwardRto::Off };
        self.frto_new = 0;
        // As in Linux, an RTO of later data while an RTO is repaired is a new reduction.
        if self.phase == Phase::Open || (self.phase == Phase::Loss && !repeated) {
            self.undo.begin(tcb, resent);
        }
        self.phase = Phase::Loss;
        self.holds = false;
        self.until = tcb.max;
        // RACK may still count later segments as in flight, which must not delay the oldest.
        self.forced = true;
        self.reduction = None;
        self.probe.forget();
        if tcb.config.after_timeout == AfterTimeout::GoBackN {
            self.board.forget_sacked();
            self.detection.forget_sacked();
        }
    }
}

impl Recovery for Sack {
    fn in_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    fn in_loss(&self, _tcb: &Tcb) -> bool {
        self.phase == Phase::Loss
    }

    fn tally(&self, _tcb: &Tcb) -> Tally {
        Tally {
            sacked: self.board.sacked(),
            lost: self.board.lost(),
            retransmitted: self.board.resent(),
            reordering: self.detection.reordering(),
        }
    }

    fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        let advanced = ack.seq > tcb.una;
        let before = Before { outstanding: tcb.max - tcb.una, sacked: self.board.sacked() };
        let prior_in_flight = self.board.pipe();
        let duplicate = ack.sack.and_then(|sack| sack.duplicate(ack.seq));
        let trimmed = ack.sack.and_then(|sack| sack.trimmed());
        let delivery = self.update(tcb, now, ack, duplicate.is_some() || trimmed.is_some());
        if let Some(seq) = trimmed {
            self.detection.on_trimmed(seq);
        }
        if let Some(block) = duplicate {
            self.undo.on_duplicate(block);
            self.detection.on_duplicate(self.board.una(), self.board.end());
        }
        let delivered = delivery.segments + self.spurious(tcb, duplicate);
        let rtt = measure(tcb, now, ack, delivery, advanced);
        let event = if advanced {
            Some(tcb.count(now, ack, delivered, rtt))
        } else {
            if delivered > 0 {
                tcb.observe(now, 0, delivered, rtt);
            }
            self.restart_timer_for_sack(tcb, now, delivery, rtt);
            None
        };
        let repeated = !advanced && delivery.segments == 0 && trimmed.is_none();
        self.look_at_probe(tcb, ack, duplicate, repeated);
        self.holds = advanced && self.fills_hole_with_original(tcb, ack);
        let phase_before = self.phase;
        // A recovery changes its phase first. The repair after an RTO does not: recorded kernels do not test the segments
        // again that it declared lost before it was undone.
        let mut losses = NewLosses::default();
        if phase_before != Phase::Recovery {
            losses = self.detect(tcb, now);
        }
        if tcb.ecn.is_some() {
            if tcb.echoes() {
                self.undo.on_mark();
            }
            self.end_reduction_for_mark(tcb);
        }
        // As in Linux, a reduction is not undone while retransmissions are in flight.
        let answers = advanced && !(self.holds && self.board.resent() > 0);
        self.change_phase(tcb, AckReport { ack, advanced, answers, delivery });
        if phase_before == Phase::Recovery && !self.holds {
            losses = self.detect(tcb, now);
        }
        let NewLosses { lost, again } = losses;
        self.recover(tcb, before, again);
        if tcb.ecn.is_some() && self.phase == Phase::Open {
            self.reduce_for_mark(tcb, before);
        }
        let safe = advanced && lost == 0;
        self.set_window(tcb, delivered, safe, event, phase_before);
        if tcb.delivery.is_some() {
            let in_flight = self.board.pipe();
            let repair = self.repair();
            let event = DeliveryEvent {
                now,
                lost,
                prior_in_flight,
                in_flight,
                wait: Some(tcb.pacer.wait(now)),
                repair,
                ..DeliveryEvent::default()
            };
            tcb.deliver(event, tcb.una);
        }
        // RFC 8985 section 7.2: an ACK that reports nothing new does not reschedule the probe.
        if advanced || delivery.segments > 0 {
            self.schedule_probe(tcb, now, false);
        }
    }

    fn on_marks(&mut self, _tcb: &mut Tcb) {}

    fn on_timeout(&mut self, tcb: &mut Tcb, now: Time) {
        self.enter_loss(tcb, self.board.resent());
        let view = self.view(tcb, now, true);
        self.detection.on_timeout(&mut self.board, view, every_segment);
        self.board.newly_lost().for_each(|seq| tcb.on_lost(seq, now));
        tcb.timer.forget();
    }

    fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        self.choose_segment(tcb)
    }

    #[inline]
    fn carried(&self, tcb: &Tcb) -> u32 {
        match self.phase {
            Phase::Open if !tcb.config.limited_transmit => self.board.flight(),
            _ => self.board.pipe(),
        }
    }

    fn on_sent(&mut self, tcb: &mut Tcb, seq: Seq, now: Time) {
        let again = seq < self.board.end();
        self.board.on_sent(seq, now);
        self.detection.on_sent(&self.board, seq, now, every_segment);
        tcb.on_sent(seq, self.board.pipe());
        if again {
            self.retransmissions += 1;
            self.undo.on_retransmission(tcb.stamp(now));
            restart_timer_for_oldest(tcb, seq, now);
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent();
        }
        self.schedule_probe(tcb, now, true);
    }

    /// Returns the time at which the recovery's timers fire: probe and reordering window.
    fn deadline(&self) -> Option<Time> {
        [self.probe.deadline(), self.detection.deadline()].into_iter().flatten().min()
    }

    fn on_timer(&mut self, tcb: &mut Tcb, now: Time) -> bool {
        self.holds = false;
        self.expire_probe(tcb, now);
        if self.detection.deadline().is_some_and(|at| at <= now) {
            let before = Before { outstanding: tcb.max - tcb.una, sacked: self.board.sacked() };
            // As in Linux, losses detected by this timer start a recovery.
            let again = self.detect(tcb, now).lost > 0;
            self.recover(tcb, before, again);
            if self.phase == Phase::Recovery {
                self.reduce(tcb, 0, false);
            }
        }
        false
    }
}

/// Restarts the retransmission timer after a retransmission of the oldest segment, if configured.
fn restart_timer_for_oldest(tcb: &mut Tcb, seq: Seq, now: Time) {
    if tcb.config.fast_retransmit_restarts_timer && seq == tcb.una {
        tcb.timer.restart(now);
    }
}

/// Selects all segments, because one network carries them all.
fn every_segment(_: &Scoreboard, _: Seq) -> bool {
    true
}
