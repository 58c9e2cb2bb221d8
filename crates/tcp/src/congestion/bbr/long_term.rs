//! Long-term bandwidth of BBR behind a policer.
//!
//! # Model
//! An interval starts at a loss, so that the policer's tokens are used up, and ends at another loss. It takes 4 to 16 RTTs,
//! and at least 50/256 of its deliveries were lost. Two successive intervals are similar if their delivery rates differ by
//! at most an eighth or 4 kbit/s. Their mean then replaces the estimated bandwidth, and the pacing gain is 1. After 48 RTTs
//! of `PROBE_BW` the normal estimate returns.
//!
//! # References
//! Linux 6, `tcp_bbr.c` (`bbr_lt_bw_sampling`); T. Flach et al., *An Internet-wide analysis of traffic policing*, SIGCOMM
//! 2016. Not in draft-cardwell-iccrg-bbr-congestion-control-00.
//!
//! # Limitations
//! An RTO counts as one loss. Times are exact; Linux rounds them to milliseconds.

use optcp_units::{Duration, Time};

use super::bandwidth::Bandwidth;

/// Minimum RTTs of an interval (`bbr_lt_intvl_min_rtts`).
const LEAST_ROUNDS: u32 = 4;
/// Maximum RTTs of an interval.
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Minimum share of losses in an interval, in 1/256 (`bbr_lt_loss_thresh`).
const LOSS_THRESHOLD: u64 = 50;
/// Minimum length of an interval.
const LEAST_TIME: Duration = Duration::from_ms(1);
/// RTTs for which the long-term bandwidth is used (`bbr_lt_bw_max_rtts`).
const USED_ROUNDS: u32 = 48;

/// State of the long-term bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// `true`: an interval is in progress.
    samples: bool,
    /// RTTs of the interval, or since the bandwidth is used.
    rounds: u32,
    /// Start of the interval: deliveries, their time, and losses.
    delivered: u64,
    since: Time,
    lost: u64,
    /// Losses of the connection.
    all_lost: u64,
    /// Bandwidth of the last interval, if any, or of the policer.
    bandwidth: Option<Bandwidth>,
    /// `true`: the bandwidth is used.
    is_used: bool,
}

/// Deliveries and losses that an ACK or an RTO reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// Deliveries of the connection.
    pub(super) delivered: u64,
    /// Time of the last one.
    pub(super) delivered_at: Time,
    /// New losses.
    pub(super) lost: u32,
    /// `true`: an RTT starts.
    pub(super) starts: bool,
    /// `true`: something other than the network limited the flight.
    pub(super) limited: bool,
    /// `true`: BBR probes for bandwidth.
    pub(super) probes: bool,
}

impl LongTerm {
    /// Returns the bandwidth of a policer, if one is detected.
    pub(super) fn get(&self) -> Option<Bandwidth> {
        self.bandwidth.filter(|_| self.is_used)
    }

    /// Ends sampling and use.
    pub(super) fn reset(&mut self) {
        *self = LongTerm { all_lost: self.all_lost, ..LongTerm::default() };
    }

    /// Counts losses of an ACK without a delivery-rate sample.
    pub(super) fn count_lost(&mut self, lost: u32) {
        self.all_lost += u64::from(lost);
    }

    /// Processes a report whose losses are counted. Returns whether the use of the bandwidth ends.
    pub(super) fn on_report(&mut self, report: &Report, mss: f64) -> bool {
        if self.is_used {
            self.rounds += u32::from(report.probes && report.starts);
            let over = self.rounds >= USED_ROUNDS;
            if over {
                self.reset();
            }
            return over;
        }
        if !self.samples {
            if report.lost == 0 {
                return false;
            }
            self.start(report);
        }
        if report.limited {
            self.reset();
            return false;
        }
        self.rounds += u32::from(report.starts);
        if self.rounds > MOST_ROUNDS {
            self.reset();
        } else if self.rounds >= LEAST_ROUNDS && report.lost > 0 {
            self.end(report, mss);
        }
        false
    }

    fn start(&mut self, report: &Report) {
        self.samples = true;
        (self.delivered, self.since) = (report.delivered, report.delivered_at);
        (self.lost, self.rounds) = (self.all_lost, 0);
    }

    /// Ends an interval at a loss, if enough was lost in it, and starts the next one.
    fn end(&mut self, report: &Report, mss: f64) {
        let (delivered, lost) = (report.delivered - self.delivered, self.all_lost - self.lost);
        let time = report.delivered_at.saturating_since(self.since);
        if delivered == 0 || lost * 256 < LOSS_THRESHOLD * delivered || time < LEAST_TIME {
            return;
        }
        let bandwidth = Bandwidth::of(delivered, time);
        if let Some(last) = self.bandwidth.filter(|&last| bandwidth.is_similar(last, mss)) {
            self.bandwidth = Some(bandwidth.mean(last));
            (self.is_used, self.rounds) = (true, 0);
            return;
        }
        self.bandwidth = Some(bandwidth);
        self.start(report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: f64 = 1000.0;

    /// Long-term bandwidth with rounds of a given length. A first loss starts an interval at time zero.
    struct Rounds {
        long_term: LongTerm,
        round: Duration,
        mss: f64,
        report: Report,
    }

    impl Rounds {
        fn new(round: Duration, mss: f64) -> Self {
            let report = Report {
                delivered: 0,
                delivered_at: Time::ZERO,
                lost: 5,
                starts: false,
                limited: false,
                probes: true,
            };
            let mut rounds = Rounds { long_term: LongTerm::default(), round, mss, report };
            rounds.report();
            rounds.report.starts = true;
            rounds
        }

        fn report(&mut self) -> bool {
            self.long_term.count_lost(self.report.lost);
            self.long_term.on_report(&self.report, self.mss)
        }

        /// One ACK per round, with its deliveries and losses.
        fn acks(&mut self, acks: &[(u64, u32)]) -> bool {
            let mut is_over = false;
            for &(delivered, lost) in acks {
                self.report.delivered += delivered;
                self.report.delivered_at = self.report.delivered_at + self.round;
                self.report.lost = lost;
                is_over = self.report();
            }
            is_over
        }

        /// Used bandwidth in hundredths of a segment per second.
        fn used(&self) -> Option<u64> {
            let hundredths = |used: Bandwidth| used.completed_in(Duration::from_secs(100));
            self.long_term.get().map(hundredths)
        }
    }

    fn tenths() -> Rounds {
        Rounds::new(Duration::from_ms(100), MSS)
    }

    /// 400 deliveries in 0.4 s are 1000 per second, 440 are 1100: the difference of 100 is at most 1000 / 8 = 125. Losses:
    /// 80 * 256 = 20480 is at least 50 * 400, and 88 * 256 = 22528 at least 50 * 440. The loss that starts an interval does
    /// not belong to it. Of the rounds that follow, 48 of `PROBE_BW` end the use.
    #[test]
    fn two_similar_lossy_intervals_give_their_mean_for_48_rounds() {
        let mut rounds = tenths();
        rounds.acks(&[(100, 10), (100, 10), (100, 10), (100, 50)]);
        assert_eq!(rounds.used(), None);
        rounds.acks(&[(110, 22), (110, 22), (110, 22), (110, 22)]);
        assert_eq!(rounds.used(), Some(105_000));
        rounds.report.probes = false;
        assert!(!rounds.acks(&[(100, 30); 10]));
        rounds.report.probes = true;
        assert!(!rounds.acks(&[(100, 30); 47]));
        assert_eq!(rounds.used(), Some(105_000));
        assert!(rounds.acks(&[(100, 30)]));
        assert_eq!(rounds.used(), None);
    }

    /// 1000 and 1130 per second differ by 130, more than 125. The third interval is like the second.
    #[test]
    fn intervals_that_differ_by_more_than_an_eighth_are_not_similar() {
        let mut rounds = tenths();
        rounds.acks(&[(100, 20); 4]);
        rounds.acks(&[(113, 30); 4]);
        assert_eq!(rounds.used(), None);
        rounds.acks(&[(113, 30); 4]);
        assert_eq!(rounds.used(), Some(113_000));
    }

    /// 1 and 1.5 segments per second differ by half of a segment. With the margin of 1 %, this is 495 bytes per second for
    /// segments of 1000 bytes, and 544.5 for 1100 bytes. The limit is 500.
    #[test]
    fn small_differences_are_similar_at_low_rates() {
        for (mss, used) in [(1000.0, Some(125)), (1100.0, None)] {
            let mut rounds = Rounds::new(Duration::from_secs(2), mss);
            rounds.acks(&[(2, 1); 4]);
            rounds.acks(&[(3, 1); 4]);
            assert_eq!(rounds.used(), used);
        }
    }

    /// 78 * 256 = 19968 is less than 50 * 400: the interval goes on. With the fifth round, 98 * 256 = 25088 is more than
    /// 50 * 500. An interval without a loss at its end goes on, too, and is discarded in the 17th round.
    #[test]
    fn interval_ends_at_a_loss_with_enough_losses() {
        let mut rounds = tenths();
        rounds.acks(&[(100, 19), (100, 19), (100, 20), (100, 20)]);
        rounds.acks(&[(100, 20)]);
        rounds.acks(&[(100, 20); 4]);
        assert_eq!(rounds.used(), Some(100_000));
        for (idle, used) in [(12, Some(100_000)), (13, None)] {
            let mut rounds = tenths();
            rounds.acks(&[(100, 20); 4]);
            rounds.acks(&[(100, 80); 3]);
            rounds.acks(&vec![(100, 0); idle]);
            rounds.acks(&[(100, 90)]);
            assert_eq!(rounds.used(), used, "{idle} rounds without a loss");
        }
    }

    /// An application that writes too little would give a bandwidth below the policer's.
    #[test]
    fn limited_flight_discards_the_intervals() {
        let mut rounds = tenths();
        rounds.acks(&[(100, 20); 6]);
        rounds.report.limited = true;
        rounds.acks(&[(100, 20)]);
        rounds.report.limited = false;
        rounds.acks(&[(100, 20); 7]);
        assert_eq!(rounds.used(), None);
    }
}
