//! Delay that varies from packet to packet.

use optcp_des::Stream;
use optcp_units::{Duration, Time};

/// Keeps each packet for a random time beside the propagation delay, in order.
///
/// # Models
/// Hosts and line cards that do not handle packets in exactly equal times. Without it flows of equal
/// packets lock into step with a full queue (traffic phase effects).
/// # Source
/// S. Floyd, V. Jacobson, "On traffic phase effects in packet-switched gateways", 1992; the random
/// overhead of ns-2's senders.
/// # Parameters
/// The longest time; a stream of random numbers of the port's own.
/// # Limits
/// All times are equally likely. A packet never overtakes: it comes with the one before it at the
/// earliest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jitter {
    longest: Duration,
    stream: Stream,
}

impl Jitter {
    /// Keeps packets for up to `longest`.
    #[must_use]
    pub fn new(longest: Duration, stream: Stream) -> Self {
        Jitter { longest, stream }
    }

    /// When a packet arrives that would do so at `at`, behind one that arrives at `before`.
    pub fn arrival(&mut self, at: Time, before: Option<Time>) -> Time {
        let kept = Duration::from_ps(self.stream.below(self.longest.as_ps() + 1));
        before.map_or(at + kept, |before| before.max(at + kept))
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;

    #[test]
    fn packets_come_late_by_up_to_the_longest_time_and_in_order() {
        let ms = |m: u64| Time::from_ps(m * 1_000_000_000);
        let mut jitter = Jitter::new(Duration::from_ms(10), Streams::new(1).stream("jitter"));
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
}
