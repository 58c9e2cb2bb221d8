//! Packet corruption on the line.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Corruption of packets on the line; the receiver discards them.
///
/// # Model
/// Bit errors that the frame check sequence detects. Unlike other losses they follow the queue: a corrupted packet has
/// used queue space and transmission time.
///
/// # References
/// Binary symmetric channel: with bit error rate b, a packet of n bits is corrupted with probability 1 - (1 - b)^n.
///
/// # Limitations
/// Errors are independent and always detected: no corrupted packet is delivered. Only packets are considered, without
/// the preamble and the idle line. One number is drawn per affected packet at the end of its transmission.
#[derive(Clone, Debug, PartialEq)]
pub struct Corruption {
    lossy: Lossy,
    rate: Spoils,
    stream: Stream,
}

/// Probability of corruption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spoils {
    /// Probability per packet.
    Packets(f64),
    /// Probability per bit.
    Bits(f64),
}

impl Spoils {
    /// Returns the probability of corruption for a packet of `size` bytes.
    #[must_use]
    pub fn probability(self, size: u16) -> f64 {
        match self {
            Spoils::Packets(probability) => probability,
            Spoils::Bits(rate) => -libm::expm1(8.0 * f64::from(size) * libm::log1p(-rate)),
        }
    }
}

impl Corruption {
    /// Creates a process that draws from `stream`.
    #[must_use]
    pub fn new(lossy: Lossy, rate: Spoils, stream: Stream) -> Self {
        Corruption { lossy, rate, stream }
    }

    /// Draws for a transmitted packet. Returns whether it is corrupted.
    pub fn corrupts(&mut self, packet: Packet) -> bool {
        let chance = Chance::new(self.rate.probability(packet.size()));
        self.lossy.affects(packet) && chance.occurs(&mut self.stream)
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;
    use crate::{FlowId, Label};

    fn packet(size: u16) -> Packet {
        Packet::data(FlowId::new(0), Label(0), 0, size, 0)
    }

    fn corrupted(rate: Spoils, size: u16) -> usize {
        let stream = Streams::new(1).stream("corruption");
        let mut corruption = Corruption::new(Lossy::Data, rate, stream);
        (0..100_000).filter(|_| corruption.corrupts(packet(size))).count()
    }

    /// With 1e-5 per bit, 1500 B are corrupted with 1 - (1 - 1e-5)^12000 = 0.113080 and 40 B with
    /// 0.003195. Of 100 000, these are 11 308 with a standard deviation of 100, and 319.5 with 18.
    #[test]
    fn long_packets_are_corrupted_more_often() {
        let [long, short] = [1500, 40].map(|size| corrupted(Spoils::Bits(1e-5), size));
        assert!(long.abs_diff(11_308) <= 400, "{long}");
        assert!(short.abs_diff(320) <= 72, "{short}");
    }

    #[test]
    fn probabilities_of_zero_and_one_are_exact() {
        for rate in [Spoils::Bits, Spoils::Packets] {
            assert_eq!([0.0, 1.0].map(|p| corrupted(rate(p), 1500)), [0, 100_000]);
        }
    }

    #[test]
    fn unaffected_packets_draw_no_random_number() {
        let stream = || Streams::new(1).stream("corruption");
        let mut alone = Corruption::new(Lossy::Data, Spoils::Packets(0.5), stream());
        let mut among_acks = alone.clone();
        for _ in 0..1000 {
            let ack = Packet::ack(FlowId::new(0), Label(0), 0, 40, 0);
            assert!(!among_acks.corrupts(ack));
            assert_eq!(among_acks.corrupts(packet(1500)), alone.corrupts(packet(1500)));
        }
    }
}
