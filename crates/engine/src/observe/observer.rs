//! Interface between a run and its observations.

use optcp_des::Key;
use optcp_net::{PortId, Tally};
use optcp_optical::switching::{FibreId, FibreTally};
use optcp_units::Time;

use super::record::Record;

/// Counters of ports and fibres until now, which are always maintained.
pub trait Counters {
    /// Returns the packets and queueing times of ports in the blueprint's `tallied` list.
    fn port_tallies(&self, ports: &[PortId]) -> Vec<Tally>;

    /// Returns the tally of a fibre of the burst-switched core.
    fn fibre_tally(&self, fibre: FibreId) -> FibreTally;
}

/// Observer of a run, statically dispatched. `()` observes nothing, and no records are constructed.
///
/// Engines agree on the records, on the event of each, and on their order within one port and within one end of a flow.
/// The order between entities can differ; lists must be sorted by event with a stable sort.
pub trait Observer: Send {
    /// Whether the observer takes any records.
    const TAKES_RECORDS: bool = true;

    /// Takes a record of `event`.
    fn record(&mut self, event: Key, record: Record);

    /// Returns whether the observer needs [`Record::Updated`], which is costly.
    fn wants_updates(&self) -> bool {
        false
    }

    /// Returns whether the observer needs [`Record::Transmitted`] and [`Record::QueueLength`] of a port, which are
    /// costly.
    fn watches(&self, port: PortId) -> bool {
        let _ = port;
        false
    }

    /// Returns the next time at which it reads counters, after all earlier events.
    fn next_reading(&self) -> Option<Time> {
        None
    }

    /// Reads the counters that are due.
    fn read(&mut self, now: Time, counters: &dyn Counters) {
        let _ = (now, counters);
    }

    /// Returns an observer that collects the records of a part of the run for [`Observer::absorb`].
    #[must_use]
    fn helper(&self) -> Self;

    /// Takes all records that a worker has collected, in order, and leaves it empty. A worker can absorb another
    /// worker.
    fn absorb(&mut self, helper: &mut Self);

    /// Ends the observation at the end of the run.
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
