//! A source of datagrams in a run.
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
use optcp_units::{Codepoint, Marking, Time};

use crate::DatagramSpec;
use crate::in_flight::InFlightStore;

/// A source.
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
        }
    }

    /// When the next packet is to be sent; `None` if none is any more. Each call goes one packet on.
    pub(crate) fn next_instant(&mut self) -> Option<Time> {
        let since = self.process.next_arrival()?;
        Some(self.start + since).filter(|&at| at < self.until)
    }

    /// The packet that is sent now.
    pub(crate) fn send(&mut self, id: FlowId, now: Time, in_flight: &mut InFlightStore) -> Packet {
        let size = self.sizes.draw(&mut self.stream);
        let number = self.sent;
        // Numbers tell packets apart in records; after 2^32 they begin again.
        self.sent = self.sent.wrapping_add(1);
        let marking = Marking::new(self.codepoint, 0);
        Packet::datagram(id, self.data, number, size, in_flight.keep_sent(now)).saying(marking)
    }
}
