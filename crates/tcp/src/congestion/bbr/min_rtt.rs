//! The round trip that BBR believes the path to have without queues.
//!
//! # Models
//! The least round trip; one that is ten seconds old gives way to the next measurement, and asks for a
//! probe with the queue drained.
//! # Source
//! draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.2; behaviour of Linux 6.
//! # Parameters
//! None.
//! # Limits
//! Measured exactly, in picoseconds; Linux counts microseconds, and the ten seconds in ticks of its clock.

use optcp_units::{Duration, Time};

/// RTpropFilterLen.
const WINDOW: Duration = Duration::from_secs(10);

/// See the module's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    least: Option<Duration>,
    since: Time,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.least
    }

    /// The least round trip stands for another window.
    pub(super) fn renew(&mut self, now: Time) {
        self.since = now;
    }

    /// Takes a measurement; whether the last minimum had expired.
    pub(super) fn on_measurement(&mut self, rtt: Option<Duration>, now: Time) -> bool {
        let expired = self.least.is_some() && now > self.since + WINDOW;
        if let Some(rtt) = rtt
            && (expired || self.least.is_none_or(|least| rtt < least))
        {
            self.least = Some(rtt);
            self.since = now;
        }
        expired
    }
}
