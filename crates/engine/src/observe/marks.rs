//! Marks, one by one.

use optcp_des::Key;
use optcp_net::Packet;
use optcp_units::Time;

use super::column::{Findings, Names, bools, column, index, times, u32s};
use super::listed::Listed;
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// One marked packet.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: Time,
    /// At which of the ports that are chosen.
    port: u32,
    packet: Packet,
}

/// The list of packets that queues marked at chosen ports.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// The row of each port.
    ports: Vec<Option<u32>>,
    /// By flow.
    groups: Vec<u32>,
    rows: Listed<Row>,
}

impl Observed for Marks {
    const KEYS: Keys = Keys { links: Some(Links::Queues), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Marked];

    fn new(watched: &Watched<'_>) -> Self {
        let (ports, groups) = (watched.rows_of_ports(), watched.groups_of_flows());
        Marks { ports, groups, rows: Listed::default() }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Marked { port, packet } = *record
            && let Some(port) = self.ports[port.index()]
        {
            self.rows.add(event, Row { at: event.time(), port, packet });
        }
    }

    fn finish(&mut self, _: Time) {
        self.rows.finish();
    }

    fn findings(&self) -> Findings {
        let rows = self.rows.rows();
        let group = |row: &Row| self.groups[row.packet.flow().index()];
        Findings {
            names: vec![("ports", Names::ChosenPorts), ("groups", Names::Groups)],
            columns: vec![
                times(rows, |row| row.at),
                index("port", u32s(rows, |row| row.port), "ports"),
                index("group", u32s(rows, group), "groups"),
                column("ack", bools(rows, |row| row.packet.is_ack())),
            ],
        }
    }
}
