//! HighSpeed TCP.
//!
//! # Model
//! Reno up to 38 segments. Above, a larger window w grows faster, by a(w) segments per RTT, and a loss
//! reduces it by a smaller share b(w).
//!
//! # References
//! RFC 3649 section 5 and appendix B (a and b by window). Behaviour of Linux 6: one step of a(w) per ACK,
//! whole segments, and shares in 1/256.
//!
//! # Parameters
//! `slow_start`, `ack_counting` (slow start), `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! An ACK counts once in congestion avoidance, so that delayed ACKs halve a(w). The share b belongs
//! to the window at the last growth in congestion avoidance. A loss that ends the first slow start
//! therefore halves the window. The table ends at 89053 segments, where a = 72.

use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::slow_start::SlowStart;
use crate::window::Window;

/// The maximum window at which a is 1, 2, and so on, and 256 b there, cut to whole (RFC 3649 appendix B).
#[rustfmt::skip]
const TABLE: [(u32, u8); 72] = [
    (38, 128), (118, 112), (221, 104), (347, 98), (495, 93), (663, 89), (851, 86), (1058, 83),
    (1284, 81), (1529, 78), (1793, 76), (2076, 74), (2378, 72), (2699, 71), (3039, 69), (3399, 68),
    (3778, 66), (4177, 65), (4596, 64), (5036, 62), (5497, 61), (5979, 60), (6483, 59), (7009, 58),
    (7558, 57), (8130, 56), (8726, 55), (9346, 54), (9991, 53), (10661, 52), (11358, 52), (12082, 51),
    (12834, 50), (13614, 49), (14424, 48), (15265, 48), (16137, 47), (17042, 46), (17981, 45), (18955, 45),
    (19965, 44), (21013, 43), (22101, 43), (23230, 42), (24402, 41), (25618, 41), (26881, 40), (28193, 39),
    (29557, 39), (30975, 38), (32450, 38), (33986, 37), (35586, 36), (37253, 36), (38992, 35), (40808, 35),
    (42707, 34), (44694, 33), (46776, 33), (48961, 32), (51258, 32), (53677, 31), (56230, 30), (58932, 30),
    (61799, 29), (64851, 28), (68113, 28), (71617, 27), (75401, 26), (79517, 26), (84035, 25), (89053, 24),
];

/// State of HighSpeed TCP.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    slow_start: SlowStart,
    /// The row of the table.
    row: usize,
    /// Amount counted towards the next whole segment.
    counted: usize,
}

impl Controller for HighSpeed {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        HighSpeed { slow_start: start.slow_start, row: 0, counted: 0 }
    }

    fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let in_slow_start = window.in_slow_start();
        let count = self.slow_start.on_ack(window, mss, ack);
        if in_slow_start || count <= 0.0 {
            return;
        }
        let cwnd = window.segments(mss);
        self.row = TABLE.partition_point(|&(greatest, _)| greatest < cwnd).min(TABLE.len() - 1);
        self.counted += self.row + 1;
        if self.counted >= cwnd as usize {
            self.counted -= cwnd as usize;
            window.cwnd += mss;
        }
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.counted = 0;
        self.slow_start.on_loss();
        let share = f64::from(TABLE[self.row].1) / 256.0;
        Some(amount - (amount / mss * share).floor() * mss)
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

    fn highspeed() -> HighSpeed {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        HighSpeed::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// RFC 3649 section 5: b falls with the logarithm of w from 1/2 at 38 to 1/10 at 83000. The
    /// loss rate is p(w) = 0.078 / w^1.2. The growth is a(w) = w^2 p(w) 2 b(w) / (2 - b(w)). A row
    /// ends where a reaches the next whole number.
    #[test]
    fn the_table_follows_from_the_response_function() {
        for (row, &(w, share)) in TABLE.iter().enumerate() {
            let w = f64::from(w);
            let b = 0.5 - 0.4 * (w / 38.0).ln() / (83_000.0_f64 / 38.0).ln();
            let a = w * w * (0.078 / w.powf(1.2)) * 2.0 * b / (2.0 - b);
            assert!(
                (256.0 * b - f64::from(share) - 0.5).abs() <= 0.75,
                "b({w}) = {b}, not {share}/256"
            );
            assert!((a - (row as f64 + 1.0)).abs() < 0.5, "a({w}) = {a} in row {row}");
        }
    }

    /// RFC 3649 appendix B, some of its rows as printed: w, a(w), b(w).
    #[test]
    fn growth_and_decrease_match_the_rfc() {
        for (w, a, b) in [
            (38, 1_u32, 0.50),
            (118, 2, 0.44),
            (1058, 8, 0.33),
            (10_661, 30, 0.21),
            (51_258, 61, 0.13),
            (84_035, 71, 0.10),
        ] {
            let mut highspeed = highspeed();
            let mut window = Window { cwnd: f64::from(w) * MSS, ssthresh: 2.0 * MSS };
            let ack = AckEvent { acked: 1, delivered: 1, limited: true, ..AckEvent::default() };
            for _ in 0..w {
                highspeed.on_ack(&mut window, MSS, &ack);
            }
            // The lower bound is a(w) - 1: each ACK counts a(w) / cwnd, and cwnd grows during the RTT, so
            // that w ACKs add less than a(w).
            let grown = window.cwnd / MSS - f64::from(w);
            assert!((f64::from(a) - 1.0..=f64::from(a)).contains(&grown), "a({w}) = {grown}");
            highspeed.row = a as usize - 1;
            let left = highspeed.on_loss(&window, MSS, f64::from(w) * MSS).unwrap() / MSS;
            let taken = 1.0 - left / f64::from(w);
            assert!((taken - b).abs() < 0.012, "b({w}) = {taken}");
        }
    }

    /// Linux: one step an ACK, also where it acknowledges two segments; and 20 segments count as Reno's.
    #[test]
    fn an_ack_counts_once() {
        for (cwnd, acks, want) in
            [(20, 19, 20.0), (20, 20, 21.0), (100, 49, 100.0), (100, 50, 101.0)]
        {
            let mut highspeed = highspeed();
            let mut window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: 2.0 * MSS };
            let ack = AckEvent { acked: 2, delivered: 2, limited: true, ..AckEvent::default() };
            for _ in 0..acks {
                highspeed.on_ack(&mut window, MSS, &ack);
            }
            assert_eq!((window.cwnd / MSS).to_bits(), f64::to_bits(want), "{cwnd} after {acks}");
        }
    }

    /// Linux: without any congestion avoidance, the share has the value of the smallest windows.
    #[test]
    fn a_loss_in_the_first_slow_start_leaves_a_half() {
        let window = Window { cwnd: 1000.0 * MSS, ssthresh: f64::INFINITY };
        let left = highspeed().on_loss(&window, MSS, window.cwnd).unwrap();
        assert_eq!(left.to_bits(), f64::to_bits(500.0 * MSS));
    }
}
