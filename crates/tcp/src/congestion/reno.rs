//! Reno's additive increase and multiplicative decrease.
//!
//! # Models
//! Slow start (one segment an ACK) below ssthresh, one segment a round trip above, half after a loss.
//! # Source
//! RFC 5681 section 3.1: equation 2 (slow start), equation 3 (congestion avoidance), equation 4.
//! # Parameters
//! None.
//! # Limits
//! An ACK counts once however much it acknowledges (no byte counting, RFC 3465).

use crate::window::Window;

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl Reno {
    pub(super) fn on_ack(self, window: &mut Window, mss: f64) {
        window.cwnd += if window.in_slow_start() { mss } else { mss * mss / window.cwnd };
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
        Reno.on_ack(&mut window, 1000.0);
        assert_eq!(window.cwnd.to_bits(), 3000_f64.to_bits());
        Reno.on_ack(&mut window, 1000.0);
        // 4000 is not below ssthresh any more: 1000 * 1000 / 4000 = 250 bytes.
        Reno.on_ack(&mut window, 1000.0);
        assert_eq!(window.cwnd.to_bits(), 4250_f64.to_bits());
    }
}
