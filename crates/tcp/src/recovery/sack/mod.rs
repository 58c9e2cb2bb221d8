//! Loss recovery with selective acknowledgments.
//!
//! # Models
//! A scoreboard tells which segments have arrived and which are lost; a recovery retransmits the lost
//! ones as fast as the window allows, in one round trip if it can. After a timeout only what is missing
//! is sent again.
//! # Source
//! RFC 6675 sections 4 and 5; RFC 2018 section 8 (forgetting at a timeout).
//! # Parameters
//! `loss_detection`, `rate_reduction`, `speculative_retransmit`, `rescue_retransmit`, `after_timeout`,
//! `limited_transmit`, `tail_loss_probe`, `frto`, `dsack_undo`, `timestamp_undo`, `exit_ack_grows`,
//! `reduction_basis`, `halving`, `fast_retransmit_restarts_timer`, `measurement`.
//! # Limits
//! Where congestion control leaves ssthresh at a loss the window is not reduced here.
//! A rescue retransmission counts as under way, which RFC 6675 leaves out of the pipe, and is not made
//! while another retransmission of the same segment is under way, which the RFC does not say.

mod delivered;
mod detection;
mod duplicates;
mod frto;
mod lanes;
mod networks;
mod probe;
mod prr;
mod rack;
mod round_trip;
mod scoreboard;
mod undo;

use optcp_units::Time;

use crate::acknowledgment::Ack;
use crate::config::{AfterTimeout, Config};
use crate::congestion::event::{DeliveryEvent, Repair};
use crate::info::Tally;
use crate::recovery::policy::Recovery;
use crate::seq::Seq;
use crate::tcb::Tcb;

use delivered::Delivery;
use detection::LossDetection;
use frto::{Conclusion, Evidence, ForwardRto};
use networks::Networks;
use probe::{TailLossProbe, Verdict};
use prr::{Progress, ProportionalRateReduction};
use rack::View;
use round_trip::measure;
use scoreboard::{Outstanding, Scoreboard};
use undo::Undo;

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Sack {
    board: Scoreboard,
    detection: LossDetection,
    phase: Phase,
    /// RecoveryPoint, plus one: a recovery or the repair after a timeout ends there.
    until: Seq,
    /// The first retransmission of a recovery, or after a timeout, is sent whatever the window.
    forced: bool,
    /// The reduction under way, if it is not made at once.
    reduction: Option<ProportionalRateReduction>,
    /// Everything below was looked at for `NextSeg` rule 3.
    speculated: Seq,
    /// RescueRxt.
    rescued: Option<Seq>,
    probe: TailLossProbe,
    frto: ForwardRto,
    /// New segments that F-RTO still sends.
    frto_new: u32,
    undo: Undo,
    /// What is known of each network, if that is kept apart.
    networks: Option<Box<Networks>>,
}

/// What loss detection has found.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Segments that are lost now and were not before.
    lost: u32,
    /// Whether this makes a recovery of the repair after a timeout.
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
            undo: Undo::default(),
            networks: None,
        }
    }

    /// Brings the scoreboard up to date; `reports` says that the first SACK block is of a duplicate.
    fn update(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack, reports: bool) -> Delivery {
        let Sack { board, detection, until, phase, .. } = self;
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

    /// What is being repaired, as congestion control sees it.
    fn repair(&self) -> Repair {
        match self.phase {
            Phase::Open => Repair::Nothing,
            Phase::Recovery => Repair::Losses,
            Phase::Loss => Repair::Timeout,
        }
    }

    /// Looks for lost segments. A retransmission among them is a new loss: what repairs a timeout becomes a recovery, as
    /// in Linux.
    fn detect(&mut self, tcb: &mut Tcb, now: Time) -> Found {
        let resent = self.board.resent();
        let view = self.view(tcb, now, self.phase != Phase::Open);
        let lost = self.detection.detect(&mut self.board, view, |_, _| true);
        self.board.newly_lost().for_each(|seq| tcb.on_lost(seq, now));
        Found { lost, again: self.board.resent() < resent }
    }

    /// What loss detection goes by beside the scoreboard.
    fn view(&self, tcb: &Tcb, now: Time, recovering: bool) -> View {
        let (sacked, srtt) = (self.board.sacked(), tcb.timer.srtt());
        View { recovering, sacked, srtt, now, beyond: None }
    }

    /// Ends a recovery or the repair after a timeout, or takes it back. The ACK `answers` a retransmission or what was taken
    /// for lost, if a timestamp tells.
    fn change_phase(
        &mut self,
        tcb: &mut Tcb,
        ack: &Ack,
        (advanced, answers): (bool, bool),
        delivery: Delivery,
    ) {
        let needless = (tcb.config.dsack_undo && self.undo.all_came_twice())
            || (tcb.config.timestamp_undo && answers && self.undo.answers_original(ack.echo));
        let complete = ack.seq >= self.until;
        match self.phase {
            Phase::Open if needless => self.undo.apply(tcb),
            Phase::Open => {}
            Phase::Recovery | Phase::Loss if needless => self.take_back(tcb),
            Phase::Recovery if complete => {
                // A reduction that was spread over the recovery ends where it was to end.
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
                let evidence = Evidence { advanced, complete, original, new_data };
                match self.frto.on_ack(evidence) {
                    Conclusion::Spurious => self.take_back(tcb),
                    Conclusion::SendNew => self.frto_new = 2,
                    Conclusion::Wait => self.frto_new = 0,
                }
                if complete && self.phase == Phase::Loss {
                    self.end_repair();
                }
            }
        }
    }

    fn end_repair(&mut self) {
        self.detection.on_recovered();
        self.phase = Phase::Open;
    }

    /// The losses were none: the window comes back, and what seemed lost is under way.
    fn take_back(&mut self, tcb: &mut Tcb) {
        self.undo.apply(tcb);
        self.board.clear_lost();
        self.detection.on_undo(&self.board);
        self.reduction = None;
        self.forced = false;
        (self.frto, self.frto_new) = (ForwardRto::Off, 0);
        self.end_repair();
    }

    /// Begins a recovery if a segment is lost and nothing is being repaired, or if a timeout is and it was lost `again`.
    /// `outstanding` and `sacked` were so before that was found.
    fn recover(&mut self, tcb: &mut Tcb, now: Time, outstanding: u32, sacked: u32, again: bool) {
        let lost = self.board.next_lost().is_some();
        self.recover_if(lost, tcb, now, (outstanding, sacked), again);
    }

    /// The same where it is known whether a segment is `lost`.
    fn recover_if(
        &mut self,
        lost: bool,
        tcb: &mut Tcb,
        now: Time,
        (outstanding, sacked): (u32, u32),
        again: bool,
    ) {
        let begins = match self.phase {
            Phase::Open => lost && !tcb.first_waits_for_timer(),
            Phase::Loss => again,
            Phase::Recovery => false,
        };
        if begins {
            (self.frto, self.frto_new) = (ForwardRto::Off, 0);
            self.enter_recovery(tcb, now, outstanding, sacked);
        }
    }

    /// Sets the window by what was delivered, if the reduction is spread over the recovery.
    fn reduce(&mut self, tcb: &mut Tcb, delivered: u32, safe: bool) {
        let progress = Progress { delivered, safe, pipe: self.board.pipe() };
        if let Some(window) = self.reduction.as_mut().and_then(|prr| prr.on_ack(progress)) {
            tcb.window.cwnd = f64::from(window) * tcb.mss();
        }
    }

    /// RFC 6675 section 5 step 4. `outstanding` and `sacked` were so before the ACK that starts it.
    fn enter_recovery(&mut self, tcb: &mut Tcb, now: Time, outstanding: u32, sacked: u32) {
        let resent = self.resent();
        self.undo.begin(tcb, resent);
        self.probe.forget();
        self.phase = Phase::Recovery;
        self.until = tcb.max;
        self.forced = true;
        self.speculated = tcb.una;
        self.rescued = None;
        tcb.recover = Some(tcb.max);
        tcb.timer.forget();
        if tcb.config.fast_retransmit_restarts_timer {
            tcb.timer.restart(now);
        }
        let before = tcb.window.cwnd;
        let goes_on = tcb.is_reduced_enough();
        let reduces = tcb.reduce();
        if goes_on && self.reduction.is_some() {
            // The reduction that a mark began is that of the recovery.
            tcb.window.cwnd = before;
            return;
        }
        let ssthresh = tcb.ssthresh_segments();
        let kind = tcb.config.rate_reduction;
        self.reduction = ProportionalRateReduction::begin(kind, outstanding, sacked, ssthresh)
            .filter(|_| reduces);
        if self.reduction.is_some() {
            // The window follows what is delivered from here on.
            tcb.window.cwnd = before;
        }
    }

    /// Reduces the window for a mark that the ACK reports, spread over a round trip if reductions are. `outstanding` and
    /// `sacked` were so before it.
    fn reduce_for_mark(&mut self, tcb: &mut Tcb, outstanding: u32, sacked: u32) {
        let before = tcb.window.cwnd;
        if !tcb.reduce_for_mark() {
            return;
        }
        let ssthresh = tcb.ssthresh_segments();
        let kind = tcb.config.rate_reduction;
        self.reduction = ProportionalRateReduction::begin(kind, outstanding, sacked, ssthresh)
            .filter(|_| !tcb.congestion.marks_exact());
        if self.reduction.is_some() {
            tcb.window.cwnd = before;
        } else {
            tcb.on_recovered();
        }
    }

    /// A reduction for a mark that was spread over a round trip ends where it was to end.
    fn end_reduction_for_mark(&mut self, tcb: &mut Tcb) {
        if self.phase == Phase::Open && self.reduction.is_some() && !tcb.reduces_for_mark() {
            self.reduction = None;
            tcb.window.cwnd = tcb.window.ssthresh;
            tcb.on_recovered();
        }
    }

    /// F-RTO sends the oldest segment again, then new ones only.
    fn frto_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        if self.frto == ForwardRto::Step2 {
            return self.board.next_lost().filter(|&seq| seq == tcb.una);
        }
        self.frto_new = self.frto_new.checked_sub(1)?;
        new_segment(tcb)
    }

    /// RFC 8985 section 7.3: a new segment if the receiver has room for one, else the last again.
    fn probe_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        let new = new_segment(tcb);
        let again = new.is_none();
        let seq = new.or_else(|| self.board.highest_unsacked());
        match seq {
            Some(seq) => self.probe.on_sent(tcb.max.max(seq.next()), again),
            None => self.probe.cancel(),
        }
        seq
    }

    /// RFC 6675 `NextSeg` rule 3: what is not known to be lost, for want of better.
    fn speculative_segment(&mut self, tcb: &Tcb) -> Option<Seq> {
        if !tcb.config.speculative_retransmit || self.phase != Phase::Recovery {
            return None;
        }
        let seq = self.board.next_unsacked(self.speculated)?;
        self.speculated = seq.next();
        Some(seq)
    }

    /// RFC 6675 `NextSeg` rule 4: once in a recovery the last segment again, since its loss shows nowhere.
    fn rescue_segment(&mut self, tcb: &Tcb) -> Option<Seq> {
        let allowed = tcb.config.rescue_retransmit
            && self.phase == Phase::Recovery
            && self.rescued.is_none_or(|rescued| tcb.una > rescued);
        let last = self.board.highest_unsacked().filter(|_| allowed)?;
        let seq = Some(last).filter(|&seq| !self.board.is_resent(seq))?;
        self.rescued = Some(self.until);
        Some(seq)
    }

    fn schedule_probe(&mut self, tcb: &Tcb, now: Time) {
        if !tcb.config.tail_loss_probe {
            return;
        }
        // RFC 8985 section 7.2: not in a recovery, nor while SACK shows a hole. A SYN has its timer alone, since
        // nothing may be sent behind it.
        if tcb.opens()
            || self.phase != Phase::Open
            || self.repairs_elsewhere()
            || self.board.sacked() > 0
            || self.board.lost() > 0
        {
            self.probe.cancel();
        } else if !self.probe.due {
            let outstanding = self.board.end() - self.board.una();
            self.probe.schedule(now, outstanding, tcb.timer.srtt(), tcb.timer.deadline());
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
        if self.networks.is_some() {
            return self.on_ack_of_networks(tcb, now, ack);
        }
        let (advanced, outstanding) = (ack.seq > tcb.una, tcb.max - tcb.una);
        let (sacked_before, prior_in_flight) = (self.board.sacked(), self.board.pipe());
        let duplicate = ack.sack.and_then(|sack| sack.duplicate(ack.seq));
        let delivery = self.update(tcb, now, ack, duplicate.is_some());
        if let Some(block) = duplicate {
            self.undo.on_duplicate(block);
            self.detection.on_duplicate(self.board.una(), self.board.end());
        }
        let rtt = measure(tcb, now, ack, delivery, advanced);
        let event = if advanced {
            Some(tcb.count(now, ack, delivery.segments, rtt))
        } else {
            if delivery.segments > 0 {
                tcb.observe(now, 0, delivery.segments, rtt);
            }
            None
        };
        let plain = !advanced && delivery.segments == 0 && duplicate.is_none();
        if self.probe.on_ack(ack.seq, duplicate, plain) == Verdict::Repaired
            && self.phase == Phase::Open
        {
            tcb.reduce();
            tcb.on_recovered();
        }
        let Found { lost, again } = self.detect(tcb, now);

        let before = self.phase;
        if tcb.ecn.is_some() {
            if tcb.echoes() {
                self.undo.on_mark();
            }
            self.end_reduction_for_mark(tcb);
        }
        self.change_phase(tcb, ack, (advanced, advanced), delivery);
        self.recover(tcb, now, outstanding, sacked_before, again);
        if tcb.ecn.is_some() && self.phase == Phase::Open {
            self.reduce_for_mark(tcb, outstanding, sacked_before);
        }
        if self.phase == Phase::Recovery || self.reduction.is_some() {
            self.reduce(tcb, delivery.segments, advanced && lost == 0);
        } else if let Some(event) = event
            && (before != Phase::Recovery || tcb.config.exit_ack_grows)
        {
            tcb.grow(event);
        }
        if tcb.delivery.is_some() {
            let in_flight = self.board.pipe();
            let repair = self.repair();
            tcb.deliver(DeliveryEvent {
                now,
                lost,
                prior_in_flight,
                in_flight,
                repair,
                ..DeliveryEvent::default()
            });
        }
        // RFC 8985 section 7.2: an ACK that tells of nothing new does not put the probe off.
        if advanced || delivery.segments > 0 {
            self.schedule_probe(tcb, now);
        }
    }

    fn on_marks(&mut self, _tcb: &mut Tcb) {}

    fn divide(&mut self, tcb: &mut Tcb, networks: u8, present: u8) {
        self.keep_apart(tcb, networks, present);
    }

    fn change_network(&mut self, tcb: &mut Tcb, now: Time, network: u8) {
        self.go_on(tcb, now, network);
    }

    fn on_timeout(&mut self, tcb: &mut Tcb, now: Time) {
        let first = self.phase == Phase::Open;
        if first {
            let resent = self.resent();
            self.undo.begin(tcb, resent);
        }
        self.frto = if tcb.config.frto && first { ForwardRto::Step2 } else { ForwardRto::Off };
        self.frto_new = 0;
        self.phase = Phase::Loss;
        self.until = tcb.max;
        // RACK may hold later segments to be under way still, which must not keep the oldest back.
        self.forced = true;
        self.reduction = None;
        self.probe.forget();
        if tcb.config.after_timeout == AfterTimeout::GoBackN {
            self.board.forget_sacked();
            self.detection.forget_sacked();
        }
        if self.networks.is_some() {
            self.on_timeout_of_networks(tcb, now);
        } else {
            let view = self.view(tcb, now, true);
            self.detection.on_timeout(&mut self.board, view, |_, _| true);
        }
        self.board.newly_lost().for_each(|seq| tcb.on_lost(seq, now));
        tcb.timer.forget();
    }

    fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        if self.probe.due {
            return self.probe_segment(tcb);
        }
        if let Some(seq) = self.forced_elsewhere() {
            return Some(seq);
        }
        let cwnd = tcb.window.segments(tcb.mss());
        match self.phase {
            Phase::Open => {
                let outstanding = self.board.lane().outstanding;
                if self.carried(tcb) >= cwnd {
                    return None;
                }
                if self.networks.is_some()
                    && let Some(lost) = self.board.next_lost()
                {
                    return Some(lost);
                }
                let new = new_segment(tcb)?;
                // RFC 5681 section 3.2: what limited transmit sends does not count as flight.
                tcb.limited_sent += u32::from(outstanding >= cwnd);
                Some(new)
            }
            Phase::Loss if self.frto != ForwardRto::Off => self.frto_segment(tcb),
            Phase::Recovery | Phase::Loss => {
                if !std::mem::take(&mut self.forced) && self.board.pipe() >= cwnd {
                    return None;
                }
                self.board
                    .next_lost()
                    .or_else(|| new_segment(tcb))
                    .or_else(|| self.speculative_segment(tcb))
                    .or_else(|| self.rescue_segment(tcb))
            }
        }
    }

    fn carried(&self, tcb: &Tcb) -> u32 {
        match self.phase {
            Phase::Open if !tcb.config.limited_transmit => self.board.lane().outstanding,
            _ => self.board.pipe(),
        }
    }

    fn on_sent(&mut self, tcb: &mut Tcb, seq: Seq, now: Time) {
        let again = seq < self.board.end();
        if self.networks.is_some() {
            self.on_sent_to_network(tcb, seq, now);
        } else {
            self.board.on_sent(seq, now);
            self.detection.on_sent(&self.board, seq, now, |_, _| true);
        }
        tcb.on_sent(seq, self.board.pipe());
        if again && self.networks.is_none() {
            self.undo.on_retransmission(tcb.stamp(now));
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent();
        }
        self.schedule_probe(tcb, now);
    }

    /// When its own timers are due: the probe's and the reordering window's.
    fn deadline(&self) -> Option<Time> {
        let looks = match &self.networks {
            None => self.detection.deadline(),
            Some(_) => self.deadline_of_networks(),
        };
        [self.probe.deadline(), looks].into_iter().flatten().min()
    }

    fn on_timer(&mut self, tcb: &mut Tcb, now: Time) {
        if self.probe.deadline().is_some_and(|at| at <= now) {
            self.probe.expire();
            tcb.pacer.release(now);
            // RFC 8985 section 7.3: the retransmission timer starts anew behind the probe.
            tcb.timer.restart(now);
        }
        if self.networks.is_some() {
            self.on_timer_of_networks(tcb, now);
        } else if self.detection.deadline().is_some_and(|at| at <= now) {
            let (outstanding, sacked) = (tcb.max - tcb.una, self.board.sacked());
            // As in Linux, whatever this timer finds makes a recovery.
            let again = self.detect(tcb, now).lost > 0;
            self.recover(tcb, now, outstanding, sacked, again);
            if self.phase == Phase::Recovery {
                self.reduce(tcb, 0, false);
            }
        }
    }
}

/// The next segment that was never sent, if the receiver has room for it.
fn new_segment(tcb: &mut Tcb) -> Option<Seq> {
    if tcb.max >= tcb.end || tcb.room() == 0 {
        return None;
    }
    tcb.nxt = tcb.max.next();
    Some(tcb.max)
}
