//! Footprints: the ports and endpoints that one event may affect.
//!
//! # Model
//! An event of the fast engine is the arrival of a packet behind a port, or a timer of an endpoint.
//! It affects the port that the packet enters next, and the output port of an endpoint. While the
//! packet continues early, it also affects further ports and the endpoint. All links of a bundle
//! form one group, because their queues determine the choice, and so do the next hops of an ECMP
//! label.
//!
//! Invariant: an event affects vertices of one group only, and waits in the queue of that group.
//!
//! # Limitations
//! Selectors, bridges, bursts and schedules affect vertices anywhere; such runs have no windows.

use petgraph::unionfind::UnionFind;

use super::super::policy::NoWindowsReason;
use super::view::NetworkView;
use crate::fast::forwarding::Ahead;

/// Groups of vertices that one event may affect.
#[derive(Clone, Debug)]
pub(super) struct Footprints {
    pub(super) groups: UnionFind<usize>,
    /// Whether a packet or a timer can reach a vertex, by vertex.
    pub(super) live: Vec<bool>,
    /// Whether packets enter a port early behind another port, by port.
    pub(super) entered_early: Vec<bool>,
}

impl Footprints {
    /// Finds the footprints of all events.
    pub(super) fn find(view: &NetworkView<'_>) -> Result<Self, NoWindowsReason> {
        view.check()?;
        let vertices = view.vertex_count();
        let mut footprints = Footprints {
            groups: UnionFind::new(vertices),
            live: vec![false; vertices],
            entered_early: vec![false; view.ports.len()],
        };
        footprints.add_arrivals(view)?;
        footprints.add_ends(view);
        Ok(footprints)
    }

    /// Groups the ports that packets affect when they arrive.
    fn add_arrivals(&mut self, view: &NetworkView<'_>) -> Result<(), NoWindowsReason> {
        for label in view.reached_labels() {
            if view.is_special(label) {
                return Err(NoWindowsReason::Special);
            }
            if view.is_ecmp(label) {
                // Packets of all next hops must wait in one place.
                let next_hops = view.ecmp_labels(label).into_iter();
                let ports: Vec<Vec<usize>> =
                    next_hops.map(|next_hop| view.next_ports(next_hop).0).collect();
                if ports.iter().any(Vec::is_empty) {
                    return Err(NoWindowsReason::Special);
                }
                self.join(&ports.concat());
                continue;
            }
            let (ports, next) = view.next_ports(label);
            self.join(&ports);
            for &port in &ports {
                self.live[port] = true;
                self.entered_early[port] |= view.forwarding.is_eager(label);
            }
            if let Some(&first) = ports.first()
                && view.forwarding.at(label).ahead() == Ahead::Go
            {
                for label in view.ecmp_labels(next) {
                    view.next_ports(label).0.first().map(|&port| self.groups.union(first, port));
                }
            }
        }
        Ok(())
    }

    /// Groups each endpoint with its output port, and with the port whose packets it takes early.
    fn add_ends(&mut self, view: &NetworkView<'_>) {
        for (flow, receives) in view.ends() {
            let end = view.vertices.end(flow, receives);
            let first_label = view.first_label(flow, receives);
            self.live[end] = first_label.is_some() || view.is_reached(flow, receives);
            let labels = first_label.map_or_else(Vec::new, |label| view.ecmp_labels(label));
            for label in labels {
                match view.next_ports(label).0.first() {
                    Some(&port) => _ = self.groups.union(end, port),
                    // Both ends are at the same node.
                    None if view.delivers(label) => {
                        self.groups.union(end, view.vertices.end(flow, !receives));
                    }
                    None => {}
                }
            }
            if let Some(port) = view.early_feeder(flow, receives) {
                self.groups.union(end, port);
            }
        }
    }

    fn join(&mut self, vertices: &[usize]) {
        vertices.windows(2).for_each(|two| _ = self.groups.union(two[0], two[1]));
    }
}
