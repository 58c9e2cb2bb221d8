//! NSCC: network-signaled congestion control of Ultra Ethernet.
//!
//! # Model
//! The window follows the queueing delay and the mark of each ACK. The queueing delay is the RTT above its minimum.
//! An unmarked ACK increases the window: proportionally to the distance from the target delay, or steadily above it.
//! A marked ACK decreases it if the average delay is above the target, at most once per minimum RTT. A marked ACK with
//! less delay changes nothing: spraying avoids a single busy path. A trimmed segment decreases the window by
//! its size. If fewer bytes than an eighth of the maximum window arrived in a period with a trimmed segment, the
//! window becomes these bytes (Quick Adapt).
//!
//! # References
//! Ultra Ethernet specification 1.0, section 3.6.13: four cases, Quick Adapt, and the constants (Table 3-82). The text
//! of the specification was not compared. Rules, constants and table numbers come from two public implementations:
//! `uec.cpp` of the consortium's htsim, and a window for ns-3 that cites each section.
//! T. Bonato and others: *FASTFLOW: Flexible Adaptive Congestion Control for High-Performance Datacenters*, arXiv
//! 2404.01630 (the predecessor).
//!
//! # Parameters
//! `nscc_base_rtt`, `nscc_bdp`. Needs SACK and ECN. Intended for `loss_detection = "trimmed"`.
//!
//! # Limitations
//! - The first window is `initial_window`; in the specification it is the maximum window.
//! - The specification asks for the average delay of the last minimum RTT, without a computation. As in the window for
//!   ns-3, each delay has the weight of the time since the previous one in minimum RTTs, at most 1. In htsim the weight is
//!   0.0125, and an unmarked delay above the target counts as a quarter of the minimum RTT.
//! - Losses that ACKs reveal count as trimmed segments with any `loss_detection`. At an RTO, the segments that are
//!   declared lost decrease the window by their sizes, and one segment leaves before the next ACK.
//! - The target delay is the one of networks that trim. In these, delay alone does not trigger Quick Adapt; in htsim it
//!   does, from four targets on.
//! - An ACK of several segments counts as marked if one of them is.
//! - The receiver's penalty (`Rcv_Cwnd_Pend`) and credits (RCCC) are left out.

#[cfg(test)]
mod tests;

use optcp_units::{Bytes, Duration, Time};

use super::controller::{Controller, NeedsEcn, Start, keys};
use super::event::{AckEvent, DeliveryEvent};
use crate::delivery::DeliveryRate;
use crate::seq::Seq;
use crate::window::Window;

keys! {
    /// Parameters of NSCC.
    pub struct NsccKeys {
        /// RTT without queueing, until a lower one is measured.
        nscc_base_rtt: Duration = Duration::from_us(12), "Ultra Ethernet specification 1.0, Table 3-82: the reference network";
        /// Link rate times `nscc_base_rtt`.
        nscc_bdp: Bytes = Bytes::new(150_000), "Ultra Ethernet specification 1.0, Table 3-82: 100 Gb/s times 12 us";
    }
}

/// Reference network (Table 3-82): 100 Gb/s and 12 us.
const REFERENCE_BDP: f64 = 150_000.0;
const REFERENCE_RTT_PS: f64 = 12e6;
/// Target delay in base RTTs, with trimming (Table 3-82): numerator and denominator.
const TARGET: (u64, u64) = (3, 4);
/// Maximum window in BDPs (Table 3-83).
const MAX_WINDOW: f64 = 1.5;
/// Segments of the proportional increase (Table 3-82, alpha).
const PROPORTIONAL: f64 = 4.0;
/// Segments of the fair increase (Table 3-82, fi).
const FAIR: f64 = 5.0;
/// Share of the fast increase (Table 3-82, `fi_scale`).
const FAST: f64 = 0.25;
/// Segments added per period (Table 3-82, eta).
const ETA: f64 = 0.15;
/// Share of the excess delay by which the window decreases (Table 3-82, gamma).
const GAMMA: f64 = 0.8;
/// Minimum factor of a decrease (Table 3-82, `max_md_jump`).
const LEAST_FACTOR: f64 = 0.5;
/// Part of the maximum window below which Quick Adapt acts: 2 to the power of `qa_gate` (Table 3-82).
const GATE: f64 = 8.0;
/// Segments after which the increases take effect (Table 3-82, `adjust_bytes_threshold`).
const ADJUST: f64 = 8.0;
/// Delay that counts as none in the fast increase: the specification has "about 0", and htsim 1 us.
const CLEAR_PS: f64 = 1e6;

/// State of NSCC. Amounts are in bytes.
#[derive(Clone, Debug)]
pub struct Nscc {
    keys: NsccKeys,
    /// Window; none before the first ACK or loss.
    cwnd: Option<f64>,
    /// Minimum RTT.
    base_rtt: Duration,
    /// The current ACK reports a mark.
    marked: bool,
    /// Trimmed segments that the current ACK reports.
    trimmed: u32,
    /// Sum of increases, times the window.
    increase: f64,
    /// Bytes since increases took effect, and the time of the last period.
    received: f64,
    adjusted: Option<Time>,
    average: AverageDelay,
    decreased: Option<Time>,
    fast: FastIncrease,
    adapt: QuickAdapt,
}

/// Average queueing delay in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct AverageDelay {
    delay_ps: f64,
    at: Option<Time>,
}

/// Increase by a share of the acknowledged bytes, after a window of bytes without queueing.
#[derive(Clone, Copy, Debug, Default)]
struct FastIncrease {
    bytes: f64,
    acts: bool,
}

/// Quick Adapt.
#[derive(Clone, Copy, Debug, Default)]
struct QuickAdapt {
    /// End of the period, and bytes delivered in it.
    until: Option<Time>,
    achieved: f64,
    /// A segment was trimmed since the last action.
    triggered: bool,
    /// Bytes whose marks precede the last action, and bytes since it.
    to_ignore: f64,
    ignored: f64,
}

/// Cause of an update.
#[derive(Clone, Copy, Debug)]
struct Signal {
    now: Time,
    /// The ACK reports a mark, or a trimmed segment.
    congested: bool,
    in_flight: f64,
}

impl AverageDelay {
    fn add(&mut self, now: Time, delay_ps: f64, base_rtt: Duration) {
        let weight = self.at.map_or(1.0, |at| {
            let elapsed = now.saturating_since(at).as_ps() as f64;
            (elapsed / base_rtt.as_ps().max(1) as f64).min(1.0)
        });
        self.delay_ps += weight * (delay_ps - self.delay_ps);
        self.at = Some(now);
    }
}

impl Nscc {
    /// Returns the factor of all increases: the BDP over the BDP of the reference network.
    fn scale(&self) -> f64 {
        self.keys.nscc_bdp.count() as f64 / REFERENCE_BDP
    }

    fn target(&self) -> Duration {
        let (part, whole) = TARGET;
        Duration::from_ps(self.keys.nscc_base_rtt.as_ps().saturating_mul(part) / whole)
    }

    fn target_ps(&self) -> f64 {
        self.target().as_ps() as f64
    }

    fn max_window(&self) -> f64 {
        let base_rtt = self.keys.nscc_base_rtt.as_ps().max(1) as f64;
        MAX_WINDOW * self.keys.nscc_bdp.count() as f64 * self.base_rtt.as_ps() as f64 / base_rtt
    }

    /// Keeps the window between a segment and the maximum.
    fn set(&mut self, cwnd: f64, mss: f64) {
        self.cwnd = Some(cwnd.min(self.max_window()).max(mss));
    }

    /// Returns the window; before the first ACK, the one of the connection.
    fn window(&mut self, window: &Window, mss: f64) -> f64 {
        if self.cwnd.is_none() {
            self.set(window.cwnd, mss);
        }
        self.cwnd.unwrap_or(mss)
    }

    /// Performs Quick Adapt at the end of a period. Returns whether the signal is complete.
    fn adapt(&mut self, mss: f64, signal: Signal) -> bool {
        let Signal { now, congested, in_flight } = signal;
        let gate = self.max_window() / GATE;
        let QuickAdapt { until, achieved, triggered, to_ignore, ignored } = self.adapt;
        let mut complete = ignored < to_ignore && congested;
        if !complete && until.is_none_or(|until| now >= until) {
            if until.is_some() && triggered && achieved < gate {
                self.set(achieved, mss);
                self.adapt.triggered = false;
                (self.adapt.to_ignore, self.adapt.ignored) = (in_flight, 0.0);
                complete = true;
            }
            self.adapt.achieved = 0.0;
            self.adapt.until = Some(now + self.base_rtt + self.target());
        }
        if complete {
            (self.increase, self.received) = (0.0, 0.0);
        }
        complete
    }

    /// Processes an ACK of `bytes` with an RTT.
    fn on_rtt(&mut self, mss: f64, bytes: f64, rtt: Duration, signal: Signal) {
        let now = signal.now;
        self.base_rtt = self.base_rtt.min(rtt);
        let delay_ps = rtt.as_ps() as f64 - self.base_rtt.as_ps() as f64;
        self.average.add(now, delay_ps, self.base_rtt);
        if self.adapt(mss, signal) {
            return;
        }
        match (signal.congested, delay_ps >= self.target_ps()) {
            (false, true) => self.increase += FAIR * mss * self.scale() * bytes,
            (false, false) => self.increase_below_target(mss, bytes, delay_ps),
            (true, true) => self.decrease(mss, now),
            (true, false) => {}
        }
        let period = |at| now.saturating_since(at) >= self.keys.nscc_base_rtt;
        let periodic = self.adjusted.is_none_or(period);
        if periodic || self.received > ADJUST * mss {
            let cwnd = self.cwnd.unwrap_or(mss);
            let eta = if periodic { ETA * mss * self.scale() } else { 0.0 };
            self.set(cwnd + self.increase / cwnd + eta, mss);
            if periodic {
                self.adjusted = Some(now);
            }
            (self.increase, self.received) = (0.0, 0.0);
        }
    }

    /// Increases the window proportionally to the distance from the target delay. After a window of bytes without
    /// queueing, increases it by a share of the acknowledged bytes instead.
    fn increase_below_target(&mut self, mss: f64, bytes: f64, delay_ps: f64) {
        let cwnd = self.cwnd.unwrap_or(mss);
        if delay_ps < CLEAR_PS {
            self.fast.bytes += bytes;
            self.fast.acts |= self.fast.bytes > cwnd;
        } else {
            self.fast = FastIncrease::default();
        }
        if self.fast.acts {
            self.set(cwnd + bytes * FAST * self.scale(), mss);
        } else {
            // alpha = 4 segments * scaling_a * scaling_b / target, with scaling_b = target / 12 us.
            let alpha = PROPORTIONAL * mss * self.scale() / REFERENCE_RTT_PS;
            self.increase += alpha * bytes * (self.target_ps() - delay_ps);
        }
    }

    /// Decreases the window by the excess of the average delay over the target, once per minimum RTT.
    fn decrease(&mut self, mss: f64, now: Time) {
        self.fast = FastIncrease::default();
        let (average, target_ps) = (self.average.delay_ps, self.target_ps());
        let recent = |at| now.saturating_since(at) <= self.base_rtt;
        if average > target_ps && !self.decreased.is_some_and(recent) {
            let factor = 1.0 - GAMMA * (average - target_ps) / average;
            let cwnd = self.cwnd.unwrap_or(mss);
            self.set(cwnd * factor.max(LEAST_FACTOR), mss);
            self.decreased = Some(now);
        }
    }

    /// Processes a trimmed segment.
    fn on_trimmed(&mut self, mss: f64, now: Time, in_flight: f64) {
        // The segment found a full queue, whose delay is unknown: the base RTT stands for it.
        self.average.add(now, self.keys.nscc_base_rtt.as_ps() as f64, self.base_rtt);
        self.adapt.ignored += mss;
        self.adapt.triggered = true;
        if !self.adapt(mss, Signal { now, congested: true, in_flight }) {
            self.set(self.cwnd.unwrap_or(mss) - mss, mss);
        }
    }
}

impl Controller for Nscc {
    type Keys = NsccKeys;

    const WANTS_RATES: bool = true;
    const ECN: NeedsEcn = NeedsEcn::Any;
    const MARKS_ARE_LOSSES: bool = false;

    fn new(keys: &NsccKeys, _start: Start) -> Self {
        Nscc {
            keys: *keys,
            cwnd: None,
            base_rtt: keys.nscc_base_rtt,
            marked: false,
            trimmed: 0,
            increase: 0.0,
            received: 0.0,
            adjusted: None,
            average: AverageDelay::default(),
            decreased: None,
            fast: FastIncrease::default(),
            adapt: QuickAdapt::default(),
        }
    }

    /// The mark of a SYN concerns no data.
    fn on_open(&mut self) {
        self.marked = false;
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.marked |= ack.marked > 0;
    }

    fn on_lost(&mut self, window: &Window, mss: f64, _seq: Seq, _now: Time, _rate: &DeliveryRate) {
        self.window(window, mss);
        self.trimmed += 1;
    }

    fn on_delivery(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        _rate: &mut DeliveryRate,
    ) {
        self.window(window, mss);
        let (marked, trimmed) =
            (std::mem::take(&mut self.marked), std::mem::take(&mut self.trimmed));
        let (bytes, in_flight) = (f64::from(ack.delivered) * mss, f64::from(ack.in_flight) * mss);
        self.adapt.ignored += bytes;
        self.adapt.achieved += bytes;
        self.received += bytes;
        if let Some(rtt) = ack.rtt.filter(|_| ack.delivered > 0) {
            let signal = Signal { now: ack.now, congested: marked, in_flight };
            self.on_rtt(mss, bytes, rtt, signal);
        }
        (0..trimmed).for_each(|_| self.on_trimmed(mss, ack.now, in_flight));
        window.cwnd = self.window(window, mss);
    }

    /// The window changes with deliveries and lost segments only.
    fn on_loss(&mut self, _window: &Window, _mss: f64, _amount: f64) -> Option<f64> {
        None
    }

    fn on_mark(&mut self, _window: &Window, _mss: f64, _amount: f64) -> Option<f64> {
        None
    }

    /// Segments that the RTO declares lost are not trimmed.
    fn on_timeout(&mut self, _window: &mut Window, mss: f64) {
        let lost = f64::from(std::mem::take(&mut self.trimmed));
        self.adapt.ignored += lost * mss;
        if let Some(cwnd) = self.cwnd {
            self.set(cwnd - lost * mss, mss);
        }
    }

    fn on_undo(&mut self, _window: &mut Window, _before: Window) {}

    fn on_idle(&mut self, window: &mut Window, mss: f64, restart: f64) {
        let cwnd = self.window(window, mss).min(restart);
        self.set(cwnd, mss);
        window.cwnd = self.window(window, mss);
    }
}
