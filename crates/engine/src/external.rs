//! Packets from outside the simulation.
//!
//! # Model
//! An external source sends the packets that it is given, with their bytes, and the sink returns them. The data of a TCP
//! flow is followed in the real packets. Bytes that arrive in order are progress of the flow, as at a simulated receiver
//! (RFC 9293 section 3.10.7.4).
//!
//! # Limitations
//! - Data is followed from the SYN of each connection; a connection that began earlier is ignored.
//! - Later fragments of a packet have no ports, so that their data is missing.

use std::collections::BTreeMap;
use std::sync::Arc;

use optcp_net::{FlowId, Label};
use optcp_units::{Marking, Time};

/// Source of packets from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalSpec {
    /// Label of packets when they enter the network.
    pub label: Label,
    /// Flow whose data the packets are; `None` for the other direction.
    pub data_of: Option<FlowId>,
}

/// Packet from outside.
#[derive(Clone, Debug)]
pub struct External {
    /// The packet, whose length is its size on the wire.
    pub bytes: Arc<[u8]>,
    /// ECN bits.
    pub marking: Marking,
    /// Flow label, which ECMP hashes with the source.
    pub flow_label: u8,
}

/// External packet that has arrived.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Flow number of its source.
    pub source: FlowId,
    /// Time of arrival, which may be later than the current time of the run.
    pub at: Time,
    /// ECN bits.
    pub marking: Marking,
    /// The packet as it was sent.
    pub bytes: Arc<[u8]>,
}

/// Data that has arrived from an external source, by source port and destination port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    connections: BTreeMap<[u8; 4], Stream>,
    bytes: u64,
    last: Time,
}

/// Data of one connection.
#[derive(Clone, Debug)]
struct Stream {
    /// Number of the next byte in order, counted from the SYN without wrapping.
    next: u64,
    initial: u32,
    /// Data beyond it: ends by start.
    beyond: BTreeMap<u64, u64>,
}

/// TCP segment in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    ports: [u8; 4],
    seq: u32,
    syn: bool,
    length: u32,
}

impl Received {
    /// Returns the number of bytes that are in order due to this packet.
    pub(crate) fn progress(&mut self, now: Time, packet: &[u8]) -> u64 {
        let bytes = self.read(packet);
        if bytes > 0 {
            self.bytes += bytes;
            self.last = now;
        }
        bytes
    }

    /// Returns the number of bytes that are in order, and the time of the last ones.
    pub(crate) fn all(&self) -> (u64, Time) {
        (self.bytes, self.last)
    }

    fn read(&mut self, packet: &[u8]) -> u64 {
        let Some(segment) = Segment::read(packet) else { return 0 };
        if segment.syn {
            let stream = Stream { next: 1, initial: segment.seq, beyond: BTreeMap::new() };
            // A retransmitted SYN does not restart the connection.
            let known = self.connections.entry(segment.ports).or_insert_with(|| stream.clone());
            if known.initial != segment.seq {
                *known = stream;
            }
            return 0;
        }
        let stream = self.connections.get_mut(&segment.ports);
        stream.map_or(0, |stream| stream.progress(segment.seq, segment.length))
    }
}

impl Stream {
    fn progress(&mut self, seq: u32, length: u32) -> u64 {
        let relative = u64::from(seq.wrapping_sub(self.initial));
        // The start is within 2^31 bytes of the next one.
        let half = 1 << 31;
        let lap = (self.next + half).saturating_sub(relative) >> 32;
        let start = (lap << 32) + relative;
        let end = start + u64::from(length);
        if end <= self.next {
            return 0;
        }
        let before = self.next;
        let entry = self.beyond.entry(start).or_default();
        *entry = end.max(*entry);
        while let Some(first) = self.beyond.first_entry()
            && *first.key() <= self.next
        {
            self.next = self.next.max(first.remove());
        }
        self.next - before
    }
}

impl Segment {
    /// Reads the segment in an IP packet; `None` without a complete one.
    fn read(packet: &[u8]) -> Option<Self> {
        let (header, total) = match packet.first()? >> 4 {
            4 => {
                let total = usize::from(word(packet, 2)?);
                let is_first = word(packet, 6)? & 0x1fff == 0;
                let tcp = *packet.get(9)? == TCP && is_first;
                (tcp.then_some(usize::from(packet[0] & 15) * 4)?, total)
            }
            // Extension headers are rare: only packets without one are followed.
            6 => {
                let tcp = *packet.get(6)? == TCP;
                (tcp.then_some(40)?, 40 + usize::from(word(packet, 4)?))
            }
            _ => return None,
        };
        let tcp = packet.get(header..total)?;
        let offset = usize::from(*tcp.get(12)? >> 4) * 4;
        let length = tcp.len().checked_sub(offset)?;
        Some(Segment {
            ports: *tcp.first_chunk()?,
            seq: u32::from_be_bytes(*tcp.get(4..8)?.first_chunk()?),
            syn: tcp.get(13)? & SYN != 0,
            length: u32::try_from(length).ok()?,
        })
    }
}

/// Number of TCP among the protocols.
const TCP: u8 = 6;
const SYN: u8 = 2;

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..at + 2)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet with a TCP segment: ports 1 and 2, no options.
    fn packet(seq: u32, syn: bool, length: u16) -> Vec<u8> {
        let mut packet = vec![0; 40 + usize::from(length)];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(40 + length).to_be_bytes());
        packet[9] = TCP;
        packet[20..24].copy_from_slice(&[0, 1, 0, 2]);
        packet[24..28].copy_from_slice(&seq.to_be_bytes());
        packet[32] = 5 << 4;
        packet[33] = if syn { SYN } else { 16 };
        packet
    }

    #[test]
    fn data_in_order_is_counted_once() {
        let mut received = Received::default();
        let mut progress =
            |seq, syn, length| received.progress(Time::ZERO, &packet(seq, syn, length));
        // Before the SYN, nothing is followed.
        assert_eq!(progress(101, false, 10), 0);
        assert_eq!(progress(100, true, 0), 0);
        assert_eq!(progress(101, false, 10), 10);
        // Out of order, then the gap, then all of it again.
        assert_eq!(progress(121, false, 10), 0);
        assert_eq!(progress(141, false, 10), 0);
        assert_eq!(progress(111, false, 15), 20);
        assert_eq!(progress(101, false, 30), 0);
        assert_eq!(progress(131, false, 10), 20);
        // A SYN that arrives twice changes nothing; another connection starts again.
        assert_eq!(progress(100, true, 0), 0);
        assert_eq!(progress(151, false, 1), 1);
        assert_eq!(progress(7, true, 0), 0);
        assert_eq!(progress(8, false, 3), 3);
    }

    #[test]
    fn sequence_numbers_wrap() {
        let mut received = Received::default();
        let mut progress =
            |seq, syn, length| received.progress(Time::ZERO, &packet(seq, syn, length));
        assert_eq!(progress(u32::MAX - 9, true, 0), 0);
        let mut all = 0;
        let mut seq = u32::MAX - 8;
        // More than 2^32 bytes.
        for _ in 0..100_000 {
            all += progress(seq, false, 60_000);
            seq = seq.wrapping_add(60_000);
        }
        assert_eq!(all, 6_000_000_000);
        assert_eq!(progress(seq.wrapping_sub(60_000), false, 60_000), 0);
    }

    #[test]
    fn other_and_damaged_packets_are_ignored() {
        let mut received = Received::default();
        received.progress(Time::ZERO, &packet(0, true, 0));
        for length in 0..40 {
            assert_eq!(
                received.progress(Time::ZERO, &packet(1, false, 5)[..length]),
                0,
                "{length}"
            );
        }
        let mut fragment = packet(1, false, 5);
        fragment[7] = 1;
        assert_eq!(received.progress(Time::ZERO, &fragment), 0);
        let mut udp = packet(1, false, 5);
        udp[9] = 17;
        assert_eq!(received.progress(Time::ZERO, &udp), 0);
        assert_eq!(received.progress(Time::ZERO, &packet(1, false, 5)), 5);
    }
}
