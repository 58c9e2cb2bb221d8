//! Pacing rate and congestion window of BBR version 3.
//!
//! # Model
//! The rate is the bandwidth times the gain of the state, minus 1 %. It only increases until the
//! pipe is full. The window grows by the delivered data, up to the BDP times the gain plus the ACK
//! aggregation. Losses bound it.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 sections 5.5.8 and 5.6.
//!
//! # Parameters
//! `pacing_burst`: number of segments that leave at once.
//!
//! # Limitations
//! Products are rounded up to whole segments, as in Linux. The quantum is only used for the budget of three
//! quanta; bursts have `pacing_burst` segments at any rate.

use optcp_units::Duration;

use super::state::{Phase, State};
use super::{Bandwidth, Bbr3, Gain, LEAST_WINDOW, Present};
use crate::pacing::UNMEASURED;

/// `BBR.PacingMarginPercent`.
const MARGIN: Gain = Gain(99, 100);
/// The maximum quantum in bytes (section 5.6.3).
const GREATEST_QUANTUM: u128 = 65_536;
/// Picoseconds in which a quantum is sent.
const QUANTUM_PS: u128 = 1_000_000_000;

impl Bbr3 {
    /// `BoundBWForModel`.
    pub(super) fn bound_bandwidth(&mut self) {
        let max = self.max.get();
        self.bandwidth = self.short.bandwidth.map_or(max, |bound| bound.min(max));
    }

    /// `BDPMultiple`, with `BBR.bw`.
    pub(super) fn product(&self, gain: Gain) -> u32 {
        self.product_of(self.bandwidth, gain)
    }

    pub(super) fn product_of(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.rtt.get().map_or(self.initial, |span| bandwidth.segments_in(span, gain))
    }

    /// `QuantizationBudget`, in segments.
    pub(super) fn with_budgets(&self, segments: u32, mss: f64) -> u32 {
        let most = segments.max(self.budget(mss)).max(LEAST_WINDOW);
        most.saturating_add(if self.state == State::UP { 2 } else { 0 })
    }

    /// `Inflight`.
    pub(super) fn in_flight(&self, gain: Gain, mss: f64) -> u32 {
        self.with_budgets(self.product(gain), mss)
    }

    /// Returns three quanta in segments (`BBR.offload_budget`). A quantum is the data sent in a
    /// millisecond: at least two segments, at most 64 KB.
    fn budget(&self, mss: f64) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a segment is a whole number of bytes"
        )]
        let mss = (mss as u128).max(1);
        let interval = u128::from(self.interval.unwrap_or(UNMEASURED).as_ps().max(1));
        let quantum = (mss * QUANTUM_PS / interval).min(GREATEST_QUANTUM).max(2 * mss);
        u32::try_from((3 * quantum).div_ceil(mss)).unwrap_or(u32::MAX)
    }

    /// `SetPacingRate`.
    pub(super) fn set_rate(&mut self, srtt: Option<Duration>) {
        if let Some(srtt) = srtt.filter(|_| !self.measured) {
            self.measured = true;
            self.interval = Some(first_interval(self.initial, srtt));
        }
        self.set_rate_with(self.state.pacing_gain());
    }

    /// `SetPacingRateWithGain`.
    pub(super) fn set_rate_with(&mut self, Gain(up, down): Gain) {
        if self.bandwidth == Bandwidth::default() {
            return;
        }
        let interval = self.bandwidth.interval(Gain(up * MARGIN.0, down * MARGIN.1));
        if self.full.reached || self.interval.is_none_or(|present| interval < present) {
            self.interval = Some(interval);
        }
    }

    /// `SetCwnd`: the window after an ACK that found it at `window` segments.
    pub(super) fn window_after(&self, mut window: u32, at: &Present<'_>) -> u32 {
        let product = self.product(self.state.window_gain());
        let most = self.with_budgets(product.saturating_add(self.aggregation.extra()), at.mss);
        if self.full.reached {
            window = window.saturating_add(at.ack.delivered).min(most);
        } else if window < most || at.delivered < u64::from(self.initial) {
            window = window.saturating_add(at.ack.delivered);
        }
        window = window.max(LEAST_WINDOW);
        if self.state.is_probe_rtt() {
            window = window.min(self.probe_window());
        }
        window.min(self.cap())
    }

    /// `BoundCwndForModel`.
    fn cap(&self) -> u32 {
        let long = match self.state {
            State::ProbeBw(Phase::Cruise) | State::ProbeRtt { .. } => self.long.with_headroom(),
            State::ProbeBw(_) => self.long.limit,
            State::Startup | State::Drain { .. } => None,
        };
        let bounds = [long, self.short.in_flight];
        bounds.into_iter().flatten().min().map_or(u32::MAX, |cap| cap.max(LEAST_WINDOW))
    }
}

/// `InitPacingRate`: the initial window in an RTT, at the gain of STARTUP.
pub(super) fn first_interval(window: u32, round_trip: Duration) -> Duration {
    let bandwidth = Bandwidth::of(u64::from(window), round_trip.max(Duration::from_us(1)));
    bandwidth.interval(State::Startup.pacing_gain())
}
