//! Delay that varies from packet to packet.

use optcp_des::{Spread, Stream};
use optcp_units::Time;

/// Keeps each packet for a random time beside the propagation delay.
///
/// # Models
/// In order: hosts and line cards that do not handle packets in exactly equal times; without it flows of
/// equal packets lock into step with a full queue (traffic phase effects). Overtaking: a path whose
/// packets go several ways at once, or whose layers below repeat what they lose.
/// # Source
/// S. Floyd, V. Jacobson, "On traffic phase effects in packet-switched gateways", 1992; the random
/// overhead of ns-2's senders; RFC 4737 for what overtaking does.
/// # Parameters
/// The distribution of the time; whether packets overtake; a stream of random numbers of the port's own.
/// # Limits
/// Times are independent of each other. In order, a packet comes with the one before it at the earliest,
/// so that a long time holds up those behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter {
    kept: Spread,
    overtaking: bool,
    stream: Stream,
}

impl Jitter {
    /// Keeps packets for times of a distribution.
    #[must_use]
    pub fn new(kept: Spread, overtaking: bool, stream: Stream) -> Self {
        Jitter { kept, overtaking, stream }
    }

    /// Whether packets overtake each other.
    #[must_use]
    pub const fn overtakes(&self) -> bool {
        self.overtaking
    }

    /// When a packet arrives that would do so at `at`, behind one that arrives at `before`.
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
    fn packets_come_late_by_up_to_the_longest_time_and_in_order() {
        let mut jitter = up_to_10_ms(false);
        let (mut before, mut sum) = (None, 0);
        for packet in 0..10_000 {
            // Far enough apart that none waits for the one before.
            let at = ms(100 * packet);
            let arrival = jitter.arrival(at, before);
            assert!(arrival >= at && arrival <= at + Duration::from_ms(10));
            sum += (arrival - at).as_ps();
            before = Some(arrival);
        }
        // The mean of 10 000 equally likely times from 0 to 10 ms: 5 ms, with a deviation of
        // 10 / sqrt(12) / 100 = 0.029 ms.
        let mean_us = sum / 10_000 / 1_000_000;
        assert!((4_900..5_100).contains(&mean_us), "{mean_us} us");
        let close = jitter.arrival(ms(0), before);
        assert!(Some(close) >= before);
    }

    /// Of two packets at one instant with equally distributed times, the second comes first half of the time: 5000 of
    /// 10 000 with a deviation of 50.
    #[test]
    fn where_packets_overtake_the_second_of_two_is_first_half_of_the_time() {
        let mut jitter = up_to_10_ms(true);
        let overtaken = (0..10_000).filter(|_| {
            let first = jitter.arrival(ms(0), None);
            jitter.arrival(ms(0), Some(first)) < first
        });
        let overtaken = overtaken.count();
        assert!((4_800..=5_200).contains(&overtaken), "{overtaken}");
    }
}
