//! Label-switched paths: conversion of port lists to label table entries.

use std::collections::BTreeMap;

use crate::{
    Bridge, BundleHop, Hop, Label, LabelTable, Multipath, PortId, SelectorId, SelectorInput, Side,
};

/// Identifier of a set of flows that are forwarded and switched together in one direction.
pub type PathId = u32;

/// Builder of a label table from paths.
///
/// Routes of one path that end equally share the entries of their common part. A node behind their merge point can
/// therefore switch all of them with one entry. Different paths share no entries.
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
    /// Returns the entry of `path` at the first node of `route` (ports in order).
    pub fn entry(&mut self, path: PathId, route: &[PortId]) -> Label {
        let end = self.deliver;
        route.iter().rev().fold(end, |next, &port| self.before(path, port, next))
    }

    /// Returns the entry of `path` at the node whose `port` leads to the entry `next`.
    pub fn before(&mut self, path: PathId, port: PortId, next: Label) -> Label {
        let labels = &mut self.labels;
        let new = || labels.add(Hop::Forward { port, next });
        *self.entries.entry((path, port, next)).or_insert_with(new)
    }

    /// Adds a backup over the ports `detour` that ends under the label `onto`. Returns its first hop for the entry to
    /// be switched.
    ///
    /// # Panics
    /// Panics if the detour is empty.
    pub fn detour(&mut self, detour: &[PortId], onto: Label) -> Hop {
        let (&port, beyond) = detour.split_first().expect("a backup has at least one link");
        let next = self.lay(beyond, onto);
        Hop::Forward { port, next }
    }

    /// Adds a bundle hop and returns the forwarding action for it.
    pub fn entrance(&mut self, entrance: BundleHop) -> Hop {
        self.labels.add_bundle_hop(entrance)
    }

    /// Adds a set of equal-cost next hops and returns the forwarding action for it.
    pub fn multipath(&mut self, multipath: Multipath) -> Hop {
        self.labels.add_multipath(multipath)
    }

    /// Adds the paths of a queue, each a list of ports that ends under the label `onto`. Returns the forwarding action
    /// of the entry behind the queue.
    ///
    /// # Panics
    /// Panics if a path is empty.
    pub fn ways(&mut self, ways: &[Vec<PortId>], onto: Label) -> Hop {
        let lay = |way: &Vec<PortId>| {
            let (&port, beyond) = way.split_first().expect("a path has at least one link");
            let ports = beyond.iter().rev();
            let next = ports.fold(onto, |next, &port| self.labels.add(Hop::Forward { port, next }));
            (port, next)
        };
        let ways = ways.iter().map(lay).collect();
        self.labels.add_ways(ways)
    }

    /// Sets the hash keys of all flows, then of all sources.
    pub fn set_keys(&mut self, keys: Vec<u64>) {
        self.labels.set_keys(keys);
    }

    /// Adds a path over the ports `route` that ends under the label `onto`. Returns its first label.
    pub fn lay(&mut self, route: &[PortId], onto: Label) -> Label {
        let ports = route.iter().rev();
        ports.fold(onto, |next, &port| self.labels.add(Hop::Forward { port, next }))
    }

    /// Adds an entry.
    pub fn add(&mut self, hop: Hop) -> Label {
        self.labels.add(hop)
    }

    /// Adds an entry to which others can refer before its action is known.
    pub fn open(&mut self) -> Label {
        self.labels.add(Hop::Deliver)
    }

    /// Sets the action of an entry.
    pub fn set(&mut self, label: Label, hop: Hop) {
        self.labels.set(label, hop);
    }

    /// Adds a tunnel over the ports `route` that ends under the label `onto`. Returns its first hop.
    ///
    /// Routers inside decrement the time to live of the packet (RFC 3443, uniform model) or not (`pipe` model). The
    /// routers at both ends always do.
    ///
    /// # Panics
    /// Panics if the route is empty.
    pub fn tunnel(&mut self, route: &[PortId], onto: Label, pipe: bool) -> Hop {
        if !pipe {
            return self.detour(route, onto);
        }
        let (&port, beyond) = route.split_first().expect("a tunnel has at least one link");
        let inside = beyond.iter().rev();
        let next = inside.fold(onto, |next, &port| self.labels.add(Hop::Tunnel { port, next }));
        Hop::Forward { port, next }
    }

    /// Adds a selector to the node of the entry `onto`. Its inputs are the entry `before` and the port `backup`.
    /// Returns the selector, and the label for packets from the backup.
    ///
    /// # Panics
    /// Panics if `before` does not forward through a port.
    pub fn select(&mut self, before: Label, onto: Label, backup: PortId) -> (SelectorId, Label) {
        let selector = self.labels.add_selector();
        let Hop::Forward { port, next } = self.labels.hop(before) else {
            unreachable!("entries forward until they are switched");
        };
        let working = self.labels.add_selector_input(SelectorInput {
            selector,
            side: Side::Working,
            port,
            next,
        });
        self.labels.set(before, Hop::Forward { port, next: working });
        let gate = SelectorInput { selector, side: Side::Backup, port: backup, next: onto };
        (selector, self.labels.add_selector_input(gate))
    }

    /// Makes an entry send copies over two hops through ports. Returns the number of the bridge.
    ///
    /// # Panics
    /// Panics if one of them does not forward through a port.
    pub fn bridge(&mut self, label: Label, ways: [Hop; 2]) -> u32 {
        let bridge: Bridge = ways.map(|way| {
            let Hop::Forward { port, next } = way else {
                unreachable!("both hops of a bridge lead through ports")
            };
            (port, next)
        });
        let hop = self.labels.add_bridge(bridge);
        self.labels.set(label, hop);
        let Hop::Bridge(number) = hop else { unreachable!("the hop is a bridge") };
        number
    }

    /// Lets a selector pass packets of both paths.
    pub fn merge(&mut self, selector: SelectorId) {
        self.labels.merge(selector);
    }

    /// Returns the current action of an entry.
    #[must_use]
    pub fn hop(&self, label: Label) -> Hop {
        self.labels.hop(label)
    }

    /// Returns the finished table.
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
    fn inner_entries_are_tunnel_hops_in_pipe_model_only() {
        for pipe in [false, true] {
            let mut paths = Paths::default();
            let end = paths.open();
            let first = paths.tunnel(&[1, 2, 3].map(PortId::new), end, pipe);
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
    fn merged_routes_share_one_switched_entry() {
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
