//! Shortest paths after the removal of a link or node.
//!
//! # Model
//! The paths equal [`Tree::new`] for the reduced graph. Only nodes whose path used a removed
//! element get new paths: the nodes behind it in the tree. The search is limited to them and starts
//! from their other neighbours.
//!
//! # References
//! G. Ramalingam, T. Reps, "An Incremental Algorithm for a Generalization of the Shortest-Path Problem",
//! 1996.
//!
//! # Limitations
//! Links with both directions, or one node with all its links.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::shortest::link;
use crate::{Adjacency, Distance, Topology, Tree};

/// Removed elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed<'a> {
    /// Node other than the destination.
    Node(usize),
    /// Links.
    Links(&'a [usize]),
}

impl Tree {
    /// Returns the adjacencies from `from` on after the removal; empty if there is no path.
    #[must_use]
    pub fn detour(&self, topology: &Topology, gone: Removed<'_>, from: usize) -> Vec<Adjacency> {
        let behind = |node| self.next(node).map(|(link, _)| link);
        let usable = |adjacency: &Adjacency, node: usize| match gone {
            Removed::Node(gone) => adjacency.to != gone && node != gone,
            Removed::Links(links) => !links.contains(&adjacency.hop.0),
        };
        let roots = match gone {
            Removed::Node(root) => vec![root],
            Removed::Links(links) => {
                let ends = links.iter().filter_map(|&link| Some(topology.links()[link]?.ends));
                let uses = |&node: &usize| behind(node).is_some_and(|link| links.contains(&link));
                ends.flatten().filter(uses).collect()
            }
        };
        let found = self.found_anew(topology, roots, usable);
        let distance = |node| found.get(&node).copied().unwrap_or_else(|| self.distance(node));
        let mut way = Vec::new();
        let mut node = from;
        while let Some(&new) = found.get(&node) {
            let fits = |adjacency: &&Adjacency| {
                let over = distance(adjacency.to).map(|rest| rest + link(adjacency.cost));
                usable(adjacency, node) && over.is_some() && over == new
            };
            // As in a tree, adjacencies are sorted by neighbour, then by link.
            let Some(next) = topology.adjacencies(node).iter().find(fits) else {
                return Vec::new();
            };
            way.push(*next);
            node = next.to;
        }
        let rest = self.path(topology, node);
        way.extend(rest.into_iter().filter_map(|hop| topology.adjacency(hop)));
        way
    }

    /// Returns the distances of the nodes whose path leads through one of `roots`, over the given adjacencies only.
    fn found_anew(
        &self,
        topology: &Topology,
        roots: Vec<usize>,
        usable: impl Fn(&Adjacency, usize) -> bool,
    ) -> BTreeMap<usize, Option<Distance>> {
        let mut found: BTreeMap<_, _> = roots.iter().map(|&root| (root, None)).collect();
        let mut behind = roots;
        while let Some(node) = behind.pop() {
            for &Adjacency { to, hop: (link, way), .. } in topology.adjacencies(node) {
                if self.next(to) == Some((link, 1 - way)) {
                    found.insert(to, None);
                    behind.push(to);
                }
            }
        }
        let mut near: BinaryHeap<Reverse<(Distance, usize)>> = BinaryHeap::new();
        for &node in found.keys() {
            let out = topology.adjacencies(node).iter();
            let out = out
                .filter(|adjacency| usable(adjacency, node) && !found.contains_key(&adjacency.to));
            let over =
                |adjacency: &Adjacency| Some(self.distance(adjacency.to)? + link(adjacency.cost));
            near.extend(out.filter_map(over).min().map(|distance| Reverse((distance, node))));
        }
        while let Some(Reverse((distance, node))) = near.pop() {
            let Some(known @ None) = found.get_mut(&node) else { continue };
            *known = Some(distance);
            for adjacency in topology.adjacencies(node) {
                let (hop, to) = ((adjacency.hop.0, 1 - adjacency.hop.1), adjacency.to);
                if usable(adjacency, node)
                    && found.get(&to) == Some(&None)
                    && let Some(here) = topology.adjacency(hop)
                {
                    near.push(Reverse((distance + link(here.cost), to)));
                }
            }
        }
        found
    }
}
