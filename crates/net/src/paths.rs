//! Label-switched paths: from lists of ports to entries of the label table.

use std::collections::BTreeMap;

use crate::{
    Bridge, BundleHop, Hop, Label, LabelTable, Multipath, PortId, SelectorId, SelectorInput, Side,
};

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
    entries: BTreeMap<(PathId, PortId, Label), Label>,
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
        let end = self.deliver;
        route.iter().rev().fold(end, |next, &port| self.before(path, port, next))
    }

    /// The entry of `path` at the node from which `port` leads to the entry `next`.
    pub fn before(&mut self, path: PathId, port: PortId, next: Label) -> Label {
        let labels = &mut self.labels;
        let new = || labels.add(Hop::Forward { port, next });
        *self.entries.entry((path, port, next)).or_insert_with(new)
    }

    /// Lays a backup over the ports `detour` that ends under the label `onto`; returns its first hop,
    /// for the entry that is to be switched.
    ///
    /// # Panics
    /// If the detour is empty.
    pub fn detour(&mut self, detour: &[PortId], onto: Label) -> Hop {
        let (&port, beyond) = detour.split_first().expect("a backup has a link at least");
        let next = self.lay(beyond, onto);
        Hop::Forward { port, next }
    }

    /// What an entry does that sends packets into a bundle.
    pub fn entrance(&mut self, entrance: BundleHop) -> Hop {
        self.labels.add_entrance(entrance)
    }

    /// What an entry does that spreads flows over next hops of equal cost.
    pub fn multipath(&mut self, multipath: Multipath) -> Hop {
        self.labels.add_multipath(multipath)
    }

    /// What the entry behind a queue does that is served over one of several ways at a time: each a list of ports that ends
    /// under the label `onto`.
    ///
    /// # Panics
    /// If a way is empty.
    pub fn ways(&mut self, ways: &[Vec<PortId>], onto: Label) -> Hop {
        let lay = |way: &Vec<PortId>| {
            let (&port, beyond) = way.split_first().expect("a way has a link at least");
            let ports = beyond.iter().rev();
            let next = ports.fold(onto, |next, &port| self.labels.add(Hop::Forward { port, next }));
            (port, next)
        };
        let ways = ways.iter().map(lay).collect();
        self.labels.add_ways(ways)
    }

    /// Says what routers hash of each flow, then of each source.
    pub fn set_keys(&mut self, keys: Vec<u64>) {
        self.labels.set_keys(keys);
    }

    /// Lays a way over the ports `route` that ends under the label `onto`; returns the label under which
    /// it begins.
    pub fn lay(&mut self, route: &[PortId], onto: Label) -> Label {
        let ports = route.iter().rev();
        ports.fold(onto, |next, &port| self.labels.add(Hop::Forward { port, next }))
    }

    /// Lays an entry.
    pub fn add(&mut self, hop: Hop) -> Label {
        self.labels.add(hop)
    }

    /// Lays an entry that other entries can lead to before what it does is known.
    pub fn open(&mut self) -> Label {
        self.labels.add(Hop::Deliver)
    }

    /// Says what an entry does.
    pub fn set(&mut self, label: Label, hop: Hop) {
        self.labels.set(label, hop);
    }

    /// Lays a tunnel over the ports `route` that ends under the label `onto`; returns its first hop.
    /// Routers inside touch the time to live of the packet (RFC 3443's uniform model) or do not (its
    /// pipe model); the first router and the one at the end always do.
    ///
    /// # Panics
    /// If the route is empty.
    pub fn tunnel(&mut self, route: &[PortId], onto: Label, pipe: bool) -> Hop {
        if !pipe {
            return self.detour(route, onto);
        }
        let (&port, beyond) = route.split_first().expect("a tunnel has a link at least");
        let inside = beyond.iter().rev();
        let next = inside.fold(onto, |next, &port| self.labels.add(Hop::Tunnel { port, next }));
        Hop::Forward { port, next }
    }

    /// Makes the node of the entry `onto` take packets of one side only: those that come from the entry
    /// `before`, or those that come through the port `backup`. Returns the selector, and the label for
    /// packets from the backup.
    ///
    /// # Panics
    /// If `before` is no hop through a port.
    pub fn select(&mut self, before: Label, onto: Label, backup: PortId) -> (SelectorId, Label) {
        let selector = self.labels.add_selector();
        let Hop::Forward { port, next } = self.labels.hop(before) else {
            unreachable!("entries that are not switched yet forward");
        };
        let working =
            self.labels.add_gate(SelectorInput { selector, side: Side::Working, port, next });
        self.labels.set(before, Hop::Forward { port, next: working });
        let gate = SelectorInput { selector, side: Side::Backup, port: backup, next: onto };
        (selector, self.labels.add_gate(gate))
    }

    /// Makes an entry send both ways, each a hop through a port.
    ///
    /// # Panics
    /// If one of them is no hop through a port.
    pub fn bridge(&mut self, label: Label, ways: [Hop; 2]) {
        let bridge: Bridge = ways.map(|way| {
            let Hop::Forward { port, next } = way else { unreachable!("ways lead through ports") };
            (port, next)
        });
        let hop = self.labels.add_bridge(bridge);
        self.labels.set(label, hop);
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
    fn routers_inside_a_tunnel_take_part_in_the_uniform_model_only() {
        for pipe in [false, true] {
            let mut paths = Paths::default();
            let end = paths.open();
            let first = paths.tunnel(&[1, 2, 3].map(PortId::new), end, pipe);
            paths.set(end, Hop::Forward { port: PortId::new(4), next: end });
            let Hop::Forward { port, next: inside } = first else { panic!("{first:?}") };
            assert_eq!(port, PortId::new(1));
            let (at_second, next) = match paths.hop(inside) {
                Hop::Tunnel { port, next } if pipe => (port, next),
                Hop::Forward { port, next } if !pipe => (port, next),
                other => panic!("{other:?}"),
            };
            assert_eq!(at_second, PortId::new(2));
            let port = PortId::new(3);
            let last = Hop::Forward { port, next: end };
            assert_eq!(paths.hop(next), if pipe { Hop::Tunnel { port, next: end } } else { last });
        }
    }

    #[test]
    fn routes_that_merge_are_switched_together_and_rejoin_behind_the_backup() {
        let mut paths = Paths::default();
        let first = paths.entry(0, &[10, 1, 2, 3].map(PortId::new));
        let second = paths.entry(0, &[11, 1, 2, 3].map(PortId::new));
        let other_path = paths.entry(1, &[11, 1, 2, 3].map(PortId::new));
        let switched = paths.entry(0, &[2, 3].map(PortId::new));
        let onto = paths.entry(0, &[PortId::new(3)]);
        let backup = paths.detour(&[7, 8].map(PortId::new), onto);
        let mut table = paths.into_labels();
        assert_eq!(ports_of(&table, first), [10, 1, 2, 3].map(PortId::new));

        table.set(switched, backup);
        assert_eq!(ports_of(&table, first), [10, 1, 7, 8, 3].map(PortId::new));
        assert_eq!(ports_of(&table, second), [11, 1, 7, 8, 3].map(PortId::new));
        assert_eq!(ports_of(&table, other_path), [11, 1, 2, 3].map(PortId::new));
    }
}
