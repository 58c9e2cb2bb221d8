//! Drops, one by one.

use optcp_des::Key;
use optcp_net::{DropReason, Packet, PortId};
use optcp_units::Time;

use super::listed::Listed;

/// One lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropRow {
    /// When.
    pub at: Time,
    /// At or behind which port.
    pub port: PortId,
    /// What.
    pub packet: Packet,
    /// Why.
    pub reason: DropReason,
}

/// The list of drops at chosen ports.
#[derive(Clone, Debug)]
pub struct Drops {
    /// Whether a port is watched.
    watched: Vec<bool>,
    rows: Listed<DropRow>,
}

impl Drops {
    /// Watches the ports that are marked.
    #[must_use]
    pub fn new(watched: Vec<bool>) -> Self {
        Drops { watched, rows: Listed::default() }
    }

    pub(super) fn add(&mut self, event: Key, port: PortId, packet: Packet, reason: DropReason) {
        if self.watched.get(port as usize) == Some(&true) {
            self.rows.add(event, DropRow { at: event.time(), port, packet, reason });
        }
    }

    /// The run has ended.
    pub(super) fn finish(&mut self) {
        self.rows.finish();
    }

    /// Drops in order of time, once the run has ended.
    #[must_use]
    pub fn rows(&self) -> &[DropRow] {
        self.rows.rows()
    }
}
