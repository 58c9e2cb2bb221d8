//! Bandwidth probing cycle (`PROBE_BW`).
//!
//! # Model
//! - DOWN drains the queue of the last probe until at most one BDP is in flight, and leaves headroom to other
//!   flows.
//! - CRUISE sends as much as is delivered.
//! - REFILL discards the short-term bounds and fills the pipe for one RTT.
//! - UP sends a quarter more until the pipe is full or more than 2 % is lost.
//!
//! The next REFILL starts 2 s to 3 s after the start of DOWN. It starts earlier after as many RTTs
//! as the BDP has segments, at most 63. This is about the time that Reno needs to recover. The
//! probe after one with excessive losses stops at that flight. If losses are not excessive again, a
//! full probe follows immediately. Losses are excessive by the flight of a lost segment, or of an
//! acknowledged one.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 sections 5.3.3 and 5.5.10.2. Google's code for Linux (`bbr_adapt_upper_bounds`): flights of
//! acknowledged segments, of which the draft says nothing.
//!
//! # Parameters
//! The wait is drawn from the flow's clock phase.
//!
//! # Limitations
//! ECN is ignored; the draft leaves the reaction open (section 3.7).

use optcp_units::{Duration, Time};

use super::state::{Phase, State};
use super::undo::Left;
use super::{Bbr3, Gain, Present, seven_tenths};
use crate::congestion::draw::Draw;

/// The least wait between probes by the clock (section 5.3.3.8.2).
const LEAST_WAIT: Duration = Duration::from_secs(2);
/// Maximum random addition to the wait, in picoseconds.
const SECOND: u64 = 1_000_000_000_000;
/// The most RTTs between probes.
const MOST_ROUNDS: u32 = 63;

/// Relation of current ACKs to the last probe (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing.
    #[default]
    Init,
    /// ACKs of the refilled pipe.
    Refilling,
    /// ACKs of data sent before the probe.
    Starting,
    /// ACKs of the probe.
    Feedback,
    /// ACKs of the probe after its end.
    Stopping,
}

/// State of the probing cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// Start of DOWN.
    began: Time,
    /// Maximum time from then until REFILL.
    wait: Duration,
    /// RTTs since the last probe, and the one that was drawn.
    pub(super) rounds: u32,
    acks: AckPhase,
    /// See [`Cycle::samples`].
    samples: bool,
    /// `true`: the last probe had excessive losses.
    too_high: bool,
    /// `true`: the last probe stopped early.
    early: bool,
}

impl Cycle {
    /// `PickProbeWait`.
    fn pick_wait(&mut self, draw: &mut Draw) {
        self.rounds = u32::from(draw.next() & 1 == 1);
        self.wait = LEAST_WAIT + Duration::from_ps(draw.next() % SECOND);
    }

    /// `true`: ACKs belong to a probe whose losses have not been answered (`BBR.is_bw_probe_sample`).
    pub(super) fn samples(&self) -> bool {
        self.samples
    }

    /// The drawn RTT, and the wait.
    #[cfg(test)]
    pub(super) fn waits(&self) -> (u32, Duration) {
        (self.rounds, self.wait)
    }

    /// The data of the last probe are still being acknowledged.
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
        let Some(flight) = at.flight else { return false };
        if self.flights.too_high(flight) {
            // Google's code judges acknowledged segments too: losses may have been found before the probe began.
            if self.cycle.samples() {
                let now = (at.ack.now, at.delivered);
                self.on_too_high(flight.in_flight, at.limited, at.window, now);
            }
            return false;
        }
        self.long.admit(flight.in_flight);
        if self.state == State::UP && self.uses_all(at) {
            self.long.raise(at.ack.delivered);
            if starts {
                self.long.steepen(at.window);
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

    /// Returns whether the flight has reached its limit.
    fn uses_all(&self, at: &Present<'_>) -> bool {
        self.uses_window && self.long.limit.is_some_and(|limit| at.window >= limit)
    }

    /// `TargetInflight`: the product, unless losses have cut the window.
    fn target(&self, window: u32) -> u32 {
        self.product(Gain::ONE).min(window)
    }

    /// A probe lost too much, of which `in_flight` segments were too many (`HandleInflightTooHigh`).
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
