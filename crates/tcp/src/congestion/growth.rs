//! Window growth by whole segments, as in most of Linux's congestion controls.
//!
//! # Model
//! Slow start below ssthresh. Above it, the window grows by one segment per number of acknowledged segments
//! that the control requests. One window per segment is Reno.
//!
//! # References
//! RFC 3465 section 2.1; behaviour of Linux 6.
//!
//! # Parameters
//! `slow_start`, `ack_counting`.
//!
//! # Limitations
//! Segments counted towards a larger number are worth at most one segment when the number decreases.

use super::event::AckEvent;
use super::slow_start::SlowStart;
use crate::window::Window;

/// Growth by whole segments.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    slow_start: SlowStart,
    /// Segments counted towards the next increase.
    pub(super) counted: f64,
}

impl Growth {
    pub(super) fn new(slow_start: SlowStart) -> Self {
        Growth { slow_start, counted: 0.0 }
    }

    pub(super) fn on_open(&mut self) {
        self.slow_start.on_open();
    }

    /// Grows the window below ssthresh. Returns the segments that count beyond it.
    pub(super) fn slow_start(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) -> f64 {
        self.slow_start.on_ack(window, mss, ack)
    }

    /// Counts `count` segments; the window grows by one for each `needed`.
    pub(super) fn count(&mut self, window: &mut Window, mss: f64, needed: u32, count: f64) {
        let needed = f64::from(needed.max(1));
        if self.counted >= needed {
            self.counted = 0.0;
            window.cwnd += mss;
        }
        self.counted += count;
        let whole = (self.counted / needed).floor();
        self.counted -= whole * needed;
        window.cwnd += whole * mss;
    }

    /// Grows the window like Reno for an ACK.
    pub(super) fn reno(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let count = self.slow_start(window, mss, ack);
        if count > 0.0 {
            self.count(window, mss, window.segments(mss), count);
        }
    }

    pub(super) fn on_loss(&mut self) {
        self.counted = 0.0;
        self.slow_start.on_loss();
    }

    pub(super) fn on_timeout(&mut self) {
        self.counted = 0.0;
        self.slow_start.on_timeout();
    }
}

/// Returns `bytes` in whole segments.
#[expect(clippy::cast_possible_truncation, reason = "saturates, and an amount is not negative")]
pub(super) fn segments(bytes: f64, mss: f64) -> u64 {
    (bytes / mss) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};

    /// Ten ACKs needed: seven plus seven give one increment and four left over. The remaining
    /// twelve give one increment when five are needed.
    #[test]
    fn window_grows_once_per_counted_number() {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        let (mut growth, mut window) =
            (Growth::new(slow_start), Window { cwnd: 10.0, ssthresh: 1.0 });
        let mut after = |needed, count| {
            growth.count(&mut window, 1.0, needed, count);
            window.cwnd
        };
        let windows =
            [after(10, 7.0), after(10, 7.0), after(20, 8.0), after(5, 1.0), after(5, 25.0)];
        for (got, want) in windows.into_iter().zip([10.0, 11.0, 11.0, 12.0, 17.0]) {
            assert_eq!(got.to_bits(), f64::to_bits(want));
        }
    }
}
