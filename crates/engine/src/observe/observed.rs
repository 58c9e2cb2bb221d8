//! What a kind of observation is.

use optcp_des::Key;
use optcp_units::Time;

use super::column::Findings;
use super::keys::Keys;
use super::observer::Counters;
use super::record::{Record, RecordKind};
use super::watched::Watched;

/// A kind of observation: what it can be told, what it takes of a run, and what it makes of that.
///
/// It takes records, or it reads counts of ports and fibres at instants that it knows from the start. A run
/// in which nobody takes records builds none.
pub(super) trait Observed: Sized {
    /// The keys in scenario files.
    const KEYS: Keys;

    /// The kinds of records that it is given. [`Record::Transmitted`] and [`Record::QueueLength`] are made
    /// for the ports that it is told.
    const TAKES: &'static [RecordKind] = &[];

    /// Whether it reads the tallies of its ports, which these then keep.
    const TALLIES: bool = false;

    /// Nothing has happened yet.
    fn new(watched: &Watched<'_>) -> Self;

    /// Takes a record, of any port or flow.
    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let _ = (event, record);
    }

    /// The next instant at which counts are to be read.
    fn next_reading(&self) -> Option<Time> {
        None
    }

    /// Reads counts, at that instant.
    fn read(&mut self, counters: &dyn Counters) {
        let _ = counters;
    }

    /// The run has ended at `at`.
    fn finish(&mut self, at: Time) {
        let _ = at;
    }

    /// What has been found.
    fn findings(&self) -> Findings;
}
