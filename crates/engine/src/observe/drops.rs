//! Drops, one by one.

use optcp_net::{DropReason, Packet, PortId};
use optcp_units::Time;

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
    rows: Vec<DropRow>,
}

impl Drops {
    /// Watches the ports that are marked.
    #[must_use]
    pub fn new(watched: Vec<bool>) -> Self {
        Drops { watched, rows: Vec::new() }
    }

    pub(super) fn add(&mut self, at: Time, port: PortId, packet: Packet, reason: DropReason) {
        if self.watched.get(port as usize) == Some(&true) {
            self.rows.push(DropRow { at, port, packet, reason });
        }
    }

    /// Drops in order of time.
    #[must_use]
    pub fn rows(&self) -> &[DropRow] {
        &self.rows
    }
}
