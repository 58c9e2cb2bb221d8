//! Packets that are lost at random.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Loses each packet with the same probability, whatever happened to the others.
///
/// # Models
/// A line with independent packet errors (Bernoulli trials).
/// # Source
/// The error model of ns-2 that counts packets, with a uniform random variable.
/// # Parameters
/// The probability; which packets; a stream of random numbers of the port's own.
/// # Limits
/// The probability is rounded to a multiple of 2^-64. It does not depend on a packet's size. One
/// number is drawn for each packet that the loss concerns, in the order in which they come by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndependentLoss {
    lossy: Lossy,
    chance: Chance,
    stream: Stream,
}

impl IndependentLoss {
    /// Loses packets with a probability from 0 to 1, by the numbers of `stream`.
    #[must_use]
    pub fn new(lossy: Lossy, probability: f64, stream: Stream) -> Self {
        IndependentLoss { lossy, chance: Chance::new(probability), stream }
    }

    /// Draws for a packet that comes by.
    pub fn drops(&mut self, packet: Packet) -> bool {
        self.lossy.concerns(packet) && self.chance.comes(&mut self.stream)
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;
    use crate::{FlowId, Label};

    const DATA: Packet = Packet::data(FlowId::new(0), Label(0), 0, 1000, 0);
    const ACK: Packet = Packet::ack(FlowId::new(0), Label(0), 0, 40, 0);

    fn loss(lossy: Lossy, probability: f64) -> IndependentLoss {
        IndependentLoss::new(lossy, probability, Streams::new(1).stream("loss"))
    }

    /// Which of so many packets are lost.
    fn fates(loss: &mut IndependentLoss, packets: usize, packet: Packet) -> Vec<bool> {
        (0..packets).map(|_| loss.drops(packet)).collect()
    }

    fn count(fates: impl IntoIterator<Item = bool>) -> f64 {
        fates.into_iter().map(|lost| f64::from(u8::from(lost))).sum()
    }

    /// Binomial: n p losses with variance n p (1 - p). Independent: a packet behind a lost one is lost
    /// as often as any, so that pairs of losses are as many as n p^2. Four standard deviations each.
    #[test]
    fn losses_are_as_many_as_independent_trials_give() {
        const N: usize = 1_000_000;
        for probability in [1e-4, 1e-3, 1e-2, 0.3] {
            let fates = fates(&mut loss(Lossy::Data, probability), N, DATA);
            for (each, found) in [
                (probability, count(fates.iter().copied())),
                (probability * probability, count(fates.windows(2).map(|two| two[0] && two[1]))),
            ] {
                let (mean, deviation) = (N as f64 * each, (N as f64 * each).sqrt());
                assert!((found - mean).abs() <= 4.0 * deviation + 1.0, "{probability}: {found}");
            }
        }
    }

    #[test]
    fn probabilities_of_zero_and_one_are_meant() {
        assert!(!fates(&mut loss(Lossy::Both, 0.0), 1000, DATA).contains(&true));
        assert!(!fates(&mut loss(Lossy::Both, 1.0), 1000, ACK).contains(&false));
    }

    /// A port's fates hang on the order of what the loss concerns, and on nothing else that passes.
    #[test]
    fn packets_that_are_not_concerned_draw_nothing() {
        let alone = fates(&mut loss(Lossy::Data, 0.5), 1000, DATA);
        let mut among_acks = loss(Lossy::Data, 0.5);
        let with_acks: Vec<bool> = (0..1000)
            .map(|_| {
                assert!(!among_acks.drops(ACK));
                among_acks.drops(DATA)
            })
            .collect();
        assert_eq!(alone, with_acks);
        assert_eq!(alone, fates(&mut loss(Lossy::Acks, 0.5), 1000, ACK));
    }

    #[test]
    fn a_copy_goes_on_with_the_same_numbers() {
        let mut first = loss(Lossy::Data, 0.5);
        let _ = fates(&mut first, 100, DATA);
        let mut second = first.clone();
        assert_eq!(fates(&mut first, 1000, DATA), fates(&mut second, 1000, DATA));
        assert_eq!(first, second);
    }
}
