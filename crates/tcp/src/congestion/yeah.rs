//! YeAH-TCP.
//!
//! # Model
//! Two modes, selected once per RTT from the number of queued segments, measured like Vegas. In
//! fast mode (fewer than 80 queued, RTT at most an eighth above the minimum) the window grows like
//! Scalable TCP's. Otherwise it grows like Reno's. If more than 80 are queued, the window is
//! reduced by that number, but not below the estimated Reno window. A loss removes the queued
//! segments, limited to an eighth to a half of the window. It removes a half if other flows kept
//! the queue filled for 16 RTTs.
//!
//! # References
//! A. Baiocchi, A. P. Castellani, F. Vacirca, *YeAH-TCP: Yet Another Highspeed TCP*, PFLDnet 2007, section
//! III. Behaviour of Linux 6: the constants, rounding to whole segments, and the start of a round.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! The constants are Linux's; the paper also uses an eighth of the window for a loss (delta), 80 segments
//! (alpha) and an eighth (phi). A round with fewer than three samples keeps the mode. RTTs are in whole
//! microseconds.

use optcp_units::{Duration, Time};

use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::growth::{Growth, segments};
use super::phase::Phase;
use crate::seq::Seq;
use crate::window::Window;

/// Segments that may wait.
const ALPHA: u64 = 80;
/// A longer RTT than the least by this part of it is congestion.
const PHI: u64 = 8;
/// A loss takes this part of the window at least.
const DELTA: u64 = 8;
/// RTTs of congestion after which a loss takes a half.
const RHO: u32 = 16;
/// RTTs without congestion after which Reno's share is unknown.
const ZETA: u32 = 50;
/// The smallest that Reno's share is held to be.
const LEAST_SHARE: u64 = 2;
/// Segments for which the window grows by one in fast mode.
const SCALABLE: u32 = 100;
/// Samples without which a round says nothing: fewer may all be of delayed ACKs.
const SAMPLES: u32 = 3;

/// State of YeAH-TCP.
#[derive(Clone, Debug)]
pub struct Yeah {
    growth: Growth,
    phase: Phase,
    /// The minimum RTT of all, in microseconds, and one more so that it is never nought.
    base: u64,
    round: Round,
    /// Segments that waited in the last round.
    waited: u64,
    /// Rounds of congestion in a row: Reno if there is one.
    congested: u32,
    /// Rounds without it since the last loss or since Reno's share was forgotten.
    fast: u32,
    /// Estimated window of Reno.
    share: u64,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    /// The round ends when more than this is acknowledged; `None` before its start.
    until: Option<Seq>,
    /// The minimum RTT in it, as `base`.
    least: u64,
    samples: u32,
}

impl Round {
    const NEXT: Round = Round { until: None, least: u64::MAX, samples: 0 };
    /// The first ACK where nothing was in flight ends a round, as if it had begun before.
    const FIRST: Round = Round { until: Some(Seq::ZERO), ..Round::NEXT };
}

impl Yeah {
    /// A round of enough samples is over.
    fn adapt(&mut self, window: &mut Window, mss: f64) {
        let cwnd = u64::from(window.segments(mss));
        let longer = self.round.least - self.base;
        let waiting = cwnd * longer / self.round.least;
        if waiting > ALPHA || longer > self.base / PHI {
            if waiting > ALPHA && cwnd > self.share {
                let left = (cwnd - waiting.min(cwnd / 2)).max(self.share);
                window.cwnd = left as f64 * mss;
                window.ssthresh = window.cwnd;
            }
            let cwnd = u64::from(window.segments(mss));
            self.share = if self.share <= LEAST_SHARE {
                (cwnd / 2).max(LEAST_SHARE)
            } else {
                self.share + 1
            };
            self.congested = self.congested.saturating_add(1);
        } else {
            self.fast += 1;
            if self.fast > ZETA {
                (self.share, self.fast) = (LEAST_SHARE, 0);
            }
            self.congested = 0;
        }
        self.waited = waiting;
    }

    /// Nothing is known of the path's delay.
    fn forget(&mut self, round: Round) {
        (self.base, self.round) = (u64::MAX, round);
    }
}

impl Controller for Yeah {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        Yeah {
            growth: Growth::new(start.slow_start),
            phase: Phase::default(),
            base: u64::MAX,
            round: Round::FIRST,
            waited: 0,
            congested: 0,
            fast: 0,
            share: LEAST_SHARE,
        }
    }

    fn on_open(&mut self) {
        self.forget(Round::FIRST);
        self.growth.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_ps() / 1_000_000 + 1;
            self.base = self.base.min(rtt);
            self.round.least = self.round.least.min(rtt);
            self.round.samples += 1;
        }
        if self.phase.observe(ack).repairing() && !self.phase.repairing() {
            self.round = Round::NEXT;
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.phase.on_ack();
        if ack.limited {
            let count = self.growth.slow_start(window, mss, ack);
            if count > 0.0 {
                let cwnd = window.segments(mss);
                let needed = if self.congested > 0 { cwnd } else { cwnd.min(SCALABLE) };
                self.growth.count(window, mss, needed, count);
            }
            if self.round.until.is_some_and(|until| ack.una > until) {
                if self.round.samples >= SAMPLES {
                    self.adapt(window, mss);
                }
                self.round = Round::NEXT;
            }
        }
        self.round.until.get_or_insert(ack.max);
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.phase.on_loss();
        self.growth.on_loss();
        let cwnd = segments(amount, mss);
        let half = (cwnd / 2).max(2);
        let taken =
            if self.congested < RHO { self.waited.min(half).max(cwnd / DELTA) } else { half };
        self.fast = 0;
        self.share = (self.share / 2).max(LEAST_SHARE);
        Some(amount - taken as f64 * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_timeout();
        self.forget(Round::NEXT);
        self.growth.on_timeout();
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_recovered();
        self.round = Round::NEXT;
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        self.phase.on_recovered();
        self.round = Round::NEXT;
        window.restore(before);
    }

    fn on_resume(&mut self, _now: Time, _idle: Duration) {
        self.forget(Round::FIRST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;

    const MSS: f64 = 1000.0;

    fn yeah() -> Yeah {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Yeah::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// A round of three samples of `rtt_us`, after a least one of 100 ms, at a window of `cwnd` segments that is not used.
    fn round(yeah: &mut Yeah, cwnd: u32, rtt_us: u64) -> u32 {
        let mut window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: 2.0 * MSS };
        yeah.base = 100_000;
        yeah.round = Round { until: Some(Seq::ZERO), least: rtt_us, samples: 3 };
        let (una, max, limited) = (Seq::new(1), Seq::new(1), true);
        yeah.on_ack(&mut window, MSS, &AckEvent { una, max, limited, ..AckEvent::default() });
        window.segments(MSS)
    }

    /// Baiocchi, Castellani and Vacirca 2007, section III: Q = (RTT - RTTbase) cwnd / RTT. At 1000 segments 108.6 ms are 79.2, 108.7 ms
    /// 80.04; at 500 112.5 ms are an eighth longer, 112.6 ms more. 1000 segments at 200 ms are 500 waiting: a half goes.
    #[test]
    fn mode_depends_on_queue_length_and_delay() {
        for (cwnd, rtt_us, left, congested) in [
            (1000, 108_600, 1000, 0),
            (1000, 108_750, 1000, 0),
            (1000, 108_900, 919, 1),
            (500, 112_500, 500, 0),
            (500, 112_600, 500, 1),
            (1000, 200_000, 500, 1),
            (1000, 300_000, 500, 1),
        ] {
            let mut yeah = yeah();
            assert_eq!(round(&mut yeah, cwnd, rtt_us), left, "{cwnd}, {rtt_us}");
            assert_eq!(yeah.congested, congested, "{cwnd}, {rtt_us}");
        }
    }

    /// Linux: the Reno share starts at half the window of the first congested round and grows by
    /// one per later such round. It is at least the window after decongestion. Fifty rounds without
    /// congestion reset it.
    #[test]
    fn window_stays_above_estimated_reno_share() {
        let mut yeah = yeah();
        assert_eq!(round(&mut yeah, 1000, 200_000), 500);
        assert_eq!(yeah.share, 250);
        assert_eq!(round(&mut yeah, 260, 200_000), 250);
        assert_eq!(yeah.share, 251);
        for rounds in 1..=51 {
            round(&mut yeah, 100, 100_000);
            assert_eq!(yeah.share, if rounds < 51 { 251 } else { 2 });
        }
    }

    /// Section III: a loss removes the queued segments, at least an eighth and at most a half of
    /// the window. It removes a half after 16 rounds in Reno mode.
    #[test]
    fn loss_removes_queued_segments() {
        for (waited, congested, want) in
            [(0, 0, 88), (20, 0, 80), (70, 0, 50), (20, 15, 80), (20, 16, 50)]
        {
            let mut yeah = Yeah { waited, congested, ..yeah() };
            let window = Window { cwnd: 100.0 * MSS, ssthresh: 50.0 * MSS };
            let left = yeah.on_loss(&window, MSS, window.cwnd).unwrap();
            assert_eq!(left.to_bits(), f64::to_bits(f64::from(want) * MSS), "{waited} {congested}");
        }
    }

    /// At 200 segments Scalable TCP adds one for each hundred acknowledged, Reno one for two hundred.
    #[test]
    fn growth_matches_scalable_tcp_or_reno() {
        for (congested, want) in [(0, 202), (1, 201)] {
            let mut yeah = Yeah { congested, round: Round::NEXT, ..yeah() };
            let mut window = Window { cwnd: 200.0 * MSS, ssthresh: 2.0 * MSS };
            for _ in 0..200 {
                let ack = AckEvent { acked: 1, delivered: 1, limited: true, ..AckEvent::default() };
                yeah.on_ack(&mut window, MSS, &ack);
            }
            assert_eq!(window.segments(MSS), want);
        }
    }
}
