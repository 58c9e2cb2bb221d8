//! Head drop: first in, first out, dropping the oldest packet of a full queue.

use optcp_units::Time;

use super::fifo::Fifo;
use super::{Fate, Fates, Link, OnDeparture};
use crate::{DropReason, Packet, QueueLimit};

/// Head drop: drops the oldest packets if an arriving packet does not fit.
///
/// # Model
/// One queue for all packets, which leave in order of arrival. The receiver detects the loss earlier than with
/// drop-tail, because the gap precedes the queued packets.
///
/// # References
/// T. V. Lakshman, A. Neidhardt, T. J. Ott: The drop from front strategy in TCP and in TCP over ATM, INFOCOM 1996;
/// Linux's `pfifo_head_drop`.
///
/// # Limitations
/// The limit counts the packet in transmission, which is never dropped. An arriving packet that does not fit next to it
/// is dropped itself.
#[derive(Clone, Debug)]
pub struct HeadDrop {
    limit: QueueLimit,
    waiting: Fifo,
}

impl OnDeparture for HeadDrop {
    type Parameters = ();

    fn new((): &(), link: &Link) -> Self {
        HeadDrop { limit: link.limit, waiting: Fifo::default() }
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        fates: &mut Fates,
    ) -> Result<(), DropReason> {
        let (least, ahead) = (usize::from(sending.is_some()), sending.map_or(0, size));
        if !self.limit.has_room(least, ahead, packet.size()) {
            return Err(DropReason::QueueFull);
        }
        while !self.limit.has_room(
            least + self.waiting.len(),
            ahead + self.waiting.bytes(),
            packet.size(),
        ) && let Some((oldest, _)) = self.waiting.pop()
        {
            fates.push((oldest, Fate::Dropped(DropReason::PushedOut)));
        }
        self.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, _: Time, _: &mut Fates) -> Option<(Packet, Time)> {
        self.waiting.pop()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    fn list(&self, packets: &mut Vec<Packet>) {
        packets.extend(self.waiting.iter());
    }
}

fn size(packet: Packet) -> u64 {
    u64::from(packet.size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::{link, packet};

    /// Limit 3, including the packet in transmission: 1 and 2 are queued, and 1 is dropped for 3.
    #[test]
    fn oldest_packet_is_dropped_when_queue_is_full() {
        let mut queue = HeadDrop::new(&(), &link(QueueLimit::Packets(3)));
        let (mut fates, sending) = (Fates::new(), Some(packet(0, 100)));
        for seq in 1..=3 {
            assert_eq!(queue.enqueue(Time::ZERO, packet(seq, 100), sending, &mut fates), Ok(()));
        }
        assert_eq!(fates, [(packet(1, 100), Fate::Dropped(DropReason::PushedOut))]);
        let order = [0, 1].map(|_| queue.dequeue(Time::ZERO, &mut fates).map(|(packet, _)| packet));
        assert_eq!(order, [Some(packet(2, 100)), Some(packet(3, 100))]);
    }

    /// Limit 250 B with 100 B in transmission: 150 B fit after two packets of 60 B are dropped; 151 B never fit.
    #[test]
    fn several_packets_are_dropped_for_a_long_one() {
        let mut queue = HeadDrop::new(&(), &link(QueueLimit::Bytes(250)));
        let (mut fates, sending) = (Fates::new(), Some(packet(0, 100)));
        for seq in 1..=2 {
            assert_eq!(queue.enqueue(Time::ZERO, packet(seq, 60), sending, &mut fates), Ok(()));
        }
        let too_long = queue.enqueue(Time::ZERO, packet(3, 151), sending, &mut fates);
        assert_eq!((too_long, fates.len()), (Err(DropReason::QueueFull), 0));
        assert_eq!(queue.enqueue(Time::ZERO, packet(4, 150), sending, &mut fates), Ok(()));
        assert_eq!((fates.len(), queue.bytes()), (2, 150));
    }
}
