//! Packets that are lost in bursts.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Loses packets with a probability that depends on whether the line is in its good or in its bad state.
///
/// # Models
/// A line whose errors come in bursts: fading, an interferer, a receiver that loses lock.
/// # Source
/// E. N. Gilbert, "Capacity of a burst-noise channel", 1960; E. O. Elliott, "Estimates of error rates for codes on
/// burst-noise channels", 1963.
/// # Parameters
/// The probabilities that a packet finds the line turned from good to bad, and from bad to good; the probabilities of
/// a loss in both states; which packets; a stream of random numbers of the port's own.
/// # Limits
/// The state changes with packets that the loss concerns, not with time: a pause leaves it. Of the packets
/// p / (p + r) find it bad, for 1 / r packets in a row in the mean. The first state is drawn with that share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GilbertElliott {
    lossy: Lossy,
    /// From good to bad, and from bad to good.
    turns: [Chance; 2],
    /// In the good state, and in the bad one.
    loses: [Chance; 2],
    bad: bool,
    stream: Stream,
}

impl GilbertElliott {
    /// Loses packets with these probabilities, by the numbers of `stream`: `turns` from good to bad and back, not both
    /// of them zero, and `loses` in the good and in the bad state.
    #[must_use]
    pub fn new(lossy: Lossy, turns: [f64; 2], loses: [f64; 2], mut stream: Stream) -> Self {
        let bad = Chance::new(turns[0] / (turns[0] + turns[1])).comes(&mut stream);
        let [turns, loses] = [turns, loses].map(|two| two.map(Chance::new));
        GilbertElliott { lossy, turns, loses, bad, stream }
    }

    /// Draws for a packet that comes by.
    pub fn drops(&mut self, packet: Packet) -> bool {
        if !self.lossy.concerns(packet) {
            return false;
        }
        self.bad ^= self.turns[usize::from(self.bad)].comes(&mut self.stream);
        self.loses[usize::from(self.bad)].comes(&mut self.stream)
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;

    use super::*;
    use crate::{FlowId, Label};

    const DATA: Packet = Packet::data(FlowId::new(0), Label(0), 0, 1000, 0);
    const ACK: Packet = Packet::ack(FlowId::new(0), Label(0), 0, 40, 0);
    const N: usize = 1_000_000;

    fn fates(turns: [f64; 2], loses: [f64; 2]) -> Vec<bool> {
        let stream = Streams::new(5).stream("loss");
        let mut loss = GilbertElliott::new(Lossy::Data, turns, loses, stream);
        (0..N).map(|_| loss.drops(DATA)).collect()
    }

    /// p = 0.01, r = 0.25, all lost in the bad state: a share of 0.01 / 0.26 = 0.038462 in bursts of 4 in the mean. Of bursts
    /// there are 9615, geometric with a deviation of sqrt(0.75) / 0.25 = 3.46: an error of 0.035 for the mean, and of
    /// about 0.038462 x sqrt(2 x 4 / (0.038462 x N)) = 0.00055 for the share.
    #[test]
    fn losses_come_in_bursts_of_the_mean_length() {
        let fates = fates([0.01, 0.25], [0.0, 1.0]);
        let lost = fates.iter().filter(|&&lost| lost).count() as f64;
        let bursts = fates.windows(2).filter(|two| !two[0] && two[1]).count() as f64;
        assert!((lost / N as f64 - 0.038_462).abs() < 4.0 * 0.000_55, "{lost}");
        assert!((lost / bursts - 4.0).abs() < 4.0 * 0.035, "{lost} in {bursts}");
    }

    /// Half of all packets find each state, p = r = 0.1: 0.5 x 0.02 + 0.5 x 0.3 = 0.16.
    #[test]
    fn both_states_may_lose() {
        let lost = fates([0.1, 0.1], [0.02, 0.3]).iter().filter(|&&lost| lost).count() as f64;
        assert!((lost / N as f64 - 0.16).abs() < 0.004, "{lost}");
    }

    /// With r = 1 - p the state of a packet hangs on nothing: losses are independent ones.
    #[test]
    fn without_memory_losses_are_independent() {
        let fates = fates([0.1, 0.9], [0.0, 1.0]);
        let pairs = fates.windows(2).filter(|two| two[0] && two[1]).count() as f64;
        assert!((pairs / N as f64 - 0.01).abs() < 4.0 * (0.01 / N as f64).sqrt() * 1.1);
    }

    #[test]
    fn packets_that_are_not_concerned_draw_nothing() {
        let stream = Streams::new(5).stream("loss");
        let mut loss = GilbertElliott::new(Lossy::Data, [0.5, 0.5], [0.0, 1.0], stream);
        let before = loss.clone();
        assert!(!loss.drops(ACK));
        assert_eq!(loss, before);
    }
}
