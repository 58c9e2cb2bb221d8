//! BALIA: balanced linked adaptation of the subflows of a connection.
//!
//! # Model
//! With `x = w / rtt` of a subflow and `alpha = max x / x`, an ACK in congestion avoidance adds
//! `x / rtt / (sum of all x)^2 * (1 + alpha) / 2 * (4 + alpha) / 5` segments. A loss removes the share
//! `min(alpha, 1.5) / 2` of the window.
//!
//! # References
//! Q. Peng, A. Walid, J. Hwang and S. Low, *Multipath TCP: Analysis, Design, and Implementation*, IEEE/ACM Transactions on
//! Networking 24(1), 2016; draft-walid-mptcp-congestion-control-04 section 3.
//!
//! # Parameters
//! `slow_start`, `ack_counting`.
//!
//! # Limitations
//! A loss reduces the reduction basis, as for other controls, not the window itself. An RTO leaves the ssthresh that a loss
//! sets. A flow without subflows behaves like Reno.

use super::controller::{Controller, Start};
use super::event::{AckEvent, SubflowState};
use super::slow_start::SlowStart;
use crate::window::Window;

/// State of BALIA.
#[derive(Clone, Debug)]
pub struct Balia {
    slow_start: SlowStart,
    /// Increase per segment and byte; `None` without an RTT sample.
    growth: Option<f64>,
    alpha: f64,
}

/// Maximum of `alpha` in a reduction.
const MAX_REDUCTION: f64 = 1.5;

impl Controller for Balia {
    type Keys = ();

    const COUPLED: bool = true;

    fn new((): &(), start: Start) -> Self {
        Balia { slow_start: start.slow_start, growth: None, alpha: 1.0 }
    }

    fn couple(&mut self, subflows: &[SubflowState], own: usize) {
        let rate = |state: &SubflowState| state.srtt.map(|srtt| state.cwnd / srtt.as_ps() as f64);
        let rates = subflows.iter().filter_map(rate);
        let (sum, largest) =
            rates.fold((0.0, 0.0_f64), |(sum, largest), rate| (sum + rate, largest.max(rate)));
        let state = subflows[own];
        let (Some(own), Some(srtt)) = (rate(&state), state.srtt) else {
            (self.growth, self.alpha) = (None, 1.0);
            return;
        };
        self.alpha = largest / own;
        let balance = (1.0 + self.alpha) / 2.0 * (4.0 + self.alpha) / 5.0;
        self.growth = Some(own / srtt.as_ps() as f64 / (sum * sum) * balance);
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let count = self.slow_start.on_ack(window, mss, ack);
        if count <= 0.0 {
            return;
        }
        let growth = self.growth.unwrap_or(1.0 / window.cwnd);
        window.cwnd += (count * mss * mss * growth).min(mss);
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
        self.slow_start.on_loss();
        Some(amount - amount / 2.0 * self.alpha.min(MAX_REDUCTION))
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.slow_start.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;
    use crate::config::{AckCounting, SlowStartKind};

    const MSS: f64 = 1000.0;

    /// Growth per ACK, and the window after a loss, in segments.
    fn step(subflows: &[(f64, u64)], own: usize) -> (f64, f64) {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Bytes, false);
        let mut balia = Balia::new(&(), Start { slow_start, clock_phase: Duration::ZERO });
        let states = subflows.iter().map(|&(segments, ms)| SubflowState {
            cwnd: segments * MSS,
            srtt: Some(Duration::from_ms(ms)),
            ..SubflowState::default()
        });
        balia.couple(&states.collect::<Vec<_>>(), own);
        let mut window = Window { cwnd: subflows[own].0 * MSS, ssthresh: MSS };
        let after = balia.on_loss(&window, MSS, window.cwnd).unwrap() / MSS;
        let ack = AckEvent { acked: 1, delivered: 1, limited: true, ..AckEvent::default() };
        balia.on_ack(&mut window, MSS, &ack);
        (window.cwnd / MSS - subflows[own].0, after)
    }

    fn near(found: (f64, f64), expected: (f64, f64)) -> bool {
        (found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9
    }

    /// alpha = 1 with a single subflow: Reno.
    #[test]
    fn single_subflow_behaves_like_reno() {
        assert!(near(step(&[(8.0, 70)], 0), (0.125, 4.0)));
    }

    /// Equal RTTs, windows 20 and 16: alpha of the second is 1.25. An ACK adds 16 / 36^2 * 1.125 * 1.05. A loss removes
    /// 16 / 2 * 1.25 = 10.
    #[test]
    fn slower_subflow_grows_and_falls_more() {
        let subflows = [(20.0, 100), (16.0, 100)];
        assert!(near(step(&subflows, 0), (20.0 / 1296.0, 10.0)));
        assert!(near(step(&subflows, 1), (16.0 / 1296.0 * 1.125 * 1.05, 6.0)));
    }

    /// Windows 10 and 20 segments, RTTs 10 and 100 ms: x is 1 and 0.2 segments per ms, alpha of the second 5. An ACK adds
    /// 0.2 / 100 / 1.2^2 * 3 * 1.8 = 0.0075, and a loss removes 20 / 2 * 1.5.
    #[test]
    fn reduction_is_at_most_three_quarters() {
        assert!(near(step(&[(10.0, 10), (20.0, 100)], 1), (0.0075, 5.0)));
    }
}
