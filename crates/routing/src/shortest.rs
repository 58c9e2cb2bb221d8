//! Shortest paths between all nodes.
//!
//! # Model
//! The result of a link-state protocol: for each destination, the next hop on the path of minimum
//! cost. Ties are broken by the fewest hops, then the neighbour of the lowest index, then the link
//! of the lowest index. With equal-cost multipath, all such paths are used, with any number of
//! hops. The cost decreases at each hop, so that packets do not loop.
//!
//! # References
//! Dijkstra's algorithm of petgraph; RFC 2328 section 16.1 for costs.
//!
//! # Parameters
//! Costs of the links.
//!
//! # Limitations
//! All links are point-to-point.

use std::collections::BTreeSet;
use std::ops::Add;

use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::{Adjacency, DirectedLink, Topology};

/// Cost of a path: RFC 5286's `Distance_opt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u64);

impl Cost {
    /// Cost to an unreachable node. It is not less than anything, including itself plus a cost: the strict
    /// inequalities of fast reroute do not hold with it on the left.
    pub const UNREACHABLE: Cost = Cost(u64::MAX);

    /// Sum of the links' costs; `None` if there is no path.
    #[must_use]
    pub fn sum(self) -> Option<u64> {
        (self != Cost::UNREACHABLE).then_some(self.0)
    }
}

impl From<u32> for Cost {
    fn from(of_link: u32) -> Self {
        Cost(u64::from(of_link))
    }
}

impl Add for Cost {
    type Output = Self;
    fn add(self, more: Self) -> Self {
        Cost(self.0.saturating_add(more.0))
    }
}

/// Distance of a node: cost, then hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distance {
    /// Sum of the links' costs.
    pub cost: u64,
    /// Number of links.
    pub hops: u32,
}

impl Add for Distance {
    type Output = Self;
    fn add(self, more: Self) -> Self {
        Distance { cost: self.cost + more.cost, hops: self.hops + more.hops }
    }
}

/// Shortest-path tree: the path from every node to one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    distance: Vec<Option<Distance>>,
    next: Vec<Option<DirectedLink>>,
}

impl Tree {
    /// Computes the shortest paths to `to`.
    ///
    /// # Panics
    /// Beyond 2^32 nodes.
    #[must_use]
    pub fn new(topology: &Topology, to: usize) -> Self {
        Tree::over(topology, &reversed(topology), to)
    }

    fn over(topology: &Topology, reversed: &DiGraph<(), Distance>, to: usize) -> Self {
        let found = dijkstra(reversed, NodeIndex::new(to), None, |edge| *edge.weight());
        let nodes = 0..topology.nodes();
        let distance: Vec<Option<Distance>> =
            nodes.clone().map(|node| found.get(&NodeIndex::new(node)).copied()).collect();
        let next = |node: usize| {
            // Adjacencies are sorted by neighbour, then by link: the first match counts.
            topology.adjacencies(node).iter().find(|adjacency| {
                let over = distance[adjacency.to].map(|rest| rest + link(adjacency.cost));
                node != to && over.is_some() && over == distance[node]
            })
        };
        let next = nodes.map(|node| next(node).map(|adjacency| adjacency.hop)).collect();
        Tree { distance, next }
    }

    /// Returns the distance from a node; `None` if there is no path.
    #[must_use]
    pub fn distance(&self, from: usize) -> Option<Distance> {
        self.distance[from]
    }

    /// Returns the next hop of a node; `None` at the destination and if there is no path.
    #[must_use]
    pub fn next(&self, from: usize) -> Option<DirectedLink> {
        self.next[from]
    }

    /// Returns all next hops of a node on paths of minimum cost, sorted by neighbour, then by link.
    /// Empty at the destination and without a path.
    #[must_use]
    pub fn next_hops(&self, topology: &Topology, from: usize) -> Vec<DirectedLink> {
        // At the destination, the distance is shorter than over any neighbour.
        let cost = |node: usize| self.distance(node).map(|distance| distance.cost);
        let on_the_way = |over: &&Adjacency| {
            let over = cost(over.to).map(|rest| rest + u64::from(over.cost));
            over.is_some() && over == cost(from)
        };
        topology.adjacencies(from).iter().filter(on_the_way).map(|over| over.hop).collect()
    }

    /// Returns the hops from a node on; empty if there is no path.
    #[must_use]
    pub fn path(&self, topology: &Topology, from: usize) -> Vec<DirectedLink> {
        let mut hops = Vec::new();
        let mut node = from;
        while let Some(hop) = self.next(node) {
            let Some(adjacency) = topology.adjacency(hop) else { break };
            hops.push(hop);
            node = adjacency.to;
        }
        hops
    }

    /// Returns the hops of all paths of minimum cost from a node on, each once; empty if there is no path.
    #[must_use]
    pub fn all_paths(&self, topology: &Topology, from: usize) -> Vec<DirectedLink> {
        let (mut hops, mut passed, mut pending) = (Vec::new(), BTreeSet::new(), vec![from]);
        while let Some(node) = pending.pop() {
            if passed.insert(node) {
                let next_hops = self.next_hops(topology, node);
                let far_ends = next_hops.iter().filter_map(|&hop| topology.adjacency(hop));
                pending.extend(far_ends.map(|adjacency| adjacency.to));
                hops.extend(next_hops);
            }
        }
        hops
    }
}

/// Shortest paths between all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    to: Vec<Tree>,
}

impl Routes {
    /// Computes the shortest paths of a graph.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let reversed = reversed(topology);
        let tree = |to| Tree::over(topology, &reversed, to);
        Routes { to: (0..topology.nodes()).map(tree).collect() }
    }

    /// Returns the tree of paths to this node.
    #[must_use]
    pub fn to(&self, to: usize) -> &Tree {
        &self.to[to]
    }

    /// Returns the next hop of a node to a destination.
    #[must_use]
    pub fn next(&self, from: usize, to: usize) -> Option<DirectedLink> {
        self.to[to].next(from)
    }

    /// Returns whether each next hop of a set has another one that also avoids its node: inequality 3 of RFC
    /// 5286.
    #[must_use]
    pub fn avoid_each_other(&self, topology: &Topology, set: &[DirectedLink], to: usize) -> bool {
        let node = |&hop: &DirectedLink| topology.adjacency(hop).map(|adjacency| adjacency.to);
        let nodes: Vec<usize> = set.iter().filter_map(node).collect();
        let avoids = |n: usize, e: usize| self.cost(n, to) < self.cost(n, e) + self.cost(e, to);
        nodes.iter().all(|&e| nodes.iter().any(|&n| avoids(n, e)))
    }

    /// Returns whether every shortest path from a node to another avoids a link, in both directions; `false` if there is
    /// no path.
    fn avoid_link(&self, topology: &Topology, link: usize, from: usize, to: usize) -> bool {
        let direct = self.cost(from, to);
        [0, 1].into_iter().all(|direction| {
            topology.adjacency((link, direction)).is_none_or(|over| {
                let near =
                    topology.adjacency((link, 1 - direction)).map_or(over.to, |back| back.to);
                direct < self.cost(from, near) + Cost::from(over.cost) + self.cost(over.to, to)
            })
        })
    }

    /// Returns whether a path over these hops to `end`, and every shortest path from there to `to`, avoids links.
    #[must_use]
    pub fn avoid_links(
        &self,
        topology: &Topology,
        links: &[usize],
        hops: &[DirectedLink],
        end: usize,
        to: usize,
    ) -> bool {
        !hops.iter().any(|hop| links.contains(&hop.0))
            && links.iter().all(|&link| self.avoid_link(topology, link, end, to))
    }

    /// Returns the cost from a node to another; [`Cost::UNREACHABLE`] if there is no path.
    #[must_use]
    pub fn cost(&self, from: usize, to: usize) -> Cost {
        self.to[to].distance(from).map_or(Cost::UNREACHABLE, |distance| Cost(distance.cost))
    }
}

pub(crate) fn link(cost: u32) -> Distance {
    Distance { cost: u64::from(cost), hops: 1 }
}

/// Returns the graph with all directions reversed, for a search from a destination.
fn reversed(topology: &Topology) -> DiGraph<(), Distance> {
    let mut graph = DiGraph::with_capacity(topology.nodes(), 2 * topology.links().len());
    let nodes: Vec<NodeIndex> = (0..topology.nodes()).map(|_| graph.add_node(())).collect();
    for (node, &to) in nodes.iter().enumerate() {
        for adjacency in topology.adjacencies(node) {
            graph.add_edge(nodes[adjacency.to], to, link(adjacency.cost));
        }
    }
    graph
}
