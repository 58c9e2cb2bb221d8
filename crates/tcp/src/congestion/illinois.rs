//! TCP-Illinois.
//!
//! # Model
//! Losses trigger reductions; delays determine the amount of growth and reduction. The window grows
//! by alpha segments per RTT: ten with an almost empty queue, 0.3 with a full queue. A loss reduces
//! it by the share beta. Beta is an eighth up to a tenth of the maximum queueing delay, a half from
//! eight tenths, linear in between. Both are updated once per RTT from the mean of its RTT samples.
//! Below 15 segments they are Reno's.
//!
//! # References
//! S. Liu, T. Basar, R. Srikant, *TCP-Illinois: a loss- and delay-based congestion control algorithm for
//! high-speed networks*, Performance Evaluation 65, 2008, section 3. Behaviour of Linux 6: fixed point, whole
//! segments, the first RTTs, and the state that an RTO resets.
//!
//! # Parameters
//! `slow_start`, `ack_counting` (slow start), `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! The constants are Linux's defaults, which equal the paper's. The minimum and maximum RTT never
//! expire. RTTs are in whole microseconds and at most 3.35 s. The paper's rule for two consecutive
//! losses is not implemented.

use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::slow_start::SlowStart;
use crate::seq::Seq;
use crate::window::Window;

/// One segment per RTT, in the unit of alpha.
const ALPHA_ONE: u64 = 128;
const ALPHA_MAX: u64 = 10 * ALPHA_ONE;
const ALPHA_MIN: u64 = 3 * ALPHA_ONE / 10;
/// All of the window, in the unit of beta.
const BETA_ONE: u64 = 64;
const BETA_MAX: u64 = BETA_ONE / 2;
const BETA_MIN: u64 = BETA_ONE / 8;
/// Smaller windows are Reno's.
const LEAST_WINDOW: u32 = 15;
/// Number of RTTs without a queue until alpha returns to its maximum.
const THETA: u32 = 5;
/// In microseconds: greater ones would overflow Linux's 32 bits.
const LONGEST_ROUND_TRIP: u64 = u32::MAX as u64 / ALPHA_MAX;

/// State of TCP-Illinois.
#[derive(Clone, Debug)]
pub struct Illinois {
    slow_start: SlowStart,
    delays: Delays,
    alpha: u64,
    beta: u64,
    /// The RTT of samples ends when more than this is acknowledged; none if it has yet to begin.
    until: Option<Seq>,
    /// `true`: a queue existed since alpha was at its maximum.
    above: bool,
    /// RTTs without a queue since.
    low: u32,
    /// Segments that the latest ACK acknowledged.
    acked: u32,
    /// Segments counted towards the next whole one.
    counted: u32,
}

/// RTTs in microseconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    least: u64,
    greatest: u64,
    /// Samples of this RTT.
    sum: u64,
    samples: u64,
}

impl Delays {
    const NONE: Delays = Delays { least: u64::MAX, greatest: 0, sum: 0, samples: 0 };

    fn add(&mut self, rtt: u64) {
        self.least = self.least.min(rtt);
        self.greatest = self.greatest.max(rtt);
        self.sum += rtt;
        self.samples += 1;
    }

    /// The mean queueing delay of this RTT, and the maximum of all.
    fn queueing(&self) -> Option<(u64, u64)> {
        let mean = self.sum.checked_div(self.samples)?;
        Some((mean - self.least, self.greatest - self.least))
    }
}

/// Returns the share that a loss removes, for a mean and a maximum queueing delay.
fn beta(mean: u64, greatest: u64) -> u64 {
    let (low, high) = (greatest / 10, 8 * greatest / 10);
    if mean <= low {
        BETA_MIN
    } else if mean >= high {
        BETA_MAX
    } else {
        (BETA_MIN * (high - mean) + BETA_MAX * (mean - low)) / (high - low)
    }
}

/// Returns the window growth per RTT with a queue.
fn alpha(mean: u64, greatest: u64) -> u64 {
    let low = greatest / 100;
    let (mean, greatest) = (mean - low, greatest - low);
    greatest * ALPHA_MAX / (greatest + mean * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
}

impl Illinois {
    /// An RTT of samples is over.
    fn adapt(&mut self, cwnd: u32) {
        if cwnd < LEAST_WINDOW {
            (self.alpha, self.beta) = (ALPHA_ONE, BETA_MAX);
        } else if let Some((mean, greatest)) = self.delays.queueing() {
            self.beta = beta(mean, greatest);
            if mean > greatest / 100 {
                self.above = true;
                self.alpha = alpha(mean, greatest);
            } else if !self.above {
                self.alpha = ALPHA_MAX;
            } else {
                self.low += 1;
                if self.low >= THETA {
                    (self.above, self.low, self.alpha) = (false, 0, ALPHA_MAX);
                }
            }
        }
    }

    /// The next ACK begins an RTT of samples.
    fn begin_round(&mut self) {
        self.until = None;
        (self.delays.sum, self.delays.samples) = (0, 0);
    }
}

impl Controller for Illinois {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        Illinois {
            slow_start: start.slow_start,
            delays: Delays::NONE,
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            // The first ACK of all ends one, as if it had begun before.
            until: Some(Seq::ZERO),
            above: false,
            low: 0,
            acked: 0,
            counted: 0,
        }
    }

    fn on_open(&mut self) {
        self.delays = Delays::NONE;
        self.slow_start.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.acked = ack.acked;
        if let Some(rtt) = ack.rtt {
            self.delays.add((rtt.as_ps() / 1_000_000).min(LONGEST_ROUND_TRIP));
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let cwnd = window.segments(mss);
        if self.until.is_some_and(|until| ack.una > until) {
            self.adapt(cwnd);
            self.begin_round();
        }
        self.until.get_or_insert(ack.max);
        let in_slow_start = window.in_slow_start();
        let count = self.slow_start.on_ack(window, mss, ack);
        if in_slow_start || count <= 0.0 {
            return;
        }
        self.counted += self.acked;
        let share = u64::from(self.counted) * self.alpha / ALPHA_ONE;
        let whole = share / u64::from(cwnd);
        if whole > 0 {
            window.cwnd += whole as f64 * mss;
            self.counted = 0;
        }
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.counted = 0;
        self.slow_start.on_loss();
        let share = self.beta as f64 / BETA_ONE as f64;
        Some(amount - (amount / mss * share).floor() * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        (self.alpha, self.beta) = (ALPHA_ONE, BETA_MAX);
        (self.above, self.low) = (false, 0);
        self.begin_round();
        self.slow_start.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use optcp_units::Duration;

    const MSS: f64 = 1000.0;

    fn illinois() -> Illinois {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Illinois::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// The paper's curves, section 3.1: alpha = k1 / (k2 + da), from 10 at d1 = dm / 100 to 0.3 at
    /// dm. Beta is linear from 1/8 at dm / 10 to 1/2 at 8 dm / 10. Fixed point represents 0.3 as
    /// 38/128, and rounds down.
    #[test]
    fn growth_and_decrease_follow_the_curves_of_the_paper() {
        let greatest = 100_000;
        let d1 = 1_000.0;
        let k1 = (100_000.0 - d1) * 0.3 * 10.0 / (10.0 - 0.3);
        let k2 = (100_000.0 - d1) * 0.3 / (10.0 - 0.3) - d1;
        for mean in [2_000_u64, 5_000, 10_000, 25_000, 50_000, 80_000, 100_000] {
            let want = k1 / (k2 + mean as f64);
            let got = alpha(mean, greatest) as f64 / 128.0;
            assert!(
                (got - want).abs() < 0.1_f64.min(0.04 * want),
                "alpha({mean}) = {got}, not {want}"
            );
        }
        for (mean, want) in [
            (0, 0.125),
            (10_000, 0.125),
            (24_000, 0.2),
            (45_000, 0.3125),
            (80_000, 0.5),
            (100_000, 0.5),
        ] {
            let got = beta(mean, greatest) as f64 / 64.0;
            assert!((got - want).abs() <= 1.0 / 64.0, "beta({mean}) = {got}, not {want}");
        }
    }

    /// Computed in Linux's integers, with dm = 100 ms and da = 50 ms: d1 = 1000. Alpha is 99000 *
    /// 1280 / (99000 + 49000 * 1242 / 38) = 126720000 / 1700526 = 74. Beta is (8 * 30000 + 32 *
    /// 40000) / 70000 = 21.
    #[test]
    fn fixed_point_matches_linux() {
        assert_eq!((alpha(50_000, 100_000), beta(50_000, 100_000)), (74, 21));
        assert_eq!((alpha(100_000, 100_000), beta(100_000, 100_000)), (38, 32));
    }

    /// An RTT at `cwnd` segments, each ACK for one and `rtt_ms` long; the window after it in segments.
    fn round(illinois: &mut Illinois, cwnd: u32, rtt_ms: u64, sent: &mut Seq) -> f64 {
        let mut window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: 2.0 * MSS };
        let first = *sent;
        *sent += cwnd;
        for una in first.next().until(sent.next()) {
            let rtt = Some(Duration::from_ms(rtt_ms));
            let (acked, delivered, limited) = (1, 1, true);
            let ack =
                AckEvent { acked, delivered, rtt, una, max: *sent, limited, ..AckEvent::default() };
            illinois.observe(&ack);
            illinois.on_ack(&mut window, MSS, &ack);
        }
        window.cwnd / MSS
    }

    /// Ten segments per RTT while there is no queue: a segment for every tenth of a window. With a full one 0.3: less
    /// than a segment. After that, five RTTs without one until it is ten again (theta).
    #[test]
    fn growth_is_ten_segments_without_a_queue_and_less_than_one_with_a_full_one() {
        let (mut illinois, mut sent) = (illinois(), Seq::ZERO);
        round(&mut illinois, 100, 100, &mut sent);
        assert_eq!(round(&mut illinois, 100, 100, &mut sent).to_bits(), 109_f64.to_bits());
        round(&mut illinois, 100, 200, &mut sent);
        assert!(round(&mut illinois, 100, 200, &mut sent) <= 101.0);
        assert_eq!((illinois.alpha, illinois.beta), (38, 32));
        for _ in 0..5 {
            assert_eq!(illinois.alpha, 38);
            round(&mut illinois, 100, 100, &mut sent);
        }
        round(&mut illinois, 100, 100, &mut sent);
        assert_eq!((illinois.alpha, illinois.beta), (1280, 8));
    }

    #[test]
    fn small_windows_and_rtos_behave_like_reno() {
        let (mut illinois, mut sent) = (illinois(), Seq::ZERO);
        for _ in 0..2 {
            round(&mut illinois, 14, 100, &mut sent);
        }
        assert_eq!((illinois.alpha, illinois.beta), (128, 32));
        for _ in 0..2 {
            round(&mut illinois, 15, 100, &mut sent);
        }
        assert_eq!((illinois.alpha, illinois.beta), (1280, 8));
        let window = Window { cwnd: 90.0 * MSS, ssthresh: 45.0 * MSS };
        // 90 * 8 / 64 = 11.25
        let left = illinois.on_loss(&window, MSS, window.cwnd).unwrap();
        assert_eq!(left.to_bits(), f64::to_bits(79.0 * MSS));
        illinois.on_timeout(&mut window.clone(), MSS);
        assert_eq!((illinois.alpha, illinois.beta), (128, 32));
    }
}
