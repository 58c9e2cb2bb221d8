//! A pipe: what is on its way along one direction of a link.

use std::collections::VecDeque;

use optcp_units::Time;

use crate::Packet;

/// A packet on its way along the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InFlightPacket {
    arrival: Time,
    ordinal: u32,
    packet: Packet,
}

/// Packets on their way, ascending by arrival, then by ordinal.
#[derive(Clone, Debug, Default)]
pub struct Pipe(VecDeque<InFlightPacket>);

/// A packet at the far end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The packet.
    pub packet: Packet,
    /// Instant and ordinal of the next arrival.
    pub next: Option<(Time, u32)>,
}

impl Pipe {
    /// A packet is sent into the pipe. Says when and with which ordinal it arrives, if it is now the first to
    /// arrive.
    pub fn push(&mut self, arrival: Time, ordinal: u32, packet: Packet) -> Option<(Time, u32)> {
        // A pipe whose delay was shortened is overtaken; otherwise the place is at the end.
        let mut place = self.0.len();
        while place > 0 && self.0[place - 1].arrival > arrival {
            place -= 1;
        }
        let underway = InFlightPacket { arrival, ordinal, packet };
        if place == self.0.len() {
            self.0.push_back(underway);
        } else {
            self.0.insert(place, underway);
        }
        (place == 0).then_some((arrival, ordinal))
    }

    /// The packet with this ordinal comes out of the pipe, unless the event is stale.
    ///
    /// Returns the packet and the event of the one behind it.
    pub fn pop(&mut self, now: Time, ordinal: u32) -> Option<Arrived> {
        let first = self.0.front()?;
        if first.arrival != now || first.ordinal != ordinal {
            return None;
        }
        let packet = self.0.pop_front()?.packet;
        Some(Arrived { packet, next: self.0.front().map(|u| (u.arrival, u.ordinal)) })
    }

    /// Packets on their way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes everything out, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Packet> {
        self.0.drain(..).map(|underway| underway.packet)
    }
}
