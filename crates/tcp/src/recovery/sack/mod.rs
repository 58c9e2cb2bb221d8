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
mod probe;
mod prr;
mod rack;
mod scoreboard;
mod undo;

use optcp_units::{Duration, Time};

use crate::acknowledgment::Ack;
use crate::config::{AfterTimeout, Config, Measurement};
use crate::congestion::event::{DeliveryEvent, Repair};
use crate::core::Core;
use crate::info::Tally;
use crate::recovery::policy::Recovery;
use crate::seq::Seq;

use delivered::Delivery;
use detection::LossDetection;
use frto::{Evidence, ForwardRto, Outcome};
use probe::{TailLossProbe, Verdict};
use prr::{Progress, ProportionalRateReduction};
use scoreboard::{Scoreboard, Segment};
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
            board: Scoreboard::default(),
            detection: LossDetection::new(config.loss_detection),
            phase: Phase::Open,
            until: 0,
            forced: false,
            reduction: None,
            speculated: 0,
            rescued: None,
            probe: TailLossProbe::default(),
            frto: ForwardRto::Off,
            frto_new: 0,
            undo: Undo::default(),
        }
    }

    /// Brings the scoreboard up to date; `reports` says that the first SACK block is of a duplicate.
    fn update(&mut self, core: &mut Core, now: Time, ack: &Ack, reports: bool) -> Delivery {
        let Sack { board, detection, until, phase, .. } = self;
        let mut delivery = Delivery::default();
        let mut rate = core.delivery.take();
        let mut delivered = |seq: Seq, segment: Segment, sacked: bool| {
            delivery.add(segment, sacked);
            delivery.original |= *phase == Phase::Loss && !segment.again && seq < *until;
            let early = core.config.timestamps && core.is_before(ack.echo, segment.sent);
            detection.on_delivered(seq, segment, early, now, sacked);
            if let Some(rate) = &mut rate {
                rate.on_delivered(seq, segment.sent, segment.again);
            }
        };
        board.acknowledge(ack.seq, |seq, segment| delivered(seq, segment, false));
        if let Some(sack) = &ack.sack {
            for &(start, end) in &sack.as_slice()[usize::from(reports)..] {
                board.sack(start, end, |seq, segment| delivered(seq, segment, true));
            }
        }
        core.delivery = rate;
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

    fn detect(&mut self, core: &Core, now: Time) -> u32 {
        let recovering = self.phase != Phase::Open;
        self.detection.detect(&mut self.board, recovering, core.timer.srtt(), now)
    }

    /// Ends a recovery or the repair after a timeout, or takes it back.
    fn change_phase(&mut self, core: &mut Core, ack: &Ack, advanced: bool, delivery: Delivery) {
        let needless = (core.config.dsack_undo && self.undo.all_came_twice())
            || (core.config.timestamp_undo && advanced && self.undo.answers_original(ack.echo));
        let complete = ack.seq >= self.until;
        match self.phase {
            Phase::Open if needless => self.undo.apply(core),
            Phase::Open => {}
            Phase::Recovery | Phase::Loss if needless => self.take_back(core),
            Phase::Recovery if complete => {
                // A reduction that was spread over the recovery ends where it was to end.
                if self.reduction.take().is_some() {
                    core.window.cwnd = core.window.ssthresh;
                }
                core.on_recovered();
                self.end_repair();
            }
            Phase::Recovery => {}
            Phase::Loss => {
                let new_data = core.max < core.end && core.room() > 0;
                let original = delivery.original;
                let evidence = Evidence { advanced, complete, original, new_data };
                match self.frto.on_ack(evidence) {
                    Outcome::Spurious => self.take_back(core),
                    Outcome::SendNew => self.frto_new = 2,
                    Outcome::Wait => self.frto_new = 0,
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
    fn take_back(&mut self, core: &mut Core) {
        self.undo.apply(core);
        self.board.clear_lost();
        self.detection.on_undo(&self.board);
        self.reduction = None;
        self.forced = false;
        (self.frto, self.frto_new) = (ForwardRto::Off, 0);
        self.end_repair();
    }

    /// Begins a recovery if a segment is lost and nothing is being repaired. `outstanding` and `sacked`
    /// were so before that was found.
    fn recover(&mut self, core: &mut Core, now: Time, outstanding: u32, sacked: u32) {
        if self.phase == Phase::Open
            && !core.first_waits_for_timer()
            && self.board.next_lost().is_some()
        {
            self.enter_recovery(core, now, outstanding, sacked);
        }
    }

    /// Sets the window by what was delivered, if the reduction is spread over the recovery.
    fn reduce(&mut self, core: &mut Core, delivered: u32, safe: bool) {
        let progress = Progress { delivered, safe, pipe: self.board.pipe() };
        if let Some(window) = self.reduction.as_mut().and_then(|prr| prr.on_ack(progress)) {
            core.window.cwnd = f64::from(window) * core.mss();
        }
    }

    /// RFC 6675 section 5 step 4. `outstanding` and `sacked` were so before the ACK that starts it.
    fn enter_recovery(&mut self, core: &mut Core, now: Time, outstanding: u32, sacked: u32) {
        self.undo.begin(core);
        self.probe.forget();
        self.phase = Phase::Recovery;
        self.until = core.max;
        self.forced = true;
        self.speculated = core.una;
        self.rescued = None;
        core.recover = Some(core.max);
        core.timer.forget();
        if core.config.fast_retransmit_restarts_timer {
            core.timer.restart(now);
        }
        let before = core.window.cwnd;
        let reduces = core.reduce();
        let ssthresh = core.ssthresh_segments();
        let kind = core.config.rate_reduction;
        self.reduction = ProportionalRateReduction::begin(kind, outstanding, sacked, ssthresh)
            .filter(|_| reduces);
        if self.reduction.is_some() {
            // The window follows what is delivered from here on.
            core.window.cwnd = before;
        }
    }

    /// F-RTO sends the oldest segment again, then new ones only.
    fn frto_segment(&mut self, core: &mut Core) -> Option<Seq> {
        if self.frto == ForwardRto::Step2 {
            return self.board.next_lost().filter(|&seq| seq == core.una);
        }
        self.frto_new = self.frto_new.checked_sub(1)?;
        new_segment(core)
    }

    /// RFC 8985 section 7.3: a new segment if the receiver has room for one, else the last again.
    fn probe_segment(&mut self, core: &mut Core) -> Option<Seq> {
        let new = new_segment(core);
        let again = new.is_none();
        let seq = new.or_else(|| self.board.highest_unsacked());
        match seq {
            Some(seq) => self.probe.on_sent(core.max.max(seq + 1), again),
            None => self.probe.cancel(),
        }
        seq
    }

    /// RFC 6675 `NextSeg` rule 3: what is not known to be lost, for want of better.
    fn speculative_segment(&mut self, core: &Core) -> Option<Seq> {
        if !core.config.speculative_retransmit || self.phase != Phase::Recovery {
            return None;
        }
        let seq = self.board.next_unsacked(self.speculated)?;
        self.speculated = seq + 1;
        Some(seq)
    }

    /// RFC 6675 `NextSeg` rule 4: once in a recovery the last segment again, since its loss shows nowhere.
    fn rescue_segment(&mut self, core: &Core) -> Option<Seq> {
        let allowed = core.config.rescue_retransmit
            && self.phase == Phase::Recovery
            && self.rescued.is_none_or(|rescued| core.una > rescued);
        let last = self.board.highest_unsacked().filter(|_| allowed)?;
        let seq = Some(last).filter(|&seq| !self.board.is_resent(seq))?;
        self.rescued = Some(self.until);
        Some(seq)
    }

    fn schedule_probe(&mut self, core: &Core, now: Time) {
        if !core.config.tail_loss_probe {
            return;
        }
        // RFC 8985 section 7.2: not in a recovery, nor while SACK shows a hole. A SYN has its timer alone, since
        // nothing may be sent behind it.
        if core.opens()
            || self.phase != Phase::Open
            || self.board.sacked() > 0
            || self.board.lost() > 0
        {
            self.probe.cancel();
        } else if !self.probe.due {
            let outstanding = self.board.end() - self.board.una();
            self.probe.schedule(now, outstanding, core.timer.srtt(), core.timer.deadline());
        }
    }
}

impl Recovery for Sack {
    fn in_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    fn in_loss(&self, _core: &Core) -> bool {
        self.phase == Phase::Loss
    }

    fn tally(&self, _core: &Core) -> Tally {
        Tally {
            sacked: self.board.sacked(),
            lost: self.board.lost(),
            retransmitted: self.board.resent(),
            reordering: self.detection.reordering(),
        }
    }

    fn on_ack(&mut self, core: &mut Core, now: Time, ack: &Ack) {
        let (advanced, outstanding) = (ack.seq > core.una, core.max - core.una);
        let (sacked_before, prior_in_flight) = (self.board.sacked(), self.board.pipe());
        let duplicate = ack.sack.and_then(|sack| sack.duplicate(ack.seq));
        let delivery = self.update(core, now, ack, duplicate.is_some());
        if let Some(block) = duplicate {
            self.undo.on_duplicate(block);
            self.detection.on_duplicate(self.board.una(), self.board.end());
        }
        let rtt = measure(core, now, ack, delivery, advanced);
        let event = if advanced {
            Some(core.count(now, ack, delivery.segments, rtt))
        } else {
            if delivery.segments > 0 {
                core.observe(now, 0, delivery.segments, rtt);
            }
            None
        };
        let plain = !advanced && delivery.segments == 0 && duplicate.is_none();
        if self.probe.on_ack(ack.seq, duplicate, plain) == Verdict::Repaired
            && self.phase == Phase::Open
        {
            core.reduce();
            core.on_recovered();
        }
        let lost = self.detect(core, now);

        let before = self.phase;
        self.change_phase(core, ack, advanced, delivery);
        self.recover(core, now, outstanding, sacked_before);
        if self.phase == Phase::Recovery {
            self.reduce(core, delivery.segments, advanced && lost == 0);
        } else if let Some(event) = event
            && (before != Phase::Recovery || core.config.exit_ack_grows)
        {
            core.grow(event);
        }
        if core.delivery.is_some() {
            let in_flight = self.board.pipe();
            let repair = self.repair();
            core.deliver(DeliveryEvent {
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
            self.schedule_probe(core, now);
        }
    }

    fn on_timeout(&mut self, core: &mut Core, now: Time) {
        let first = self.phase == Phase::Open;
        if first {
            self.undo.begin(core);
        }
        self.frto = if core.config.frto && first { ForwardRto::Step2 } else { ForwardRto::Off };
        self.frto_new = 0;
        self.phase = Phase::Loss;
        self.until = core.max;
        // RACK may hold later segments to be under way still, which must not keep the oldest back.
        self.forced = true;
        self.reduction = None;
        self.probe.forget();
        if core.config.after_timeout == AfterTimeout::GoBackN {
            self.board.forget_sacked();
            self.detection.forget_sacked();
        }
        self.detection.on_timeout(&mut self.board, core.timer.srtt(), now);
        core.timer.forget();
    }

    fn next_segment(&mut self, core: &mut Core) -> Option<Seq> {
        if self.probe.due {
            return self.probe_segment(core);
        }
        let cwnd = core.window.segments(core.mss());
        match self.phase {
            Phase::Open => {
                let outstanding = core.max - core.una;
                if self.carried(core) >= cwnd {
                    return None;
                }
                let new = new_segment(core)?;
                // RFC 5681 section 3.2: what limited transmit sends does not count as flight.
                core.limited_sent += u32::from(outstanding >= cwnd);
                Some(new)
            }
            Phase::Loss if self.frto != ForwardRto::Off => self.frto_segment(core),
            Phase::Recovery | Phase::Loss => {
                if !std::mem::take(&mut self.forced) && self.board.pipe() >= cwnd {
                    return None;
                }
                self.board
                    .next_lost()
                    .or_else(|| new_segment(core))
                    .or_else(|| self.speculative_segment(core))
                    .or_else(|| self.rescue_segment(core))
            }
        }
    }

    fn carried(&self, core: &Core) -> u32 {
        match self.phase {
            Phase::Open if !core.config.limited_transmit => core.max - core.una,
            _ => self.board.pipe(),
        }
    }

    fn on_sent(&mut self, core: &mut Core, seq: Seq, now: Time) {
        let again = seq < self.board.end();
        self.board.on_sent(seq, now);
        self.detection.on_sent(seq, now);
        if again {
            self.undo.on_retransmission(core.stamp(now));
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent();
        }
        self.schedule_probe(core, now);
    }

    /// When its own timers are due: the probe's and the reordering window's.
    fn deadline(&self) -> Option<Time> {
        [self.probe.deadline(), self.detection.deadline()].into_iter().flatten().min()
    }

    fn on_timer(&mut self, core: &mut Core, now: Time) {
        if self.probe.deadline().is_some_and(|at| at <= now) {
            self.probe.expire();
            core.pacer.release(now);
            // RFC 8985 section 7.3: the retransmission timer starts anew behind the probe.
            core.timer.restart(now);
        }
        if self.detection.deadline().is_some_and(|at| at <= now) {
            let (outstanding, sacked) = (core.max - core.una, self.board.sacked());
            self.detect(core, now);
            self.recover(core, now, outstanding, sacked);
            if self.phase == Phase::Recovery {
                self.reduce(core, 0, false);
            }
        }
    }
}

/// The round trip of an ACK that is not yet counted, if it measures one: of the newest segment for
/// congestion control; the timer is given that of the oldest.
fn measure(
    core: &mut Core,
    now: Time,
    ack: &Ack,
    delivery: Delivery,
    advanced: bool,
) -> Option<Duration> {
    if core.config.measurement == Measurement::EveryAck {
        if let Some(times) = delivery.unambiguous() {
            core.measure_sent(now, ack, times.first);
            return Some(now - times.last);
        }
        if !core.config.timestamps {
            return None;
        }
    }
    if advanced { core.measure(now, ack) } else { None }
}

/// The next segment that was never sent, if the receiver has room for it.
fn new_segment(core: &mut Core) -> Option<Seq> {
    if core.max >= core.end || core.room() == 0 {
        return None;
    }
    core.nxt = core.max + 1;
    Some(core.max)
}
