//! What happened to packets at ports, one by one.

use optcp_des::Key;
use optcp_net::{Packet, PortId};
use optcp_units::Time;

use super::column::{Column, bools, column, index, times, u32s};
use super::listed::Listed;
use super::observed::Watched;

/// One packet to which it happened, and what else there is to say of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<E> {
    at: Time,
    /// At or behind which of the ports that are chosen.
    port: u32,
    packet: Packet,
    pub(super) extra: E,
}

/// The list of such packets at chosen ports.
#[derive(Clone, Debug)]
pub(super) struct AtPorts<E> {
    /// The row of each port.
    ports: Vec<Option<u32>>,
    /// By flow.
    groups: Vec<u32>,
    rows: Listed<Row<E>>,
}

impl<E: Copy> AtPorts<E> {
    /// Nothing has happened yet.
    pub(super) fn new(watched: &Watched<'_>) -> Self {
        let (ports, groups) = (watched.rows_of_ports(), watched.groups_of_flows());
        AtPorts { ports, groups, rows: Listed::default() }
    }

    /// It happened to a packet.
    #[inline]
    pub(super) fn add(&mut self, event: Key, port: PortId, packet: Packet, extra: E) {
        if let Some(port) = self.ports[port.index()] {
            self.rows.add(event, Row { at: event.time(), port, packet, extra });
        }
    }

    /// Puts the rows in order. None may be added after.
    pub(super) fn finish(&mut self) {
        self.rows.finish();
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[Row<E>] {
        self.rows.rows()
    }

    /// When and where, of which group, and whether it was an ACK; `ports` and `groups` are the lists of names.
    pub(super) fn columns(&self) -> Vec<Column> {
        let rows = self.rows();
        let group = |row: &Row<E>| self.groups[row.packet.flow().index()];
        vec![
            times(rows, |row| row.at),
            index("port", u32s(rows, |row| row.port), "ports"),
            index("group", u32s(rows, group), "groups"),
            column("ack", bools(rows, |row| row.packet.is_ack())),
        ]
    }
}
