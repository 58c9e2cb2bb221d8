//! Drops, one by one.

use optcp_des::Key;
use optcp_net::{DropReason, Packet};
use optcp_units::Time;

use super::column::{Findings, Names, bools, column, index, times, u8s, u32s};
use super::listed::Listed;
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// One lost packet.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: Time,
    /// At or behind which of the ports that are chosen.
    port: u32,
    packet: Packet,
    reason: DropReason,
}

/// The list of drops at chosen ports.
#[derive(Clone, Debug)]
pub(super) struct Drops {
    /// The row of each port.
    ports: Vec<Option<u32>>,
    /// By flow.
    groups: Vec<u32>,
    rows: Listed<Row>,
}

impl Observed for Drops {
    const KEYS: Keys = Keys { links: Some(Links::All), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Dropped];

    fn new(watched: &Watched<'_>) -> Self {
        let (ports, groups) = (watched.rows_of_ports(), watched.groups_of_flows());
        Drops { ports, groups, rows: Listed::default() }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Dropped { port, packet, reason } = *record
            && let Some(port) = self.ports[port.index()]
        {
            self.rows.add(event, Row { at: event.time(), port, packet, reason });
        }
    }

    fn finish(&mut self, _: Time) {
        self.rows.finish();
    }

    fn findings(&self) -> Findings {
        let rows = self.rows.rows();
        let group = |row: &Row| self.groups[row.packet.flow().index()];
        Findings {
            names: vec![
                ("ports", Names::ChosenPorts),
                ("groups", Names::Groups),
                ("reasons", Names::these(&DropReason::ALL.map(DropReason::name))),
            ],
            columns: vec![
                times(rows, |row| row.at),
                index("port", u32s(rows, |row| row.port), "ports"),
                index("group", u32s(rows, group), "groups"),
                column("ack", bools(rows, |row| row.packet.is_ack())),
                index("reason", u8s(rows, |row| row.reason as u8), "reasons"),
            ],
        }
    }
}
