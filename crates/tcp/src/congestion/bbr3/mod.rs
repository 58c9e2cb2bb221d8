//! BBR, version 3.
//!
//! # Model
//! Like version 1, the sender estimates bandwidth and minimum RTT of the path. It paces at the
//! bandwidth and keeps about one BDP in flight. Unlike version 1, it reacts to losses. A probe that
//! loses more than 2 % bounds the flight from then on and leaves capacity to others. Any loss
//! between probes reduces rate and flight to the delivered amount.
//!
//! - STARTUP doubles the rate every RTT.
//! - DRAIN removes the queue of STARTUP.
//! - `PROBE_BW` (DOWN, CRUISE, REFILL, UP) probes when Reno would have recovered, at the latest after three
//!   seconds.
//! - `PROBE_RTT` halves the flight for 200 ms every five seconds to measure the minimum RTT.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 (6 July 2026), section 5. The code uses the draft's names.
//!
//! # Parameters
//! `congestion = "bbr3"`, with `pacing = "rate"` and `recovery = "sack"`. The waits between probes are drawn
//! from the flow's clock phase.
//!
//! # Limitations
//! - ECN is ignored; the draft leaves the reaction open (section 3.7).
//! - Segments are counted as whole. Submodules list their own limitations.
//! - An RTO leaves one segment, also if RACK considers others in flight, instead of one more than these.
//! - Google's code drains at a gain of 0.35 (here 0.5), and bounds the added ACK aggregation by 100 ms of data. Linux
//!   sends at least two segments together. The evidence compares with a recorded kernel.

mod aggregation;
mod control;
mod flights;
mod full_pipe;
mod long_term;
mod max_bw;
mod probe_bw;
mod probe_rtt;
mod short_term;
mod startup;
mod state;
#[cfg(test)]
mod tests;
mod undo;

use optcp_units::{Duration, Time};

use super::bbr::bandwidth::{Bandwidth, Gain, Rounds};
use super::controller::{Controller, Start};
use super::draw::Draw;
use super::event::{AckEvent, DeliveryEvent, Repair};
use crate::delivery::DeliveryRate;
use crate::pacing::UNMEASURED;
use crate::seq::Seq;
use crate::window::Window;

use aggregation::AckAggregation;
use flights::{Flight, Flights};
use full_pipe::FullPipe;
use max_bw::MaxBandwidth;
use state::State;

/// `BBR.Beta` (section 2.8).
const BETA: Gain = Gain(7, 10);
/// `BBR.MinPipeCwnd` (section 2.8).
const LEAST_WINDOW: u32 = 4;

/// `BETA` of whole segments.
fn seven_tenths(segments: u32) -> u32 {
    u32::try_from(u64::from(segments) * 7 / 10).unwrap_or(u32::MAX)
}

/// State of BBR.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    state: State,
    rounds: Rounds,
    flights: Flights,
    max: MaxBandwidth,
    /// `BBR.bw`: the maximum bandwidth, bounded by recent losses.
    bandwidth: Bandwidth,
    rtt: probe_rtt::MinRtt,
    full: FullPipe,
    short: short_term::ShortTerm,
    long: long_term::LongTerm,
    cycle: probe_bw::Cycle,
    places: startup::Places,
    aggregation: AckAggregation,
    undo: undo::Undo,
    /// The initial window in segments, once it was used.
    initial: u32,
    /// The time between segments, once there is a rate.
    interval: Option<Duration>,
    /// `true`: `interval` is based on a measured RTT.
    measured: bool,
    /// Repair in progress at the last ACK.
    repair: Repair,
    /// `true`: the losses of the last episode were spurious.
    undone: bool,
    /// `true`: the whole window was used in this RTT; second field: in this or the last one.
    used_window: bool,
    uses_window: bool,
    /// `true`: sending resumes after a pause.
    idle_restart: bool,
    /// The window to come back to.
    prior_window: u32,
    draw: Draw,
}

/// An ACK and its immediate results.
struct Present<'a> {
    ack: &'a DeliveryEvent,
    /// Sample of the delivery rate; zero without one.
    bandwidth: Bandwidth,
    /// `true`: something other than the network limited the rate.
    limited: bool,
    /// State when the sampled segment was sent.
    flight: Option<Flight>,
    /// Segments of the connection delivered so far.
    delivered: u64,
    /// The window in segments.
    window: u32,
    mss: f64,
}

impl Controller for Bbr3 {
    type Keys = ();

    const WANTS_RATES: bool = true;
    const PACES: bool = true;
    const MARKS_ARE_LOSSES: bool = false;

    fn new((): &(), start: Start) -> Self {
        Bbr3 {
            state: State::Startup,
            rounds: Rounds::default(),
            flights: Flights::default(),
            max: MaxBandwidth::default(),
            bandwidth: Bandwidth::default(),
            rtt: probe_rtt::MinRtt::default(),
            full: FullPipe::default(),
            short: short_term::ShortTerm::default(),
            long: long_term::LongTerm::default(),
            cycle: probe_bw::Cycle::default(),
            places: startup::Places::default(),
            aggregation: AckAggregation::default(),
            undo: undo::Undo::default(),
            initial: 0,
            interval: None,
            measured: false,
            repair: Repair::Nothing,
            undone: false,
            used_window: false,
            uses_window: false,
            idle_restart: false,
            prior_window: 0,
            draw: Draw::new(start.clock_phase),
        }
    }

    /// The SYN's RTT is the least before there are data (`OnInit`).
    fn observe(&mut self, ack: &AckEvent) {
        if self.rtt.get().is_none() {
            self.rtt.on_measurement(ack.srtt, ack.now);
        }
    }

    fn on_sent(&mut self, seq: Seq, in_flight: u32, rate: &DeliveryRate) {
        self.flights.on_sent(seq, in_flight, rate.is_limited());
    }

    /// Section 5.5.10.2: `HandleLostPacket`.
    fn on_lost(&mut self, window: &Window, mss: f64, seq: Seq, now: Time, rate: &DeliveryRate) {
        let window = window.segments(mss);
        let flight = self.flights.on_lost(seq);
        self.places.on_lost(seq);
        if !self.short.lost {
            self.keep(window);
            self.save_bounds();
        }
        self.short.on_loss(rate.delivered());
        if let Some(flight) = flight
            && self.cycle.samples()
            && self.flights.too_high(flight)
        {
            let in_flight = self.flights.at_loss(flight);
            self.on_too_high(in_flight, flight.limited, window, (now, rate.delivered()));
        }
    }

    /// Section 5.4.1: `HandleRestartFromIdle`.
    fn on_restart(&mut self, window: &mut Window, mss: f64, now: Time, rate: &DeliveryRate) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if let State::ProbeBw(_) = self.state {
            self.set_rate_with(Gain::ONE);
        }
        let restored = self.check_probe_rtt_done(now, rate.delivered());
        window.cwnd = window.cwnd.max(f64::from(restored) * mss);
    }

    /// `OnEnterFastRecovery`: the window changes with deliveries only.
    fn on_loss(&mut self, window: &Window, mss: f64, _amount: f64) -> Option<f64> {
        self.keep(window.segments(mss));
        self.save_bounds();
        None
    }

    /// Marks are not looked at.
    fn on_mark(&mut self, _window: &Window, _mss: f64, _amount: f64) -> Option<f64> {
        None
    }

    /// `OnEnterRTO`.
    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        let window = window.segments(mss);
        self.begin_with(window);
        self.keep(window);
        self.save_bounds();
        self.repair = Repair::Timeout;
    }

    /// The present ACK takes the answer to the losses back, at its end.
    fn on_undo(&mut self, _window: &mut Window, _before: Window) {
        self.undone = true;
    }

    fn on_idle(&mut self, _window: &mut Window, _mss: f64, _restart: f64) {}

    /// At the rate in force.
    fn interval(&self, window: u32, srtt: Option<Duration>) -> Option<Duration> {
        let first = || control::first_interval(window, srtt.unwrap_or(UNMEASURED));
        Some(self.interval.unwrap_or_else(first))
    }

    /// Section 5.2.3: `UpdateOnACK`.
    fn on_delivery(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        rate: &mut DeliveryRate,
    ) {
        let before = window.segments(mss);
        self.begin_with(before);
        let sample = ack.sample.as_ref();
        let mut at = Present {
            ack,
            bandwidth: sample
                .map_or(Bandwidth::default(), |s| Bandwidth::of(s.delivered, s.interval)),
            limited: sample.is_some_and(|sample| sample.limited),
            flight: sample.and_then(|sample| self.flights.get(sample.seq)),
            delivered: rate.delivered(),
            window: before,
            mss,
        };
        self.flights.forget_below(rate.una());
        self.end_repair(&mut at);
        self.take_sample(&at);
        self.full_pipe(&at);
        self.check_startup(&at);
        self.check_drain(&at);
        self.update_cycle(&at);
        self.rtt.on_measurement(ack.rtt, ack.now);
        let restored = self.check_probe_rtt(&at, rate);
        if let Some(sample) = sample {
            self.short.end_ack(sample, at.bandwidth);
        }
        self.bound_bandwidth();
        self.set_rate(ack.srtt);
        window.cwnd = f64::from(self.window_after(at.window.max(restored), &at)) * mss;
    }
}

impl Bbr3 {
    /// The first window is the initial one.
    fn begin_with(&mut self, window: u32) {
        if self.initial == 0 {
            self.initial = window;
        }
    }

    /// `SaveCwnd`.
    fn keep(&mut self, window: u32) {
        let reduced = self.repair != Repair::Nothing || self.state.is_probe_rtt();
        self.prior_window = if reduced { self.prior_window.max(window) } else { window };
    }

    /// The window comes back when losses are repaired or were none.
    fn end_repair(&mut self, at: &mut Present<'_>) {
        let before = std::mem::replace(&mut self.repair, at.ack.repair);
        let undone = std::mem::take(&mut self.undone);
        if undone || (before != Repair::Nothing && self.repair == Repair::Nothing) {
            at.window = at.window.max(self.prior_window);
        }
        if undone {
            self.take_back(at.delivered);
        }
        if self.repair == Repair::Nothing {
            self.undo.close();
        }
    }

    /// `UpdateLatestDeliverySignals`, `UpdateCongestionSignals` and `UpdateACKAggregation`.
    fn take_sample(&mut self, at: &Present<'_>) {
        (self.rounds.starts, self.short.ends_round) = (false, false);
        if let Some(sample) = &at.ack.sample {
            self.short.on_sample(sample, at.bandwidth, at.delivered);
            self.rounds.on_sample(sample, at.delivered);
            self.cycle.rounds += u32::from(self.rounds.starts);
            self.max.on_sample(at.bandwidth, at.limited);
        }
        self.note_use(at.ack.prior_in_flight >= at.window);
        if self.short.ends_round {
            if self.short.lost && !self.state.probes_for_bandwidth() {
                self.short.bound(self.max.get(), at.window);
            }
            self.short.lost = false;
        }
        if at.ack.delivered > 0 {
            let round = (self.rounds.count, self.full.reached);
            let DeliveryEvent { now, delivered, .. } = *at.ack;
            self.aggregation.on_ack(now, delivered, at.window, self.bandwidth, round);
        }
    }

    /// Notes whether the window was fully used until this ACK, or in the last RTT
    /// (`C.is_cwnd_limited`).
    fn note_use(&mut self, all: bool) {
        self.used_window |= all;
        self.uses_window |= all;
        if self.rounds.starts {
            self.uses_window = std::mem::take(&mut self.used_window);
        }
    }

    /// `CheckFullBWReached`.
    fn full_pipe(&mut self, at: &Present<'_>) {
        if self.rounds.starts && !at.limited {
            self.full.check(at.bandwidth);
        }
    }
}
