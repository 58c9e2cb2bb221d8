//! Packets that come twice.

use optcp_des::Stream;

use super::chance::Chance;
use super::lossy::Lossy;
use crate::Packet;

/// Puts packets into the queue twice.
///
/// # Models
/// Equipment below that repeats a frame whose acknowledgment it missed, and loops that are open for an instant.
/// # Source
/// RFC 5560; the option `duplicate` of Linux's netem.
/// # Parameters
/// How likely a packet is doubled; which packets; a stream of random numbers of the port's own.
/// # Limits
/// The copy comes right behind its original, if that has found a place in the queue, and finds a place there or not as
/// any other packet. It is neither lost before the queue nor doubled again at this port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplication {
    lossy: Lossy,
    chance: Chance,
    stream: Stream,
}

impl Duplication {
    /// Doubles packets with a probability from 0 to 1, by the numbers of `stream`.
    #[must_use]
    pub fn new(lossy: Lossy, probability: f64, stream: Stream) -> Self {
        Duplication { lossy, chance: Chance::new(probability), stream }
    }

    /// Draws for a packet that has come.
    pub fn doubles(&mut self, packet: Packet) -> bool {
        self.lossy.concerns(packet) && self.chance.comes(&mut self.stream)
    }
}
