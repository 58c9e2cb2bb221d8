//! LIA: linked increases of the subflows of a connection.
//!
//! # Model
//! In congestion avoidance, a subflow grows by `alpha` segments per window of the whole connection, or like Reno if that is
//! less. `alpha` makes the connection as fast as a single flow on its best path. Slow start and reductions are Reno's.
//!
//! # References
//! RFC 6356 section 3: increase; section 4.1: `alpha`, computed from the windows of all subflows.
//!
//! # Parameters
//! `slow_start`, `ack_counting`.
//!
//! # Limitations
//! `alpha` is computed at every ACK, not once per RTT. A flow without subflows grows like Reno.

use super::controller::{Controller, Start};
use super::event::{AckEvent, SubflowState};
use super::slow_start::SlowStart;
use crate::window::Window;

/// State of LIA.
#[derive(Clone, Debug)]
pub struct Lia {
    slow_start: SlowStart,
    /// `alpha` divided by the window of the connection in bytes; `None` without an RTT sample.
    alpha_per_byte: Option<f64>,
}

impl Controller for Lia {
    type Keys = ();

    const COUPLED: bool = true;

    fn new((): &(), start: Start) -> Self {
        Lia { slow_start: start.slow_start, alpha_per_byte: None }
    }

    fn couple(&mut self, subflows: &[SubflowState], _own: usize) {
        let (mut largest, mut sum) = (0.0_f64, 0.0);
        for SubflowState { cwnd, srtt, .. } in subflows {
            let Some(srtt) = srtt else { continue };
            let srtt = srtt.as_ps() as f64;
            largest = largest.max(cwnd / (srtt * srtt));
            sum += cwnd / srtt;
        }
        // The total window cancels: alpha = total * largest / sum^2.
        self.alpha_per_byte = (sum > 0.0).then(|| largest / (sum * sum));
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let count = self.slow_start.on_ack(window, mss, ack);
        if count <= 0.0 {
            return;
        }
        let alone = 1.0 / window.cwnd;
        let share = self.alpha_per_byte.map_or(alone, |alpha| alpha.min(alone));
        window.cwnd += (count * mss * mss * share).min(mss);
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
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

    fn grown(subflows: &[(f64, u64)], own: usize) -> f64 {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Bytes, false);
        let mut lia = Lia::new(&(), Start { slow_start, clock_phase: Duration::ZERO });
        let states = subflows.iter().map(|&(segments, ms)| SubflowState {
            cwnd: segments * MSS,
            srtt: Some(Duration::from_ms(ms)),
            ..SubflowState::default()
        });
        lia.couple(&states.collect::<Vec<_>>(), own);
        let mut window = Window { cwnd: subflows[own].0 * MSS, ssthresh: MSS };
        let ack = AckEvent { acked: 1, delivered: 1, limited: true, ..AckEvent::default() };
        lia.on_ack(&mut window, MSS, &ack);
        window.cwnd / MSS - subflows[own].0
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    /// RFC 6356 section 4.1. Equal RTTs: alpha = total * largest / total^2 = largest / total. Windows of 10 and 30 segments:
    /// alpha = 0.75, and each ACK adds 0.75 / 40 segments to either subflow.
    #[test]
    fn equal_rtts_add_alpha_per_total_window() {
        let subflows = [(10.0, 100), (30.0, 100)];
        assert!(near(grown(&subflows, 0), 0.01875));
        assert!(near(grown(&subflows, 1), 0.01875));
    }

    /// Windows of 10 and 20 segments, RTTs of 10 and 100 ms. In segments and units of 10 ms: largest = 10 / 1,
    /// sum = 10 + 2 = 12, alpha / total = 10 / 144 = 0.0694. This is below 1 / 10 and above 1 / 20.
    #[test]
    fn growth_never_exceeds_reno() {
        let subflows = [(10.0, 10), (20.0, 100)];
        assert!(near(grown(&subflows, 0), 10.0 / 144.0));
        assert!(near(grown(&subflows, 1), 0.05));
    }

    /// alpha = 1 with a single subflow: Reno.
    #[test]
    fn single_subflow_grows_like_reno() {
        assert!(near(grown(&[(8.0, 70)], 0), 0.125));
    }
}
