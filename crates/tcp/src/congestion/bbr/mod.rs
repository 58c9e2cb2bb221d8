//! BBR, version 1.
//!
//! # Model
//! The sender estimates the bandwidth and the minimum RTT of the path, paces at the bandwidth and keeps about
//! one BDP in flight.
//!
//! - STARTUP doubles the rate every RTT to find the bandwidth.
//! - DRAIN removes the queue of STARTUP.
//! - `PROBE_BW` alternates between higher and lower rates in cycles of eight minimum RTTs.
//! - `PROBE_RTT` keeps four segments in flight for 200 ms every ten seconds, to drain the queue and measure
//!   the minimum RTT.
//!
//! Losses do not reduce the rate. In the first RTT of a recovery, BBR sends as much as is delivered;
//! afterwards it restores the window. Two similar intervals with many losses indicate a policer, whose
//! bandwidth then replaces the estimate for 48 RTTs.
//!
//! # References
//! draft-cardwell-iccrg-bbr-congestion-control-00 section 4. Additional behaviour of Linux 6
//! (`tcp_bbr.c`): pacing 1 % below the bandwidth, allowance for ACK aggregation, losses subtracted
//! from the window, four segments after an RTO. It also detects policers. The end of DRAIN and of phases depends on the flight
//! when the next segment leaves.
//!
//! # Parameters
//! `congestion = "bbr"`, with `pacing = "rate"` and `recovery = "sack"`. The first phase of the cycle is
//! drawn from the flow's clock phase; it is never the draining phase.
//!
//! # Limitations
//! - Without segmentation offload, segments leave individually. The window has space for three bursts as in Linux.
//! - An RTO leaves one segment, also if RACK considers others in flight.
//! - ECN is ignored.

mod aggregation;
pub(in crate::congestion) mod bandwidth;
mod long_term;
mod memo;
mod min_rtt;
#[cfg(test)]
mod tests;

use optcp_units::{Duration, Time};

use super::controller::{Controller, Start};
use super::draw::Draw;
use super::event::{DeliveryEvent, Repair};
use crate::delivery::DeliveryRate;
use crate::pacing::UNMEASURED;
use crate::window::Window;

use aggregation::AckAggregation;
use bandwidth::{Bandwidth, BandwidthModel, Gain};
use long_term::{LongTerm, Report};
use memo::Memo;
use min_rtt::MinRtt;

/// 2 / ln 2: the least gain that doubles the rate each RTT (section 4.3.2.1).
const HIGH: Gain = Gain(2885, 1000);
/// Its inverse (section 4.3.3).
const DRAIN: Gain = Gain(1000, 2885);
/// Pacing gains of the phases of `PROBE_BW` (section 4.3.4.1).
const CYCLE: [Gain; 8] =
    [Gain(5, 4), Gain(3, 4), Gain::ONE, Gain::ONE, Gain::ONE, Gain::ONE, Gain::ONE, Gain::ONE];
/// Gain of the window in `PROBE_BW`, for ACKs that come late (section 4.2.3.2).
const WINDOW: Gain = Gain(2, 1);
/// Linux paces at 99 % of the draft's rate, so that queues run empty.
const MARGIN: Gain = Gain(99, 100);
/// BBRMinPipeCwnd (section 4.2.3.3).
const LEAST_WINDOW: u32 = 4;
/// Duration of `PROBE_RTT` at the minimum window (section 4.3.5).
const PROBE_RTT: Duration = Duration::from_ms(200);
/// Up to this number of segments, the window grows regardless of the model.
const INITIAL: u64 = 10;
/// The bandwidth-delay product before an RTT is measured.
const UNKNOWN_PRODUCT: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw {
        phase: usize,
        since: Time,
    },
    /// Until when the least window is held, once the flight is down to it, and whether an RTT has
    /// passed since.
    ProbeRtt {
        until: Option<Time>,
        round: bool,
    },
}

/// Purpose of a BDP computation.
#[derive(Clone, Copy, Debug)]
enum Use {
    Window = 0,
    Flight = 1,
}

/// State of BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    state: State,
    model: BandwidthModel,
    long_term: LongTerm,
    /// Deliveries up to the last ACK, and their time.
    delivered: (u64, Time),
    min_rtt: MinRtt,
    aggregation: AckAggregation,
    /// The time between segments, once there is a rate.
    interval: Option<Duration>,
    /// `true`: `interval` is based on a measured RTT.
    measured: bool,
    /// Repair in progress at the last ACK.
    repair: Repair,
    /// `true`: the first RTT of a recovery is in progress.
    conserves: bool,
    /// The window to come back to.
    prior_window: u32,
    /// `true`: no ACK has delivered anything since sending resumed after a pause.
    idle_restart: bool,
    draw: Draw,
    known: Known,
}

/// Last results with their inputs. Bandwidth and minimum RTT rarely change, and 128-bit divisions are slow.
#[derive(Clone, Debug, Default)]
struct Known {
    /// BDPs for the window and for the allowed flight, in this order.
    products: [Memo<(Bandwidth, Duration, Gain), u32>; 2],
    interval: Memo<(Bandwidth, Gain), Duration>,
    burst: Memo<Duration, u32>,
}

impl Controller for Bbr {
    type Keys = ();

    const WANTS_RATES: bool = true;
    const PACES: bool = true;
    const MARKS_ARE_LOSSES: bool = false;

    fn new((): &(), start: Start) -> Self {
        Bbr {
            state: State::Startup,
            model: BandwidthModel::default(),
            long_term: LongTerm::default(),
            delivered: (0, Time::ZERO),
            min_rtt: MinRtt::default(),
            aggregation: AckAggregation::default(),
            interval: None,
            measured: false,
            repair: Repair::Nothing,
            conserves: false,
            prior_window: 0,
            idle_restart: false,
            draw: Draw::new(start.clock_phase),
            known: Known::default(),
        }
    }

    /// BBR uses deliveries, about which the SYN gives no information.
    fn on_lost_syn(&mut self, (): &(), _start: Start) {}

    /// Linux begins with the RTT of the SYN as the least one, which a full segment's serialization exceeds.
    fn on_handshake(&mut self, _window: &mut Window, _mss: f64, now: Time, rtt: Duration) {
        self.min_rtt.on_measurement(Some(rtt), now);
    }

    /// Section 4.3.4.4: after a pause segments leave at the bandwidth. Linux begins to count late ACKs anew, and ends a probe
    /// for the RTT that is over.
    fn on_restart(&mut self, window: &mut Window, mss: f64, now: Time, rate: &DeliveryRate) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.state {
            State::ProbeBw { .. } => self.pace_at(Gain::ONE),
            State::ProbeRtt { until: Some(until), .. } if now > until => {
                let restored = self.end_probe_rtt(now, rate.delivered_at());
                window.cwnd = window.cwnd.max(f64::from(restored) * mss);
            }
            _ => {}
        }
    }

    /// The window changes with deliveries only.
    fn on_loss(&mut self, window: &Window, mss: f64, _amount: f64) -> Option<f64> {
        self.keep(window.segments(mss));
        None
    }

    /// Marks are not looked at.
    fn on_mark(&mut self, _window: &Window, _mss: f64, _amount: f64) -> Option<f64> {
        None
    }

    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        self.keep(window.segments(mss));
        self.repair = Repair::Timeout;
        self.model.search_again();
        self.sample_long_term(mss, Report { lost: 1, starts: true, ..self.report() });
    }

    /// Spurious losses: the end of the repair restores the window.
    fn on_undo(&mut self, _window: &mut Window, _before: Window) {
        self.model.search_again();
        self.long_term.reset();
    }

    fn on_idle(&mut self, _window: &mut Window, _mss: f64, _restart: f64) {}

    /// At the rate in force.
    fn interval(&self, window: u32, srtt: Option<Duration>) -> Option<Duration> {
        Some(self.interval.unwrap_or_else(|| first_interval(window, srtt.unwrap_or(UNMEASURED))))
    }

    /// Section 4.1: `BBRUpdateModelAndState`, then `BBRUpdateControlParameters`.
    fn on_delivery(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        rate: &mut DeliveryRate,
    ) {
        let before = window.segments(mss);
        self.model.on_sample(ack.sample.as_ref(), rate.delivered());
        let starts = self.model.rounds.starts;
        if starts {
            self.conserves = false;
        }
        self.delivered = (rate.delivered(), rate.delivered_at());
        let limited = ack.sample.map(|sample| sample.limited);
        match limited {
            Some(limited) => {
                let report = Report { lost: ack.lost, starts, limited, ..self.report() };
                self.sample_long_term(mss, report);
            }
            None => self.long_term.count_lost(ack.lost),
        }
        if ack.sample.is_some() && ack.delivered > 0 {
            let bandwidth = self.bandwidth();
            self.aggregation.on_ack(ack.now, ack.delivered, before, bandwidth, starts);
        }
        self.cycle(mss, ack, rate);
        self.model.check_full_pipe(ack.sample.is_some_and(|sample| sample.limited));
        self.check_drain(window, mss, ack, rate);
        let floor = self.check_probe_rtt(before, ack, rate);
        self.set_interval(before, ack.srtt);
        let segments = self.window_after(before.max(floor), mss, ack, rate.delivered());
        window.cwnd = f64::from(segments) * mss;
    }
}

impl Bbr {
    /// A recovery begins, the timer fired, or the RTT is probed: keeps the window (section 4.2.3.4,
    /// `BBRSaveCwnd`).
    fn keep(&mut self, window: u32) {
        let reduced =
            self.repair != Repair::Nothing || matches!(self.state, State::ProbeRtt { .. });
        self.prior_window = if reduced { self.prior_window.max(window) } else { window };
    }

    /// Returns the estimated bandwidth of the path, or of a policer.
    fn bandwidth(&self) -> Bandwidth {
        self.long_term.get().unwrap_or_else(|| self.model.max())
    }

    /// Returns a report without losses.
    fn report(&self) -> Report {
        let (delivered, delivered_at) = self.delivered;
        let probes = matches!(self.state, State::ProbeBw { .. });
        Report { delivered, delivered_at, lost: 0, starts: false, limited: false, probes }
    }

    /// Samples the long-term bandwidth. When its use ends, probing starts again.
    fn sample_long_term(&mut self, mss: f64, report: Report) {
        self.long_term.count_lost(report.lost);
        if self.long_term.on_report(&report, mss) {
            self.probe_bandwidth(report.delivered_at);
        }
    }

    fn pacing_gain(&self) -> Gain {
        match self.state {
            State::Startup => HIGH,
            State::Drain => DRAIN,
            State::ProbeBw { .. } if self.long_term.get().is_some() => Gain::ONE,
            State::ProbeBw { phase, .. } => CYCLE[phase],
            State::ProbeRtt { .. } => Gain::ONE,
        }
    }

    fn window_gain(&self) -> Gain {
        match self.state {
            State::Startup | State::Drain => HIGH,
            State::ProbeBw { .. } => WINDOW,
            State::ProbeRtt { .. } => Gain::ONE,
        }
    }

    /// `gain` times the bandwidth-delay product, without anything added; `use_of` tells what it is asked for.
    fn product(&mut self, gain: Gain, use_of: Use) -> u32 {
        let Some(span) = self.min_rtt.get() else { return UNKNOWN_PRODUCT };
        let bandwidth = match use_of {
            Use::Window => self.bandwidth(),
            Use::Flight => self.model.max(),
        };
        let known = &mut self.known.products[use_of as usize];
        known.get((bandwidth, span, gain), || bandwidth.segments_in(span, gain))
    }

    /// Adds space for three bursts: in the sender, at the receiver and on the path (section 4.2.2).
    /// Linux makes the sum even, and adds two while it probes for bandwidth.
    fn with_bursts(&mut self, segments: u32, mss: f64) -> u32 {
        let sum = segments.saturating_add(3 * self.burst(mss));
        let probes = matches!(self.state, State::ProbeBw { phase: 0, .. });
        sum.saturating_add(sum % 2).saturating_add(if probes { 2 } else { 0 })
    }

    /// Returns the burst of a sender with segmentation offload: the data sent in 1/1024 s, at most
    /// 64 KB and 127 segments. It has at least two segments, or one below 1.2 Mb/s.
    fn burst(&mut self, mss: f64) -> u32 {
        const SLOW: f64 = 150_000.0;
        let interval = self.interval.unwrap_or(UNMEASURED);
        self.known.burst.get(interval, || {
            let bytes_per_second = mss * 1e12 / interval.as_ps().max(1) as f64;
            let least = if bytes_per_second < SLOW { 1 } else { 2 };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "saturates, and a rate is not negative"
            )]
            let segments = ((bytes_per_second / 1024.0).min(65_536.0) / mss) as u32;
            segments.clamp(least, 127)
        })
    }

    /// Returns the allowed flight at `gain` (`BBRInflight`).
    fn in_flight(&mut self, gain: Gain, mss: f64) -> u32 {
        let product = self.product(gain, Use::Flight);
        self.with_bursts(product, mss)
    }

    /// Returns the flight when the next segment leaves, from the flight at the ACK (`bbr_packets_in_net_at_edt`): segments that
    /// arrive until then are subtracted. A probing phase adds the burst that leaves.
    fn at_departure(&mut self, in_flight: u32, mss: f64, ack: &DeliveryEvent) -> u32 {
        let Some(wait) = ack.wait else { return in_flight };
        let leaving = if self.pacing_gain().is_above_one() { self.burst(mss) } else { 0 };
        let arriving = self.bandwidth().completed_in(wait);
        (in_flight + leaving).saturating_sub(u32::try_from(arriving).unwrap_or(u32::MAX))
    }

    /// Ends a phase after one minimum RTT (section 4.3.4.3). The probing phase also needs a flight
    /// at its target or a loss. The draining phase ends earlier if the queue is empty.
    fn cycle(&mut self, mss: f64, ack: &DeliveryEvent, rate: &DeliveryRate) {
        let State::ProbeBw { phase, since } = self.state else { return };
        let now = rate.delivered_at();
        let full = self.min_rtt.get().is_some_and(|least| now.saturating_since(since) > least);
        let gain = self.pacing_gain();
        let over = if gain == Gain::ONE {
            full
        } else if gain.is_above_one() {
            full && (ack.lost > 0
                || self.at_departure(ack.prior_in_flight, mss, ack) >= self.in_flight(gain, mss))
        } else {
            full || self.at_departure(ack.prior_in_flight, mss, ack)
                <= self.in_flight(Gain::ONE, mss)
        };
        if over {
            self.state = State::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: now };
        }
    }

    /// Section 4.3.3.
    fn check_drain(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        rate: &DeliveryRate,
    ) {
        if self.state == State::Startup && self.model.filled_pipe() {
            self.state = State::Drain;
            window.ssthresh = f64::from(self.in_flight(Gain::ONE, mss)) * mss;
        }
        if self.state == State::Drain
            && self.at_departure(ack.in_flight, mss, ack) <= self.in_flight(Gain::ONE, mss)
        {
            self.probe_bandwidth(rate.delivered_at());
        }
    }

    /// Section 4.3.4.2: any phase but the one that drains comes first.
    fn probe_bandwidth(&mut self, now: Time) {
        let drawn = usize::try_from(self.draw.next() % 7).unwrap_or(0);
        let phase = if drawn == 0 { 0 } else { drawn + 1 };
        self.state = State::ProbeBw { phase, since: now };
    }

    /// Sections 4.1.2.2 and 4.3.5; gives the window that the end of a probe restores, or nothing.
    fn check_probe_rtt(
        &mut self,
        window: u32,
        ack: &DeliveryEvent,
        rate: &mut DeliveryRate,
    ) -> u32 {
        let expired = self.min_rtt.on_measurement(ack.rtt, ack.now);
        // The first RTT after a pause comes from an empty queue, so that PROBE_RTT is unnecessary.
        let resumes = self.idle_restart;
        self.idle_restart &= ack.delivered == 0;
        if expired && !resumes && !matches!(self.state, State::ProbeRtt { .. }) {
            self.state = State::ProbeRtt { until: None, round: false };
            self.keep(window);
        }
        let State::ProbeRtt { until, round } = self.state else { return 0 };
        // Deliveries of the minimum window do not indicate the bandwidth.
        rate.mark_limited(ack.in_flight);
        let Some(until) = until else {
            if ack.in_flight <= LEAST_WINDOW {
                self.state = State::ProbeRtt { until: Some(ack.now + PROBE_RTT), round: false };
                self.model.rounds.restart(rate.delivered());
            }
            return 0;
        };
        let round = round || self.model.rounds.starts;
        self.state = State::ProbeRtt { until: Some(until), round };
        if !round || ack.now <= until {
            return 0;
        }
        self.end_probe_rtt(ack.now, rate.delivered_at())
    }

    /// The minimum RTT has been looked for; gives the window that this restores.
    fn end_probe_rtt(&mut self, now: Time, delivered_at: Time) -> u32 {
        self.min_rtt.renew(now);
        if self.model.filled_pipe() {
            self.probe_bandwidth(delivered_at);
        } else {
            self.state = State::Startup;
        }
        self.prior_window
    }

    /// Section 4.2.1. Until the pipe is full the rate only rises.
    fn set_interval(&mut self, window: u32, srtt: Option<Duration>) {
        if let Some(srtt) = srtt.filter(|_| !self.measured) {
            self.measured = true;
            self.interval = Some(first_interval(window, srtt));
        }
        self.pace_at(self.pacing_gain());
    }

    /// The rate becomes `gain` times the bandwidth.
    fn pace_at(&mut self, Gain(up, down): Gain) {
        let (bandwidth, gain) = (self.bandwidth(), Gain(up * MARGIN.0, down * MARGIN.1));
        if bandwidth == Bandwidth::default() {
            return;
        }
        let interval = self.known.interval.get((bandwidth, gain), || bandwidth.interval(gain));
        if self.model.filled_pipe() || self.interval.is_none_or(|present| interval < present) {
            self.interval = Some(interval);
        }
    }

    /// Sections 4.2.3.4 to 4.2.3.6: the window in segments.
    fn window_after(&mut self, window: u32, mss: f64, ack: &DeliveryEvent, delivered: u64) -> u32 {
        let window =
            if ack.delivered > 0 { self.modulated(window, mss, ack, delivered) } else { window };
        match self.state {
            State::ProbeRtt { .. } => window.min(LEAST_WINDOW),
            _ => window,
        }
    }

    fn modulated(&mut self, window: u32, mss: f64, ack: &DeliveryEvent, delivered: u64) -> u32 {
        let mut window = window.saturating_sub(ack.lost).max(1);
        let before = std::mem::replace(&mut self.repair, ack.repair);
        if ack.repair == Repair::Losses && before != Repair::Losses {
            self.conserves = true;
            self.model.rounds.restart(delivered);
            window = ack.in_flight + ack.delivered;
        } else if ack.repair == Repair::Nothing && before != Repair::Nothing {
            self.conserves = false;
            window = window.max(self.prior_window);
        }
        if self.conserves {
            return window.max(ack.in_flight + ack.delivered);
        }
        let filled = self.model.filled_pipe();
        let bandwidth = self.bandwidth();
        let excess = if filled { self.aggregation.allowance(bandwidth) } else { 0 };
        let product = self.product(self.window_gain(), Use::Window);
        let target = self.with_bursts(product.saturating_add(excess), mss);
        if filled {
            window = window.saturating_add(ack.delivered).min(target);
        } else if window < target || delivered < INITIAL {
            window = window.saturating_add(ack.delivered);
        }
        window.max(LEAST_WINDOW)
    }
}

/// The time between segments before there is a bandwidth: the window in an RTT, at the gain of
/// STARTUP (section 4.2.1).
fn first_interval(window: u32, round_trip: Duration) -> Duration {
    let bandwidth = Bandwidth::of(u64::from(window), round_trip.max(Duration::from_us(1)));
    bandwidth.interval(Gain(HIGH.0 * MARGIN.0, HIGH.1 * MARGIN.1))
}
