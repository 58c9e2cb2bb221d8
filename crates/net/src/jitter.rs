//! Delay variation from packet to packet.

use optcp_des::{Spread, Stream};
use optcp_units::Time;

/// Random delay of each packet in addition to the propagation delay.
///
/// # Model
/// - In order: processing times of hosts and line cards vary. Without variation, flows of equal packets can synchronise
///   with a full queue (traffic phase effects).
/// - Overtaking: packets of a path take several routes at once, or lower layers retransmit lost frames.
///
/// # References
/// S. Floyd, V. Jacobson, "On traffic phase effects in packet-switched gateways", 1992; the random overhead of ns-2's
/// senders; RFC 4737 for effects of reordering.
///
/// # Limitations
/// Delays are independent. Without overtaking, a packet arrives no earlier than the packet before it, so a long delay
/// also holds up later packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter {
    kept: Spread,
    overtaking: bool,
    stream: Stream,
}

impl Jitter {
    /// Creates jitter with delays of a distribution.
    #[must_use]
    pub fn new(kept: Spread, overtaking: bool, stream: Stream) -> Self {
        Jitter { kept, overtaking, stream }
    }

    /// Returns whether packets may overtake each other.
    #[must_use]
    pub const fn overtakes(&self) -> bool {
        self.overtaking
    }

    /// Returns the arrival time of a packet that would arrive at `at` without jitter, after one that arrives at
    /// `before`.
    pub fn arrival(&mut self, at: Time, before: Option<Time>) -> Time {
        let at = at + self.kept.draw(&mut self.stream);
        before.filter(|_| !self.overtaking).map_or(at, |before| before.max(at))
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;
    use optcp_units::Duration;

    use super::*;

    fn up_to_10_ms(overtaking: bool) -> Jitter {
        let kept = Spread::Uniform { low: Duration::ZERO, high: Duration::from_ms(10) };
        Jitter::new(kept, overtaking, Streams::new(1).stream("jitter"))
    }

    fn ms(m: u64) -> Time {
        Time::from_ps(m * 1_000_000_000)
    }

    #[test]
    fn delays_are_bounded_and_packets_stay_in_order() {
        let mut jitter = up_to_10_ms(false);
        let (mut before, mut sum) = (None, 0);
        for packet in 0..10_000 {
            // The packets are far enough apart that none waits for the one before.
            let at = ms(100 * packet);
            let arrival = jitter.arrival(at, before);
            assert!(arrival >= at && arrival <= at + Duration::from_ms(10));
            sum += (arrival - at).as_ps();
            before = Some(arrival);
        }
        // Mean of 10 000 uniform delays from 0 to 10 ms: 5 ms with a standard deviation of 10 / sqrt(12) / 100 = 0.029
        // ms.
        let mean_us = sum / 10_000 / 1_000_000;
        assert!((4_900..5_100).contains(&mean_us), "{mean_us} us");
        let close = jitter.arrival(ms(0), before);
        assert!(Some(close) >= before);
    }

    /// If two packets leave at the same time with equally distributed delays, the second arrives
    /// first in half of all cases. This is 5000 of 10 000 with a standard deviation of 50.
    #[test]
    fn second_packet_arrives_first_in_half_of_cases_with_overtaking() {
        let mut jitter = up_to_10_ms(true);
        let overtaken = (0..10_000).filter(|_| {
            let first = jitter.arrival(ms(0), None);
            jitter.arrival(ms(0), Some(first)) < first
        });
        let overtaken = overtaken.count();
        assert!((4_800..=5_200).contains(&overtaken), "{overtaken}");
    }
}
