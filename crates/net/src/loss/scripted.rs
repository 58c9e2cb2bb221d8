//! Packets that are lost by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::{FlowId, Packet};

/// Drops chosen packets at the entry of a port, before its queue.
///
/// # Models
/// The n-th time that a segment comes by, or the n-th ACK that comes by.
/// # Source
/// The conformance cases' `drops` and `ack_drops`.
/// # Parameters
/// Lists of (flow, segment, n) with n from 1, and of ACK ordinals from 0.
/// # Limits
/// Counts what comes to this port only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptedLoss {
    data: BTreeSet<(FlowId, u32, u32)>,
    acks: BTreeSet<u64>,
    seen: BTreeMap<(FlowId, u32), u32>,
    acks_seen: u64,
}

impl ScriptedLoss {
    /// The packets to drop.
    #[must_use]
    pub fn new(data: BTreeSet<(FlowId, u32, u32)>, acks: BTreeSet<u64>) -> Self {
        ScriptedLoss { data, acks, seen: BTreeMap::new(), acks_seen: 0 }
    }

    /// Counts a packet that comes by, and says whether it is to be dropped.
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
