//! First in, first out, up to a limit.

use std::collections::VecDeque;

use super::limit::QueueLimit;
use crate::{DropReason, Packet};

/// Loses a packet that comes where there is no place left.
///
/// # Models
/// One queue for all packets. They leave in the order in which they came.
/// # Source
/// The limit counts the packet in transmission, as ns-2's drop-tail does.
/// # Parameters
/// The limit.
/// # Limits
/// A limit in bytes may turn a long packet away and take the short one behind it.
#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    limit: QueueLimit,
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl DropTail {
    pub(super) fn new(limit: QueueLimit) -> Self {
        DropTail { limit, packets: VecDeque::new(), bytes: 0 }
    }

    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        sending: Option<Packet>,
    ) -> Result<(), DropReason> {
        let bytes = self.bytes + sending.map_or(0, |sending| u64::from(sending.size()));
        let packets = self.packets.len() + usize::from(sending.is_some());
        if !self.limit.has_room(packets, bytes, packet.size()) {
            return Err(DropReason::QueueFull);
        }
        self.bytes += u64::from(packet.size());
        self.packets.push_back(packet);
        Ok(())
    }

    pub(super) fn dequeue(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some(packet)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Packet> {
        self.packets.iter().copied()
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Packet> {
        self.bytes = 0;
        self.packets.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, Label};

    fn packet(seq: u32, size: u16) -> Packet {
        Packet::data(FlowId::new(0), Label(0), seq, size, 0)
    }

    /// Two places: one is taken by the packet in transmission. 150 B: 100 B are, so 50 B fit and 51 B do not.
    #[test]
    fn the_packet_in_transmission_takes_a_place() {
        let sending = Some(packet(0, 100));
        for (limit, fits) in [(QueueLimit::Packets(2), 51), (QueueLimit::Bytes(150), 50)] {
            let mut queue = DropTail::new(limit);
            assert_eq!(queue.enqueue(packet(1, fits), sending), Ok(()));
            assert_eq!(queue.enqueue(packet(2, 1), sending), Err(DropReason::QueueFull));
        }
        let mut queue = DropTail::new(QueueLimit::Bytes(150));
        assert_eq!(queue.enqueue(packet(1, 51), sending), Err(DropReason::QueueFull));
        assert_eq!(queue.enqueue(packet(1, 51), None), Ok(()));
    }

    #[test]
    fn packets_leave_as_they_came_and_bytes_follow() {
        let mut queue = DropTail::new(QueueLimit::Unlimited);
        for (seq, size) in [(0, 100), (1, 40)] {
            assert_eq!(queue.enqueue(packet(seq, size), None), Ok(()));
        }
        assert_eq!(queue.bytes(), 140);
        assert_eq!(queue.dequeue(), Some(packet(0, 100)));
        assert_eq!((queue.bytes(), queue.iter().len()), (40, 1));
        assert_eq!(queue.drain().collect::<Vec<_>>(), [packet(1, 40)]);
        assert_eq!((queue.bytes(), queue.dequeue()), (0, None));
    }
}
