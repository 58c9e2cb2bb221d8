//! Random packet loss.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Independent loss of each packet with the same probability.
///
/// # Model
/// A line with independent packet errors (Bernoulli trials).
///
/// # References
/// The error model of ns-2 that counts packets, with a uniform random variable.
///
/// # Limitations
/// The probability is rounded to a multiple of 2^-64 and does not depend on packet size. One number is drawn per
/// affected packet, in order of arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndependentLoss {
    lossy: Lossy,
    chance: Chance,
    stream: Stream,
}

impl IndependentLoss {
    /// Creates a process with a probability from 0 to 1 that draws from `stream`.
    #[must_use]
    pub fn new(lossy: Lossy, probability: f64, stream: Stream) -> Self {
        IndependentLoss { lossy, chance: Chance::new(probability), stream }
    }

    /// Sets the probability for the packets that arrive from now on.
    pub(super) fn set_chance(&mut self, chance: Chance) {
        self.chance = chance;
    }

    /// Draws for a packet. Returns whether it is lost.
    pub fn drops(&mut self, packet: Packet) -> bool {
        self.lossy.affects(packet) && self.chance.occurs(&mut self.stream)
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

    /// Returns which of `packets` packets are lost.
    fn fates(loss: &mut IndependentLoss, packets: usize, packet: Packet) -> Vec<bool> {
        (0..packets).map(|_| loss.drops(packet)).collect()
    }

    fn count(fates: impl IntoIterator<Item = bool>) -> f64 {
        fates.into_iter().map(|lost| f64::from(u8::from(lost))).sum()
    }

    /// Binomial: n p losses with variance n p (1 - p). If losses are independent, pairs of consecutive losses number n
    /// p^2. Bounds are four standard deviations.
    #[test]
    fn losses_match_binomial_distribution() {
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
    fn probabilities_of_zero_and_one_are_exact() {
        assert!(!fates(&mut loss(Lossy::Both, 0.0), 1000, DATA).contains(&true));
        assert!(!fates(&mut loss(Lossy::Both, 1.0), 1000, ACK).contains(&false));
    }

    /// Only the order of affected packets determines the losses.
    #[test]
    fn unaffected_packets_draw_no_random_number() {
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
    fn clone_draws_the_same_numbers() {
        let mut first = loss(Lossy::Data, 0.5);
        let _ = fates(&mut first, 100, DATA);
        let mut second = first.clone();
        assert_eq!(fates(&mut first, 1000, DATA), fates(&mut second, 1000, DATA));
        assert_eq!(first, second);
    }
}
