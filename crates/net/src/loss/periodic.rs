//! Packets that are lost at even distances.

use std::num::NonZeroU32;

use super::lossy::Lossy;
use crate::Packet;

/// Loses every n-th packet.
///
/// # Models
/// The loss at even distances behind the square-root law of TCP's rate.
/// # Source
/// Mathis, Semke, Mahdavi, Ott, Computer Communication Review 27(3), 1997, section 2: one loss
/// for every 1/p packets.
/// # Parameters
/// The period n; which packets.
/// # Limits
/// Flows are not told apart: the period counts what the loss concerns, whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodicLoss {
    lossy: Lossy,
    period: NonZeroU32,
    /// Since the last loss, or since the start.
    passed: u32,
}

impl PeriodicLoss {
    /// Loses packets number n, 2 n, 3 n, ... counted from 1.
    #[must_use]
    pub fn new(lossy: Lossy, period: NonZeroU32) -> Self {
        PeriodicLoss { lossy, period, passed: 0 }
    }

    /// Counts a packet that comes by, and says whether it is lost.
    pub fn drops(&mut self, packet: Packet) -> bool {
        if !self.lossy.concerns(packet) {
            return false;
        }
        self.passed += 1;
        let lost = self.passed == self.period.get();
        if lost {
            self.passed = 0;
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, Label};

    const DATA: Packet = Packet::data(FlowId::new(0), Label(0), 0, 1000, 0);
    const ACK: Packet = Packet::ack(FlowId::new(0), Label(0), 0, 40, 0);

    fn every(lossy: Lossy, period: u32) -> PeriodicLoss {
        PeriodicLoss::new(lossy, NonZeroU32::new(period).unwrap())
    }

    #[test]
    fn every_third_packet_is_lost_and_the_others_are_not() {
        let mut loss = every(Lossy::Data, 3);
        let lost: Vec<u32> = (1..=10).filter(|_| loss.drops(DATA)).collect();
        assert_eq!(lost, [3, 6, 9]);
        assert!((0..10).all(|_| every(Lossy::Data, 1).drops(DATA)));
    }

    #[test]
    fn only_packets_that_are_concerned_count() {
        let passing = [DATA, ACK, ACK, DATA, DATA, ACK];
        for (lossy, expected) in
            [(Lossy::Data, vec![3]), (Lossy::Acks, vec![2]), (Lossy::Both, vec![1, 3, 5])]
        {
            let mut loss = every(lossy, 2);
            let lost: Vec<usize> = (0..6).filter(|&i| loss.drops(passing[i])).collect();
            assert_eq!(lost, expected, "{lossy:?}");
        }
    }
}
