//! HyStart as in Linux's CUBIC.
//!
//! # Model
//! From 16 segments on, either of two conditions ends slow start:
//!
//! - ACK train: closely spaced ACKs last for half of the minimum RTT, or for a whole minimum RTT with pacing.
//! - Delay: a sample exceeds the minimum RTT by an eighth, limited to 4 to 16 ms. The sample is the minimum of
//!   the first eight RTT samples of a round, or a later one.
//!
//! # References
//! S. Ha and I. Rhee, "Taming the elephants: new TCP slow start", 2011; behaviour of Linux 6.
//!
//! # Parameters
//! `pacing` selects the length of the ACK train. The constants are Linux's.
//!
//! # Limitations
//! Needs an RTT sample with every ACK.

use optcp_units::{Duration, Time};

use super::event::AckEvent;
use crate::seq::Seq;
use crate::window::Window;

/// Minimum window for HyStart, in segments.
const LOW_WINDOW: f64 = 16.0;
/// Maximum time between ACKs of a train.
const TRAIN_GAP: Duration = Duration::from_ms(2);
/// Number of RTT samples per round before the delay counts.
const SAMPLES: u32 = 8;
const LEAST_INCREASE: Duration = Duration::from_ms(4);
const GREATEST_INCREASE: Duration = Duration::from_ms(16);
/// Time that segment aggregation may add to a train: four maximum bursts, at most 1 ms.
const BURSTS_BYTES: f64 = 4.0 * 65_536.0;
const GREATEST_AGGREGATION: Duration = Duration::from_ms(1);

/// State of HyStart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    /// `true`: pacing spreads the segments of slow start.
    paced: bool,
    /// `true`: HyStart has ended slow start; an RTO resets it.
    found: bool,
    least: Option<Duration>,
    round: Option<Round>,
}

/// State since the first ACK of an RTT.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The round ends with an ACK beyond this segment.
    end: Seq,
    start: Time,
    /// Time of the last ACK of the train.
    last: Time,
    least: Option<Duration>,
    samples: u32,
}

impl HyStart {
    pub(super) fn new(paced: bool) -> Self {
        HyStart { paced, ..HyStart::default() }
    }

    /// Restarts slow start after an RTO.
    pub(super) fn on_timeout(&mut self) {
        *self = HyStart::new(self.paced);
    }

    /// Processes an ACK of new data; sets ssthresh if slow start ends.
    pub(super) fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.found || !window.in_slow_start() {
            return;
        }
        let new = Round { end: ack.max, start: ack.now, last: ack.now, least: None, samples: 0 };
        let round = self.round.get_or_insert(new);
        if ack.una > round.end {
            *round = new;
        }
        if window.cwnd < LOW_WINDOW * mss {
            return;
        }
        let allowed = least + aggregation(window, ack);
        let shares = if self.paced { 1 } else { 2 };
        let train = round.train(Duration::from_ps(allowed.as_ps() / shares), ack.now);
        if train || round.delayed(least, rtt) {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }
}

impl Round {
    /// Returns whether the train has lasted longer than `allowed`.
    fn train(&mut self, allowed: Duration, now: Time) -> bool {
        if now - self.last > TRAIN_GAP {
            return false;
        }
        self.last = now;
        now - self.start > allowed
    }

    /// Returns whether RTTs have increased above `least`.
    fn delayed(&mut self, least: Duration, rtt: Duration) -> bool {
        let fastest = self.least.map_or(rtt, |fastest| fastest.min(rtt));
        self.least = Some(fastest);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let eighth = Duration::from_ps(least.as_ps() / 8);
        fastest > least + eighth.max(LEAST_INCREASE).min(GREATEST_INCREASE)
    }
}

/// Returns the duration of four bursts at two windows per RTT, Linux's pacing rate in slow start.
fn aggregation(window: &Window, ack: &AckEvent) -> Duration {
    let srtt = ack.srtt.unwrap_or(Duration::ZERO).as_ps() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration")]
    let bursts = Duration::from_ps((BURSTS_BYTES * srtt / (2.0 * window.cwnd)) as u64);
    bursts.min(GREATEST_AGGREGATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: f64 = 1000.0;

    fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    /// Twenty segments, with ACKs at the given times after the first one of the round, and their RTTs.
    fn ssthresh(acks: &[(u64, u64)]) -> Option<u64> {
        ended(HyStart::default(), acks)
    }

    fn ended(hystart: HyStart, acks: &[(u64, u64)]) -> Option<u64> {
        let mut window = Window { cwnd: 20.0 * MSS, ssthresh: f64::INFINITY };
        let mut hystart = HyStart { least: Some(us(40_000)), ..hystart };
        let (first, max) = (Seq::new(1), Seq::new(100));
        for (una, &(at, rtt)) in first.until(max).zip(acks) {
            let now = Time::ZERO + us(1_000_000 + at);
            let (rtt, srtt) = (Some(us(rtt)), Some(us(40_000)));
            let ack = AckEvent { now, rtt, srtt, una, max, ..AckEvent::default() };
            hystart.on_ack(&mut window, MSS, &ack);
            if !window.in_slow_start() {
                return Some(at);
            }
        }
        None
    }

    /// Minimum RTT 40 ms: a train of more than (40 + 1) / 2 ms ends slow start. The 1 ms is the
    /// limit for four bursts, which take longer at a million bytes per second.
    #[test]
    fn a_long_train_of_acks_ends_slow_start() {
        let train: Vec<_> = (0..30).map(|i| (i * 1_000, 40_000)).collect();
        assert_eq!(ssthresh(&train), Some(21_000));
        let gaps: Vec<_> = (0..30).map(|i| (i * 2_001, 40_000)).collect();
        assert_eq!(ssthresh(&gaps), None);
    }

    /// Paced segments may take half of the RTT by themselves: 40 + 1 ms.
    #[test]
    fn a_paced_train_may_be_twice_as_long() {
        let train: Vec<_> = (0..50).map(|i| (i * 1_000, 40_000)).collect();
        assert_eq!(ended(HyStart::new(true), &train), Some(42_000));
    }

    /// An eighth of 40 ms is 5 ms: the ninth RTT ends slow start if none was 45 ms or less.
    #[test]
    fn longer_round_trips_end_slow_start() {
        let late: Vec<_> = (0..9).map(|i| (i, 45_001)).collect();
        assert_eq!(ssthresh(&late), Some(8));
        let mut one_in_time = late.clone();
        one_in_time[3].1 = 45_000;
        assert_eq!(ssthresh(&one_in_time), None);
        assert_eq!(ssthresh(&late[..8]), None);
    }
}
