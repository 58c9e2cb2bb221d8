//! Forwarding as it is written.

use std::collections::BTreeMap;

use optcp_routing::DirectedLink;
use optcp_units::Time;

/// What nodes do with packets, by destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwardingPlan {
    /// The ways that entries name, each once: links in order.
    pub ways: Vec<Vec<DirectedLink>>,
    /// In order of time; those of an instant in the order of the file.
    pub entries: Vec<ForwardingStep>,
}

/// What a node does from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardingStep {
    /// When.
    pub at: Time,
    /// The node.
    pub node: usize,
    /// The destination.
    pub to: usize,
    /// Which of the ways packets take; `None` is no route.
    pub way: Option<usize>,
}

impl ForwardingPlan {
    /// The links of a way; none without a route.
    #[must_use]
    pub fn hops(&self, way: Option<usize>) -> &[DirectedLink] {
        way.map_or(&[], |way| &self.ways[way])
    }

    /// Every route from one node to another, and from when on it is there; an empty one is none. `far_end` is the node to which
    /// a link leads.
    #[must_use]
    pub fn routes(
        &self,
        far_end: impl Fn(DirectedLink) -> usize,
        from: usize,
        to: usize,
    ) -> Vec<(Time, Vec<DirectedLink>)> {
        let mut ways: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        let mut found: Vec<(Time, Vec<DirectedLink>)> = Vec::new();
        let towards: Vec<&ForwardingStep> =
            self.entries.iter().filter(|one| one.to == to).collect();
        for at_once in towards.chunk_by(|a, b| a.at == b.at) {
            ways.extend(at_once.iter().map(|step| (step.node, step.way)));
            let (mut node, mut route) = (from, Vec::new());
            // A route that is longer than this is a loop.
            for _ in 0..=ways.len() {
                let hops = self.hops(ways.get(&node).copied().flatten());
                let Some(&last) = hops.last() else { break };
                route.extend_from_slice(hops);
                node = far_end(last);
                if node == to {
                    break;
                }
            }
            if node != to {
                route.clear();
            }
            if found.last().map_or(!route.is_empty(), |(_, last)| *last != route) {
                found.push((at_once[0].at, route));
            }
        }
        found
    }

    /// The links that packets for a node may take.
    pub fn links_towards(&self, to: usize) -> impl Iterator<Item = DirectedLink> {
        let entries = self.entries.iter().filter(move |entry| entry.to == to);
        entries.flat_map(|entry| self.hops(entry.way)).copied()
    }
}
