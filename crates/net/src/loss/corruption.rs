//! Packets that are spoilt on the line.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Spoils packets on the line: what is behind it throws them away.
///
/// # Models
/// Bit errors that a frame check sequence finds. Unlike other losses these come after the queue: a spoilt packet
/// has had its place there and its time on the line.
/// # Source
/// A binary symmetric channel: with an error rate b of bits, a packet of n bits is spoilt with probability
/// 1 - (1 - b)^n.
/// # Parameters
/// How likely a packet is spoilt, or a bit; which packets; a stream of random numbers of the port's own.
/// # Limits
/// Errors are independent of each other, and none is overlooked: no spoilt packet is delivered. Only packets count, not
/// the preamble or the idle line between them. One number is drawn for each packet that is concerned, as its last bit is
/// sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Corruption {
    lossy: Lossy,
    spoils: Spoils,
    stream: Stream,
}

/// How likely a packet is spoilt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spoils {
    /// Each with this probability.
    Packets(f64),
    /// Each bit with this probability.
    Bits(f64),
}

impl Spoils {
    /// How likely a packet of so many bytes is spoilt.
    #[must_use]
    pub fn probability(self, size: u16) -> f64 {
        match self {
            Spoils::Packets(probability) => probability,
            Spoils::Bits(rate) => -libm::expm1(8.0 * f64::from(size) * libm::log1p(-rate)),
        }
    }
}

impl Corruption {
    /// Spoils packets by the numbers of `stream`.
    #[must_use]
    pub fn new(lossy: Lossy, spoils: Spoils, stream: Stream) -> Self {
        Corruption { lossy, spoils, stream }
    }

    /// Draws for a packet that has been sent.
    pub fn spoils(&mut self, packet: Packet) -> bool {
        let chance = Chance::new(self.spoils.probability(packet.size()));
        self.lossy.concerns(packet) && chance.comes(&mut self.stream)
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

    fn spoilt(spoils: Spoils, size: u16) -> usize {
        let stream = Streams::new(1).stream("corruption");
        let mut corruption = Corruption::new(Lossy::Data, spoils, stream);
        (0..100_000).filter(|_| corruption.spoils(packet(size))).count()
    }

    /// With 1e-5 a bit, 1500 B are spoilt with 1 - (1 - 1e-5)^12000 = 0.113080 and 40 B with 0.003195: 11 308 of 100 000
    /// with a deviation of 100, and 319.5 with one of 18.
    #[test]
    fn long_packets_are_spoilt_more_often() {
        let [long, short] = [1500, 40].map(|size| spoilt(Spoils::Bits(1e-5), size));
        assert!(long.abs_diff(11_308) <= 400, "{long}");
        assert!(short.abs_diff(320) <= 72, "{short}");
    }

    #[test]
    fn bits_and_packets_may_all_be_spoilt_or_none() {
        for spoils in [Spoils::Bits, Spoils::Packets] {
            assert_eq!([0.0, 1.0].map(|p| spoilt(spoils(p), 1500)), [0, 100_000]);
        }
    }

    #[test]
    fn packets_that_are_not_concerned_draw_nothing() {
        let stream = || Streams::new(1).stream("corruption");
        let mut alone = Corruption::new(Lossy::Data, Spoils::Packets(0.5), stream());
        let mut among_acks = alone.clone();
        for _ in 0..1000 {
            let ack = Packet::ack(FlowId::new(0), Label(0), 0, 40, 0);
            assert!(!among_acks.spoils(ack));
            assert_eq!(among_acks.spoils(packet(1500)), alone.spoils(packet(1500)));
        }
    }
}
