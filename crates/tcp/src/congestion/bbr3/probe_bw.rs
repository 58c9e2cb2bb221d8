//! The cycle in which bandwidth is probed for.
//!
//! # Models
//! DOWN gives the queue of the last probe back until no more than the product is in flight, and leaves room to others;
//! CRUISE sends what is delivered; REFILL forgets what losses said of late and fills the pipe for a round trip; UP sends a
//! quarter more until the pipe is full or more than 2 % is lost. The next REFILL comes 2 s to 3 s after DOWN began, or after
//! as many round trips as the product has segments, 63 at most: about when Reno would have grown back. The probe after one
//! that lost too much stops as soon as it reaches that flight; if nothing bad comes of it, a full one follows at once.
//! # Source
//! draft-ietf-ccwg-bbr-06 sections 5.3.3 and 5.5.10.2.
//! # Parameters
//! None. The wait is drawn from where the flow's clock stands.
//! # Limits
//! No reaction to ECN, which the draft leaves open (section 3.7).

use optcp_units::{Duration, Time};

use super::state::{Phase, State};
use super::undo::Left;
use super::{Bbr3, Gain, Present, seven_tenths};
use crate::congestion::draw::Draw;

/// The least wait between probes by the clock (section 5.3.3.8.2).
const LEAST_WAIT: Duration = Duration::from_secs(2);
/// What is drawn beyond that at most, in picoseconds.
const SECOND: u64 = 1_000_000_000_000;
/// The most round trips between probes.
const MOST_ROUNDS: u32 = 63;

/// What ACKs say of the last probe (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing.
    #[default]
    Init,
    /// They are of what filled the pipe.
    Refilling,
    /// They are still of before it began.
    Starting,
    /// They are of it.
    Feedback,
    /// It is over, and they are of it yet.
    Stopping,
}

/// See the module's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// When DOWN began.
    began: Time,
    /// How long after that REFILL begins at the latest.
    wait: Duration,
    /// Round trips since the last probe, and the one that was drawn.
    pub(super) rounds: u32,
    acks: AckPhase,
    /// See [`Cycle::samples`].
    samples: bool,
    /// Whether the last probe lost too much.
    too_high: bool,
    /// Whether the last probe stopped early.
    early: bool,
}

impl Cycle {
    /// `PickProbeWait`.
    fn pick_wait(&mut self, draw: &mut Draw) {
        self.rounds = u32::from(draw.next() & 1 == 1);
        self.wait = LEAST_WAIT + Duration::from_ps(draw.next() % SECOND);
    }

    /// Whether ACKs come of a probe whose losses were not answered yet (`BBR.is_bw_probe_sample`).
    pub(super) fn samples(&self) -> bool {
        self.samples
    }

    /// The drawn round trip, and the wait.
    #[cfg(test)]
    pub(super) fn waits(&self) -> (u32, Duration) {
        (self.rounds, self.wait)
    }

    /// What the last probe sent is being acknowledged still.
    pub(super) fn stop(&mut self) {
        self.acks = AckPhase::Stopping;
    }
}

impl Bbr3 {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, now: Time, delivered: u64) {
        self.short.forget_round();
        self.long.end();
        self.cycle.pick_wait(&mut self.draw);
        self.cycle.began = now;
        self.cycle.stop();
        self.rounds.restart(delivered);
        self.state = State::ProbeBw(Phase::Down);
    }

    /// `StartProbeBW_CRUISE`.
    pub(super) fn start_cruise(&mut self) {
        self.state = State::ProbeBw(Phase::Cruise);
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self, delivered: u64) {
        self.short.forget_bounds();
        self.long.begin();
        self.cycle.early = false;
        self.cycle.acks = AckPhase::Refilling;
        self.rounds.restart(delivered);
        self.state = State::ProbeBw(Phase::Refill);
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, at: &Present<'_>) {
        self.cycle.samples = true;
        self.cycle.acks = AckPhase::Starting;
        self.rounds.restart(at.delivered);
        self.full.search_from(at.bandwidth);
        self.state = State::UP;
        self.long.steepen(at.window);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, at: &Present<'_>) {
        if !self.full.reached || at.ack.delivered == 0 || self.adapt_long_term(at) {
            return;
        }
        let State::ProbeBw(phase) = self.state else { return };
        match phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(at) => {
                self.start_refill(at.delivered);
            }
            Phase::Down if self.is_time_to_cruise(at) => self.start_cruise(),
            Phase::Refill if self.rounds.starts => self.start_up(at),
            Phase::Up if self.is_time_to_go_down(at) => {
                // The losses of this probe may come yet.
                self.cycle.too_high = false;
                self.start_down(at.ack.now, at.delivered);
            }
            _ => {}
        }
    }

    /// `AdaptLongTermModel`: whether it began another phase.
    fn adapt_long_term(&mut self, at: &Present<'_>) -> bool {
        let starts = self.rounds.starts;
        let in_cycle = matches!(self.state, State::ProbeBw(_));
        if self.cycle.acks == AckPhase::Starting && starts {
            self.cycle.acks = AckPhase::Feedback;
        }
        if self.cycle.acks == AckPhase::Stopping && starts {
            self.cycle.samples = false;
            self.cycle.acks = AckPhase::Init;
            if in_cycle && !at.limited {
                self.max.advance();
            }
            if in_cycle && self.cycle.early && !self.cycle.too_high {
                self.start_refill(at.delivered);
                return true;
            }
        }
        if let Some(flight) = at.flight
            && !self.flights.too_high(flight)
        {
            self.long.admit(flight.in_flight);
            if self.state == State::UP && self.uses_all(at) {
                self.long.raise(at.ack.delivered);
                if starts {
                    self.long.steepen(at.window);
                }
            }
        }
        false
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, at: &Present<'_>) -> bool {
        at.ack.now > self.cycle.began + self.cycle.wait
            || self.cycle.rounds >= self.target(at.window).min(MOST_ROUNDS)
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, at: &Present<'_>) -> bool {
        let room = self.long.with_headroom().is_none_or(|room| at.ack.in_flight <= room);
        let product = self.product_of(self.max.get(), Gain::ONE);
        room && at.ack.in_flight <= self.with_budgets(product, at.mss)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, at: &Present<'_>) -> bool {
        let limit = self.long.limit;
        if self.cycle.too_high && limit.is_some_and(|limit| at.ack.in_flight >= limit) {
            self.cycle.early = true;
            return true;
        }
        if self.uses_all(at) {
            // The limit hides how much there is.
            self.full.search_from(at.bandwidth);
            return false;
        }
        self.full.now
    }

    /// Whether all that may be in flight is.
    fn uses_all(&self, at: &Present<'_>) -> bool {
        self.uses_window && self.long.limit.is_some_and(|limit| at.window >= limit)
    }

    /// `TargetInflight`: the product, unless losses have cut the window.
    fn target(&self, window: u32) -> u32 {
        self.product(Gain::ONE).min(window)
    }

    /// A segment of a probe is lost, of which `in_flight` were too many (`HandleInflightTooHigh`).
    pub(super) fn on_too_high(
        &mut self,
        in_flight: u32,
        limited: bool,
        window: u32,
        (now, delivered): (Time, u64),
    ) {
        self.cycle.too_high = true;
        self.cycle.samples = false;
        if !limited {
            self.long.limit = Some(in_flight.max(seven_tenths(self.target(window))));
        }
        if self.state == State::UP {
            self.undo.left = Some(Left::Up);
            self.start_down(now, delivered);
        }
    }
}
