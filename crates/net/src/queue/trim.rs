//! Packet trimming: cuts segments that do not fit to their headers, which have priority.

use optcp_units::Time;

use super::fifo::Fifo;
use super::parameters::parameters;
use super::{Fate, Fates, Link, OnDeparture};
use crate::{DropReason, Packet, QueueLimit, TRIMMED_SIZE};

/// Packet trimming: instead of a segment, the queue keeps its header.
///
/// # Model
/// Two FIFO queues: one for headers of trimmed segments and for ACKs, one for all other packets. A segment that finds
/// the second queue at its threshold is trimmed to 64 bytes and enters the first. The first is served first, but after
/// ten of its packets the second sends one. Only segments whose receiver reports trimmed ones are trimmed; other
/// packets are dropped there. A packet that finds more than a mark threshold in the second queue is marked.
///
/// # References
/// M. Handley and others: Re-architecting datacenter networks and stacks for low latency and high performance (NDP),
/// SIGCOMM 2017, section 3.1; Ultra Ethernet specification 1.0, packet trimming. Marks as in [`Step`](super::step::Step).
///
/// # Limitations
/// The arriving segment is trimmed; NDP trims it or the last one of the queue at random. The limit applies to both
/// queues together. Headers that exceed it are dropped: NDP's return to the sender is not modelled.
#[derive(Clone, Debug)]
pub struct Trim {
    threshold: QueueLimit,
    mark_threshold: QueueLimit,
    link: Link,
    first: Fifo,
    second: Fifo,
    /// Packets of the first queue that were sent in a row while the second waited.
    row: u32,
}

/// Packets of the first queue per packet of the second, if both wait (NDP, section 3.1).
const ROW: u32 = 10;

parameters! {
    /// Parameters of [`Trim`].
    pub struct TrimParameters {
        /// Capacity of the second queue, including a packet of it that is in transmission.
        threshold: QueueLimit = QueueLimit::Packets(8), "NDP, SIGCOMM 2017, section 3.1: eight packets";
        /// Length of the second queue above which packets are marked.
        mark_threshold: QueueLimit = QueueLimit::Unlimited, "NDP, SIGCOMM 2017, section 3.1: no marks";
    }
    wrong |it| {
        "threshold" if it.threshold == QueueLimit::Unlimited => "packets or bytes: without a threshold nothing is trimmed";
    }
}

impl OnDeparture for Trim {
    type Parameters = TrimParameters;

    fn new(parameters: &TrimParameters, link: &Link) -> Self {
        Trim {
            threshold: parameters.threshold,
            mark_threshold: parameters.mark_threshold,
            link: link.clone(),
            first: Fifo::default(),
            second: Fifo::default(),
            row: 0,
        }
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        fates: &mut Fates,
    ) -> Result<(), DropReason> {
        let bytes = sending.map_or(0, |sending| u64::from(sending.size()));
        let (packets, bytes) = (usize::from(sending.is_some()) + self.len(), bytes + self.bytes());
        let fits = |packet: Packet| self.link.limit.has_room(packets, bytes, packet.size());
        let first = self.is_first(packet);
        let (others, other_bytes) = self.others(sending);
        if fits(packet) && first {
            self.first.push(now, packet);
            return Ok(());
        }
        if fits(packet) && self.threshold.has_room(others, other_bytes, packet.size()) {
            let marks = !self.mark_threshold.holds(others, other_bytes);
            let marking = packet.marking();
            let marks = marks && marking.takes_marks();
            let marked = if marks { packet.saying(marking.with_ce()) } else { packet };
            if marked != packet {
                fates.push((marked, Fate::Marked));
            }
            self.second.push(now, marked);
            return Ok(());
        }
        let trimmed = packet.trimmed();
        if first || !self.link.trims(packet) || !fits(trimmed) {
            return Err(DropReason::QueueFull);
        }
        self.first.push(now, trimmed);
        fates.push((trimmed, Fate::Trimmed));
        Ok(())
    }

    fn dequeue(&mut self, _: Time, _: &mut Fates) -> Option<(Packet, Time)> {
        let waits = !self.second.is_empty();
        if self.first.is_empty() || (waits && self.row == ROW) {
            self.row = 0;
            return self.second.pop();
        }
        self.row = if waits { self.row + 1 } else { 0 };
        self.first.pop()
    }

    fn len(&self) -> usize {
        self.first.len() + self.second.len()
    }

    fn bytes(&self) -> u64 {
        self.first.bytes() + self.second.bytes()
    }

    fn list(&self, packets: &mut Vec<Packet>) {
        packets.extend(self.first.iter().chain(self.second.iter()));
    }
}

impl Trim {
    /// Returns whether a packet belongs to the first queue.
    fn is_first(&self, packet: Packet) -> bool {
        packet.is_ack() || (self.link.trims(packet) && packet.size() <= TRIMMED_SIZE)
    }

    /// Returns the packets of the second queue and their bytes, including one in transmission.
    fn others(&self, sending: Option<Packet>) -> (usize, u64) {
        let sending = sending.filter(|&sending| !self.is_first(sending));
        let bytes = sending.map_or(0, |sending| u64::from(sending.size()));
        (self.second.len() + usize::from(sending.is_some()), self.second.bytes() + bytes)
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::{Codepoint, Marking};

    use super::*;
    use crate::queue::tests::link;
    use crate::{FlowId, Label};

    /// Segment of flow 0, whose receiver reports trimmed segments, or of flow 1, whose receiver does not.
    fn segment(flow: u32, seq: u32) -> Packet {
        Packet::data(FlowId::new(flow), Label(0), seq, 1500, 0)
    }

    fn ack(seq: u32) -> Packet {
        Packet::ack(FlowId::new(0), Label(0), seq, 40, 0)
    }

    fn queue(threshold: QueueLimit, limit: QueueLimit) -> Trim {
        let link = Link { trimmable: [true, false].into(), ..link(limit) };
        Trim::new(&TrimParameters { threshold, ..TrimParameters::default() }, &link)
    }

    fn departures(queue: &mut Trim) -> Vec<Packet> {
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut Fates::new()))
            .map(|(packet, _)| packet)
            .collect()
    }

    /// Threshold 2, with segment 9 in transmission: 0 waits, 1 is trimmed and overtakes it, as the ACK does. The other
    /// flow's segment is dropped.
    #[test]
    fn segment_beyond_threshold_is_trimmed_and_goes_first() {
        for threshold in [QueueLimit::Packets(2), QueueLimit::Bytes(3000)] {
            let (mut queue, mut fates) = (queue(threshold, QueueLimit::Unlimited), Fates::new());
            let sending = Some(segment(0, 9));
            let mut come = |packet| queue.enqueue(Time::ZERO, packet, sending, &mut fates);
            assert_eq!([segment(0, 0), segment(0, 1), ack(5)].map(&mut come), [Ok(()); 3]);
            assert_eq!(come(segment(1, 0)), Err(DropReason::QueueFull));
            let header = segment(0, 1).trimmed();
            assert_eq!((header.size(), header.seq), (64, 1));
            assert_eq!(fates, [(header, Fate::Trimmed)]);
            assert_eq!(departures(&mut queue), [header, ack(5), segment(0, 0)]);
        }
    }

    /// Threshold 4 and marks above 1, with segment 9 in transmission: 0 finds one segment, 1 and 2 find two and three
    /// and are marked. 3 finds four and is trimmed, without a mark. Segments that are not ECN-capable are not marked.
    #[test]
    fn segment_above_mark_threshold_is_marked() {
        for mark_threshold in [QueueLimit::Packets(1), QueueLimit::Bytes(1500)] {
            let link = Link { trimmable: [true, false].into(), ..link(QueueLimit::Unlimited) };
            let threshold = QueueLimit::Packets(4);
            let mut queue = Trim::new(&TrimParameters { threshold, mark_threshold }, &link);
            let mut fates = Fates::new();
            let ect = |seq| segment(0, seq).saying(Marking::new(Codepoint::Ect0, 0));
            let mut come = |packet| queue.enqueue(Time::ZERO, packet, Some(ect(9)), &mut fates);
            assert_eq!([ect(0), ect(1), segment(1, 0), ect(3)].map(&mut come), [Ok(()); 4]);
            let marked = ect(1).saying(ect(1).marking().with_ce());
            let expected = [(marked, Fate::Marked), (ect(3).trimmed(), Fate::Trimmed)];
            assert_eq!(fates, expected);
            let sent = [ect(3).trimmed(), ect(0), marked, segment(1, 0)];
            assert_eq!(departures(&mut queue), sent);
        }
    }

    /// A header does not count towards the threshold, and is not trimmed again.
    #[test]
    fn trimmed_header_goes_first_at_the_next_queue() {
        let (mut queue, mut fates) = (queue(QueueLimit::Packets(1), QueueLimit::Unlimited), vec![]);
        let header = segment(0, 4).trimmed();
        let mut come = |packet, sending| queue.enqueue(Time::ZERO, packet, sending, &mut fates);
        assert_eq!(come(segment(0, 5), Some(header)), Ok(()));
        assert_eq!(come(header, Some(header)), Ok(()));
        assert_eq!(departures(&mut queue), [header, segment(0, 5)]);
        assert!(fates.is_empty());
    }

    /// Limit 3 packets, including the one in transmission: two headers wait, and a third is lost.
    #[test]
    fn header_is_dropped_at_the_limit() {
        let (mut queue, mut fates) =
            (queue(QueueLimit::Packets(1), QueueLimit::Packets(3)), vec![]);
        let sending = Some(segment(0, 0));
        let mut come = |seq| queue.enqueue(Time::ZERO, segment(0, seq), sending, &mut fates);
        assert_eq!([1, 2, 3].map(&mut come), [Ok(()), Ok(()), Err(DropReason::QueueFull)]);
        assert_eq!(fates.len(), 2);
    }

    /// NDP, section 3.1: ten headers to one data packet, so that headers cannot take the whole link.
    #[test]
    fn every_eleventh_packet_is_data_if_both_wait() {
        let mut queue = queue(QueueLimit::Packets(2), QueueLimit::Unlimited);
        for seq in 0..25 {
            let taken = queue.enqueue(Time::ZERO, segment(0, seq), None, &mut Fates::new());
            assert_eq!(taken, Ok(()));
        }
        let places: Vec<usize> = (departures(&mut queue).iter().enumerate())
            .filter(|(_, packet)| packet.size() == 1500)
            .map(|(place, _)| place)
            .collect();
        assert_eq!(places, [10, 21]);
    }
}
