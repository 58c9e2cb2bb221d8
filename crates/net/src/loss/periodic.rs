//! Periodic packet loss.

use std::num::NonZeroU32;

use super::lossy::Lossy;
use crate::Packet;

/// Periodic loss of every n-th packet.
///
/// # Model
/// Losses at equal distances, as in the square-root law of TCP's rate.
///
/// # References
/// Mathis, Semke, Mahdavi, Ott, Computer Communication Review 27(3), 1997, section 2: one loss for every 1/p packets.
///
/// # Limitations
/// The period counts all affected packets, regardless of their flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodicLoss {
    lossy: Lossy,
    period: NonZeroU32,
    /// Affected packets since the last loss, or since the start.
    passed: u32,
}

impl PeriodicLoss {
    /// Creates a process that loses packets n, 2 n, 3 n, ... counted from 1.
    #[must_use]
    pub fn new(lossy: Lossy, period: NonZeroU32) -> Self {
        PeriodicLoss { lossy, period, passed: 0 }
    }

    /// Counts a packet. Returns whether it is lost.
    pub fn drops(&mut self, packet: Packet) -> bool {
        if !self.lossy.affects(packet) {
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
    fn every_third_packet_is_lost() {
        let mut loss = every(Lossy::Data, 3);
        let lost: Vec<u32> = (1..=10).filter(|_| loss.drops(DATA)).collect();
        assert_eq!(lost, [3, 6, 9]);
        assert!((0..10).all(|_| every(Lossy::Data, 1).drops(DATA)));
    }

    #[test]
    fn only_affected_packets_count() {
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
