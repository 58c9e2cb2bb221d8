//! ACK aggregation: compensation for ACKs that arrive in bursts.
//!
//! # Model
//! The excess is the acknowledged data minus the data that the bandwidth explains, since ACKs last fell
//! behind the bandwidth. The maximum excess of the last five to ten RTTs is added to the window, so that
//! sending continues between bursts of ACKs. The addition is at most the bandwidth times 100 ms.
//!
//! # References
//! Behaviour of Linux 6 (`bbr_update_ack_aggregation`); not in draft -00.
//!
//! # Limitations
//! An epoch ends after 2^20 segments, as in Linux.

use optcp_units::{Duration, Time};

use super::bandwidth::{Bandwidth, Gain};
use super::memo::Memo;

/// RTTs after which the older half of the maximum is forgotten.
const HALF_WINDOW: u32 = 5;
/// Maximum time whose delivery the excess may reach.
const LONGEST: Duration = Duration::from_ms(100);
/// Segments after which an epoch ends.
const EPOCH: u64 = 1 << 20;

/// State of ACK aggregation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckAggregation {
    epoch: Time,
    acked: u64,
    /// The maximum excess of this and of the last half of the window.
    excess: [u32; 2],
    rounds: u32,
    /// Maximum excess at a bandwidth.
    most: Memo<Bandwidth, u32>,
}

impl AckAggregation {
    /// Returns the addition to the window, in segments.
    pub(super) fn allowance(&mut self, bandwidth: Bandwidth) -> u32 {
        match self.excess[0].max(self.excess[1]) {
            0 => 0,
            excess => {
                let most = || bandwidth.segments_in(LONGEST, Gain::ONE);
                excess.min(self.most.get(bandwidth, most))
            }
        }
    }

    /// Sending goes on after a pause.
    pub(super) fn restart(&mut self, now: Time) {
        (self.acked, self.epoch) = (0, now);
    }

    /// An ACK at `now` for `segments`, with a window of `cwnd`; `starts` if it begins an RTT.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        segments: u32,
        cwnd: u32,
        bandwidth: Bandwidth,
        starts: bool,
    ) {
        if starts {
            self.rounds += 1;
            if self.rounds >= HALF_WINDOW {
                self.rounds = 0;
                self.excess = [0, self.excess[0]];
            }
        }
        let mut expected = bandwidth.completed_in(now - self.epoch);
        if self.acked <= expected || self.acked + u64::from(segments) >= EPOCH {
            (self.acked, self.epoch, expected) = (0, now, 0);
        }
        self.acked += u64::from(segments);
        let excess = u32::try_from(self.acked - expected).unwrap_or(u32::MAX).min(cwnd);
        self.excess[0] = self.excess[0].max(excess);
    }
}
