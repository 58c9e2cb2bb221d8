//! Pacing: segments leave individually at a rate, instead of in bursts released by ACKs.
//!
//! # Model
//! After one segment, or a few that leave together, the next one waits for their share of time even if the
//! window allows it. Time lost because of the window shortens the next wait by at most half. The first ten
//! segments of a connection, and segments sent by an RTO or tail loss probe, do not wait.
//!
//! # References
//! Behaviour of Linux 6: pacing inside TCP (`sk_pacing_rate`, `tcp_update_pacing_rate`,
//! `tcp_update_skb_after_send`).
//!
//! # Parameters
//! - `pacing`: `none`; `window`; `bucket` (see [`bucket`]); `rate`, the rate of congestion control. `window` is
//!   one window per smoothed RTT, times 2 while cwnd is below half of ssthresh and times 1.2 above. Before the
//!   first sample, the RTT counts as 1 ms.
//! - `pacing_burst`: maximum number of segments that leave together.
//!
//! # Limitations
//! Segments that leave together are those that the window allows at one time, at most
//! `pacing_burst`. If two segments take less than a millisecond, Linux uses longer bursts to save
//! CPU time (TSO). It may wait until the window allows a full burst. The wait is rounded up to
//! whole picoseconds per segment. Linux also starts its timers later by the whole jiffies that pacing still waits
//! (`tcp_pacing_delay`); here they do not wait for pacing.

mod bucket;

use optcp_units::{Bytes, Duration, Time, registry};

use bucket::Bucket;
pub(crate) use bucket::Rate;

registry! {
    /// Pacing of the segments that the window allows.
    pub enum Pacing ("pacing") {
        "none" => None: "no pacing: ACKs release segments immediately", "RFC 9293";
        "window" => Window: "twice the window per smoothed RTT in slow start, 1.2 times the window in congestion avoidance", "Linux, pacing inside TCP";
        "bucket" => Bucket: "token bucket of `pacing_burst` segments, filled with 1.25 times the window per smoothed RTT", "RFC 9002 section 7.7";
        "rate" => Rate: "at the rate set by congestion control", "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.1";
    }
}

/// Number of segments at the start of a connection without pacing.
const UNPACED: u32 = 10;
/// RTT assumed before the first sample.
pub(crate) const UNMEASURED: Duration = Duration::from_ms(1);

/// Returns the pacing interval of a segment: one RTT over so many segments, divided by 2 (`slow`) or 1.2.
pub(crate) fn window_interval(segments: u32, slow: bool, srtt: Option<Duration>) -> Duration {
    let percent = if slow { 200 } else { 120 };
    let round_trip = u128::from(srtt.unwrap_or(UNMEASURED).as_ps());
    let interval = (round_trip * 100).div_ceil(u128::from(segments) * percent);
    Duration::from_ps(u64::try_from(interval).unwrap_or(u64::MAX))
}

/// Returns the part of a segment's interval that its payload takes.
pub(crate) fn payload_share(interval: Duration, payload: Bytes, wire: Bytes) -> Duration {
    let share = u128::from(interval.as_ps()) * u128::from(payload.count())
        / u128::from(wire.count().max(1));
    Duration::from_ps(u64::try_from(share).unwrap_or(u64::MAX))
}

/// Pacing state: the earliest time of the next segment.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// Number of segments that do not start a wait.
    unpaced: u32,
    /// Maximum number of segments that leave together.
    burst: u32,
    /// Start of the last burst, and number of segments that may still leave with it.
    began: Time,
    room: u32,
    /// Time lost before the burst that may still shorten the wait.
    wasted: Duration,
    /// End of the wait after the last segment, past or future.
    release: Time,
    /// `true`: the wait has not ended.
    waits: bool,
    /// Tokens, with `Pacing::Bucket`.
    bucket: Option<Box<Bucket>>,
}

impl Pacer {
    /// Creates a pacer for bursts of `burst` segments.
    pub(crate) fn new(pacing: Pacing, burst: u32) -> Self {
        Pacer {
            bucket: (pacing == Pacing::Bucket).then(|| Box::new(Bucket::new(burst))),
            unpaced: UNPACED - 1,
            burst,
            began: Time::ZERO,
            room: 0,
            wasted: Duration::ZERO,
            release: Time::ZERO,
            waits: false,
        }
    }

    /// Returns whether the next segment must wait.
    pub(crate) fn holds(&self, now: Time) -> bool {
        self.waits && now < self.release && (self.room == 0 || now > self.began)
    }

    /// Fills the bucket of a pacer that holds the next segment. Returns whether the segment may leave.
    #[inline(never)]
    pub(crate) fn refill(&mut self, now: Time, rate: Rate) -> bool {
        let has_token = self.bucket.as_mut().is_some_and(|bucket| bucket.refill(now, rate));
        self.waits &= !has_token;
        has_token
    }

    /// Records the departure of a segment that takes a token.
    pub(crate) fn take_token(&mut self, now: Time, rate: Rate) {
        let Some(bucket) = &mut self.bucket else { return };
        if let Some(full) = bucket.take(now, rate) {
            (self.release, self.waits) = (full, true);
        }
    }

    /// Returns the end of the wait.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.waits.then_some(self.release)
    }

    /// Returns the time until the next segment may leave.
    pub(crate) fn wait(&self, now: Time) -> Duration {
        self.deadline().map_or(Duration::ZERO, |end| end.saturating_since(now))
    }

    /// Ends the wait if it is over.
    pub(crate) fn expire(&mut self, now: Time) {
        self.waits = self.waits && now < self.release;
    }

    /// Ends the wait early: the next segment starts a new wait.
    pub(crate) fn release(&mut self, now: Time) {
        self.release = self.release.min(now);
        self.room = 0;
        self.waits = false;
    }

    /// Records the departure of a segment whose share of time is `interval`.
    pub(crate) fn on_sent(&mut self, now: Time, interval: Duration) {
        if self.room == 0 || now > self.began {
            self.wasted = now.saturating_since(self.release);
            self.release = self.release.max(now);
            (self.began, self.room) = (now, self.burst);
        }
        self.room -= 1;
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return;
        }
        let shorter = self.wasted.min(Duration::from_ps(interval.as_ps() / 2));
        self.wasted = self.wasted - shorter;
        self.release = self.release + (interval - shorter);
        self.waits = true;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Ack, Config, Profile, Sender, Seq};

    fn us(microseconds: u64) -> Time {
        Time::from_ps(microseconds * 1_000_000)
    }

    fn sender(config: Config) -> Sender {
        let config = Config { pacing: Pacing::Window, ..config };
        let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
        sender.start();
        sender
    }

    /// Sends everything allowed until `until`, following the deadlines.
    fn sent(sender: &mut Sender, mut now: Time, until: Time) -> Vec<(Seq, Time)> {
        let mut sent = Vec::new();
        loop {
            while let Some(segment) = sender.poll_transmit(now) {
                sent.push((segment.seq, now));
            }
            match sender.deadline() {
                Some(at) if at < until => now = at,
                _ => return sent,
            }
            sender.handle_timer(now);
        }
    }

    /// Ten segments leave at once. Slow start paces 12 segments at twice their rate in the assumed
    /// millisecond: 1000 us / (12 * 2) = 41 2/3 us each, rounded up to picoseconds.
    #[test]
    fn first_ten_segments_are_not_paced() {
        let config = Config { initial_window: 12, ..Profile::Rfc.config() };
        let sent = sent(&mut sender(config), us(0), us(900));
        let at: Vec<u64> = sent.iter().map(|(_, at)| at.as_ps()).collect();
        assert_eq!(at, [[0; 10].as_slice(), &[41_666_667, 83_333_334]].concat());
    }

    /// With ssthresh 20 and a window of 12, the factor is 120 %, because the window is not below half. The
    /// ACK at 120 ms makes that 13 segments in 120 ms: 120 / (13 * 1.2) = 7.692307... ms. The last wait ended
    /// more than half of that ago, so the next is half as long.
    #[test]
    fn pacing_rate_follows_window_and_rtt() {
        let config =
            Config { initial_window: 12, initial_ssthresh: Some(20), ..Profile::Rfc.config() };
        let mut sender = sender(config);
        assert_eq!(sent(&mut sender, us(0), us(900)).len(), 12);
        sender.handle_ack(us(120_000), &Ack::cumulative(Seq::new(1)));
        let sent = sent(&mut sender, us(120_000), us(160_000));
        let at: Vec<u64> = sent.iter().map(|(_, at)| at.as_ps()).collect();
        assert_eq!(at, [120_000_000_000, 120_000_000_000 + 3_846_153_847]);
    }

    /// Pairs leave together and wait for both: 1000 us / (16 * 2) = 31.25 us each.
    #[test]
    fn burst_waits_for_all_its_segments() {
        let config = Config { initial_window: 16, pacing_burst: 2, ..Profile::Rfc.config() };
        let sent = sent(&mut sender(config), us(0), us(900));
        let at: Vec<u64> = sent.iter().map(|(_, at)| at.as_ps() / 10_000).collect();
        // The tenth segment ends the fifth pair and is the first that causes a wait.
        assert_eq!(
            at,
            [[0; 10].as_slice(), &[3_125, 3_125, 9_375, 9_375, 15_625, 15_625]].concat()
        );
    }

    /// The retransmission after an RTO leaves although the wait is not over.
    #[test]
    fn retransmission_after_rto_is_not_paced() {
        let config = Config {
            initial_window: 12,
            initial_rto: Duration::from_us(20),
            min_rto: Duration::ZERO,
            ..Profile::Rfc.config()
        };
        let sent = sent(&mut sender(config), us(0), us(21));
        assert_eq!(sent.last(), Some(&(Seq::ZERO, us(20))));
    }
}
