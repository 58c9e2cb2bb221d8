//! Minimum RTT of BBR: its estimate of the RTT without queueing.
//!
//! # Model
//! Minimum RTT sample. A minimum older than ten seconds is replaced by the next sample and triggers a probe
//! with an empty queue.
//!
//! # References
//! draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.2; behaviour of Linux 6.
//!
//! # Limitations
//! RTTs are exact, in picoseconds; Linux counts microseconds, and the ten seconds in ticks of its clock.

use optcp_units::{Duration, Time};

/// RTpropFilterLen.
const WINDOW: Duration = Duration::from_secs(10);

/// State of the minimum RTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    least: Option<Duration>,
    since: Time,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.least
    }

    /// The minimum RTT stands for another window.
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
