//! TCP-LP (low priority).
//!
//! # Model
//! Reno that yields before losses. If the smoothed one-way delay exceeds its minimum by more than
//! 15 % of its range, the window is halved and kept for three RTTs. If the delay is still high
//! then, the window falls to one segment.
//!
//! # References
//! A. Kuzmanovic, E. W. Knightly, *TCP-LP: A Distributed Algorithm for Low Priority Data Transfer*, INFOCOM
//! 2003, section III. Behaviour of Linux 6: the length of that time, the second-largest delay as maximum, and
//! the state that an indication resets.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`. Needs `timestamps = true`; delays are in
//! units of `timestamp_tick`.
//!
//! # Limitations
//! - The clocks of both ends are synchronised and have the same tick. Linux estimates the remote tick from
//!   differences of timestamps in milliseconds, which gives wrong delays above 1000 Hz. Its timestamps have a
//!   random offset per pair of hosts. With an offset above 2^29 ms, as for seven of eight pairs, it never
//!   detects congestion and is Reno. Neither is modelled.
//! - A delay equal to the threshold is not congestion, as in the paper; for Linux it is, and so is the first
//!   delay.
//! - Delays during loss recovery cause no reduction.

use super::controller::{Controller, Start};
use super::event::{AckEvent, Stamps};
use super::growth::Growth;
use crate::window::Window;

/// Threshold delta between minimum and maximum delay, in percent.
const THRESHOLD: u64 = 15;
/// RTTs of inference.
const INFERENCE: u32 = 3;
/// The share of a new delay in the smoothed one: gamma is 1/8.
const SMOOTH: u64 = 8;

/// State of TCP-LP.
#[derive(Clone, Debug)]
pub struct Lp {
    growth: Growth,
    delays: Delays,
    /// Time of the last indication, in ticks.
    indicated: Option<u32>,
    /// The time of inference is not over.
    infers: bool,
    /// The latest ACK brought an indication, within that time or not.
    indication: Option<Indication>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Indication {
    First,
    Again,
}

/// One-way delays in ticks.
#[derive(Clone, Copy, Debug)]
struct Delays {
    /// Eight times the smoothed one; none before the first.
    smooth: Option<u64>,
    least: u64,
    /// The maximum but one, once there are two.
    greatest: u64,
    /// The maximum.
    reserve: Option<u64>,
}

impl Delays {
    const NONE: Delays = Delays { smooth: None, least: u64::MAX, greatest: 0, reserve: None };

    fn add(&mut self, delay: u64) {
        self.least = self.least.min(delay);
        if delay > self.greatest {
            let exceeds = self.reserve.is_none_or(|reserve| delay > reserve);
            self.greatest = if exceeds { self.reserve.unwrap_or(delay) } else { delay };
            if exceeds {
                self.reserve = Some(delay);
            }
        }
        self.smooth = Some(match self.smooth {
            None => SMOOTH * delay,
            Some(smooth) => smooth - smooth / SMOOTH + delay,
        });
    }

    /// Returns whether the delays indicate congestion, which resets minimum and maximum.
    fn indicate(&mut self) -> bool {
        let Some(smooth) = self.smooth.map(|smooth| smooth / SMOOTH) else { return false };
        let range = self.greatest.saturating_sub(self.least);
        if smooth <= self.least + range * THRESHOLD / 100 {
            return false;
        }
        (self.least, self.greatest, self.reserve) = (smooth, 2 * smooth, Some(2 * smooth));
        true
    }
}

impl Lp {
    fn look_at(&mut self, stamps: Stamps, measures: bool) {
        if measures {
            self.delays.add(u64::from(stamps.one_way));
        }
        let inference = INFERENCE.saturating_mul(stamps.now.wrapping_sub(stamps.echo));
        self.infers = self.indicated.is_some_and(|at| stamps.now.wrapping_sub(at) < inference);
        if self.delays.indicate() {
            self.indication = Some(if self.infers { Indication::Again } else { Indication::First });
            self.indicated = Some(stamps.now);
        }
    }
}

impl Controller for Lp {
    type Keys = ();

    const WANTS_DELAYS: bool = true;

    fn new((): &(), start: Start) -> Self {
        let growth = Growth::new(start.slow_start);
        Lp { growth, delays: Delays::NONE, indicated: None, infers: false, indication: None }
    }

    fn on_open(&mut self) {
        (self.delays, self.indicated, self.infers) = (Delays::NONE, None, false);
        self.growth.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.indication = None;
        if let Some(stamps) = ack.stamps {
            self.look_at(stamps, ack.rtt.is_some());
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        if let Some(indication) = self.indication.take() {
            let left = match indication {
                Indication::First => window.segments(mss) / 2,
                Indication::Again => 1,
            };
            window.cwnd = f64::from(left.max(1)) * mss;
        }
        if !self.infers {
            self.growth.reno(window, mss, ack);
        }
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
        self.growth.on_loss();
        Some(amount / 2.0)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.growth.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;
    use optcp_units::Duration;

    const MSS: f64 = 1000.0;

    /// An ACK at `now`, of an RTT of 100 ticks with such a delay of the segment.
    fn ack(lp: &mut Lp, window: &mut Window, now: u32, one_way: u32) {
        let stamps = Some(Stamps { now, echo: now - 100, one_way });
        let (acked, delivered, limited) = (1, 1, true);
        let rtt = Some(Duration::from_ms(100));
        let ack = AckEvent { acked, delivered, rtt, limited, stamps, ..AckEvent::default() };
        lp.observe(&ack);
        lp.on_ack(window, MSS, &ack);
    }

    fn lp() -> Lp {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Lp::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// Kuzmanovic and Knightly 2003, section III: d > dmin + 0.15 (dmax - dmin), with d smoothed by an eighth. From 50 to 150 that
    /// is 65: the delays 150 and 150 after many of 50 are smoothed to 62.5 and 73.4.
    #[test]
    fn congestion_begins_at_fifteen_percent_of_delay_range() {
        let mut delays = Delays { smooth: Some(400), least: 50, greatest: 150, reserve: Some(150) };
        delays.add(150);
        assert!(!delays.indicate());
        delays.add(150);
        assert!(delays.indicate());
        // Linux: 73 and twice that from then on. 15 % of 73 are 10, up to 83.
        assert_eq!((delays.least, delays.greatest), (73, 146));
        delays.smooth = Some(83 * 8);
        assert!(!delays.indicate());
        delays.smooth = Some(84 * 8);
        assert!(delays.indicate());
    }

    /// Linux: the maximum of all does not count, the one before it does.
    #[test]
    fn maximum_delay_is_the_second_largest() {
        let mut delays = Delays::NONE;
        let mut greatest = |delay| {
            delays.add(delay);
            delays.greatest
        };
        assert_eq!([50, 80, 90, 85, 300].map(&mut greatest), [50, 50, 80, 85, 90]);
    }

    /// Section III: the first indication halves the window and stops growth, here for 300 ticks; one within that time leaves a
    /// segment.
    #[test]
    fn an_indication_halves_and_another_leaves_one_segment() {
        let (mut lp, mut window) = (lp(), Window { cwnd: 40.0 * MSS, ssthresh: 2.0 * MSS });
        ack(&mut lp, &mut window, 1_000, 50);
        lp.delays = Delays { smooth: Some(500), least: 50, greatest: 60, reserve: Some(60) };
        ack(&mut lp, &mut window, 1_010, 60);
        assert_eq!(window.segments(MSS), 20);
        for now in 1_011..1_310 {
            ack(&mut lp, &mut window, now, 57);
        }
        assert_eq!(window.segments(MSS), 20);
        for now in 1_310..1_331 {
            ack(&mut lp, &mut window, now, 57);
        }
        assert_eq!(window.segments(MSS), 21);
        lp.indicated = Some(1_331);
        ack(&mut lp, &mut window, 1_340, 900);
        assert_eq!(window.segments(MSS), 1);
    }
}
