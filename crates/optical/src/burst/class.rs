//! Classes of bursts.
//!
//! # Model
//! An assembler has one burst for all its packets, or one per traffic class of flows. Each class then has its own
//! assembly, and an extra offset in addition to the offset of the path. Bursts reserve wavelengths at the arrival
//! of their control packet, so a class with a larger offset reserves ahead of the others. If the difference exceeds the
//! length of their bursts, they do not block it. [`crate::switching`] describes preemption by class.
//!
//! # References
//! M. Yoo, C. Qiao, S. Dixit, "QoS performance of optical burst switching in IP-over-WDM networks", IEEE JSAC 18(10), 2000
//! (extra offset per class); Y. Xiong, M. Vandenhoute, H. C. Cankaya, "Control architecture in optical burst-switched WDM
//! networks", IEEE JSAC 18(10), 2000 (assembly per egress and class).
//!
//! # Limitations
//! - If timers of several classes expire at the same time, the burst of the highest class leaves first.
//! - On a path without burst switches, bursts are sent in the order in which they leave the assembler.

use std::sync::Arc;

use optcp_net::{FlowId, Packet};
use optcp_units::{Duration, Rate, Time};

use super::adaptive::History;
use super::{Assembly, Gathered};

/// Treatment of the bursts of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstClass {
    /// Assembly method.
    pub assembly: Assembly,
    /// Offset in addition to the offset of the path.
    pub extra_offset: Duration,
}

/// Class by flow of the bursts of an assembler; empty if all packets have class 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowClasses(pub Arc<[u8]>);

impl FlowClasses {
    /// Returns the class of the burst that the packets of a flow join.
    #[must_use]
    pub fn of(&self, flow: FlowId) -> u8 {
        self.0.get(flow.index()).copied().unwrap_or(0)
    }
}

/// Burst being assembled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assembling {
    pub(super) class: BurstClass,
    pub(super) held: Vec<Packet>,
    bytes: u64,
    /// Latest departure time.
    pub(super) due: Option<Time>,
    /// Bursts that have left.
    history: History,
}

impl Assembling {
    pub(super) fn new(class: BurstClass, rate: Rate) -> Self {
        Assembling { class, held: Vec::new(), bytes: 0, due: None, history: History::new(rate) }
    }

    /// Adds a packet of class `number`.
    pub(super) fn gather(&mut self, now: Time, packet: Packet, number: u8) -> Gathered {
        let opens = self.held.is_empty();
        self.held.push(packet);
        self.bytes += u64::from(packet.size());
        if self.class.assembly.is_full(self.bytes) {
            return Gathered::Full(number);
        }
        if opens {
            self.due = self.class.assembly.deadline(now, self.history);
        }
        self.due.filter(|_| opens).map_or(Gathered::Waits, Gathered::Until)
    }

    /// Ends the burst. Returns its packets and its size in bytes.
    pub(super) fn end(&mut self) -> (Vec<Packet>, u64) {
        self.due = None;
        let bytes = std::mem::take(&mut self.bytes);
        self.history.add(bytes);
        (std::mem::take(&mut self.held), bytes)
    }
}
