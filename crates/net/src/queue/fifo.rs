//! Packets in order of arrival with their arrival times.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use crate::{DropReason, Packet, QueueLimit};

/// Packets in order of arrival.
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

    /// Adds a packet unless the queue, including the packet in transmission, would exceed `limit`.
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

    /// Removes the oldest packet. Returns it with its arrival time.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Packet, Time)> {
        let oldest = self.packets.pop_front()?;
        self.bytes -= u64::from(oldest.0.size());
        Some(oldest)
    }

    /// Removes the newest packet. Returns it with its arrival time.
    pub(super) fn pop_last(&mut self) -> Option<(Packet, Time)> {
        let newest = self.packets.pop_back()?;
        self.bytes -= u64::from(newest.0.size());
        Some(newest)
    }

    /// Returns the oldest packet without removing it.
    pub(super) fn first(&self) -> Option<Packet> {
        self.packets.front().map(|&(packet, _)| packet)
    }

    /// Returns the queueing delay of the oldest packet; zero if the queue is empty.
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
