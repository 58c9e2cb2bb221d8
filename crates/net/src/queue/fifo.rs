//! Packets that wait in the order in which they came, and since when.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use crate::{DropReason, Packet, QueueLimit};

/// Packets in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo {
    packets: VecDeque<(Packet, Time)>,
    bytes: u64,
}

impl Fifo {
    pub(super) fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += u64::from(packet.size());
        self.packets.push_back((packet, now));
    }

    /// A packet comes, which takes its place among at most `limit`, the packet in transmission included.
    pub(super) fn admit(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        limit: QueueLimit,
    ) -> Result<(), DropReason> {
        let packets = self.len() + usize::from(sending.is_some());
        let bytes = self.bytes + sending.map_or(0, |sending| u64::from(sending.size()));
        if !limit.has_room(packets, bytes, packet.size()) {
            return Err(DropReason::QueueFull);
        }
        self.push(now, packet);
        Ok(())
    }

    /// The oldest packet, and when it came.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Packet, Time)> {
        let oldest = self.packets.pop_front()?;
        self.bytes -= u64::from(oldest.0.size());
        Some(oldest)
    }

    /// The newest packet, and when it came.
    pub(super) fn pop_last(&mut self) -> Option<(Packet, Time)> {
        let newest = self.packets.pop_back()?;
        self.bytes -= u64::from(newest.0.size());
        Some(newest)
    }

    /// The oldest packet, which stays.
    pub(super) fn first(&self) -> Option<Packet> {
        self.packets.front().map(|&(packet, _)| packet)
    }

    /// How long the oldest packet has waited; zero of none.
    pub(super) fn age(&self, now: Time) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |&(_, since)| now.saturating_since(since))
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Packet> {
        self.packets.iter().map(|&(packet, _)| packet)
    }
}
