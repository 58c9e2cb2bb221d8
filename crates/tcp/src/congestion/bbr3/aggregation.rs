//! ACK aggregation: compensation for ACKs that arrive in bursts.
//!
//! # Model
//! The excess is the acknowledged data minus the data that the bandwidth explains, since ACKs last fell
//! behind the bandwidth. The maximum excess of ten RTTs (in STARTUP of one RTT) is added to the window, so
//! that sending continues between bursts of ACKs.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 section 5.5.9.

use std::collections::VecDeque;

use optcp_units::Time;

use super::Bandwidth;

/// RTTs for which an excess counts (`BBR.ExtraAckedFilterLen`), once the pipe was full.
const WINDOW: u64 = 10;

/// State of ACK aggregation.
#[derive(Clone, Debug, Default)]
pub(super) struct AckAggregation {
    began: Time,
    acked: u64,
    /// RTTs and excesses that may yet be the maximum: the former ascend, the latter descend.
    excesses: VecDeque<(u64, u32)>,
}

impl AckAggregation {
    /// `BBR.extra_acked`, in segments.
    pub(super) fn extra(&self) -> u32 {
        self.excesses.front().map_or(0, |&(_, excess)| excess)
    }

    /// Sending goes on after a pause.
    pub(super) fn restart(&mut self, now: Time) {
        self.began = now;
    }

    /// An ACK at `now` for `segments` in RTT `round`, with a window of `window` segments; `full` once the pipe was
    /// full.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        segments: u32,
        window: u32,
        bandwidth: Bandwidth,
        (round, full): (u64, bool),
    ) {
        let mut expected = bandwidth.completed_in(now - self.began);
        if self.acked <= expected {
            (self.acked, self.began, expected) = (0, now, 0);
        }
        self.acked += u64::from(segments);
        let excess = u32::try_from(self.acked - expected).unwrap_or(u32::MAX).min(window);
        while self.excesses.back().is_some_and(|&(_, smaller)| smaller <= excess) {
            self.excesses.pop_back();
        }
        self.excesses.push_back((round, excess));
        let length = if full { WINDOW } else { 1 };
        while self.excesses.front().is_some_and(|&(since, _)| round - since > length) {
            self.excesses.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;

    /// 1000 segments a second are acknowledged ten at a time, each lump when all before it are due, so that it is all
    /// excess. Then 30 come at once; that counts for ten RTTs.
    #[test]
    fn maximum_excess_holds_for_ten_rtts() {
        let bandwidth = Bandwidth::of(1000, Duration::from_secs(1));
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let mut aggregation = AckAggregation::default();
        for round in 1..=5 {
            aggregation.on_ack(at(10 * round), 10, 100, bandwidth, (round, true));
        }
        assert_eq!(aggregation.extra(), 10);
        aggregation.on_ack(at(60), 30, 100, bandwidth, (6, true));
        assert_eq!(aggregation.extra(), 30);
        for round in 7..=16 {
            aggregation.on_ack(at(20 * round), 5, 100, bandwidth, (round, true));
        }
        assert_eq!(aggregation.extra(), 30);
        aggregation.on_ack(at(400), 5, 100, bandwidth, (17, true));
        assert_eq!(aggregation.extra(), 5);
    }
}
