//! Scripted packet loss.

use std::collections::{BTreeMap, BTreeSet};

use crate::{FlowId, Packet};

/// Scripted loss of chosen packets at the entry of a port, before its queue.
///
/// # Model
/// The n-th transmission of a segment, or the n-th ACK, at this port. Lists contain (flow, segment, n) with n from 1,
/// and ACK ordinals from 0.
///
/// # References
/// The conformance cases' `drops` and `ack_drops`.
///
/// # Limitations
/// Only packets at this port are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptedLoss {
    data: BTreeSet<(FlowId, u32, u32)>,
    acks: BTreeSet<u64>,
    seen: BTreeMap<(FlowId, u32), u32>,
    acks_seen: u64,
}

impl ScriptedLoss {
    /// Creates a process that drops these packets.
    #[must_use]
    pub fn new(data: BTreeSet<(FlowId, u32, u32)>, acks: BTreeSet<u64>) -> Self {
        ScriptedLoss { data, acks, seen: BTreeMap::new(), acks_seen: 0 }
    }

    /// Counts a packet. Returns whether it is dropped.
    pub fn drops(&mut self, packet: Packet) -> bool {
        if packet.is_ack() {
            self.acks_seen += 1;
            return self.acks.contains(&(self.acks_seen - 1));
        }
        let nth = self.seen.entry((packet.flow(), packet.seq)).or_insert(0);
        *nth += 1;
        self.data.contains(&(packet.flow(), packet.seq, *nth))
    }
}
