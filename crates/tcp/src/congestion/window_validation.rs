//! Whether the window limits what is sent, without which it need not grow.
//!
//! # Models
//! `none`: the window grows with every ACK of new data. `linux`: only if it held a segment back during
//! the last window of data, or in slow start if it is smaller than twice the most that was outstanding.
//! # Source
//! RFC 9438 section 5.8 and RFC 7661 for the aim; behaviour of Linux 6 (`linux`).
//! # Parameters
//! `window_validation`.
//! # Limits
//! A window that is not used does not shrink.

use crate::seq::Seq;
use optcp_units::registry;

registry! {
    /// Whether the window grows while it does not limit what is sent.
    pub enum WindowValidation ("window_validation") {
        "none" => None: "it grows with every ACK of new data", "RFC 5681 section 3.1";
        "linux" => Linux: "it grows if it held a segment back, or in slow start is below twice what was outstanding", "Linux; RFC 9438 section 5.8";
    }
}

/// How a sender uses its window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUse {
    /// Whether the window held a segment back.
    limited: bool,
    /// The most segments outstanding, if it did not.
    outstanding: u32,
    /// Up to where that holds.
    until: Seq,
}

impl WindowUse {
    /// Nothing more is sent now, with everything below `una` acknowledged and everything below `max`
    /// sent; `limited` if the window is why.
    pub(crate) fn on_pause(&mut self, una: Seq, max: Seq, limited: bool) {
        let outstanding = max - una;
        if una >= self.until || limited || (!self.limited && outstanding > self.outstanding) {
            *self = WindowUse { limited, outstanding, until: max };
        }
    }

    /// Whether a window of `cwnd` segments limits what is sent.
    // Apart, so that growth without validation pays nothing for it.
    #[inline(never)]
    pub(crate) fn limits(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.limited || (in_slow_start && cwnd < self.outstanding.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(usage: &mut WindowUse, una: u32, max: u32, limited: bool) {
        usage.on_pause(Seq::new(una), Seq::new(max), limited);
    }

    #[test]
    fn a_window_that_is_not_filled_does_not_grow() {
        let mut usage = WindowUse::default();
        pause(&mut usage, 0, 10, true);
        assert!(usage.limits(10, false));
        // Ten outstanding of a window of 19, then of 20: slow start stops at twice what is used.
        pause(&mut usage, 10, 20, false);
        assert!(usage.limits(19, true) && !usage.limits(19, false));
        assert!(!usage.limits(20, true));
        // What held once holds for a window of data.
        pause(&mut usage, 11, 31, true);
        pause(&mut usage, 30, 32, false);
        assert!(usage.limits(20, false));
        pause(&mut usage, 31, 33, false);
        assert!(!usage.limits(20, false));
    }
}
