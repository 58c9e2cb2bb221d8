//! Packet numbers that have arrived, and the ACKs that report them, as in QUIC.
//!
//! # Model
//! An ACK is sent for every second packet, after the maximum delay, or immediately for a packet that arrives out of order. The
//! number of such a packet is lower than the highest so far, or packets between these two are missing. Data that fill a gap arrive in a packet
//! with the next number, so that their ACK may be delayed. Each ACK has the latest ranges and its own delay. With ECN, ACKs
//! also have the number of packets per codepoint, and a packet marked CE is acknowledged immediately.
//!
//! # References
//! RFC 9000 sections 13.2.1 to 13.2.5, 12.3 (duplicates) and 13.4.1 (ECN counts).
//!
//! # Parameters
//! `ack`, `ack_delay`, `sack_blocks`, `ecn`, `receiver_ecn`, `ect_packets`.
//!
//! # Limitations
//! Ranges below the last 256 are forgotten, and packets there count as duplicates. ACKs themselves are not acknowledged, so
//! that the receiver learns nothing of marks on them, and does not validate its path.

use optcp_units::{Codepoint, Marking, Time};

use crate::acknowledgment::{Ack, SackBlocks};
use crate::config::{Config, Ecn, EctPackets};
use crate::ecn::{EcnCounters, PacketCounts};
use crate::ranges::Ranges;
use crate::seq::Seq;

/// Maximum number of ranges that are remembered.
const MOST_RANGES: usize = 256;

/// Packet numbers that have arrived.
#[derive(Clone, Debug)]
pub(super) struct PacketNumbers {
    arrived: Ranges,
    /// Everything below counts as arrived.
    forgotten: Seq,
    /// Arrival of the highest number.
    latest: Time,
    /// Number of packets that no ACK has reported.
    waiting: u32,
    /// Number of ranges in an ACK.
    limit: usize,
    /// Packets by codepoint, if ACKs report them.
    counts: Option<PacketCounts>,
    ect_packets: EctPackets,
    handshake: bool,
}

/// Conclusion from a packet number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// The packet has arrived before.
    Duplicate,
    /// In order: its ACK may wait.
    InOrder,
    /// Out of order, marked, or the second that waits.
    AtOnce,
}

impl PacketNumbers {
    pub(super) fn new(config: &Config) -> Self {
        let counts = config.receiver_ecn.of(config.ecn) == Ecn::Accurate;
        PacketNumbers {
            arrived: Ranges::default(),
            forgotten: Seq::ZERO,
            latest: Time::ZERO,
            waiting: 0,
            limit: usize::from(config.sack_blocks),
            counts: counts.then(PacketCounts::default),
            ect_packets: config.ect_packets,
            handshake: config.handshake,
        }
    }

    /// Records a packet. Duplicates are not counted.
    pub(super) fn on_packet(&mut self, now: Time, number: Seq, codepoint: Codepoint) -> Arrived {
        let end = self.arrived.end().unwrap_or(Seq::ZERO);
        let mut is_new = false;
        if number >= self.forgotten {
            self.arrived.insert(number, number.next(), |_, _| is_new = true);
        }
        if !is_new {
            return Arrived::Duplicate;
        }
        if self.arrived.ranges() > MOST_RANGES {
            let (_, end) = self.arrived.first().expect("there are many");
            self.forgotten = end;
            self.arrived.remove_below(end);
        }
        if number >= end {
            self.latest = now;
        }
        self.waiting += 1;
        let mut is_marked = false;
        if let Some(counts) = &mut self.counts {
            counts.add(codepoint);
            is_marked = codepoint == Codepoint::Ce;
        }
        let is_next = number == end && self.waiting == 1;
        if is_next && !is_marked { Arrived::InOrder } else { Arrived::AtOnce }
    }

    /// Returns the ACK to send now, with everything below `next` in order.
    pub(super) fn acknowledge(&mut self, now: Time, next: Seq) -> Ack {
        self.waiting = 0;
        let mut ranges = SackBlocks::new();
        self.arrived.iter().rev().take(self.limit).for_each(|range| ranges.push(range));
        let ack = Ack::of_packets(next, ranges, now - self.latest);
        let Some(counts) = self.counts else { return ack };
        let counters = counts.reported().map(EcnCounters::Packets);
        // Nothing but the first packet has arrived: this is the other end's part of the handshake.
        let opens = self.handshake && next == Seq::ZERO.next() && self.arrived.count() == 1;
        let is_ect = match self.ect_packets {
            EctPackets::Data => false,
            EctPackets::Established => !opens,
            EctPackets::All => true,
        };
        let codepoint = if is_ect { Codepoint::Ect0 } else { Codepoint::NotEct };
        Ack { counters, marking: Marking::new(codepoint, 0), ..ack }
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use crate::{Config, Profile, Receiver};

    use super::*;
    use crate::config::{AckKind, ReceiverEcn};

    fn us(microseconds: u64) -> Time {
        Time::ZERO + Duration::from_us(microseconds)
    }

    fn ranges(ack: &Ack) -> Vec<(u32, u32)> {
        let sack = ack.sack.expect("it has ranges");
        sack.as_slice().iter().map(|range| (range.0.number(), range.1.number())).collect()
    }

    /// Progress, and the ranges of the ACK.
    type Reply = (u32, Option<Vec<(u32, u32)>>);

    /// Returns a function of time in us, packet number and segment.
    fn receiver(config: Config) -> impl FnMut(u64, u32, u32) -> Reply {
        let mut receiver = Receiver::new(&config, Duration::ZERO);
        move |at, number, seq| {
            let arrival = receiver.handle_segment(us(at), Seq::new(seq), number, 64, Marking::NONE);
            (arrival.progress, arrival.ack.as_ref().map(ranges))
        }
    }

    /// RFC 9000 section 13.2.1: the packet after a gap is acknowledged at once. So is one whose number is lower than
    /// another that has arrived. Packets that follow the first are in order again, and so is the packet that brings missing
    /// data under a new number.
    #[test]
    fn only_numbers_out_of_order_are_acknowledged_at_once() {
        let mut arrive = receiver(Profile::Quic.config());
        assert_eq!(arrive(0, 0, 0), (1, None));
        assert_eq!(arrive(10, 1, 1), (1, Some(vec![(0, 2)])));
        assert_eq!(arrive(20, 3, 3), (0, Some(vec![(3, 4), (0, 2)])));
        assert_eq!(arrive(30, 4, 4), (0, None));
        assert_eq!(arrive(40, 5, 2), (3, Some(vec![(3, 6), (0, 2)])));
        assert_eq!(arrive(50, 2, 2), (0, Some(vec![(0, 6)])));
        // A copy from the network is neither data nor acknowledged.
        assert_eq!(arrive(60, 5, 2), (0, None));
    }

    /// RFC 9000 section 13.2.5: the delay counts from the arrival of the highest number, in units of 8 us.
    #[test]
    fn ack_states_its_delay() {
        let config = Profile::Quic.config();
        let mut receiver = Receiver::new(&config, Duration::ZERO);
        let first = receiver.handle_segment(us(100), Seq::ZERO, 0, 64, Marking::NONE);
        assert_eq!((first.ack, receiver.deadline()), (None, Some(us(25_100))));
        let ack = receiver.handle_timer(us(25_100));
        assert_eq!(
            (ack.delay(), ack.seq, ranges(&ack)),
            (Duration::from_ms(25), Seq::new(1), vec![(0, 1)])
        );
        assert_eq!(receiver.deadline(), None);
    }

    /// RFC 9000 section 13.2.3: the latest ranges are reported, and old ones may be forgotten.
    #[test]
    fn latest_ranges_are_reported() {
        let mut arrive = receiver(Profile::Quic.config());
        for number in 0..300 {
            arrive(0, 2 * number, number);
        }
        let (_, reported) = arrive(0, 600, 300);
        assert_eq!(reported, Some(vec![(600, 601), (598, 599), (596, 597), (594, 595)]));
        // Number 1 is below the last 256 ranges.
        assert_eq!(arrive(0, 1, 301), (0, None));
    }

    /// RFC 9000 sections 13.2.1 and 13.4.1: a marked packet is acknowledged at once, and counts state each packet once.
    #[test]
    fn marks_are_acknowledged_at_once_and_counted() {
        let config = Config { ecn: Ecn::Accurate, ..Profile::Quic.config() };
        let mut receiver = Receiver::new(&config, Duration::ZERO);
        let mut arrive = |number: u32, codepoint: Codepoint| {
            let marking = Marking::new(codepoint, 0);
            let seq = Seq::new(number);
            let ack = receiver.handle_segment(us(u64::from(number)), seq, number, 64, marking).ack;
            ack.map(|ack| ack.counters.and_then(EcnCounters::packets))
        };
        let counts = |ect0, ect1, ce| Some(Some(PacketCounts { ect0, ect1, ce }));
        assert_eq!(arrive(0, Codepoint::NotEct), None);
        assert_eq!(arrive(1, Codepoint::NotEct), Some(None));
        assert_eq!(arrive(2, Codepoint::Ce), counts(0, 0, 1));
        assert_eq!(arrive(2, Codepoint::Ce), None);
        assert_eq!(arrive(3, Codepoint::Ect0), None);
        assert_eq!(arrive(4, Codepoint::Ce), counts(1, 0, 2));
        assert_eq!(arrive(5, Codepoint::Ect1), None);
        assert_eq!(arrive(6, Codepoint::Ect0), counts(2, 1, 2));
    }

    /// `data`: no ACK is ECN-capable; `established`: all but the answer of the handshake; `all`: that one, too.
    #[test]
    fn acks_are_ecn_capable_as_configured() {
        for (ect_packets, want) in [
            (EctPackets::Data, [Codepoint::NotEct, Codepoint::NotEct]),
            (EctPackets::Established, [Codepoint::NotEct, Codepoint::Ect0]),
            (EctPackets::All, [Codepoint::Ect0, Codepoint::Ect0]),
        ] {
            let ack = AckKind::EveryPacket;
            let ecn = Ecn::Accurate;
            let config =
                Config { ack, ecn, ect_packets, handshake: true, ..Profile::Quic.config() };
            let mut receiver = Receiver::new(&config, Duration::ZERO);
            let acks = [0, 1].map(|number| {
                let seq = Seq::new(number);
                receiver.handle_segment(us(0), seq, number, 64, Marking::NONE).ack.expect("an ACK")
            });
            assert_eq!(acks.map(|ack| ack.marking), want.map(|it| Marking::new(it, 0)));
        }
    }

    /// A receiver without ECN reports no counts, and its ACKs are not ECN-capable.
    #[test]
    fn receiver_without_ecn_reports_no_counts() {
        let config = Config {
            ecn: Ecn::Accurate,
            receiver_ecn: ReceiverEcn::Off,
            ack: AckKind::EveryPacket,
            ..Profile::Quic.config()
        };
        let mut receiver = Receiver::new(&config, Duration::ZERO);
        let ce = Marking::new(Codepoint::Ce, 0);
        let ack = receiver.handle_segment(us(0), Seq::ZERO, 0, 64, ce).ack.expect("an ACK");
        assert_eq!((ack.counters, ack.marking), (None, Marking::NONE));
    }
}
