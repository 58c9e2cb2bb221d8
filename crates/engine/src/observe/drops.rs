//! Drops, one row per packet.

use optcp_des::Key;
use optcp_net::DropReason;
use optcp_units::Time;

use super::at_ports::AtPorts;
use super::column::{Findings, Names, index, u8s};
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// List of drops at chosen ports, with their reasons.
#[derive(Clone, Debug)]
pub(super) struct Drops(AtPorts<DropReason>);

impl Observed for Drops {
    const KEYS: Keys = Keys { links: Some(Links::All), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Dropped];

    fn new(watched: &Watched<'_>) -> Self {
        Drops(AtPorts::new(watched))
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Dropped { port, packet, reason } = *record {
            self.0.add(event, port, packet, reason);
        }
    }

    fn finish(&mut self, _: Time) {
        self.0.finish();
    }

    fn findings(&self) -> Findings {
        let reasons = index("reason", u8s(self.0.rows(), |row| row.extra as u8), "reasons");
        Findings {
            names: vec![
                ("ports", Names::ChosenLinks),
                ("groups", Names::Groups),
                ("reasons", Names::these(&DropReason::ALL.map(DropReason::name))),
            ],
            columns: self.0.columns().into_iter().chain([reasons]).collect(),
        }
    }
}
