//! Label-switched paths: from lists of ports to entries of the label table.

use std::collections::BTreeMap;

use crate::{Hop, Label, LabelTable, PortId};

/// Names one set of flows that are forwarded, and switched, together in one direction.
pub type PathId = u32;

/// Lays paths into a label table.
///
/// Routes of one path that end alike share the entries of what they have in common, so that a node
/// where they have merged switches all of them by one entry. Different paths share nothing.
#[derive(Clone, Debug)]
pub struct Paths {
    labels: LabelTable,
    deliver: Label,
    entries: BTreeMap<(PathId, Vec<PortId>), Label>,
}

impl Default for Paths {
    fn default() -> Self {
        let mut labels = LabelTable::default();
        let deliver = labels.add(Hop::Deliver);
        Paths { labels, deliver, entries: BTreeMap::new() }
    }
}

impl Paths {
    /// The entry of `path` at the node from which `route` (ports in order) leads on.
    pub fn entry(&mut self, path: PathId, route: &[PortId]) -> Label {
        let Some((&port, rest)) = route.split_first() else { return self.deliver };
        if let Some(&label) = self.entries.get(&(path, route.to_vec())) {
            return label;
        }
        let next = self.entry(path, rest);
        let label = self.labels.add(Hop::Forward { port, next });
        self.entries.insert((path, route.to_vec()), label);
        label
    }

    /// Lays a backup over the ports `detour` that joins `path` again where `rest` leads on; returns
    /// its first hop, for the entry that is to be switched.
    ///
    /// # Panics
    /// If the detour is empty.
    pub fn detour(&mut self, path: PathId, detour: &[PortId], rest: &[PortId]) -> Hop {
        let (&first, beyond) = detour.split_first().expect("a backup has a link at least");
        let merge = self.entry(path, rest);
        let next = beyond
            .iter()
            .rev()
            .fold(merge, |next, &port| self.labels.add(Hop::Forward { port, next }));
        Hop::Forward { port: first, next }
    }

    /// What the entry does now.
    #[must_use]
    pub fn hop(&self, label: Label) -> Hop {
        self.labels.hop(label)
    }

    /// The finished table.
    #[must_use]
    pub fn into_labels(self) -> LabelTable {
        self.labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports_of(table: &LabelTable, mut label: Label) -> Vec<PortId> {
        let mut ports = Vec::new();
        while let Hop::Forward { port, next } = table.hop(label) {
            ports.push(port);
            label = next;
        }
        ports
    }

    #[test]
    fn routes_that_merge_are_switched_together_and_rejoin_behind_the_backup() {
        let mut paths = Paths::default();
        let first = paths.entry(0, &[10, 1, 2, 3]);
        let second = paths.entry(0, &[11, 1, 2, 3]);
        let other_path = paths.entry(1, &[11, 1, 2, 3]);
        let switched = paths.entry(0, &[2, 3]);
        let backup = paths.detour(0, &[7, 8], &[3]);
        let mut table = paths.into_labels();
        assert_eq!(ports_of(&table, first), [10, 1, 2, 3]);

        table.set(switched, backup);
        assert_eq!(ports_of(&table, first), [10, 1, 7, 8, 3]);
        assert_eq!(ports_of(&table, second), [11, 1, 7, 8, 3]);
        assert_eq!(ports_of(&table, other_path), [11, 1, 2, 3]);
    }
}
