//! Packets in flight in one direction of a link.

use std::collections::VecDeque;

use optcp_units::Time;

use crate::Packet;

/// Packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InFlightPacket {
    arrival: Time,
    ordinal: u32,
    packet: Packet,
}

/// Packets in flight, in ascending order of arrival, then ordinal.
#[derive(Clone, Debug, Default)]
pub struct Pipe(VecDeque<InFlightPacket>);

/// Arrival at the far end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Packet.
    pub packet: Packet,
    /// Time and ordinal of the next arrival.
    pub next: Option<(Time, u32)>,
}

impl Pipe {
    /// Adds a packet. Returns its arrival time and ordinal if it is now the first to arrive.
    pub fn push(&mut self, arrival: Time, ordinal: u32, packet: Packet) -> Option<(Time, u32)> {
        // A packet can overtake others only if the delay was reduced; otherwise it is appended.
        let mut place = self.0.len();
        while place > 0 && self.0[place - 1].arrival > arrival {
            place -= 1;
        }
        let entry = InFlightPacket { arrival, ordinal, packet };
        if place == self.0.len() {
            self.0.push_back(entry);
        } else {
            self.0.insert(place, entry);
        }
        (place == 0).then_some((arrival, ordinal))
    }

    /// Removes the packet with this ordinal, unless the event is obsolete. Returns it and the event of the next packet.
    pub fn pop(&mut self, now: Time, ordinal: u32) -> Option<Arrived> {
        let first = self.0.front()?;
        if first.arrival != now || first.ordinal != ordinal {
            return None;
        }
        let packet = self.0.pop_front()?.packet;
        Some(Arrived { packet, next: self.0.front().map(|u| (u.arrival, u.ordinal)) })
    }

    /// Returns the number of packets in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether no packets are in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all packets in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Packet> {
        self.0.drain(..).map(|entry| entry.packet)
    }
}
