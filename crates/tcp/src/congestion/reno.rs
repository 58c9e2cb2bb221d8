//! Reno: additive increase, multiplicative decrease.
//!
//! # Model
//! Slow start below ssthresh, one segment per RTT above; a loss halves the window.
//!
//! # References
//! RFC 5681 section 3.1: equation 2 (slow start), equation 3 (congestion avoidance), equation 4. Whole bytes:
//! behaviour of INET in 2011. Whole segments: RFC 3465 section 2.1.
//!
//! # Parameters
//! `increase`, `slow_start`, `ack_counting`.
//!
//! # Limitations
//! An ACK adds at most one segment in congestion avoidance.

use super::controller::{Controller, Start, keys};
use super::event::AckEvent;
use super::slow_start::SlowStart;
use crate::window::Window;
use optcp_units::registry;

registry! {
    /// Rounding of the window increase per ACK in congestion avoidance.
    pub enum Increase ("increase") {
        "exact" => Exact: "SMSS*SMSS/cwnd, including fractions of a byte", "RFC 5681 equation 3";
        "whole-bytes" => WholeBytes: "SMSS*SMSS/cwnd rounded down to whole bytes, at least one", "INET in 2011";
        "whole-segments" => WholeSegments: "one segment per window of counted segments", "RFC 3465 section 2.1; Linux";
    }
}

keys! {
    /// Parameters of Reno.
    pub struct RenoKeys {
        /// Rounding of the increase.
        increase: Increase = Increase::Exact,
            "RFC 5681 equation 3; a fraction of a byte lost on every ACK would slow large windows down";
    }
}

/// State of Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    increase: Increase,
    pub(super) slow_start: SlowStart,
    /// Segments counted towards the next whole one.
    counted: f64,
}

impl Controller for Reno {
    type Keys = RenoKeys;

    /// RFC 8511 section 3.1.
    const ABE: Option<f64> = Some(0.8);

    fn new(keys: &RenoKeys, start: Start) -> Self {
        Reno { increase: keys.increase, slow_start: start.slow_start, counted: 0.0 }
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    // Inlined because it runs once per ACK, and a call would cost more than the work.
    #[inline(always)]
    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let count = self.slow_start.on_ack(window, mss, ack);
        if count <= 0.0 {
            return;
        }
        let share = (count * mss * mss / window.cwnd).min(mss);
        window.cwnd += match self.increase {
            Increase::Exact => share,
            Increase::WholeBytes => share.floor().max(1.0),
            Increase::WholeSegments => {
                self.counted += count;
                let whole = window.cwnd / mss;
                if self.counted < whole {
                    return;
                }
                self.counted -= whole;
                mss
            }
        };
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
        self.counted = 0.0;
        self.slow_start.on_loss();
        Some(amount / 2.0)
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

    fn reno(increase: Increase, ack_counting: AckCounting) -> Reno {
        let slow_start = SlowStart::new(SlowStartKind::Standard, ack_counting, false);
        Reno::new(&RenoKeys { increase }, Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// An ACK for so many segments.
    fn ack(segments: u32) -> AckEvent {
        AckEvent { acked: segments, delivered: segments, limited: true, ..AckEvent::default() }
    }

    #[test]
    fn slow_start_adds_a_segment_and_avoidance_a_segment_a_window() {
        let mut window = Window { cwnd: 2000.0, ssthresh: 4000.0 };
        let mut reno = reno(Increase::Exact, AckCounting::Once);
        reno.on_ack(&mut window, 1000.0, &ack(1));
        assert_eq!(window.cwnd.to_bits(), 3000_f64.to_bits());
        reno.on_ack(&mut window, 1000.0, &ack(1));
        // 4000 is not below ssthresh any more: 1000 * 1000 / 4000 = 250 bytes.
        reno.on_ack(&mut window, 1000.0, &ack(1));
        assert_eq!(window.cwnd.to_bits(), 4250_f64.to_bits());
    }

    /// Integer division of whole bytes. For segments of 1452 bytes, 1452 * 1452 = 2108304, and half
    /// of that is 1054152 = 726 segments.
    #[test]
    fn whole_bytes_are_cut_and_never_fewer_than_one() {
        let added = |cwnd: u32| {
            let mut window = Window { cwnd: f64::from(cwnd), ssthresh: 2904.0 };
            reno(Increase::WholeBytes, AckCounting::Once).on_ack(&mut window, 1452.0, &ack(1));
            window.cwnd - f64::from(cwnd)
        };
        for (cwnd, bytes) in [
            (2_904, 726.0),
            // 2108304 / 4357 = 483.9
            (4_357, 483.0),
            // Two bytes up to 726 segments, one beyond.
            (1_054_151, 2.0),
            (1_054_152, 2.0),
            (1_054_153, 1.0),
            (727 * 1452, 1.0),
            (1452 * 1452, 1.0),
            (1452 * 1452 + 1, 1.0),
            (5_000 * 1452, 1.0),
        ] {
            assert_eq!(added(cwnd).to_bits(), f64::to_bits(bytes), "{cwnd}");
        }
    }

    /// RFC 3465 section 2.1: four segments of window, so a segment for every four acknowledged.
    #[test]
    fn whole_segments_wait_for_a_window_of_acknowledged_data() {
        let mut window = Window { cwnd: 4000.0, ssthresh: 4000.0 };
        let mut reno = reno(Increase::WholeSegments, AckCounting::Bytes);
        let mut after = |segments| {
            reno.on_ack(&mut window, 1000.0, &ack(segments));
            window.cwnd
        };
        let windows = [3, 2, 3, 1].map(&mut after);
        // 3; 5, so a segment and 1 left; 4 of the 5 that the window has now; 5.
        for (got, want) in windows.into_iter().zip([4000.0, 5000.0, 5000.0, 6000.0]) {
            assert_eq!(got.to_bits(), f64::to_bits(want));
        }
    }

    /// Linux: of five segments two reach ssthresh, and three count for congestion avoidance.
    #[test]
    fn acks_left_by_slow_start_count_for_avoidance() {
        let mut window = Window { cwnd: 2000.0, ssthresh: 4000.0 };
        reno(Increase::Exact, AckCounting::Segments).on_ack(&mut window, 1000.0, &ack(5));
        assert_eq!(window.cwnd.to_bits(), 4750_f64.to_bits());
    }

    /// RFC 3465 section 2.3: two segments an ACK at most, one after a timeout.
    #[test]
    fn slow_start_counts_less_after_a_timeout() {
        let mut window = Window { cwnd: 2000.0, ssthresh: 40_000.0 };
        let mut reno = reno(Increase::Exact, AckCounting::Bytes);
        reno.on_ack(&mut window, 1000.0, &ack(5));
        assert_eq!(window.cwnd.to_bits(), 4000_f64.to_bits());
        reno.on_timeout(&mut window, 1000.0);
        reno.on_ack(&mut window, 1000.0, &ack(5));
        assert_eq!(window.cwnd.to_bits(), 5000_f64.to_bits());
    }
}
