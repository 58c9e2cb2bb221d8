//! Strict priority.

use optcp_units::Time;

use super::fifo::Fifo;
use super::{Fate, Fates, Link, OnDeparture};
use crate::{DropReason, Packet, QueueLimit};

/// Strict priority: sends packets of a higher class first.
///
/// # Model
/// One FIFO queue per class of flows, from 0 to 7. Transmissions are not interrupted; the highest class with a packet
/// is next. If the queue is full, an arriving packet replaces packets of lower classes: the lowest class first, the
/// newest packet first.
///
/// # References
/// RFC 3246, its appendix (a priority queue as the canonical example of expedited forwarding); Linux's `prio`.
///
/// # Limitations
/// Lower classes may starve. The limit applies to all classes together and counts the packet in transmission; Linux's
/// `prio` has a limit per class instead.
#[derive(Clone, Debug)]
pub struct Priority {
    link: Box<Link>,
    classes: [Fifo; CLASSES],
    packets: usize,
    bytes: u64,
}

/// Number of classes.
pub const CLASSES: usize = 8;

impl OnDeparture for Priority {
    type Parameters = ();

    fn new((): &(), link: &Link) -> Self {
        Priority { link: Box::new(link.clone()), classes: Default::default(), packets: 0, bytes: 0 }
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        fates: &mut Fates,
    ) -> Result<(), DropReason> {
        let class = self.link.class(packet);
        let beside = usize::from(sending.is_some());
        let bytes = sending.map_or(0, |sending| u64::from(sending.size()));
        let kept = &self.classes[class..];
        let (packets_kept, bytes_kept) =
            kept.iter().fold((beside, bytes), |(n, b), fifo| (n + fifo.len(), b + fifo.bytes()));
        let limit: QueueLimit = self.link.limit;
        if !limit.has_room(packets_kept, bytes_kept, packet.size()) {
            return Err(DropReason::QueueFull);
        }
        while !limit.has_room(beside + self.packets, bytes + self.bytes, packet.size())
            && let Some((last, _)) = self.classes[..class].iter_mut().find_map(Fifo::pop_last)
        {
            self.count_off(last);
            fates.push((last, Fate::Dropped(DropReason::PushedOut)));
        }
        self.classes[class].push(now, packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size());
        Ok(())
    }

    fn dequeue(&mut self, _: Time, _: &mut Fates) -> Option<(Packet, Time)> {
        let (packet, since) = self.classes.iter_mut().rev().find_map(Fifo::pop)?;
        self.count_off(packet);
        Some((packet, since))
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn list(&self, packets: &mut Vec<Packet>) {
        packets.extend(self.classes.iter().rev().flat_map(Fifo::iter));
    }
}

impl Priority {
    fn count_off(&mut self, packet: Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, Label};

    fn packet_of(flow: u32, seq: u32) -> Packet {
        Packet::data(FlowId::new(flow), Label(0), seq, 100, 0)
    }

    /// Flow 0 has class 0, flow 1 class 5.
    fn queue(limit: u32) -> Priority {
        let link = crate::queue::tests::link(QueueLimit::Packets(limit));
        Priority::new(&(), &Link { classes: [0, 5].into(), ..link })
    }

    #[test]
    fn higher_class_is_served_first() {
        let (mut queue, mut fates) = (queue(10), Fates::new());
        for packet in [packet_of(0, 0), packet_of(0, 1), packet_of(1, 0), packet_of(1, 1)] {
            assert_eq!(queue.enqueue(Time::ZERO, packet, None, &mut fates), Ok(()));
        }
        let order: Vec<Packet> = (0..4)
            .map_while(|_| queue.dequeue(Time::ZERO, &mut fates))
            .map(|(packet, _)| packet)
            .collect();
        assert_eq!(order, [packet_of(1, 0), packet_of(1, 1), packet_of(0, 0), packet_of(0, 1)]);
    }

    /// Limit 3, including the packet in transmission: a packet of class 5 replaces the last one of class 0; a third one
    /// is dropped.
    #[test]
    fn newest_packet_of_lowest_class_is_dropped() {
        let (mut queue, mut fates) = (queue(3), Fates::new());
        let sending = Some(packet_of(0, 9));
        let mut come = |packet| queue.enqueue(Time::ZERO, packet, sending, &mut fates);
        assert_eq!(
            [packet_of(0, 0), packet_of(0, 1), packet_of(1, 0), packet_of(1, 1)].map(&mut come),
            [Ok(()); 4]
        );
        assert_eq!(
            [packet_of(1, 2), packet_of(0, 2)].map(&mut come),
            [Err(DropReason::QueueFull); 2]
        );
        assert_eq!(
            fates,
            [packet_of(0, 1), packet_of(0, 0)].map(|p| (p, Fate::Dropped(DropReason::PushedOut)))
        );
    }
}
