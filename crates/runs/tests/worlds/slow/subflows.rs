//! Connections over several subflows: data numbers of segments, and reassembly.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use optcp_scenario::plan::ConnectionPlan;

use super::Evidence;
use crate::check::{Failure, failure};

impl Evidence<'_> {
    /// Returns the connection with the number of a flow, if it is one.
    fn connection(&self, flow: usize) -> Option<&ConnectionPlan> {
        self.plan.connections.iter().find(|connection| connection.name == self.flows[flow])
    }

    /// Returns the flows that carry the data of a flow: its subflows, or the flow itself.
    pub(super) fn carriers(&self, flow: usize) -> Range<usize> {
        self.connection(flow).map_or(flow..flow + 1, |connection| connection.subflows.clone())
    }

    /// Returns the flow whose first segment shows the start of a flow: the first subflow, or the flow itself.
    pub(super) fn starter(&self, flow: usize) -> usize {
        self.carriers(self.connection_of(flow).unwrap_or(flow)).start
    }

    /// Returns the connection of a subflow, by its flow number.
    pub(super) fn connection_of(&self, flow: usize) -> Option<usize> {
        let has = |connection: &&ConnectionPlan| connection.subflows.contains(&flow);
        let name = &self.plan.connections.iter().find(has)?.name;
        self.flows.iter().position(|known| known == name)
    }

    /// Checks data numbers. Segments of subflows have one, and others none. A retransmission repeats it. New data are
    /// numbered without gaps. No subflow sends data in two segments.
    pub(super) fn data_of_subflows(&self) -> Result<(), Failure> {
        let mut known: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        let mut sent: BTreeSet<(usize, u64)> = BTreeSet::new();
        let mut last: BTreeMap<usize, u64> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| matches!(row.event, "sent" | "resent")) {
            let connection = self.connection_of(row.flow);
            let syn = self.segments(row.flow).is_some_and(|(_, syn)| row.seq < syn);
            if (connection.is_none() || syn) != (row.data == 0) {
                return failure("data number", format!("{row:?}"));
            }
            let Some(connection) = connection.filter(|_| !syn) else { continue };
            if *known.entry((row.flow, row.seq)).or_insert(row.data) != row.data {
                return failure("data number of a retransmission", format!("{row:?}"));
            }
            let last = last.entry(connection).or_default();
            let again = row.event == "sent" && !sent.insert((row.flow, row.data));
            if row.data > *last + 1 || again {
                return failure("order of data numbers", format!("{row:?} after {last}"));
            }
            *last = row.data.max(*last);
        }
        Ok(())
    }

    /// Adds the data that become in order at connections to the progress of subflows: time, flow, first new segment, and
    /// number of new segments.
    pub(super) fn delivered(&self, progress: &[(u64, usize, u64, u64)]) -> Vec<(u64, usize, u64)> {
        let sent = self.rows.iter().filter(|row| row.event == "sent" && row.data > 0);
        let data: BTreeMap<(usize, u64), u64> =
            sent.map(|row| ((row.flow, row.seq), row.data)).collect();
        let mut come: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        let mut found = Vec::new();
        for &(at, flow, first, count) in progress {
            let Some((mss, _)) = self.segments(flow) else { continue };
            found.push((at, flow, count * mss));
            let Some(connection) = self.connection_of(flow) else { continue };
            let come = come.entry(connection).or_insert_with(|| BTreeSet::from([0]));
            let reached =
                |come: &BTreeSet<u64>| (0..).find(|next| !come.contains(next)).unwrap_or(0);
            let before = reached(come);
            come.extend((first..first + count).map(|seq| data[&(flow, seq)]));
            let new = reached(come) - before;
            if new > 0 {
                found.push((at, connection, new * mss));
            }
        }
        found
    }
}
