//! Strict priority.

use optcp_units::Time;

use super::fifo::Fifo;
use super::{Fate, Fates, Link, OnDeparture};
use crate::{DropReason, Packet, QueueLimit};

/// Sends packets of a higher class first.
///
/// # Models
/// A queue in order for each class of flows, from 0 to 7. What is being sent is sent to its end; then the highest class
/// with a packet is next. Where there is no place left, a packet takes those of packets of lower classes: the lowest
/// first, of these the last that came.
/// # Source
/// RFC 3246, its appendix (a priority queue as the canonical example of expedited forwarding); Linux's `prio`.
/// # Parameters
/// The limit, of all classes together; it counts the packet in transmission. The class of a flow is its key `class`.
/// # Limits
/// Lower classes may get nothing at all. Linux's `prio` has a limit for each class instead.
#[derive(Clone, Debug)]
pub struct Priority {
    link: Link,
    classes: [Fifo; CLASSES],
    packets: usize,
    bytes: u64,
}

/// How many classes there are.
pub const CLASSES: usize = 8;

impl OnDeparture for Priority {
    type Parameters = ();

    fn new((): &(), link: &Link) -> Self {
        Priority { link: link.clone(), classes: Default::default(), packets: 0, bytes: 0 }
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

    fn of(flow: u32, seq: u32) -> Packet {
        Packet::data(FlowId::new(flow), Label(0), seq, 100, 0)
    }

    /// Flow 0 is of class 0, flow 1 of class 5.
    fn queue(limit: u32) -> Priority {
        let link = crate::queue::tests::link(QueueLimit::Packets(limit));
        Priority::new(&(), &Link { classes: [0, 5].into(), ..link })
    }

    #[test]
    fn the_higher_class_goes_first() {
        let (mut queue, mut fates) = (queue(10), Fates::new());
        for packet in [of(0, 0), of(0, 1), of(1, 0), of(1, 1)] {
            assert_eq!(queue.enqueue(Time::ZERO, packet, None, &mut fates), Ok(()));
        }
        let order: Vec<Packet> = (0..4)
            .map_while(|_| queue.dequeue(Time::ZERO, &mut fates))
            .map(|(packet, _)| packet)
            .collect();
        assert_eq!(order, [of(1, 0), of(1, 1), of(0, 0), of(0, 1)]);
    }

    /// Three places, one in transmission: a packet of class 5 takes the place of the last of class 0; a third finds none.
    #[test]
    fn the_last_of_the_lowest_class_makes_room() {
        let (mut queue, mut fates) = (queue(3), Fates::new());
        let sending = Some(of(0, 9));
        let mut come = |packet| queue.enqueue(Time::ZERO, packet, sending, &mut fates);
        assert_eq!([of(0, 0), of(0, 1), of(1, 0), of(1, 1)].map(&mut come), [Ok(()); 4]);
        assert_eq!([of(1, 2), of(0, 2)].map(&mut come), [Err(DropReason::QueueFull); 2]);
        assert_eq!(fates, [of(0, 1), of(0, 0)].map(|p| (p, Fate::Dropped(DropReason::PushedOut))));
    }
}
