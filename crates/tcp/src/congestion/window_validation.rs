//! Congestion window validation: no growth while the window does not limit sending.
//!
//! # Model
//! - `none`: every ACK of new data increases the window.
//! - `linux`: the window only grows if it prevented a segment during the last window of data. In slow start it
//!   also grows if it is smaller than twice the maximum outstanding data.
//!
//! # References
//! RFC 9438 section 5.8 and RFC 7661 for the purpose; behaviour of Linux 6 (`linux`).
//!
//! # Parameters
//! `window_validation`.
//!
//! # Limitations
//! An unused window does not shrink.

use crate::seq::Seq;
use optcp_units::registry;

registry! {
    /// Window growth while the window does not limit sending.
    pub enum WindowValidation ("window_validation") {
        "none" => None: "every ACK of new data increases the window", "RFC 5681 section 3.1";
        "linux" => Linux: "the window increases if it limited sending, or in slow start if it is below twice the outstanding data", "Linux; RFC 9438 section 5.8";
    }
}

/// Use of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUse {
    /// `true`: the window prevented a segment.
    limited: bool,
    /// The most segments outstanding, if it did not.
    outstanding: u32,
    /// Segment up to which the observation is valid.
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

    /// Returns whether a window of `cwnd` segments limits sending.
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
        // A limit once reached counts for a window of data.
        pause(&mut usage, 11, 31, true);
        pause(&mut usage, 30, 32, false);
        assert!(usage.limits(20, false));
        pause(&mut usage, 31, 33, false);
        assert!(!usage.limits(20, false));
    }
}
