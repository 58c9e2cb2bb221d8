//! Packet number space: the packets in flight, and their acknowledgment.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use crate::acknowledgment::SackBlocks;
use crate::ranges::Ranges;
use crate::seq::Seq;

/// Number of later packets whose arrival declares a packet lost: kPacketThreshold (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u32 = 3;

/// Packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Packet number. A retransmission has another one.
    pub(super) number: u32,
    /// Data that it carries.
    pub(super) seq: Seq,
    pub(super) sent: Time,
    /// `true`: it was sent ECN-capable.
    pub(super) is_ect: bool,
}

/// Packets in flight, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    /// From the oldest packet in flight on; `None` after an ACK.
    sent: VecDeque<Option<Packet>>,
    /// Number of the first of these.
    first: u32,
    in_flight: u32,
    /// Acknowledged numbers from the oldest packet in flight on.
    acknowledged: Ranges,
    largest_acked: Option<u32>,
}

impl Packets {
    /// Returns the number of packets in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Iterates over the packets in flight, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Packet> {
        self.sent.iter().flatten().copied()
    }

    /// Returns the number of the oldest packet in flight, or of the next packet if there is none.
    pub(super) fn oldest(&self) -> u32 {
        self.first
    }

    /// Returns the highest acknowledged number.
    pub(super) fn largest_acked(&self) -> Option<u32> {
        self.largest_acked
    }

    /// Returns the number of the next packet.
    pub(super) fn next_number(&self) -> u32 {
        self.first + u32::try_from(self.sent.len()).unwrap_or(u32::MAX)
    }

    /// Adds a packet with the next number.
    pub(super) fn push(&mut self, seq: Seq, sent: Time, is_ect: bool) {
        let number = self.next_number();
        self.sent.push_back(Some(Packet { number, seq, sent, is_ect }));
        self.in_flight += 1;
    }

    /// Passes the packets that these ranges newly acknowledge to `take`. Returns the largest of them if it is the largest
    /// that the ranges contain. Packets declared lost are no longer known (RFC 9002 appendix A.10).
    pub(super) fn acknowledge(
        &mut self,
        ranges: &SackBlocks,
        mut take: impl FnMut(Packet),
    ) -> Option<Packet> {
        let end = self.next_number();
        let Packets { sent, first, in_flight, acknowledged, .. } = self;
        let largest =
            ranges.as_slice().iter().map(|range| range.1.number()).max()?.checked_sub(1)?;
        self.largest_acked = self.largest_acked.max(Some(largest));
        let mut newest = None;
        for &(low, high) in ranges.as_slice().iter().rev() {
            let (low, high) = (low.number().max(*first), high.number().min(end));
            if low >= high {
                continue;
            }
            acknowledged.insert(Seq::new(low), Seq::new(high), |low, high| {
                for number in low.number()..high.number() {
                    let place = (number - *first) as usize;
                    if let Some(packet) = sent.get_mut(place).and_then(Option::take) {
                        *in_flight -= 1;
                        newest = Some(packet);
                        take(packet);
                    }
                }
            });
        }
        self.forget_ended();
        newest.filter(|packet: &Packet| packet.number == largest)
    }

    /// Passes packets to `lose` that are lost at `now`. Their number is lower than an acknowledged one by the threshold, or
    /// they were sent at least `allowed` ago (RFC 9002 section 6.1). Returns the time at which the next packet may be lost.
    pub(super) fn detect_lost(
        &mut self,
        now: Time,
        allowed: Duration,
        mut lose: impl FnMut(Packet),
    ) -> Option<Time> {
        let largest = self.largest_acked?;
        // Numbers and times both ascend, so that lost packets are the oldest.
        while let Some(&Some(packet)) = self.sent.front()
            && packet.number < largest
        {
            let due = packet.sent + allowed;
            if packet.number + PACKET_THRESHOLD > largest && due > now {
                return Some(due);
            }
            lose(packet);
            self.in_flight -= 1;
            self.sent[0] = None;
            self.forget_ended();
        }
        None
    }

    /// Removes everything before the oldest packet in flight.
    fn forget_ended(&mut self) {
        while let Some(None) = self.sent.front() {
            self.sent.pop_front();
            self.first += 1;
        }
        self.acknowledged.remove_below(Seq::new(self.first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_ms(milliseconds)
    }

    fn ranges(of: &[(u32, u32)]) -> SackBlocks {
        let mut ranges = SackBlocks::new();
        of.iter().for_each(|&(low, high)| ranges.push((Seq::new(low), Seq::new(high))));
        ranges
    }

    /// Ten packets, sent every millisecond.
    fn ten() -> Packets {
        let mut packets = Packets::default();
        (0..10).for_each(|seq| packets.push(Seq::new(seq), ms(seq.into()), false));
        packets
    }

    fn acknowledged(packets: &mut Packets, of: &[(u32, u32)]) -> (Vec<u32>, Option<u32>) {
        let mut numbers = Vec::new();
        let newest = packets.acknowledge(&ranges(of), |packet| numbers.push(packet.number));
        (numbers, newest.map(|packet| packet.number))
    }

    fn lost(packets: &mut Packets, now: u64, allowed: u64) -> (Vec<u32>, Option<Time>) {
        let mut numbers = Vec::new();
        let due = packets.detect_lost(ms(now), Duration::from_ms(allowed), |packet| {
            numbers.push(packet.number);
        });
        (numbers, due)
    }

    /// RFC 9002 section 5.1: an RTT sample needs that the largest number is newly acknowledged.
    #[test]
    fn each_packet_is_acknowledged_once() {
        let mut packets = ten();
        assert_eq!(acknowledged(&mut packets, &[(4, 6), (0, 2)]), (vec![0, 1, 4, 5], Some(5)));
        assert_eq!(acknowledged(&mut packets, &[(4, 6), (0, 3)]), (vec![2], None));
        assert_eq!(acknowledged(&mut packets, &[(0, 10)]), (vec![3, 6, 7, 8, 9], Some(9)));
        assert_eq!(packets.in_flight(), 0);
        assert_eq!(acknowledged(&mut packets, &[(0, 10)]), (vec![], None));
        assert_eq!(acknowledged(&mut packets, &[(0, 20)]), (vec![], None));
    }

    /// RFC 9002 section 6.1. The ACK of 5 declares 2 and all older ones lost, and 3 and 4 after the time.
    #[test]
    fn packets_are_lost_by_number_or_by_time() {
        let mut packets = ten();
        acknowledged(&mut packets, &[(5, 6), (0, 1)]);
        assert_eq!(lost(&mut packets, 10, 9), (vec![1, 2], Some(ms(12))));
        assert_eq!(lost(&mut packets, 12, 9), (vec![3], Some(ms(13))));
        assert_eq!(lost(&mut packets, 13, 9), (vec![4], None));
        assert_eq!(packets.in_flight(), 4);
        // Their ACKs come too late.
        assert_eq!(acknowledged(&mut packets, &[(0, 6)]), (vec![], None));
    }
}
