//! Packet loss in bursts.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Gilbert-Elliott loss: the loss probability depends on the state of the line, good or bad.
///
/// # Model
/// A line with error bursts, caused by fading, an interferer, or a receiver that loses lock. A packet finds the line
/// changed from good to bad with probability p, and from bad to good with probability r. Each state has its own loss
/// probability.
///
/// # References
/// E. N. Gilbert, "Capacity of a burst-noise channel", 1960; E. O. Elliott, "Estimates of error rates for codes on
/// burst-noise channels", 1963.
///
/// # Limitations
/// The state changes with affected packets, not with time; an idle period leaves it unchanged. A share p / (p + r) of
/// packets finds the bad state, on average 1 / r packets in a row. The initial state is drawn with this share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GilbertElliott {
    lossy: Lossy,
    /// Transition probabilities, good to bad and bad to good.
    turns: [Chance; 2],
    /// Loss probabilities in the good and in the bad state.
    loses: [Chance; 2],
    bad: bool,
    stream: Stream,
}

impl GilbertElliott {
    /// Creates a process that draws from `stream`. `turns` are the transition probabilities from
    /// good to bad and back, not both zero. `loses` are the loss probabilities in the good and in
    /// the bad state.
    #[must_use]
    pub fn new(lossy: Lossy, turns: [f64; 2], loses: [f64; 2], mut stream: Stream) -> Self {
        let bad = Chance::new(turns[0] / (turns[0] + turns[1])).occurs(&mut stream);
        let [turns, loses] = [turns, loses].map(|two| two.map(Chance::new));
        GilbertElliott { lossy, turns, loses, bad, stream }
    }

    /// Draws for a packet. Returns whether it is lost.
    pub fn drops(&mut self, packet: Packet) -> bool {
        if !self.lossy.affects(packet) {
            return false;
        }
        self.bad ^= self.turns[usize::from(self.bad)].occurs(&mut self.stream);
        self.loses[usize::from(self.bad)].occurs(&mut self.stream)
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

    /// p = 0.01, r = 0.25, all packets lost in the bad state: a loss rate of 0.01 / 0.26 = 0.038462 in bursts of mean
    /// length 4. The 9615 burst lengths are geometric with standard deviation sqrt(0.75) / 0.25 = 3.46, so the mean has
    /// an error of 0.035. The loss rate has an error of about 0.038462 x sqrt(2 x 4 / (0.038462 x N)) = 0.00055.
    #[test]
    fn loss_rate_and_burst_length_match_theory() {
        let fates = fates([0.01, 0.25], [0.0, 1.0]);
        let lost = fates.iter().filter(|&&lost| lost).count() as f64;
        let bursts = fates.windows(2).filter(|two| !two[0] && two[1]).count() as f64;
        assert!((lost / N as f64 - 0.038_462).abs() < 4.0 * 0.000_55, "{lost}");
        assert!((lost / bursts - 4.0).abs() < 4.0 * 0.035, "{lost} in {bursts}");
    }

    /// With p = r = 0.1, half of all packets find each state: 0.5 x 0.02 + 0.5 x 0.3 = 0.16.
    #[test]
    fn both_states_lose_packets() {
        let lost = fates([0.1, 0.1], [0.02, 0.3]).iter().filter(|&&lost| lost).count() as f64;
        assert!((lost / N as f64 - 0.16).abs() < 0.004, "{lost}");
    }

    /// With r = 1 - p, the state of a packet does not depend on the state before; losses are independent.
    #[test]
    fn losses_without_memory_are_independent() {
        let fates = fates([0.1, 0.9], [0.0, 1.0]);
        let pairs = fates.windows(2).filter(|two| two[0] && two[1]).count() as f64;
        assert!((pairs / N as f64 - 0.01).abs() < 4.0 * (0.01 / N as f64).sqrt() * 1.1);
    }

    #[test]
    fn unaffected_packets_draw_no_random_number() {
        let stream = Streams::new(5).stream("loss");
        let mut loss = GilbertElliott::new(Lossy::Data, [0.5, 0.5], [0.0, 1.0], stream);
        let before = loss.clone();
        assert!(!loss.drops(ACK));
        assert_eq!(loss, before);
    }
}
