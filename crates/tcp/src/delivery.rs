//! Delivery-rate samples.
//!
//! # Model
//! Each segment stores the amount delivered when it was sent, and the time of that delivery. Its ACK then
//! gives a rate: the amount delivered since, divided by the longer of the sending interval and the ACK
//! interval. The longer interval prevents compressed ACKs from giving a rate at which nothing was sent.
//!
//! # References
//! draft-cheng-iccrg-delivery-rate-estimation-02 section 3; behaviour of Linux 6 (`tcp_rate.c`): no sample if
//! a retransmission makes the interval shorter than the minimum RTT.
//!
//! # Limitations
//! - Counts segments, all of which are full. Only used if congestion control requests it; needs SACK's
//!   scoreboard.
//! - The minimum RTT covers the whole connection, not the last five minutes.
//! - Data after an application pause are marked when the application writes again, not with earlier ACKs and
//!   timers.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};
use slab::Slab;

use crate::seq::Seq;

/// Delivery-rate sample of one flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Number of segments delivered in the interval.
    pub delivered: u64,
    /// Length of the interval, not zero.
    pub interval: Duration,
    /// Number of segments delivered before the interval.
    pub prior_delivered: u64,
    /// `true`: something other than the network limited the rate.
    pub limited: bool,
    /// Sampled segment: the one sent last of those that the ACK delivers.
    pub seq: Seq,
}

/// Deliveries reported by an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Number of newly reported segments.
    pub(crate) segments: u32,
    /// RTT of the segment sent last, of those that were sent once.
    pub(crate) rtt: Option<Duration>,
    pub(crate) sample: Option<RateSample>,
}

/// State of the connection when a segment was last sent.
#[derive(Clone, Copy, Debug)]
struct Mark {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    limited: bool,
}

/// State of the outstanding segments. Most segments of a long flight may be delivered after a gap, so that
/// there are many places but few marks.
#[derive(Clone, Debug, Default)]
struct Marks {
    una: Seq,
    /// Index of the mark by segment; `NOWHERE` after delivery.
    places: VecDeque<u32>,
    marks: Slab<Mark>,
}

impl Marks {
    /// No mark.
    const NOWHERE: u32 = u32::MAX;

    fn put(&mut self, seq: Seq, mark: Mark) {
        let index = (seq - self.una) as usize;
        if let Some(&place) = self.places.get(index)
            && let Some(known) = self.marks.get_mut(place as usize)
        {
            *known = mark;
            return;
        }
        let place = u32::try_from(self.marks.insert(mark)).unwrap_or(Self::NOWHERE);
        match self.places.get_mut(index) {
            Some(known) => *known = place,
            None => self.places.push_back(place),
        }
    }

    fn take(&mut self, seq: Seq) -> Option<Mark> {
        let place = self.places.get_mut((seq - self.una) as usize)?;
        self.marks.try_remove(std::mem::replace(place, Self::NOWHERE) as usize)
    }

    /// Removes all segments below `una`.
    fn advance(&mut self, una: Seq) {
        while self.una < una
            && let Some(place) = self.places.pop_front()
        {
            self.marks.try_remove(place as usize);
            self.una += 1;
        }
        self.una = una;
    }
}

/// Delivery-rate estimator.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    marks: Marks,
    delivered: u64,
    delivered_at: Time,
    /// Send time of the segment delivered last: start of the sending interval.
    first_sent: Time,
    /// Samples are limited up to this number of delivered segments; 0 for none.
    limited_until: u64,
    least_rtt: Option<Duration>,
    /// Number of segments delivered before the current ACK.
    before: u64,
    /// Send time, segment and mark of the latest transmission that the current ACK delivers.
    latest: Option<(Time, Seq, Mark)>,
    /// The same for segments sent once, without mark.
    latest_once: Option<(Time, Seq)>,
}

impl DeliveryRate {
    /// Returns the number of segments delivered so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns the time of the last delivery.
    #[must_use]
    pub fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    /// Removes everything below the cumulative ACK.
    #[must_use]
    pub fn una(&self) -> Seq {
        self.marks.una
    }

    /// Returns whether segments sent now count as limited by something other than the network.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Marks segments as limited until `in_flight` further segments are delivered. The limit is a pause of
    /// the application or of congestion control.
    pub fn mark_limited(&mut self, in_flight: u32) {
        self.limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Records the transmission of a segment. `outstanding`: other segments are in flight.
    pub(crate) fn on_sent(&mut self, seq: Seq, now: Time, outstanding: bool) {
        if !outstanding {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let mark = Mark {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            limited: self.limited_until > 0,
        };
        self.marks.put(seq, mark);
    }

    /// Records that the current ACK delivers a segment last sent at `sent`. `again`: it was retransmitted.
    pub(crate) fn on_delivered(&mut self, seq: Seq, sent: Time, again: bool) {
        let Some(mark) = self.marks.take(seq) else { return };
        self.delivered += 1;
        if self.latest.is_none_or(|(at, latest, _)| (sent, seq) > (at, latest)) {
            self.latest = Some((sent, seq, mark));
        }
        if !again {
            self.latest_once = self.latest_once.max(Some((sent, seq)));
        }
    }

    /// Records that the current ACK reports duplicates of retransmissions, which were delivered, too.
    pub(crate) fn on_duplicates(&mut self, segments: u32) {
        self.delivered += u64::from(segments);
    }

    /// Completes the current ACK, which acknowledges everything below `una`, and returns its deliveries.
    pub(crate) fn finish_ack(&mut self, una: Seq, now: Time) -> Delivered {
        self.marks.advance(una);
        let segments = u32::try_from(self.delivered - self.before).unwrap_or(u32::MAX);
        self.before = self.delivered;
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if segments > 0 {
            self.delivered_at = now;
        }
        let rtt = self.latest_once.take().map(|(sent, _)| now - sent);
        self.least_rtt =
            self.least_rtt.map_or(rtt, |least| rtt.map(|rtt| rtt.min(least)).or(Some(least)));
        let sample = self.latest.take().and_then(|(sent, seq, mark)| {
            self.first_sent = sent;
            let interval = (sent - mark.first_sent).max(now - mark.delivered_at);
            let credible = self.least_rtt.is_none_or(|least| interval >= least);
            (credible && interval > Duration::ZERO).then_some(RateSample {
                delivered: self.delivered - mark.delivered,
                interval,
                prior_delivered: mark.delivered,
                limited: mark.limited,
                seq,
            })
        });
        Delivered { segments, rtt, sample }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_ms(milliseconds)
    }

    /// Four segments sent at 0, 1, 2 and 3 ms, acknowledged at 100, 101, 102 and 103 ms.
    fn steady() -> DeliveryRate {
        let mut rate = DeliveryRate::default();
        for seq in 0..4 {
            sent(&mut rate, seq, ms(u64::from(seq)), seq > 0);
        }
        rate
    }

    fn sent(rate: &mut DeliveryRate, seq: u32, now: Time, outstanding: bool) {
        rate.on_sent(Seq::new(seq), now, outstanding);
    }

    fn delivered(rate: &mut DeliveryRate, seq: u32, sent: Time, again: bool) {
        rate.on_delivered(Seq::new(seq), sent, again);
    }

    fn finish(rate: &mut DeliveryRate, una: u32, now: Time) -> Delivered {
        rate.finish_ack(Seq::new(una), now)
    }

    fn acknowledge(rate: &mut DeliveryRate, seqs: std::ops::Range<u32>, at: u64) -> Delivered {
        seqs.clone().for_each(|seq| delivered(rate, seq, ms(u64::from(seq)), false));
        finish(rate, seqs.end, ms(at))
    }

    /// Computed by hand from section 3.3. The ACK of the first segment reports one delivery in an
    /// RTT. The ACK of the fourth reports four in 103 ms since the start.
    #[test]
    fn a_flight_is_measured_over_its_round_trip() {
        let mut rate = steady();
        let first = acknowledge(&mut rate, 0..1, 100);
        assert_eq!((first.segments, first.rtt), (1, Some(Duration::from_ms(100))));
        let sample = first.sample.unwrap();
        assert_eq!((sample.delivered, sample.interval), (1, Duration::from_ms(100)));
        acknowledge(&mut rate, 1..2, 101);
        acknowledge(&mut rate, 2..3, 102);
        let fourth = acknowledge(&mut rate, 3..4, 103).sample.unwrap();
        assert_eq!((fourth.delivered, fourth.interval), (4, Duration::from_ms(103)));
        // Sent at 103 ms after one delivery: its ACK at 203 ms reports one more in 100 ms.
        sent(&mut rate, 4, ms(103), false);
        delivered(&mut rate, 4, ms(103), false);
        let fifth = finish(&mut rate, 5, ms(203)).sample.unwrap();
        assert_eq!((fifth.prior_delivered, fifth.delivered), (4, 1));
        assert_eq!(fifth.interval, Duration::from_ms(100));
    }

    /// Section 2.2.2: 10 segments are sent over 90 ms, and their ACKs arrive together. The sending interval
    /// is longer, so it counts.
    #[test]
    fn compressed_acks_do_not_raise_the_rate() {
        let mut rate = DeliveryRate::default();
        sent(&mut rate, 0, ms(0), false);
        acknowledge(&mut rate, 0..1, 1);
        for seq in 1..11 {
            sent(&mut rate, seq, ms(u64::from(seq) * 10), seq > 1);
        }
        (1..11).for_each(|seq| delivered(&mut rate, seq, ms(u64::from(seq) * 10), false));
        let sample = finish(&mut rate, 11, ms(101)).sample.unwrap();
        assert_eq!((sample.delivered, sample.interval), (10, Duration::from_ms(91)));
    }

    /// Segments 3 and 4 are retransmitted, but their originals arrive. Segment 4 is sent at 113 ms, 3 ms
    /// after the last delivery, and acknowledged 2 ms after that delivery, both less than an RTT.
    #[test]
    fn interval_below_minimum_rtt_gives_no_sample() {
        let mut rate = steady();
        sent(&mut rate, 4, ms(4), true);
        acknowledge(&mut rate, 0..1, 100);
        acknowledge(&mut rate, 1..3, 102);
        sent(&mut rate, 3, ms(110), true);
        delivered(&mut rate, 3, ms(110), true);
        let third = finish(&mut rate, 4, ms(112)).sample.unwrap();
        assert_eq!((third.delivered, third.interval), (1, Duration::from_ms(108)));
        sent(&mut rate, 4, ms(113), true);
        delivered(&mut rate, 4, ms(113), true);
        let fourth = finish(&mut rate, 5, ms(114));
        assert_eq!((fourth.segments, fourth.rtt, fourth.sample), (1, None, None));
    }

    /// Segments in flight at a mark, and those sent until they have been delivered, count as limited.
    #[test]
    fn samples_of_limited_flights_are_marked() {
        let mut rate = steady();
        assert!(!acknowledge(&mut rate, 0..1, 100).sample.unwrap().limited);
        rate.mark_limited(3);
        sent(&mut rate, 4, ms(100), true);
        assert!(!acknowledge(&mut rate, 1..4, 103).sample.unwrap().limited);
        delivered(&mut rate, 4, ms(100), false);
        assert!(finish(&mut rate, 5, ms(200)).sample.unwrap().limited);
        sent(&mut rate, 5, ms(200), false);
        delivered(&mut rate, 5, ms(200), false);
        assert!(!finish(&mut rate, 6, ms(300)).sample.unwrap().limited);
    }
}
