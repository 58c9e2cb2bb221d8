//! CE marks, one row per packet.

use optcp_des::Key;
use optcp_units::Time;

use super::at_ports::AtPorts;
use super::column::{Findings, Names};
use super::observed::{Keys, Links, Observed, Watched};
use super::record::{Record, RecordKind};

/// List of packets that queues marked at chosen ports.
#[derive(Clone, Debug)]
pub(super) struct Marks(AtPorts<()>);

impl Observed for Marks {
    const KEYS: Keys = Keys { links: Some(Links::Queues), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Marked];

    fn new(watched: &Watched<'_>) -> Self {
        Marks(AtPorts::new(watched))
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Marked { port, packet } = *record {
            self.0.add(event, port, packet, ());
        }
    }

    fn finish(&mut self, _: Time) {
        self.0.finish();
    }

    fn findings(&self) -> Findings {
        Findings {
            names: vec![("ports", Names::ChosenLinks), ("groups", Names::Groups)],
            columns: self.0.columns(),
        }
    }
}
