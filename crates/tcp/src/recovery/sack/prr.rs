//! Proportional rate reduction (PRR).
//!
//! # Model
//! During fast recovery, sending follows delivery. While more than ssthresh is in flight, the ratio is
//! ssthresh to the initial flight. Below, a bound limits sending.
//!
//! # References
//! RFC 6937 section 3 (the two fixed bounds). RFC 9937 section 6 (the bound that depends on the
//! progress of recovery, and the flight without SACKed data).
//!
//! # Parameters
//! `rate_reduction`: `prr-crb` and `prr-ssrb` of RFC 6937, `prr` of RFC 9937.
//!
//! # Limitations
//! Counts whole segments; the ratio is rounded up.

use crate::config::RateReduction;

/// Progress reported by one ACK in recovery, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Newly acknowledged segments, cumulatively or by SACK.
    pub(super) delivered: u32,
    /// `true`: the cumulative ACK advanced and no further loss was detected (RFC 9937's SafeACK).
    pub(super) safe: bool,
    /// Current number of segments in flight.
    pub(super) pipe: u32,
}

/// State of a proportional rate reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProportionalRateReduction {
    bound: Bound,
    /// RecoverFS: initial flight.
    flight: u32,
    ssthresh: u32,
    delivered: u32,
    sent: u32,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Conservative,
    SlowStart,
    Safe,
}

impl ProportionalRateReduction {
    /// Starts a reduction at the beginning of a recovery; `None` if it takes effect immediately.
    ///
    /// `outstanding` is FlightSize when the ACK that starts the recovery arrives, and `sacked` the
    /// number of SACKed segments at that time. Like `ssthresh`, both are in segments.
    pub(super) fn begin(
        kind: RateReduction,
        outstanding: u32,
        sacked: u32,
        ssthresh: u32,
    ) -> Option<Self> {
        let (bound, flight) = match kind {
            RateReduction::AtOnce => return None,
            RateReduction::PrrCrb => (Bound::Conservative, outstanding),
            RateReduction::PrrSsrb => (Bound::SlowStart, outstanding),
            RateReduction::Prr => (Bound::Safe, outstanding - sacked),
        };
        Some(ProportionalRateReduction { bound, flight, ssthresh, delivered: 0, sent: 0 })
    }

    /// Returns the window after an ACK, in segments; `None` keeps it.
    pub(super) fn on_ack(&mut self, ack: Progress) -> Option<u32> {
        // RFC 9937: an ACK that delivers nothing changes nothing.
        if ack.delivered == 0 && self.sent > 0 {
            return None;
        }
        self.delivered += ack.delivered;
        let owed = self.delivered.saturating_sub(self.sent);
        let room = self.ssthresh.saturating_sub(ack.pipe);
        let count = if ack.pipe > self.ssthresh {
            let share = u64::from(self.delivered) * u64::from(self.ssthresh);
            let share = share.div_ceil(u64::from(self.flight.max(1)));
            u32::try_from(share).unwrap_or(u32::MAX).saturating_sub(self.sent)
        } else {
            match self.bound {
                Bound::Conservative => owed,
                Bound::SlowStart => owed.max(ack.delivered) + 1,
                Bound::Safe => owed.max(ack.delivered) + u32::from(ack.safe),
            }
            .min(room)
        };
        // RFC 9937: the fast retransmit itself is always sent.
        let count = if self.sent == 0 { count.max(1) } else { count };
        Some((ack.pipe + count).max(1))
    }

    /// Records the transmission of a segment.
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends all segments that the window allows, and returns the window.
    fn send(prr: &mut ProportionalRateReduction, ack: Progress) -> u32 {
        let count = prr.on_ack(ack).map_or(0, |window| window - ack.pipe);
        (0..count).for_each(|_| prr.on_sent());
        count
    }

    /// Computed by hand from RFC 6937 section 3: 20 segments in flight, the first lost, ssthresh
    /// 10. At the third duplicate ACK 16 are in flight. Every other ACK sends until ssthresh is
    /// reached, then every one.
    #[test]
    fn half_a_window_is_spread_over_the_round_trip() {
        let mut prr = ProportionalRateReduction::begin(RateReduction::PrrSsrb, 20, 0, 10).unwrap();
        let mut pipe = 16;
        let mut sent = Vec::new();
        for _ in 3..20 {
            let count = send(&mut prr, Progress { delivered: 1, safe: false, pipe });
            sent.push(count);
            pipe = pipe + count - 1;
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1]);
    }

    /// Computed by hand from RFC 6937 section 3: 20 in flight, 15 lost, ssthresh 10, so 2 in flight at the
    /// third duplicate ACK. The conservative bound sends the delivered number, the other one more per ACK.
    #[test]
    fn heavy_losses_are_bounded_by_the_delivered_data() {
        for (kind, want) in
            [(RateReduction::PrrCrb, [1, 1, 1]), (RateReduction::PrrSsrb, [2, 2, 2])]
        {
            let mut prr = ProportionalRateReduction::begin(kind, 20, 0, 10).unwrap();
            let mut pipe = 2;
            for want in want {
                let count = send(&mut prr, Progress { delivered: 1, safe: false, pipe });
                assert_eq!(count, want, "{kind:?}");
                pipe = pipe + count - 1;
            }
        }
    }

    /// RFC 9937: below ssthresh one more than was delivered, but only while the recovery makes progress.
    #[test]
    fn the_bound_follows_the_progress_of_the_recovery() {
        let mut prr = ProportionalRateReduction::begin(RateReduction::Prr, 20, 3, 10).unwrap();
        assert_eq!(send(&mut prr, Progress { delivered: 1, safe: false, pipe: 4 }), 1);
        assert_eq!(send(&mut prr, Progress { delivered: 1, safe: true, pipe: 4 }), 2);
        assert_eq!(send(&mut prr, Progress { delivered: 4, safe: true, pipe: 8 }), 2);
        assert_eq!(prr.on_ack(Progress { delivered: 0, safe: false, pipe: 4 }), None);
    }
}
