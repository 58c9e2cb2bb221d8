//! Reno's additive increase and multiplicative decrease.
//!
//! # Models
//! Slow start (one segment an ACK) below ssthresh, one segment a round trip above, half after a loss.
//! # Source
//! RFC 5681 section 3.1: equation 2 (slow start), equation 3 (congestion avoidance), equation 4.
//! Whole bytes: behaviour of INET in 2011.
//! # Parameters
//! `increase`.
//! # Limits
//! An ACK counts once however much it acknowledges (no byte counting, RFC 3465).

use crate::config::Increase;
use crate::window::Window;

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    increase: Increase,
}

impl Reno {
    pub(super) fn new(increase: Increase) -> Self {
        Reno { increase }
    }

    pub(super) fn on_ack(self, window: &mut Window, mss: f64) {
        window.cwnd += if window.in_slow_start() {
            mss
        } else {
            let share = mss * mss / window.cwnd;
            match self.increase {
                Increase::Exact => share,
                Increase::WholeBytes => share.floor().max(1.0),
            }
        };
    }

    pub(super) fn ssthresh(self, amount: f64) -> f64 {
        amount / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_adds_a_segment_and_avoidance_a_segment_a_window() {
        let mut window = Window { cwnd: 2000.0, ssthresh: 4000.0 };
        let reno = Reno::new(Increase::Exact);
        reno.on_ack(&mut window, 1000.0);
        assert_eq!(window.cwnd.to_bits(), 3000_f64.to_bits());
        reno.on_ack(&mut window, 1000.0);
        // 4000 is not below ssthresh any more: 1000 * 1000 / 4000 = 250 bytes.
        reno.on_ack(&mut window, 1000.0);
        assert_eq!(window.cwnd.to_bits(), 4250_f64.to_bits());
    }

    /// Integer division as a computer of whole bytes does it: for segments of 1452 bytes,
    /// 1452 * 1452 = 2108304, and half of that is 1054152 = 726 segments.
    #[test]
    fn whole_bytes_are_cut_and_never_fewer_than_one() {
        let added = |cwnd: u32| {
            let mut window = Window { cwnd: f64::from(cwnd), ssthresh: 2904.0 };
            Reno::new(Increase::WholeBytes).on_ack(&mut window, 1452.0);
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
}
