//! A fingerprint of everything that happened.

use optcp_units::Time;
use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Record;

/// One running hash (chained XXH3) for each port and each flow, over its records in their order.
///
/// Only what every kernel does in the same order within an entity goes in: what comes to a port,
/// and what an endpoint sends, gets and passes on.
#[derive(Clone, Debug)]
pub struct Digest {
    ports: Vec<u64>,
    flows: Vec<u64>,
}

impl Digest {
    /// Empty streams for so many ports and flows.
    #[must_use]
    pub fn new(ports: usize, flows: usize) -> Self {
        Digest { ports: vec![0; ports], flows: vec![0; flows] }
    }

    pub(super) fn record(&mut self, at: Time, record: Record) {
        let (stream, kind, a, b) = match record {
            Record::Sent { flow, seq, again } => {
                (&mut self.flows[flow as usize], 1, u64::from(seq), u64::from(again))
            }
            Record::Progress { flow, bytes } => (&mut self.flows[flow as usize], 2, bytes, 0),
            Record::Acknowledged { flow, seq } => {
                (&mut self.flows[flow as usize], 3, u64::from(seq), 0)
            }
            Record::Accepted { port, packet, .. } => (
                &mut self.ports[port as usize],
                4,
                u64::from(packet.flow_and_kind()),
                u64::from(packet.seq),
            ),
            Record::Dropped { port, packet, reason } => (
                &mut self.ports[port as usize],
                5 + ((reason as u64) << 8),
                u64::from(packet.flow_and_kind()),
                u64::from(packet.seq),
            ),
            // Implied by what goes in above, or by what the sender sends next.
            Record::Transmitted { .. }
            | Record::Failed { .. }
            | Record::Arrived { .. }
            | Record::Updated { .. } => return,
        };
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip([at.as_ps(), kind, a, b]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        *stream = xxh3_64_with_seed(&bytes, *stream);
    }

    /// SHA-256 over the streams' hashes: ports by number, then flows by number.
    #[must_use]
    pub fn sha256(&self) -> String {
        let mut sha = Sha256::new();
        for (kind, streams) in [(b'p', &self.ports), (b'f', &self.flows)] {
            sha.update([kind]);
            streams.iter().for_each(|hash| sha.update(hash.to_le_bytes()));
        }
        hex(&sha.finalize())
    }
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
