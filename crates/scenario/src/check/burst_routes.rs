//! Routes of bursts beyond the working one, as their protection needs.

use std::collections::BTreeMap;

use optcp_optical::burst::BurstProtection;
use optcp_routing::{Link, Topology, Tree};

use crate::plan::{DirectedLink, LinkPlan};
use crate::problem::Problems;
use crate::tree::Step;

use super::network::Network;
use super::routing::delay_cost;

/// Fibres as a graph, with the shortest paths found so far.
#[derive(Default)]
pub(super) struct Detours {
    /// By removed fibre and destination.
    trees: BTreeMap<(usize, usize), Tree>,
}

impl Network {
    /// Returns the fibres as a graph of delays; `None` if a delay is distributed, which is reported.
    pub(super) fn fibre_topology(
        &self,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
        usable: impl Fn(&LinkPlan) -> bool,
    ) -> Option<Topology> {
        let mut graph = Vec::with_capacity(self.links.len());
        for link in &self.links {
            if link.wavelengths.is_none() || !usable(link) {
                graph.push(None);
                continue;
            }
            let costs = [0, 1].map(|way| {
                let back = way == 1 && !link.shared_delay;
                delay_cost(&link.directions[usize::from(back)].delay)
            });
            let [Some(there), Some(back)] = costs else {
                problems
                    .at(place, format!("distributed delay of fibre `{}`", link.name))
                    .label("the shortest route needs one fixed `delay`");
                return None;
            };
            graph.push(Some(Link { ends: link.ends, costs: [there, back] }));
        }
        Some(Topology::new(self.nodes.len(), graph))
    }

    /// Returns the other routes of a burst link in both directions, in the order of [`optcp_optical::burst::BurstRoutes`].
    /// They use only fibres with the rate of the link in both directions.
    pub(super) fn other_routes(
        &self,
        link: usize,
        protection: BurstProtection,
        detours: &mut Detours,
        place: &[Step<'_>],
        problems: &mut Problems<'_>,
    ) -> Option<[Vec<Vec<DirectedLink>>; 2]> {
        if protection == BurstProtection::None {
            return Some([Vec::new(), Vec::new()]);
        }
        let LinkPlan { over, ends: [from, to], directions, .. } = &self.links[link];
        let rates = directions.each_ref().map(|port| port.rate);
        let same = |fibre: &LinkPlan| {
            fibre.directions.iter().all(|port| rates.iter().all(|&rate| rate == port.rate))
        };
        let topology = self.fibre_topology(place, problems, same)?;
        let back: Vec<DirectedLink> =
            over.iter().rev().map(|&(fibre, way)| (fibre, 1 - way)).collect();
        if protection == BurstProtection::Deflection {
            let all = |route: &[DirectedLink], to: usize| -> Vec<Vec<DirectedLink>> {
                let around = |place: usize| {
                    let (fibre, way) = route[place];
                    let at = self.links[fibre].ends[way];
                    let found = detours
                        .trees
                        .entry((fibre, to))
                        .or_insert_with(|| Tree::new(&topology.without([fibre]), to))
                        .path(&topology, at);
                    match found.is_empty() {
                        true => Vec::new(),
                        false => route[..place].iter().copied().chain(found).collect(),
                    }
                };
                (0..route.len()).map(around).collect()
            };
            let mut all = all;
            return Some([all(over, *to), all(&back, *from)]);
        }
        let used = || over.iter().map(|&(fibre, _)| fibre);
        let inner: Vec<usize> =
            over[1..].iter().map(|&(fibre, way)| self.links[fibre].ends[way]).collect();
        let beside = (0..self.links.len())
            .filter(|&fibre| self.links[fibre].ends.iter().any(|end| inner.contains(end)));
        let apart = topology.without(used().chain(beside));
        let mut backup = Tree::new(&apart, *to).path(&apart, *from);
        if backup.is_empty() {
            let apart = topology.without(used());
            backup = Tree::new(&apart, *to).path(&apart, *from);
        }
        if backup.is_empty() {
            let [from, to] = [*from, *to].map(|node| self.name(node));
            problems
                .at(place, format!("no second route over fibres from `{from}` to `{to}`"))
                .label(format!(
                    "`{}` needs one without the fibres of the first, and with their rate",
                    protection.name()
                ));
            return None;
        }
        let reverse = backup.iter().rev().map(|&(fibre, way)| (fibre, 1 - way)).collect();
        Some([vec![backup], vec![reverse]])
    }
}
