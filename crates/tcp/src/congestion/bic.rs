//! BIC (binary increase congestion control).
//!
//! # Model
//! After a loss, BIC searches for the window between the reduced and the previous value. It adds a quarter of
//! the distance per RTT, at most 16 segments, and less close to the target. Beyond the target it first grows
//! equally slowly, then faster, up to 16 segments per RTT. A loss reduces the window by the factor 4/5. A
//! loss below the previous maximum lowers the target (fast convergence). Up to 14 segments, BIC is Reno.
//!
//! # References
//! L. Xu, K. Harfoush, I. Rhee, *Binary Increase Congestion Control (BIC) for Fast Long-Distance
//! Networks*, INFOCOM 2004, section III. Behaviour of Linux 6: the quarter of the distance, the
//! constants, whole segments, and the estimate of segments per ACK. Until the first loss, the
//! window grows at least once per 20 ACKs.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! - The constants are Linux's defaults: at most 16 segments per RTT, factor 819/1024 after a loss, 5 RTTs
//!   per segment at the target.
//! - An ACK initially counts as two segments. The average, in sixteenths, only decreases to 30/32 or 31/32.
//!   If every segment is acknowledged, growth is therefore almost twice as fast as in the formulas.
//! - An RTO discards the goal of the search.
//! - Reductions are rounded down to whole segments. The clock has ticks of 4 ms, and the number of segments
//!   to wait for is recomputed after eight ticks.

use super::clock::Clock;
use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::growth::{Growth, segments};
use super::phase::Phase;
use crate::window::Window;

/// The most segments per RTT.
const GREATEST_INCREASE: u64 = 16;
/// Smaller windows are Reno's.
const LOW_WINDOW: u64 = 14;
/// Window factor after a loss, in 1/1024.
const BETA: u64 = 819;
const BETA_ONE: u64 = 1024;
/// The part of the distance that an RTT takes: a quarter.
const PART: u64 = 4;
/// Growth near the goal: a segment in 20 / 4 RTTs.
const SMOOTH: u64 = 20;
/// The most that is waited for while no loss is known.
const WITHOUT_LOSS: u64 = 20;
/// An ACK's segments, in the unit of their average.
const RATIO_ONE: u64 = 16;

/// State of BIC.
#[derive(Clone, Debug)]
pub struct Bic {
    growth: Growth,
    phase: Phase,
    clock: Clock,
    search: Search,
}

#[derive(Clone, Copy, Debug)]
struct Search {
    /// The window before the last loss, or less by fast convergence; 0 if no loss is known.
    goal: u64,
    /// Time and window of the last computation of `wait`.
    looked_up: Option<(u64, u64)>,
    /// Segments that the window waits for until it grows by one.
    wait: u64,
    /// Segments an ACK, in sixteenths.
    ratio: u64,
}

impl Search {
    const NEW: Search = Search { goal: 0, looked_up: None, wait: 0, ratio: 2 * RATIO_ONE };

    /// Returns the number of ACKs per window increase at `cwnd`, if each ACK is for one segment.
    fn formula(&self, cwnd: u64) -> u64 {
        let smooth = cwnd * SMOOTH / PART;
        let linear = cwnd / GREATEST_INCREASE;
        if cwnd < self.goal {
            match (self.goal - cwnd) / PART {
                distance if distance > GREATEST_INCREASE => linear,
                0 | 1 => smooth,
                distance => cwnd / distance,
            }
        } else {
            match cwnd - self.goal {
                beyond if beyond < PART => smooth,
                beyond if beyond < GREATEST_INCREASE * (PART - 1) => cwnd * (PART - 1) / beyond,
                _ => linear,
            }
        }
    }

    fn look_up(&mut self, cwnd: u64, now: u64) {
        let fresh = |(at, window)| window == cwnd && now.saturating_sub(at) <= Clock::HZ / 32;
        if self.looked_up.is_some_and(fresh) {
            return;
        }
        self.looked_up = Some((now, cwnd));
        if cwnd <= LOW_WINDOW {
            self.wait = cwnd;
            return;
        }
        let mut wait = self.formula(cwnd);
        if self.goal == 0 {
            wait = wait.min(WITHOUT_LOSS);
        }
        self.wait = (wait * RATIO_ONE / self.ratio.max(1)).max(1);
    }
}

impl Controller for Bic {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        let clock = Clock::new(start.clock_phase);
        let growth = Growth::new(start.slow_start);
        Bic { growth, phase: Phase::default(), clock, search: Search::NEW }
    }

    fn on_open(&mut self) {
        self.search = Search::NEW;
        self.growth.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        if self.phase.observe(ack).open() {
            let ratio = &mut self.search.ratio;
            *ratio = *ratio - *ratio / RATIO_ONE + u64::from(ack.acked);
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.phase.on_ack();
        let count = self.growth.slow_start(window, mss, ack);
        if count > 0.0 {
            self.search.look_up(u64::from(window.segments(mss)), self.clock.at(ack.now));
            let wait = u32::try_from(self.search.wait).unwrap_or(u32::MAX);
            self.growth.count(window, mss, wait, count);
        }
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.phase.on_loss();
        self.growth.on_loss();
        let cwnd = segments(amount, mss);
        let converges = cwnd < self.search.goal;
        self.search.goal = if converges { cwnd * (BETA_ONE + BETA) / (2 * BETA_ONE) } else { cwnd };
        let left = if cwnd <= LOW_WINDOW { cwnd / 2 } else { cwnd * BETA / BETA_ONE };
        Some(left as f64 * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_timeout();
        self.search = Search::NEW;
        self.growth.on_timeout();
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_recovered();
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        self.phase.on_recovered();
        window.restore(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;
    use optcp_units::Duration;

    const MSS: f64 = 1000.0;

    fn bic() -> Bic {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Bic::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// Xu, Harfoush and Rhee 2004, section III, with a quarter of the distance. At 500 segments, a
    /// goal of 1000 gives 125 segments, more than the maximum of 16 per RTT. A goal of 560 gives
    /// 15: one segment per 500 / 15 ACKs. A goal of 506 gives 1, rounded down: one segment in 5
    /// RTTs. Beyond the goal, 2 segments grow likewise. Then (cwnd - goal) / 3 per RTT, up to 16
    /// from 48 on.
    #[test]
    fn rtt_covers_a_quarter_of_the_distance() {
        for (goal, want) in [
            (1000, 500 / 16),
            (568, 500 / 16),
            (560, 500 / 15),
            (540, 500 / 10),
            (506, 5 * 500),
            (500, 5 * 500),
            (498, 5 * 500),
            (496, 1500 / 4),
            (470, 1500 / 30),
            (453, 1500 / 47),
            (452, 500 / 16),
            (100, 500 / 16),
        ] {
            let search = Search { goal, ratio: RATIO_ONE, ..Search::NEW };
            assert_eq!(search.formula(500), want, "{goal}");
        }
    }

    /// Linux: a factor of 819/1024, and 1/2 up to 14 segments. Fast convergence, section III.C: a
    /// loss at 800 below a goal of 1000 sets the goal between 800 and the reduced window, 800 *
    /// 1843/2048 = 719.9.
    #[test]
    fn a_loss_leaves_four_fifths_and_may_aim_lower() {
        let mut bic = bic();
        for (cwnd, left, goal) in
            [(1000, 799, 1000), (800, 639, 719), (719, 575, 719), (14, 7, 12), (15, 11, 15)]
        {
            let window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: 2.0 * MSS };
            let got = bic.on_loss(&window, MSS, window.cwnd).unwrap() / MSS;
            assert_eq!(got.to_bits(), f64::to_bits(f64::from(left)), "{cwnd}");
            assert_eq!(bic.search.goal, goal, "{cwnd}");
        }
        bic.on_timeout(&mut Window { cwnd: MSS, ssthresh: MSS }, MSS);
        assert_eq!(bic.search.goal, 0);
    }

    /// Linux: 32 less 32/16 and one more are 31; then 31/16, cut, is the one that comes. At 100 segments linear growth waits for
    /// 100 / 16 = 6, with the ratio 6 * 16 / 31 = 3; from 128 on for 8 * 16 / 31 = 4. So 28 segments in 84 ACKs and 4 in 16: 32 a
    /// RTT, not 16.
    #[test]
    fn acks_of_every_segment_count_nearly_twice() {
        let mut bic = bic();
        let mut window = Window { cwnd: 100.0 * MSS, ssthresh: 2.0 * MSS };
        for _ in 0..100 {
            let ack = AckEvent { acked: 1, delivered: 1, limited: true, ..AckEvent::default() };
            bic.observe(&ack);
            bic.on_ack(&mut window, MSS, &ack);
        }
        assert_eq!(bic.search.ratio, 31);
        assert_eq!(window.segments(MSS), 132);
    }

    /// Linux: up to 14 segments it behaves like Reno, regardless of the number of segments per ACK.
    #[test]
    fn small_window_behaves_like_reno() {
        let mut bic = bic();
        let mut window = Window { cwnd: 14.0 * MSS, ssthresh: 2.0 * MSS };
        let ack = AckEvent { acked: 2, delivered: 2, limited: true, ..AckEvent::default() };
        let mut windows = Vec::new();
        for _ in 0..7 {
            bic.on_ack(&mut window, MSS, &ack);
            windows.push(window.segments(MSS));
        }
        assert_eq!(windows, [14, 14, 14, 14, 14, 14, 15]);
    }
}
