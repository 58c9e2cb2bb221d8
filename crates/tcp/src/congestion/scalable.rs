//! Scalable TCP.
//!
//! # Model
//! The window grows by a constant share per RTT: one segment per hundred acknowledged, or per window if that
//! is smaller, like Reno. A loss reduces it by the factor 7/8.
//!
//! # References
//! T. Kelly, *Scalable TCP: Improving Performance in Highspeed Wide Area Networks*, Computer Communication
//! Review 33(2), 2003: a = 0.01, b = 1/8. Behaviour of Linux 6: whole segments, and Reno below a hundred.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! Growth and reductions are in whole segments. In the paper, Reno only applies below 16 segments (`lwnd`).

use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::slow_start::SlowStart;
use crate::window::Window;

/// Segments for which the window grows by one: 1 / a.
const SEGMENTS: f64 = 100.0;
/// Share that a loss removes: b.
const SHARE: f64 = 1.0 / 8.0;

/// State of Scalable TCP.
#[derive(Clone, Debug)]
pub struct Scalable {
    slow_start: SlowStart,
    /// Segments counted towards the next whole one.
    counted: f64,
}

impl Controller for Scalable {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        Scalable { slow_start: start.slow_start, counted: 0.0 }
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let count = self.slow_start.on_ack(window, mss, ack);
        if count <= 0.0 {
            return;
        }
        let needed = (window.cwnd / mss).floor().min(SEGMENTS);
        if self.counted >= needed {
            // Counted when the window was larger: not worth more than a segment.
            self.counted = 0.0;
            window.cwnd += mss;
        }
        self.counted += count;
        let whole = (self.counted / needed).floor();
        self.counted -= whole * needed;
        window.cwnd += whole * mss;
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.counted = 0.0;
        self.slow_start.on_loss();
        Some(amount - (amount / mss * SHARE).floor() * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.slow_start.on_timeout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use optcp_units::Duration;

    const MSS: f64 = 1000.0;

    fn scalable() -> Scalable {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Scalable::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// The window in segments after an RTT of ACKs for two segments each, at a window of `cwnd`.
    fn after_a_round_trip(scalable: &mut Scalable, cwnd: u32) -> u32 {
        let mut window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: 2.0 * MSS };
        let ack = AckEvent { acked: 2, delivered: 2, limited: true, ..AckEvent::default() };
        for _ in 0..cwnd / 2 {
            scalable.on_ack(&mut window, MSS, &ack);
        }
        window.segments(MSS)
    }

    /// Kelly 2003: 0.01 for each segment acknowledged; Linux has Reno below a hundred.
    #[test]
    fn a_round_trip_adds_a_hundredth_of_the_window() {
        for (cwnd, want) in [(20, 21), (100, 101), (200, 202), (1000, 1010), (12_000, 12_120)] {
            assert_eq!(after_a_round_trip(&mut scalable(), cwnd), want, "{cwnd}");
        }
    }

    /// Kelly 2003, table 1: from any window 70 RTTs double it, 1.01^70 = 2.007.
    #[test]
    fn the_time_to_double_does_not_depend_on_the_window() {
        for cwnd in [1000, 10_000] {
            let mut scalable = scalable();
            let mut grown = cwnd;
            for _ in 0..70 {
                grown = after_a_round_trip(&mut scalable, grown);
            }
            let ratio = f64::from(grown) / f64::from(cwnd);
            assert!((1.99..2.01).contains(&ratio), "{cwnd}: {ratio}");
        }
    }

    /// Linux: cwnd - (cwnd >> 3).
    #[test]
    fn a_loss_leaves_seven_eighths_and_takes_whole_segments() {
        for (cwnd, want) in [(7.0, 7.0), (8.0, 7.0), (90.0, 79.0), (1000.0, 875.0)] {
            let window = Window { cwnd: cwnd * MSS, ssthresh: f64::INFINITY };
            let got = scalable().on_loss(&window, MSS, window.cwnd).unwrap() / MSS;
            assert_eq!(got.to_bits(), f64::to_bits(want), "{cwnd}");
        }
    }
}
