//! Persistent congestion: everything was lost for a long time.
//!
//! # References
//! RFC 9002 section 7.6.

use optcp_units::{Duration, Time};

use super::packets::Packet;

/// Number of probe timeouts that lost packets cover: kPersistentCongestionThreshold (RFC 9002 section 7.6.1).
pub(super) const THRESHOLD: u64 = 3;

/// Longest time between two lost packets between which none was acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostPeriod {
    /// Start of the current period, and number of its last packet.
    current: Option<(Time, u32)>,
    longest: Duration,
}

impl LostPeriod {
    /// Adds a lost packet, in ascending order of numbers.
    pub(super) fn add(&mut self, packet: Packet) {
        let follows = |&(_, last): &(Time, u32)| packet.number == last + 1;
        let start = self.current.filter(follows).map_or(packet.sent, |(start, _)| start);
        self.current = Some((start, packet.number));
        self.longest = self.longest.max(packet.sent - start);
    }

    /// Returns the longest period.
    pub(super) fn longest(&self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    /// RFC 9002 section 7.6.2: packets 2 to 9 are lost, of which 2 was sent at 1 s and 8 at 12.2 s. Section 7.6.1: packets
    /// between which one was acknowledged do not count together.
    #[test]
    fn periods_are_between_packets_without_an_ack() {
        let packet = |number: u32, ms: u64| Packet {
            number,
            seq: Seq::ZERO,
            sent: Time::ZERO + Duration::from_ms(ms),
            is_ect: false,
        };
        let mut period = LostPeriod::default();
        let sent = [(2, 1000), (3, 2000), (4, 3000), (5, 4000), (6, 5000), (7, 6000), (8, 12_200)];
        sent.iter().for_each(|&(number, ms)| period.add(packet(number, ms)));
        assert_eq!(period.longest(), Duration::from_ms(11_200));
        period.add(packet(10, 30_000));
        assert_eq!(period.longest(), Duration::from_ms(11_200));
        period.add(packet(11, 42_000));
        assert_eq!(period.longest(), Duration::from_ms(12_000));
    }
}
