//! Congestion window and slow-start threshold.

/// Congestion window and slow-start threshold in bytes.
///
/// They are floating-point because growth by SMSS*SMSS/cwnd is fractional. Sums, products and quotients of
/// IEEE doubles are equal on every machine, and whole bytes are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in bytes, at least one segment.
    pub cwnd: f64,
    /// Slow-start threshold in bytes; infinite until the first loss by default.
    pub ssthresh: f64,
}

impl Window {
    /// Returns whether the window grows as in slow start.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Undoes a reduction: cwnd and ssthresh become at least their values in `before`.
    pub(crate) fn restore(&mut self, before: Window) {
        self.cwnd = self.cwnd.max(before.cwnd);
        self.ssthresh = self.ssthresh.max(before.ssthresh);
    }

    /// Returns the window in whole segments of `mss` bytes.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and a window is not negative")]
    pub fn segments(&self, mss: f64) -> u32 {
        (self.cwnd / mss) as u32
    }
}
