//! A source of datagrams in a run, and the sink that counts them.
//!
//! # Models
//! UDP (RFC 768) as the network sees it: packets that an arrival process sends, whatever becomes of them.
//! # Source
//! Its own; the processes and sizes are those of the crate `traffic`.
//! # Parameters
//! [`crate::DatagramSpec`].
//! # Limits
//! One way, nothing comes back. A host puts a packet on its access link at the instant that the process
//! says; the port's queue is the host's.

use optcp_des::Stream;
use optcp_net::{FlowId, Label, Packet};
use optcp_traffic::{PacketSize, Process};
use optcp_units::{Codepoint, Duration, Marking, Time};
use slab::Slab;

use crate::DatagramSpec;

/// A source and its sink.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    process: Process,
    sizes: PacketSize,
    stream: Stream,
    start: Time,
    until: Time,
    pub(crate) data: Label,
    codepoint: Codepoint,
    sent: u32,
    /// When each packet under way was sent.
    kept: Slab<Time>,
}

impl Datagrams {
    pub(crate) fn new(spec: &DatagramSpec) -> Self {
        Datagrams {
            process: spec.process.clone(),
            sizes: spec.sizes,
            stream: spec.stream.clone(),
            start: spec.start,
            until: spec.until,
            data: spec.data,
            codepoint: spec.codepoint,
            sent: 0,
            kept: Slab::new(),
        }
    }

    /// When the next packet is to be sent; `None` if none is any more. Each call goes one packet on.
    pub(crate) fn next_instant(&mut self) -> Option<Time> {
        let since = self.process.next_arrival()?;
        Some(self.start + since).filter(|&at| at < self.until)
    }

    /// The packet that is sent now.
    pub(crate) fn send(&mut self, id: FlowId, now: Time) -> Packet {
        let size = self.sizes.draw(&mut self.stream);
        let number = self.sent;
        // Numbers tell packets apart in records; after 2^32 they begin again.
        self.sent = self.sent.wrapping_add(1);
        let marking = Marking::new(self.codepoint, 0);
        Packet::datagram(id, self.data, number, size, self.keep(now)).saying(marking)
    }

    /// How long a packet has been under way that is at its sink.
    pub(crate) fn take(&mut self, packet: Packet, now: Time) -> Duration {
        self.forget(packet).map_or(Duration::ZERO, |sent| now - sent)
    }

    /// A second packet that goes its own way.
    pub(crate) fn copy(&mut self, packet: Packet) -> Packet {
        let sent = packet.kept().and_then(|place| self.kept.get(place as usize).copied());
        let mut copy = packet;
        copy.options = self.keep(sent.unwrap_or(Time::ZERO));
        copy
    }

    /// A packet is no longer under way: when it was sent.
    pub(crate) fn forget(&mut self, packet: Packet) -> Option<Time> {
        packet.kept().and_then(|place| self.kept.try_remove(place as usize))
    }

    fn keep(&mut self, sent: Time) -> u32 {
        u32::try_from(self.kept.insert(sent)).unwrap_or(u32::MAX)
    }
}
