//! Queueing delay of packets.
//!
//! # Model
//! Time from a packet's arrival in a queue until the start of its transmission, which CoDel keeps near its target.
//!
//! # References
//! RFC 8289 section 3.1.
//!
//! # Limitations
//! Packets that are dropped in the queue, or still queued at the end of the run, do not count.

use optcp_des::Key;
use optcp_units::Time;

use super::column::Findings;
use super::intervals::Intervals;
use super::observed::{Keys, Links, Observed, Watched};
use super::quantiles::Quantiles;
use super::record::{Record, RecordKind};

/// Queueing delay of the packets whose transmission ended in an interval. A port transmits in order of time.
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
