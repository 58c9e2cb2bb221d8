//! Pacing: segments leave one by one at a rate, not in bursts as ACKs release them.
//!
//! # Models
//! After a segment, or a few that leave together, the next one waits for their share of time, also when
//! the window would let it go. Time that the window wasted shortens the next wait, by half at most. The
//! first ten segments of a connection do not wait, nor does what a timeout or a tail loss probe sends.
//! # Source
//! Behaviour of Linux 6: pacing inside TCP (`sk_pacing_rate`, `tcp_update_pacing_rate`,
//! `tcp_update_skb_after_send`).
//! # Parameters
//! `pacing`: `none`; `window`, the window each smoothed round trip, doubled while cwnd is below half of
//! ssthresh and times 1.2 above; `rate`, what congestion control says. Before the first measurement a
//! round trip counts as 1 ms. `pacing_burst`, the most segments that leave together.
//! # Limits
//! As many segments leave together as the window lets out at one instant, `pacing_burst` at most. Linux
//! makes its bursts longer at rates where two segments take less than a millisecond, to spare the
//! processor (TSO), and may wait for more of the window so that one becomes full. The wait is rounded up to whole picoseconds, once a segment.

use optcp_units::{Duration, Time, registry};

registry! {
    /// How segments that the window allows are spread over time.
    pub enum Pacing ("pacing") {
        "none" => None: "not at all: they leave as ACKs release them", "RFC 9293";
        "window" => Window: "twice the window a smoothed round trip in slow start, 1.2 times in congestion avoidance", "Linux, pacing inside TCP";
        "rate" => Rate: "at the rate that congestion control finds", "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.1";
    }
}

/// Segments of a connection that leave without a wait before them.
const UNPACED: u32 = 10;
/// The round trip that is assumed before one is measured.
pub(crate) const UNMEASURED: Duration = Duration::from_ms(1);

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Segments that may still leave with no wait after them.
    unpaced: u32,
    /// The most segments that leave together.
    burst: u32,
    /// When the last burst began, and how many segments may still leave with it.
    began: Time,
    room: u32,
    /// Time wasted before it that may still shorten the wait.
    wasted: Duration,
    /// When the wait after the last segment ends or has ended.
    release: Time,
    /// Whether it has not ended yet.
    waits: bool,
}

impl Pacer {
    /// A pacer that lets `burst` segments out together.
    pub(crate) fn new(burst: u32) -> Self {
        Pacer {
            unpaced: UNPACED - 1,
            burst,
            began: Time::ZERO,
            room: 0,
            wasted: Duration::ZERO,
            release: Time::ZERO,
            waits: false,
        }
    }

    /// Whether the next segment must wait.
    pub(crate) fn holds(&self, now: Time) -> bool {
        self.waits && now < self.release && (self.room == 0 || now > self.began)
    }

    /// When the wait ends.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.waits.then_some(self.release)
    }

    /// Ends the wait if its time has come.
    pub(crate) fn expire(&mut self, now: Time) {
        self.waits = self.waits && now < self.release;
    }

    /// Ends the wait before its time: what is sent now begins a new one.
    pub(crate) fn release(&mut self, now: Time) {
        self.release = self.release.min(now);
        self.room = 0;
        self.waits = false;
    }

    /// A segment has left, whose share of time is `interval`.
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

    /// Sends what may be sent until `until`, waking up as asked to.
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
    fn the_first_ten_segments_leave_at_once_and_the_others_in_their_time() {
        let config = Config { initial_window: 12, ..Profile::Rfc.config() };
        let sent = sent(&mut sender(config), us(0), us(900));
        let at: Vec<u64> = sent.iter().map(|(_, at)| at.as_ps()).collect();
        assert_eq!(at, [[0; 10].as_slice(), &[41_666_667, 83_333_334]].concat());
    }

    /// ssthresh 20 and a window of 12: not below half, so 120 %. The ACK at 120 ms makes that 13
    /// segments of a measured 120 ms: 120 / (13 * 1.2) = 7.692307... ms. It also finds the last wait
    /// over for longer than half of that, so the next is half as long.
    #[test]
    fn the_rate_follows_the_window_and_the_round_trip() {
        let config =
            Config { initial_window: 12, initial_ssthresh: Some(20), ..Profile::Rfc.config() };
        let mut sender = sender(config);
        assert_eq!(sent(&mut sender, us(0), us(900)).len(), 12);
        sender.handle_ack(us(120_000), &Ack::cumulative(Seq::new(1)));
        let sent = sent(&mut sender, us(120_000), us(160_000));
        let at: Vec<u64> = sent.iter().map(|(_, at)| at.as_ps()).collect();
        assert_eq!(at, [120_000_000_000, 120_000_000_000 + 3_846_153_847]);
    }

    /// Pairs leave together and wait for both: 1000 us / (16 * 2) = 31.25 us for each.
    #[test]
    fn a_burst_waits_for_the_share_of_all_its_segments() {
        let config = Config { initial_window: 16, pacing_burst: 2, ..Profile::Rfc.config() };
        let sent = sent(&mut sender(config), us(0), us(900));
        let at: Vec<u64> = sent.iter().map(|(_, at)| at.as_ps() / 10_000).collect();
        // The tenth segment ends the fifth pair, and is the first that is waited for.
        assert_eq!(
            at,
            [[0; 10].as_slice(), &[3_125, 3_125, 9_375, 9_375, 15_625, 15_625]].concat()
        );
    }

    /// The retransmission after a timeout leaves though the wait is not over.
    #[test]
    fn a_timeout_does_not_wait() {
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
