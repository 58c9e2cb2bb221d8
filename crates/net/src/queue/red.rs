//! Random early detection (RED).

use optcp_des::Stream;
use optcp_units::{Bytes, Duration, Time};

use super::parameters::parameters;
use super::{Backlog, Link, OnArrival, Verdict};
use crate::transmission::transmission_time;
use crate::{DropReason, Packet, QueueLimit};

/// RED: drops or marks packets at random, more often the longer the average queue.
///
/// # Model
/// - Each arriving packet updates an exponentially weighted moving average of the queue length. An idle period counts
///   as a sequence of back-to-back packets that find the queue empty.
/// - Between `min` and `max` the probability increases from zero to `max_probability`. Above, it increases to one at
///   twice `max` with `gentle`, or is one immediately.
/// - Drops are spread over time by counting packets since the last one.
/// - With `adaptive`, `max_probability` follows the average every `interval` and keeps it in the middle fifth between
///   `min` and `max`.
/// - In bytes the average is one of bytes, and the probability is proportional to the packet size.
///
/// # References
/// S. Floyd, V. Jacobson: Random early detection gateways for congestion avoidance, IEEE/ACM ToN 1(4), 1993. S. Floyd,
/// R. Gummadi, S. Shenker: Adaptive RED, 2001. RFC 3168 section 7: marks up to `max`, drops above; Linux does so with `harddrop`. Details that these
/// leave open follow ns-2.35: the first packet above `min` is never dropped; idle time counts in whole transmissions.
///
/// # Limitations
/// - The average includes the packet in transmission (not in ns-2; in Linux if the link is a token bucket), but not the
///   arriving packet.
/// - ns-2 can also drop above a probability instead of marking (`mark_p_`).
/// - ns-2 accepts packets that find at most one packet queued, however large the average, and the first one afterwards
///   even above `max`.
#[derive(Clone, Debug)]
pub struct Red {
    parameters: RedParameters,
    /// `min` and `max`, in packets or bytes.
    thresholds: [f64; 2],
    in_bytes: bool,
    stream: Option<Stream>,
    /// Transmission time of a packet of mean size.
    mean_transmission: Duration,
    average: f64,
    max_probability: f64,
    adapted: Time,
    /// Whether the average was above `min` at the last packet.
    beyond: bool,
    /// Packets and bytes since the last drop or mark, or since the average exceeded `min`.
    since: (u64, u64),
}

parameters! {
    /// Parameters of [`Red`].
    pub struct RedParameters {
        /// Average up to which no packet is dropped.
        min: QueueLimit = QueueLimit::Packets(5), "ns-2, thresh_";
        /// Average from which every packet is dropped unless `gentle`; three times `min` by default.
        max: Option<QueueLimit> = None, "Floyd and Jacobson 1993: at least twice `min`; ns-2: three times";
        /// Drop probability just below `max`, before drops are spread.
        max_probability: f64 = 0.1, "ns-2, linterm_ of 10";
        /// Weight of one packet in the average.
        weight: f64 = 0.002, "Floyd and Jacobson 1993, section 6";
        /// Whether the probability increases to one between `max` and twice `max`.
        gentle: bool = true, "ns-2, gentle_; recommended by Floyd 2000";
        /// Whether drops keep a distance: uniform between one and two times the mean, otherwise between zero and two
        /// times.
        wait: bool = true, "ns-2, wait_";
        /// Whether `max_probability` adapts.
        adaptive: bool = false, "Floyd and Jacobson 1993";
        /// Time between adaptations.
        interval: Duration = Duration::from_ms(500), "Adaptive RED, section 4";
        /// Mean packet size: unit of idle time and of byte counts.
        mean_packet: Bytes = Bytes::new(1000), "ns-2, mean_pktsize_ of most of its scripts";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false, "RFC 3168 leaves it to whoever runs the queue";
        /// Whether ECN-capable packets are dropped, not marked, while the average is above `max`.
        hard_drop: bool = true, "RFC 3168 section 7; Linux's `tc red` has it off";
    }
    wrong |it| {
        "min" if it.min == QueueLimit::Unlimited => "packets or bytes";
        "max" if it.thresholds().is_none() => "more than `min`, both in packets or both in bytes";
        "max_probability" if !(it.max_probability > 0.0 && it.max_probability <= 1.0) => "above 0, at most 1";
        "weight" if !(it.weight > 0.0 && it.weight <= 1.0) => "above 0, at most 1";
        "interval" if it.interval == Duration::ZERO => "above zero";
        "mean_packet" if it.mean_packet == Bytes::ZERO => "above zero";
    }
}

impl RedParameters {
    /// Returns `min` and `max` in packets or bytes, and whether in bytes, if they are in order.
    fn thresholds(&self) -> Option<([f64; 2], bool)> {
        let (ends, in_bytes) = match (self.min, self.max) {
            (QueueLimit::Packets(min), None) => ([u64::from(min), 3 * u64::from(min)], false),
            (QueueLimit::Packets(min), Some(QueueLimit::Packets(max))) => {
                ([min, max].map(u64::from), false)
            }
            (QueueLimit::Bytes(min), None) => ([min, min.saturating_mul(3)], true),
            (QueueLimit::Bytes(min), Some(QueueLimit::Bytes(max))) => ([min, max], true),
            _ => return None,
        };
        (ends[0] < ends[1]).then_some((ends.map(|end| end as f64), in_bytes))
    }
}

/// Range of the average.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Region {
    Below,
    /// Probability before drops are spread.
    Between(f64),
    Above,
}

impl OnArrival for Red {
    type Parameters = RedParameters;

    fn new(parameters: &RedParameters, link: &Link) -> Self {
        let (thresholds, in_bytes) = parameters.thresholds().unwrap_or(([0.0, 1.0], false));
        let mean = u16::try_from(parameters.mean_packet.count()).unwrap_or(u16::MAX);
        Red {
            thresholds,
            in_bytes,
            stream: link.stream.clone(),
            mean_transmission: transmission_time(link.rate, mean),
            average: 0.0,
            max_probability: parameters.max_probability,
            adapted: Time::ZERO,
            beyond: false,
            since: (0, 0),
            parameters: parameters.clone(),
        }
    }

    fn decide(&mut self, backlog: &Backlog, packet: Packet) -> Verdict {
        self.judge(backlog, packet, Red::draw)
    }

    fn restart(&mut self) {
        (self.average, self.beyond) = (0.0, false);
        self.max_probability = self.parameters.max_probability;
    }
}

impl Red {
    /// Decides about a packet. `draw` returns a random number from 0 to 1 if one is needed.
    fn judge(
        &mut self,
        backlog: &Backlog,
        packet: Packet,
        draw: impl FnOnce(&mut Red) -> f64,
    ) -> Verdict {
        self.update_average(backlog);
        self.since.0 += 1;
        self.since.1 += u64::from(packet.size());
        let chosen = match self.region() {
            Region::Below => {
                self.beyond = false;
                return Verdict::Take;
            }
            Region::Above => {
                self.restart_count(0, 0);
                let marks = !self.parameters.hard_drop && self.may_mark(packet);
                return if marks { Verdict::Mark } else { Verdict::Drop(DropReason::AqmForced) };
            }
            Region::Between(_) if !self.beyond => {
                self.beyond = true;
                self.restart_count(1, packet.size());
                false
            }
            Region::Between(probability) => {
                let probability = self.spread_drops(probability, packet.size());
                probability > 0.0 && draw(self) <= probability
            }
        };
        if !chosen {
            return Verdict::Take;
        }
        self.restart_count(0, 0);
        let drops = self.parameters.hard_drop && self.average >= self.thresholds[1];
        match self.may_mark(packet) && !drops {
            true => Verdict::Mark,
            false => Verdict::Drop(DropReason::Aqm),
        }
    }

    fn may_mark(&self, packet: Packet) -> bool {
        self.parameters.ecn && packet.marking().takes_marks()
    }

    /// Updates the average with the queue that a packet finds.
    fn update_average(&mut self, backlog: &Backlog) {
        let mut kept = 1.0 - self.parameters.weight;
        if backlog.packets == 0 {
            let idle = backlog.now.saturating_since(backlog.until).as_ps();
            let missed = idle / self.mean_transmission.as_ps().max(1);
            kept = power(kept, missed.saturating_add(1));
        }
        let length = if self.in_bytes { backlog.bytes as f64 } else { backlog.packets as f64 };
        self.average = self.average * kept + length * self.parameters.weight;
        if self.parameters.adaptive
            && backlog.now.saturating_since(self.adapted) > self.parameters.interval
        {
            self.adapt(backlog.now);
        }
    }

    /// Adapts `max_probability` (Adaptive RED, figure 1 and section 4).
    fn adapt(&mut self, now: Time) {
        let [min, max] = self.thresholds;
        let part = 0.4 * (max - min);
        if self.average < min + part && self.max_probability > 0.01 {
            self.max_probability *= 0.9;
        } else if self.average > max - part && self.max_probability < 0.5 {
            self.max_probability += (0.25 * self.max_probability).min(0.01);
        } else {
            return;
        }
        self.adapted = now;
    }

    fn region(&self) -> Region {
        let [min, max] = self.thresholds;
        let most = self.max_probability;
        match self.average {
            average if average < min => Region::Below,
            average if average < max => Region::Between(most * (average - min) / (max - min)),
            average if self.parameters.gentle && average < 2.0 * max => {
                Region::Between(most + (1.0 - most) * (average - max) / max)
            }
            _ => Region::Above,
        }
    }

    /// Returns the probability for a packet of this size so that drops are spread over time.
    fn spread_drops(&self, probability: f64, size: u16) -> f64 {
        let (packets, bytes) = self.since;
        let mean = self.parameters.mean_packet.count() as f64;
        let since = if self.in_bytes { bytes as f64 / mean } else { packets as f64 };
        let due = since * probability;
        let spread = match (self.parameters.wait, due) {
            (true, due) if due < 1.0 => 0.0,
            (true, due) if due < 2.0 => probability / (2.0 - due),
            (false, due) if due < 1.0 => probability / (1.0 - due),
            _ => 1.0,
        };
        let sized =
            if self.in_bytes && spread < 1.0 { spread * f64::from(size) / mean } else { spread };
        sized.min(1.0)
    }

    fn restart_count(&mut self, packets: u64, size: u16) {
        self.since = (packets, u64::from(size));
    }

    /// Returns a random number in [0, 1).
    fn draw(&mut self) -> f64 {
        let Some(stream) = &mut self.stream else { return 1.0 };
        (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Computes an integer power with the same result on every machine.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod recorded;

#[cfg(test)]
mod tests {
    use optcp_des::Streams;
    use optcp_units::{Codepoint, Marking};

    use super::*;
    use crate::queue::tests::{backlog, link, packet};

    fn red(parameters: &RedParameters) -> Red {
        let stream = Some(Streams::new(1).stream("red"));
        Red::new(parameters, &Link { stream, ..link(QueueLimit::Unlimited) })
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12 * b.abs().max(1.0)
    }

    /// Floyd and Jacobson 1993, equation 1: L packets that arrive at an empty queue give an average of L + 1 +
    /// ((1-w)^(L+1) - 1)/w after L arrivals.
    #[test]
    fn average_of_burst_matches_paper() {
        let mut red = red(&RedParameters { weight: 0.001, ..RedParameters::default() });
        for seen in 1..=50 {
            red.update_average(&backlog(seen, 0));
        }
        let expected = 51.0 + (0.999_f64.powi(51) - 1.0) / 0.001;
        assert!((red.average - expected).abs() < 1e-9, "{} {expected}", red.average);
    }

    /// At 8 Mb/s a packet of 1000 B takes 1 ms. An idle period of 10.5 ms counts as ten packets.
    #[test]
    fn idle_time_counts_as_back_to_back_packets() {
        let mut red = red(&RedParameters { weight: 0.5, ..RedParameters::default() });
        red.average = 2048.0;
        let now = Time::ZERO + Duration::from_us(10_500);
        red.update_average(&Backlog { now, ..backlog(0, 0) });
        assert!(close(red.average, 1.0), "{}", red.average);
    }

    /// Computed by hand for min 5, max 15, 0.1: half way at 10; gentle: 0.1 + 0.9/3 at 20, certain at 30.
    #[test]
    fn probability_is_piecewise_linear() {
        let mut gentle = red(&RedParameters::default());
        for (average, expected) in [(10.0, 0.05), (15.0, 0.1), (20.0, 0.4)] {
            gentle.average = average;
            let Region::Between(found) = gentle.region() else { panic!("{average}") };
            assert!(close(found, expected), "{found} {expected}");
        }
        for (average, expected) in [(4.9, Region::Below), (30.0, Region::Above)] {
            gentle.average = average;
            assert_eq!(gentle.region(), expected);
        }
        let mut hard = red(&RedParameters { gentle: false, ..RedParameters::default() });
        hard.average = 15.0;
        assert_eq!(hard.region(), Region::Above);
    }

    /// Section 7 of the 1993 paper: p/(1 - count p) makes distances uniform over 1 to 1/p; ns-2's wait_: over 1/p to
    /// 2/p.
    #[test]
    fn drops_are_spread_over_time() {
        let mut red = red(&RedParameters { wait: false, ..RedParameters::default() });
        for (since, expected) in [(1, 0.2 / 0.8), (4, 1.0), (9, 1.0)] {
            red.since = (since, 0);
            assert!(close(red.spread_drops(0.2, 1000), expected), "{since}");
        }
        red.parameters.wait = true;
        for (since, expected) in [(4, 0.0), (5, 0.2), (8, 0.5), (10, 1.0)] {
            red.since = (since, 0);
            assert!(
                close(red.spread_drops(0.2, 1000), expected),
                "{since} {}",
                red.spread_drops(0.2, 1000)
            );
        }
    }

    /// In bytes, a packet of half the mean size is half as likely to be dropped, and counts as half a packet.
    #[test]
    fn long_packets_are_dropped_more_often_in_byte_mode() {
        let min = QueueLimit::Bytes(5000);
        let mut red = red(&RedParameters { min, wait: false, ..RedParameters::default() });
        red.since = (4, 2000);
        assert!(close(red.spread_drops(0.1, 500), 0.5 * 0.1 / 0.8));
    }

    /// Adaptive RED, figure 1: times 0.9 below the middle; above, plus the minimum of 0.01 and a quarter; once per
    /// interval.
    #[test]
    fn maximum_probability_adapts() {
        let mut red =
            red(&RedParameters { adaptive: true, weight: 1.0, ..RedParameters::default() });
        let mut at = |half_seconds: u64, packets| {
            let now = Time::ZERO + Duration::from_ms(501 * half_seconds);
            red.update_average(&Backlog { now, ..backlog(packets, 0) });
            red.max_probability
        };
        assert!(close(at(1, 6), 0.09));
        assert!(close(at(1, 6), 0.09), "not yet again");
        assert!(close(at(2, 10), 0.09), "in the middle");
        assert!(close(at(3, 12), 0.1));
        (4..200).for_each(|time| _ = at(time, 14));
        assert!((0.5..0.51).contains(&at(200, 14)));
    }

    /// Between the thresholds an ECN-capable packet is marked; above `max` it is dropped (RFC 3168 section 7).
    #[test]
    fn marking_ends_at_max() {
        let ect = packet(0, 1000).saying(Marking::new(Codepoint::Ect0, 0));
        let certain = RedParameters { ecn: true, weight: 1.0, ..RedParameters::default() };
        let mut red = red(&certain);
        let of = |red: &mut Red, packets: usize, packet: Packet| {
            red.beyond = true;
            red.since = (100_000, 0);
            red.decide(&backlog(packets, 0), packet)
        };
        assert_eq!(of(&mut red, 14, ect), Verdict::Mark);
        assert_eq!(of(&mut red, 14, packet(0, 1000)), Verdict::Drop(DropReason::Aqm));
        assert_eq!(of(&mut red, 16, ect), Verdict::Drop(DropReason::Aqm));
        assert_eq!(of(&mut red, 31, ect), Verdict::Drop(DropReason::AqmForced));
        assert_eq!(of(&mut red, 4, ect), Verdict::Take);
    }

    /// Linux without `harddrop` (`red_enqueue`): above `max` ECN-capable packets are marked, the others dropped.
    #[test]
    fn marking_goes_on_above_max_without_hard_drop() {
        let ect = packet(0, 1000).saying(Marking::new(Codepoint::Ect0, 0));
        let parameters =
            RedParameters { ecn: true, hard_drop: false, weight: 1.0, ..RedParameters::default() };
        for gentle in [false, true] {
            let mut red = red(&RedParameters { gentle, ..parameters.clone() });
            red.beyond = true;
            red.since = (100_000, 0);
            assert_eq!(red.decide(&backlog(16, 0), ect), Verdict::Mark);
            assert_eq!(red.decide(&backlog(31, 0), ect), Verdict::Mark);
            let other = red.decide(&backlog(31, 0), packet(0, 1000));
            assert_eq!(other, Verdict::Drop(DropReason::AqmForced));
        }
    }

    /// The first packet with an average above `min` is never dropped (ns-2).
    #[test]
    fn first_packet_above_min_is_accepted() {
        let mut red =
            red(&RedParameters { weight: 1.0, max_probability: 1.0, ..RedParameters::default() });
        assert_eq!(red.decide(&backlog(14, 0), packet(0, 1000)), Verdict::Take);
        assert_eq!(red.since, (1, 1000));
    }
}
