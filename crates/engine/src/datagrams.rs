//! Source of datagrams, or of packets from outside, in a run.
//!
//! # Model
//! UDP (RFC 768) without an application: an arrival process sends packets regardless of their fate. Crate
//! `optcp_traffic` provides the processes and sizes. A source with an amount of data ends after the packet with the
//! rest. An external source sends the packets that it is given.
//!
//! # Limitations
//! - Traffic is one-way; receivers send nothing.
//! - A packet enters its access link at the arrival time of the process. The port's queue is the host's send buffer.

use std::collections::VecDeque;

use optcp_des::Stream;
use optcp_net::{FlowId, Label, Packet};
use optcp_traffic::{DATAGRAM_HEADERS, PacketSize, Process};
use optcp_units::{Codepoint, Marking, Time};

use crate::external::{External, ExternalSpec, Received};
use crate::in_flight::{Datagram, InFlightStore};
use crate::{Blueprint, DatagramSpec};

/// Arrival process with packet sizes.
#[derive(Clone, Debug)]
struct Arrivals {
    process: Process,
    sizes: PacketSize,
    stream: Stream,
    start: Time,
    until: Time,
    /// Data that is not sent yet; `None` for unlimited.
    left: Option<u64>,
}

impl Arrivals {
    /// Draws the size of the next packet, which has at most the rest of the data.
    fn draw_size(&mut self) -> u16 {
        let size = self.sizes.draw(&mut self.stream);
        let Some(left) = &mut self.left else { return size };
        let payload = size.saturating_sub(DATAGRAM_HEADERS);
        let sent = u16::try_from(*left).map_or(payload, |left| left.min(payload));
        *left -= u64::from(sent);
        size - payload + sent
    }
}

/// Origin of the packets of a source.
#[derive(Clone, Debug)]
enum Origin {
    Process(Arrivals),
    Outside { waiting: VecDeque<External>, data_of: Option<FlowId>, received: Received },
}

/// Source of datagrams and its progress.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    origin: Origin,
    pub(crate) data: Label,
    codepoint: Codepoint,
    sent: u32,
}

impl Datagrams {
    /// Returns all sources of a run, in the order of their flow numbers.
    pub(crate) fn all(blueprint: &Blueprint) -> Vec<Self> {
        let sources = blueprint.datagrams.iter().map(Datagrams::new);
        sources.chain(blueprint.externals.iter().map(Datagrams::external)).collect()
    }

    fn new(spec: &DatagramSpec) -> Self {
        let origin = Origin::Process(Arrivals {
            process: spec.process.clone(),
            sizes: spec.sizes,
            stream: spec.stream.clone(),
            start: spec.start,
            until: spec.until,
            left: spec.bytes,
        });
        Datagrams { origin, data: spec.data, codepoint: spec.codepoint, sent: 0 }
    }

    fn external(spec: &ExternalSpec) -> Self {
        let (data_of, waiting, received) = (spec.data_of, VecDeque::new(), Received::default());
        let origin = Origin::Outside { waiting, data_of, received };
        Datagrams { origin, data: spec.label, codepoint: Codepoint::NotEct, sent: 0 }
    }

    /// Advances by one packet and returns its send time; `None` after the end, and if packets come from outside.
    pub(crate) fn next_send_time(&mut self) -> Option<Time> {
        let Origin::Process(arrivals) = &mut self.origin else { return None };
        if arrivals.left == Some(0) {
            return None;
        }
        let since = arrivals.process.next_arrival()?;
        Some(arrivals.start + since).filter(|&at| at < arrivals.until)
    }

    /// Adds a packet from outside, to be sent after those that were added before.
    ///
    /// # Panics
    /// If the packets of this source do not come from outside.
    pub(crate) fn add(&mut self, packet: External) {
        let Origin::Outside { waiting, .. } = &mut self.origin else {
            panic!("no external source")
        };
        waiting.push_back(packet);
    }

    /// Returns the flow that an arrived packet from outside continues, and the number of bytes.
    pub(crate) fn progress(&mut self, now: Time, packet: &[u8]) -> Option<(FlowId, u64)> {
        let Origin::Outside { data_of, received, .. } = &mut self.origin else { return None };
        let flow = (*data_of)?;
        Some((flow, received.progress(now, packet))).filter(|(_, bytes)| *bytes > 0)
    }

    /// Returns how many bytes from outside have arrived in order, and the time of the last ones.
    pub(crate) fn arrived(&self) -> (u64, Time) {
        match &self.origin {
            Origin::Outside { received, .. } => received.all(),
            Origin::Process(_) => (0, Time::ZERO),
        }
    }

    /// Returns the packet that is sent now.
    pub(crate) fn send(&mut self, id: FlowId, now: Time, in_flight: &mut InFlightStore) -> Packet {
        let number = self.sent;
        // Records distinguish packets by number. Numbers wrap after 2^32 packets.
        self.sent = self.sent.wrapping_add(1);
        let mut packet = |size, datagram| {
            Packet::datagram(id, self.data, number, size, in_flight.store_datagram(datagram))
        };
        match &mut self.origin {
            Origin::Process(arrivals) => {
                let marking = Marking::new(self.codepoint, 0);
                packet(arrivals.draw_size(), Datagram { at: now, bytes: None }).saying(marking)
            }
            Origin::Outside { waiting, .. } => {
                let External { bytes, marking, flow_label } =
                    waiting.pop_front().expect("each event has a packet");
                let size = u16::try_from(bytes.len()).expect("packets of at most 65,535 bytes");
                packet(size, Datagram { at: now, bytes: Some(bytes) })
                    .saying(marking)
                    .labelled(flow_label)
            }
        }
    }
}
