//! Events of packets at ports, one row per event.

use optcp_des::Key;
use optcp_net::{Packet, PortId};
use optcp_units::Time;

use super::column::{Column, bools, column, index, times, u32s};
use super::listed::Listed;
use super::observed::Watched;

/// Event of one packet at a port, with extra data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<E> {
    at: Time,
    /// Index of the port among the chosen ones.
    port: u32,
    packet: Packet,
    pub(super) extra: E,
}

/// List of such events at chosen ports.
#[derive(Clone, Debug)]
pub(super) struct AtPorts<E> {
    /// Row by port.
    ports: Vec<Option<u32>>,
    /// Group by flow.
    groups: Vec<u32>,
    rows: Listed<Row<E>>,
}

impl<E: Copy> AtPorts<E> {
    /// Creates an empty list.
    pub(super) fn new(watched: &Watched<'_>) -> Self {
        let (ports, groups) = (watched.rows_of_ports(), watched.groups_of_flows());
        AtPorts { ports, groups, rows: Listed::default() }
    }

    /// Adds an event of a packet.
    #[inline]
    pub(super) fn add(&mut self, event: Key, port: PortId, packet: Packet, extra: E) {
        if let Some(port) = self.ports[port.index()] {
            self.rows.add(event, Row { at: event.time(), port, packet, extra });
        }
    }

    /// Sorts the rows. No row may be added afterwards.
    pub(super) fn finish(&mut self) {
        self.rows.finish();
    }

    /// Returns the rows.
    pub(super) fn rows(&self) -> &[Row<E>] {
        self.rows.rows()
    }

    /// Returns the columns time, port, group and ACK; `ports` and `groups` are the lists of names.
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
