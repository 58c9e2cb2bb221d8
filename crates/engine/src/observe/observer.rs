//! Who watches a run.

use optcp_des::Key;
use optcp_net::{PortId, Tally};
use optcp_optical::switching::{FibreId, FibreTally};
use optcp_units::Time;

use super::record::Record;

/// What ports and fibres count in any case, up to now.
pub trait Counters {
    /// What has gone into some of the blueprint's `tallied` ports, and how long it stood there.
    fn port_tallies(&self, ports: &[PortId]) -> Vec<Tally>;

    /// What has happened on a fibre of the core of burst switches.
    fn fibre_tally(&self, fibre: FibreId) -> FibreTally;
}

/// What watches a run. Dispatch is static: with `()` no record is even built.
///
/// Engines agree on the records and on the event to which each belongs, and on their order within
/// one port, and within one end of a flow. Records of different ones may come in another order: who
/// lists them sorts them by event, stably.
pub trait Observer: Send {
    /// Whether it takes any record at all.
    const TAKES_RECORDS: bool = true;

    /// Takes a record that belongs to `event`.
    fn record(&mut self, event: Key, record: Record);

    /// Whether it wants [`Record::Updated`], which takes work to make.
    fn wants_updates(&self) -> bool {
        false
    }

    /// Whether it wants [`Record::Transmitted`] and [`Record::QueueLength`] of a port, which take work
    /// to make.
    fn watches(&self, port: PortId) -> bool {
        let _ = port;
        false
    }

    /// The next instant at which it reads counts, once everything before it has happened.
    fn next_reading(&self) -> Option<Time> {
        None
    }

    /// Reads what is to be read by now.
    fn read(&mut self, now: Time, counters: &dyn Counters) {
        let _ = (now, counters);
    }

    /// One that notes what happens in a part of the run, for [`Observer::absorb`].
    #[must_use]
    fn helper(&self) -> Self;

    /// Takes all that a helper has noted, in its order; it has nothing then. A helper takes what another one has noted.
    fn absorb(&mut self, helper: &mut Self);

    /// The run ends at `at`.
    fn finish(&mut self, at: Time) {
        let _ = at;
    }
}

impl Observer for () {
    const TAKES_RECORDS: bool = false;

    #[inline(always)]
    fn record(&mut self, _: Key, _: Record) {}

    fn helper(&self) {}

    fn absorb(&mut self, (): &mut ()) {}
}
