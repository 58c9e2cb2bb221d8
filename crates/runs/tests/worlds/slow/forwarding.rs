//! Packets go where written tables send them, and are lost where these have no route.

use std::collections::{BTreeMap, BTreeSet};

use super::Evidence;
use crate::check::{Failure, failure};

impl Evidence<'_> {
    /// Checks that each packet enters the first port of the path in force at its node, or a later
    /// port of an earlier path. Packets are lost for lack of a route only without an entry, or
    /// while the entry requires it.
    pub(super) fn tables_are_followed(&self, seen: &mut BTreeSet<String>) -> Result<(), Failure> {
        let Some(written) = &self.plan.forwarding else { return Ok(()) };
        let mut in_force: BTreeMap<(usize, usize), Option<usize>> = BTreeMap::new();
        let mut later: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut entries = written.entries.iter().peekable();
        for row in &self.rows {
            // The table at one time applies to all arrivals at that time.
            while let Some(step) = entries.next_if(|step| step.at.as_ps() <= row.at) {
                in_force.insert((step.node, step.to), step.way);
                let beyond = written.hops(step.way).iter().skip(1);
                later.extend(beyond.map(|&(link, way)| (step.to, 2 * link + way)));
            }
            let Some(port) = row.port else { continue };
            let Some(route) = self.routes(row.flow).find(|route| route.routed) else { continue };
            let to = if row.ack { route.path[0] } else { route.path[route.path.len() - 1] };
            let node = self.node(port, false);
            let way = in_force.get(&(node, to)).copied().flatten();
            let first = written.hops(way).first().map(|&(link, way)| 2 * link + way);
            let known = self.routes(row.flow).count() == 1;
            match (row.event, row.reason) {
                ("queued", _) if known && first != Some(port) && !later.contains(&(to, port)) => {
                    return failure("not where the table sends it", format!("{row:?}"));
                }
                (_, Some("no-route")) if first.is_some() => {
                    return failure("lost although there is a route", format!("{row:?}"));
                }
                (_, Some("no-route")) => _ = seen.insert("no-route".to_owned()),
                _ => {}
            }
        }
        seen.insert("written tables".to_owned());
        Ok(())
    }
}
