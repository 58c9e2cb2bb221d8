//! How long packets waited in queues.
//!
//! # Models
//! The time from a packet's arrival in a queue until its first bit is sent: what CoDel holds near its target.
//! # Source
//! RFC 8289 section 3.1.
//! # Limits
//! Packets that are lost in the queue, and those that wait when the run ends, are not in it.

use optcp_des::Key;
use optcp_units::Time;

use super::column::Findings;
use super::intervals::Intervals;
use super::observed::{Keys, Links, Observed, Watched};
use super::quantiles::Quantiles;
use super::record::{Record, RecordKind};

/// Of the packets whose last bit was sent in an interval: how long they had waited. A port sends in the order of time.
#[derive(Clone, Debug)]
pub(super) struct Sojourn(Quantiles);

impl Observed for Sojourn {
    const KEYS: Keys = Keys { links: Some(Links::Queues), interval: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Transmitted];

    fn new(watched: &Watched<'_>) -> Self {
        Sojourn(Quantiles::in_order(Intervals::of_ports(watched)))
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Transmitted { port, waited, .. } = *record {
            self.0.add(port, event.time(), waited.as_ps());
        }
    }

    fn finish(&mut self, _: Time) {
        self.0.finish();
    }

    fn findings(&self) -> Findings {
        self.0.findings()
    }
}
