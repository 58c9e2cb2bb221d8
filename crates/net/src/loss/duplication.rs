//! Packet duplication.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Duplication of packets at the entry of a queue.
///
/// # Model
/// Lower layers that repeat a frame whose acknowledgement was lost, and transient loops.
///
/// # References
/// RFC 5560; the option `duplicate` of Linux's netem.
///
/// # Limitations
/// The copy directly follows its original if the queue accepted the latter, and is accepted or dropped like any packet.
/// At this port it is neither lost before the queue nor duplicated again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplication {
    lossy: Lossy,
    chance: Chance,
    stream: Stream,
}

impl Duplication {
    /// Creates a process with a probability from 0 to 1 that draws from `stream`.
    #[must_use]
    pub fn new(lossy: Lossy, probability: f64, stream: Stream) -> Self {
        Duplication { lossy, chance: Chance::new(probability), stream }
    }

    /// Draws for an accepted packet. Returns whether it is duplicated.
    pub fn duplicates(&mut self, packet: Packet) -> bool {
        self.lossy.affects(packet) && self.chance.occurs(&mut self.stream)
    }
}
