//! Static forwarding in the plan.

use std::collections::BTreeMap;

use optcp_routing::DirectedLink;
use optcp_units::Time;

/// Static forwarding entries by destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwardingPlan {
    /// Distinct paths of the entries, each a sequence of links.
    pub ways: Vec<Vec<DirectedLink>>,
    /// Entries in order of time; at equal times in the order of the file.
    pub entries: Vec<ForwardingStep>,
}

/// Forwarding entry of a node that takes effect at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardingStep {
    /// Time.
    pub at: Time,
    /// Node.
    pub node: usize,
    /// Destination.
    pub to: usize,
    /// Index of the path; `None` for no route.
    pub way: Option<usize>,
}

impl ForwardingPlan {
    /// Returns the links of a path; empty for no route.
    #[must_use]
    pub fn hops(&self, way: Option<usize>) -> &[DirectedLink] {
        way.map_or(&[], |way| &self.ways[way])
    }

    /// Returns every route from one node to another with the time at which it takes effect; empty for no
    /// route. `far_end` returns the node at the end of a link.
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
            // A longer route is a loop.
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

    /// Returns the links that packets for a node may take.
    pub fn links_towards(&self, to: usize) -> impl Iterator<Item = DirectedLink> {
        let entries = self.entries.iter().filter(move |entry| entry.to == to);
        entries.flat_map(|entry| self.hops(entry.way)).copied()
    }
}
