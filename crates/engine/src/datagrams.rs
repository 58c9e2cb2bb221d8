//! Source of datagrams in a run.
//!
//! # Model
//! UDP (RFC 768) without an application: an arrival process sends packets regardless of their fate. Crate
//! `optcp_traffic` provides the processes and sizes.
//!
//! # Limitations
//! - Traffic is one-way; receivers send nothing.
//! - A packet enters its access link at the arrival time of the process. The port's queue is the host's send buffer.

use optcp_des::Stream;
use optcp_net::{FlowId, Label, Packet};
use optcp_traffic::{PacketSize, Process};
use optcp_units::{Codepoint, Marking, Time};

use crate::DatagramSpec;
use crate::in_flight::InFlightStore;

/// Source of datagrams and its progress.
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

    /// Advances by one packet and returns its send time; `None` after the end.
    pub(crate) fn next_send_time(&mut self) -> Option<Time> {
        let since = self.process.next_arrival()?;
        Some(self.start + since).filter(|&at| at < self.until)
    }

    /// Returns the packet that is sent now.
    pub(crate) fn send(&mut self, id: FlowId, now: Time, in_flight: &mut InFlightStore) -> Packet {
        let size = self.sizes.draw(&mut self.stream);
        let number = self.sent;
        // Records distinguish packets by number. Numbers wrap after 2^32 packets.
        self.sent = self.sent.wrapping_add(1);
        let marking = Marking::new(self.codepoint, 0);
        Packet::datagram(id, self.data, number, size, in_flight.store_send_time(now))
            .saying(marking)
    }
}
