//! How many segments bursts carry.

use optcp_net::{Packet, PortId};

/// How many bursts of chosen assemblers carried so many data segments of chosen flows.
#[derive(Clone, Debug)]
pub struct BurstSizes {
    /// By port; `None` where nobody looks.
    counted: Vec<Option<Counted>>,
    /// By flow: whether its segments count.
    flows: Vec<bool>,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    gathered: usize,
    /// By number of segments.
    bursts: Vec<u64>,
}

impl BurstSizes {
    /// Watches the assemblers in the place of `ports`, and counts segments of `flows`.
    #[must_use]
    pub fn new(ports: &[bool], flows: Vec<bool>) -> Self {
        let counted = ports.iter().map(|watched| watched.then(Counted::default)).collect();
        BurstSizes { counted, flows }
    }

    pub(super) fn gathered(&mut self, port: PortId, packet: Packet) {
        if let Some(counted) = &mut self.counted[port as usize]
            && self.flows[packet.flow() as usize]
            && !packet.is_ack()
        {
            counted.gathered += 1;
        }
    }

    pub(super) fn sent(&mut self, port: PortId) {
        let Some(counted) = &mut self.counted[port as usize] else { return };
        let segments = std::mem::take(&mut counted.gathered);
        if counted.bursts.len() <= segments {
            counted.bursts.resize(segments + 1, 0);
        }
        counted.bursts[segments] += 1;
    }

    /// Numbers of bursts by number of segments, from none on; empty where nothing left, or nobody looks.
    #[must_use]
    pub fn bursts(&self, port: PortId) -> &[u64] {
        self.counted[port as usize].as_ref().map_or(&[], |counted| &counted.bursts)
    }
}
