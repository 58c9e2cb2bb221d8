//! Digest of all records of a run.

use optcp_net::{DropReason, Packet};
use optcp_units::Time;
use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::record::Record;

/// Running hash (chained XXH3) over the records of each port and each end of a flow, in order.
///
/// Only records whose order within an entity is equal in all engines are included. These are
/// arrivals at a port, and packets that an endpoint sends, receives and delivers. Losses at the far
/// end of a link have no common order beyond their time, so their hashes are summed.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    ports: Vec<u64>,
    far_ends: Vec<u64>,
    senders: Vec<u64>,
    receivers: Vec<u64>,
}

impl Digest {
    /// Creates empty streams for `ports` ports and `flows` flows, including sources of datagrams.
    pub(super) fn new(ports: usize, flows: usize) -> Self {
        Digest {
            ports: vec![0; ports],
            far_ends: vec![0; ports],
            senders: vec![0; flows],
            receivers: vec![0; flows],
        }
    }

    pub(super) fn record(&mut self, at: Time, record: Record) {
        let packet_words = |packet: Packet| [packet.fingerprint(), u64::from(packet.seq)];
        let (stream, kind, [a, b]) = match record {
            Record::Sent { flow, seq, again, marking, .. } => {
                let again = u64::from(again) | u64::from(marking.bits()) << 1;
                (&mut self.senders[flow.index()], 1, [u64::from(seq), again])
            }
            Record::Progress { flow, bytes } => (&mut self.receivers[flow.index()], 2, [bytes, 0]),
            Record::Acknowledged { flow, seq, marking, .. } => {
                let marking = u64::from(marking.bits());
                (&mut self.senders[flow.index()], 3, [u64::from(seq), marking])
            }
            Record::Accepted { port, packet } => {
                (&mut self.ports[port.index()], 4, packet_words(packet))
            }
            Record::Dropped { port, packet, reason } => {
                let kind = 5 + ((reason as u64) << 8);
                if matches!(
                    reason,
                    DropReason::NotSelected | DropReason::TtlExpired | DropReason::NoRoute
                ) {
                    let far_end = &mut self.far_ends[port.index()];
                    *far_end = far_end.wrapping_add(hash(0, at, kind, packet_words(packet)));
                    return;
                }
                (&mut self.ports[port.index()], kind, packet_words(packet))
            }
            Record::Marked { port, packet } => {
                (&mut self.ports[port.index()], 10, packet_words(packet))
            }
            Record::Trimmed { port, packet } => {
                (&mut self.ports[port.index()], 12, packet_words(packet))
            }
            Record::ArrivedTrimmed { flow, seq, .. } => {
                (&mut self.receivers[flow.index()], 13, [u64::from(seq), 0])
            }
            Record::Aborted { flow } => (&mut self.senders[flow.index()], 11, [0, 0]),
            Record::DatagramSent { flow, seq, size, .. } => {
                (&mut self.senders[flow.index()], 6, [u64::from(seq), u64::from(size)])
            }
            Record::DatagramArrived { flow, seq, delay, .. } => {
                (&mut self.receivers[flow.index()], 7, [u64::from(seq), delay.as_ps()])
            }
            Record::BurstSent { port, class, packets, bytes, lost, .. } => {
                let kind = 8 + (u64::from(lost) << 8) + (u64::from(class) << 16);
                (&mut self.ports[port.index()], kind, [u64::from(packets), bytes])
            }
            Record::FibreAsked { port, number, fibre, wavelength } => {
                let wavelength = wavelength.map_or(0, |wavelength| u64::from(wavelength) + 1);
                let asked = [u64::from(number), u64::from(fibre) << 32 | wavelength];
                (&mut self.ports[port.index()], 9, asked)
            }
            // Other records already imply these, directly or by the sender's next segment.
            Record::Transmitted { .. }
            | Record::QueueLength { .. }
            | Record::Arrived { .. }
            | Record::OperationOpened { .. }
            | Record::OperationClosed { .. }
            | Record::BurstLost { .. }
            | Record::Lost { .. }
            | Record::Updated { .. } => return,
        };
        *stream = hash(*stream, at, kind, [a, b]);
    }

    /// Returns the SHA-256 of the streams' hashes: ports and their far ends by number, then senders and receivers by
    /// flow.
    pub(super) fn sha256(&self) -> String {
        let mut sha = Sha256::new();
        for (kind, streams) in [
            (b'p', &self.ports),
            (b'e', &self.far_ends),
            (b's', &self.senders),
            (b'r', &self.receivers),
        ] {
            sha.update([kind]);
            streams.iter().for_each(|hash| sha.update(hash.to_le_bytes()));
        }
        hex(&sha.finalize())
    }
}

fn hash(before: u64, at: Time, kind: u64, [a, b]: [u64; 2]) -> u64 {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip([at.as_ps(), kind, a, b]) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    xxh3_64_with_seed(&bytes, before)
}

/// Formats bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
