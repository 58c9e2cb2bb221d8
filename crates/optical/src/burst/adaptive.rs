//! Burst assembly by a timer that follows the burst length.
//!
//! # Model
//! Adaptive assembly period (AAP). The timer is a multiple of the transmission time of the average burst, within limits:
//! `T = factor * average / rate`. After each burst of `b` bytes the average becomes `(average + 3 b) / 4`, rounded down.
//! Recent bursts thus count most, as TCP's windows change quickly. The first timer is the maximum.
//!
//! # References
//! X. Cao, J. Li, Y. Chen, C. Qiao, "Assembling TCP/IP packets in optical burst switched networks", IEEE GLOBECOM 2002.
//!
//! # Limitations
//! - The limitations of [`Timer`] apply.
//! - The weights are fixed. The paper's exact constants were not available; the weights favour the last burst, as there.
//! - A constant packet rate of at least `rate / factor` drives the timer to its maximum.

use optcp_units::{Bytes, Duration, Rate, Time};

use super::Timer;

/// Assembly by a timer that follows the burst length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    /// Minimum of the timer.
    pub least: Duration,
    /// Maximum of the timer.
    pub most: Timer,
    /// Timer in transmission times of the average burst.
    pub factor: u64,
}

/// Bursts that an assembler has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct History {
    /// Rate of the bursts.
    pub(super) rate: Rate,
    /// Average burst size in bytes; `None` before the first burst.
    average: Option<u64>,
}

impl History {
    pub(super) fn new(rate: Rate) -> Self {
        History { rate, average: None }
    }

    /// Adds a burst to the average.
    pub(super) fn add(&mut self, bytes: u64) {
        self.average = Some(self.average.map_or(bytes, |average| (average + 3 * bytes) / 4));
    }
}

impl Adaptive {
    pub(super) fn deadline(self, opened: Time, history: History) -> Option<Time> {
        let most = self.most.period;
        let period = history.average.map_or(most, |average| {
            let bytes = average.saturating_mul(self.factor);
            history.rate.transmission_time(Bytes::new(bytes)).clamp(self.least, most)
        });
        Some(opened + period)
    }

    pub(super) fn is_full(self, _: u64) -> bool {
        false
    }
}
