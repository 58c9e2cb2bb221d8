//! Packets that queues mark, and endpoints that react.

use std::collections::BTreeSet;

use optcp_runs::Series;

use super::Evidence;
use crate::check::{Failure, count, failure};

impl Evidence<'_> {
    /// Checks that only ECN-capable packets are marked, and that packets arriving with a mark have
    /// been marked.
    pub(super) fn marked(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        let mut marked = BTreeSet::new();
        for row in &self.rows {
            let ce = row.marking.split(' ').next() == Some("ce");
            let packet = (row.flow, row.ack, row.seq);
            match row.event {
                "marked" if !ce => return failure("a mark that is none", format!("{row:?}")),
                "marked" => _ = marked.insert(packet),
                "sent" | "resent" if ce => {
                    return failure("a mark from the start", format!("{row:?}"));
                }
                _ if ce && !marked.contains(&packet) => {
                    return failure("a mark of nobody", format!("{row:?}"));
                }
                _ => {}
            }
        }
        if !marked.is_empty() {
            seen.insert("marks".to_owned());
        }
        let rows = self.rows.iter().filter(|row| row.event == "marked").count() as u64;
        let counted = self.run.counts.iter().any(|(name, _)| *name == "marked");
        if (rows > 0) != counted || (counted && count(self.run, "marked") != rows) {
            return failure("marks counted", format!("{rows} rows, {:?}", self.run.counts));
        }
        Ok(())
    }

    pub(super) fn marks(&self, series: &Series) -> Result<(), Failure> {
        self.at_ports(series, "marked").map(|_| ())
    }
}
