//! OLIA: opportunistic linked increases of the subflows of a connection.
//!
//! # Model
//! In congestion avoidance, an ACK on subflow r of a connection adds
//! `(w_r / rtt_r^2) / (sum over p of w_p / rtt_p)^2 + alpha_r / w_r` segments to its window `w_r`. The quality of a subflow
//! is `l / rtt^2`, the square of its rate, with `l` the bytes acknowledged between losses. If a best subflow has less than the maximum window,
//! `alpha` moves window to it from the subflows with that window. Otherwise `alpha` is zero. Slow start and reductions
//! are Reno's.
//!
//! # References
//! R. Khalili et al., *MPTCP is not Pareto-optimal*, CoNEXT 2012; draft-khalili-mptcp-congestion-control-05 section 2;
//! quality as in the authors' module for Linux (`mptcp_olia.c` of multipath-tcp.org).
//!
//! # Parameters
//! `slow_start`, `ack_counting`.
//!
//! # Limitations
//! `l` also counts segments acknowledged during slow start and recovery. A flow without subflows grows like Reno.

use super::controller::{Controller, Start};
use super::event::{AckEvent, SubflowState};
use super::slow_start::SlowStart;
use crate::window::Window;

/// State of OLIA.
#[derive(Clone, Debug)]
pub struct Olia {
    slow_start: SlowStart,
    /// Segments acknowledged between the last two losses, and since the last loss.
    counted: [u64; 2],
    /// Bytes per segment, to compare subflows.
    mss: f64,
    /// Part of the increase that couples windows, per segment and byte; `None` without an RTT sample.
    linked: Option<f64>,
    /// `alpha_r`.
    alpha: f64,
}

impl Controller for Olia {
    type Keys = ();

    const COUPLED: bool = true;

    fn new((): &(), start: Start) -> Self {
        let slow_start = start.slow_start;
        Olia { slow_start, counted: [0; 2], mss: 1.0, linked: None, alpha: 0.0 }
    }

    fn couple(&mut self, subflows: &[SubflowState], own: usize) {
        let known: Vec<(usize, SubflowState, f64)> = (subflows.iter().enumerate())
            .filter_map(|(number, state)| Some((number, *state, state.srtt?.as_ps() as f64)))
            .collect();
        let sum: f64 = known.iter().map(|(_, state, rtt)| state.cwnd / rtt).sum();
        let Some(&(_, state, rtt)) = known.iter().find(|(number, ..)| *number == own) else {
            self.linked = None;
            return;
        };
        self.linked = Some(state.cwnd / (rtt * rtt) / (sum * sum));
        let quality = |state: &SubflowState, rtt: f64| state.between_losses / (rtt * rtt);
        let best = known.iter().map(|(_, state, rtt)| quality(state, *rtt)).fold(0.0, f64::max);
        let largest = known.iter().map(|(_, state, _)| state.cwnd).fold(0.0, f64::max);
        let is_largest = |state: &SubflowState| state.cwnd >= largest;
        let is_collected =
            |state: &SubflowState, rtt: f64| quality(state, rtt) >= best && !is_largest(state);
        let collected = known.iter().filter(|(_, state, rtt)| is_collected(state, *rtt)).count();
        let with_largest = known.iter().filter(|(_, state, _)| is_largest(state)).count();
        let share = 1.0 / known.len() as f64;
        self.alpha = match collected {
            0 => 0.0,
            _ if is_collected(&state, rtt) => share / collected as f64,
            _ if is_largest(&state) => -share / with_largest as f64,
            _ => 0.0,
        };
    }

    fn between_losses(&self) -> f64 {
        self.counted.into_iter().max().unwrap_or(0) as f64 * self.mss
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.counted[1] += u64::from(ack.acked);
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.mss = mss;
        let count = self.slow_start.on_ack(window, mss, ack);
        if count <= 0.0 {
            return;
        }
        let linked = self.linked.map_or(mss / window.cwnd, |linked| linked * mss);
        let growth = count * mss * (linked + self.alpha * mss / window.cwnd);
        window.cwnd = (window.cwnd + growth.min(mss)).max(mss);
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
        self.counted = [self.counted[1], 0];
        self.slow_start.on_loss();
        Some(amount / 2.0)
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

    fn olia() -> Olia {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Bytes, false);
        Olia::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// Subflows: window in segments, RTT in ms, segments between losses.
    fn grown(subflows: &[(f64, u64, f64)], own: usize) -> f64 {
        let mut olia = olia();
        let states = subflows.iter().map(|&(segments, ms, between)| SubflowState {
            cwnd: segments * MSS,
            srtt: Some(Duration::from_ms(ms)),
            between_losses: between * MSS,
        });
        olia.couple(&states.collect::<Vec<_>>(), own);
        let mut window = Window { cwnd: subflows[own].0 * MSS, ssthresh: MSS };
        let ack = AckEvent { acked: 1, delivered: 1, limited: true, ..AckEvent::default() };
        olia.on_ack(&mut window, MSS, &ack);
        window.cwnd / MSS - subflows[own].0
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    /// The best subflow already has the maximum window: alpha = 0. Equal RTTs: w / total^2, 30 / 40^2 and 10 / 40^2.
    #[test]
    fn best_subflow_with_largest_window_moves_nothing() {
        let subflows = [(30.0, 100, 500.0), (10.0, 100, 50.0)];
        assert!(near(grown(&subflows, 0), 30.0 / 1600.0));
        assert!(near(grown(&subflows, 1), 10.0 / 1600.0));
    }

    /// Subflow 1 is best but small: alpha = 1/2 there and -1/2 at subflow 0, which divided by the windows is 0.05 and -1/60.
    #[test]
    fn small_best_subflow_gets_window_of_largest() {
        let subflows = [(30.0, 100, 50.0), (10.0, 100, 500.0)];
        assert!(near(grown(&subflows, 0), 30.0 / 1600.0 - 0.5 / 30.0));
        assert!(near(grown(&subflows, 1), 10.0 / 1600.0 + 0.05));
    }

    /// Subflow 1 is better despite more losses: 20 / 50^2 is more than 50 / 100^2. The sum of w / rtt is 30 + 20 in units of
    /// 1 / 100 ms, so the linked parts are 30 / 2500 and 4 * 10 / 2500.
    #[test]
    fn short_rtt_outweighs_losses() {
        let subflows = [(30.0, 100, 50.0), (10.0, 50, 20.0)];
        assert!(near(grown(&subflows, 0), 30.0 / 2500.0 - 0.5 / 30.0));
        assert!(near(grown(&subflows, 1), 40.0 / 2500.0 + 0.05));
    }

    /// Three subflows, RTTs 100, 50, 100 ms. Quality l / rtt^2 in units of 1 / (100 ms)^2: 10, 4 * 8 = 32, 9. Subflow 1 is best
    /// with window 8; subflows 0 and 2 have the maximum of 20. Alpha is 1/3 at 1 and -1/6 at the others. The sum of w / rtt
    /// is 20 + 16 + 20 = 56, so the linked parts are 20 / 3136 and 4 * 8 / 3136.
    #[test]
    fn two_subflows_with_largest_window_share_the_loss() {
        let subflows = [(20.0, 100, 10.0), (8.0, 50, 8.0), (20.0, 100, 9.0)];
        for own in [0, 2] {
            assert!(near(grown(&subflows, own), 20.0 / 3136.0 - 1.0 / 6.0 / 20.0));
        }
        assert!(near(grown(&subflows, 1), 32.0 / 3136.0 + 1.0 / 3.0 / 8.0));
    }

    /// Section 2: `l` is the larger of the bytes since the last loss and between the last two.
    #[test]
    fn bytes_between_losses_are_the_larger_count() {
        let mut olia = olia();
        let mut window = Window { cwnd: 10.0 * MSS, ssthresh: MSS };
        let mut acks = |olia: &mut Olia, count: u32| {
            let ack =
                AckEvent { acked: count, delivered: count, limited: true, ..AckEvent::default() };
            olia.observe(&ack);
            olia.on_ack(&mut window, MSS, &ack);
            olia.between_losses() / MSS
        };
        assert!(near(acks(&mut olia, 30), 30.0));
        let lost = Window { cwnd: 10.0 * MSS, ssthresh: MSS };
        assert_eq!(olia.on_loss(&lost, MSS, 10.0 * MSS), Some(5.0 * MSS));
        assert!(near(acks(&mut olia, 20), 30.0));
        assert!(near(acks(&mut olia, 20), 40.0));
    }
}
