//! Pairs of link- or node-disjoint paths with minimum total length.
//!
//! # Model
//! The pair with the minimum sum of costs, then of hops. It is found whenever two disjoint paths exist, also
//! if the shortest path blocks all others (a trap).
//!
//! # References
//! J. W. Suurballe, "Disjoint Paths in a Network", Networks 4, 1974, as a minimum-cost flow of two units (R.
//! Bhandari, "Survivable Networks", 1999). If every path needs some bridges, the pair is found between them.
//! Bridges are found by the depth-first search of R. E. Tarjan, "A Note on Finding the Bridges of a Graph",
//! 1974.
//!
//! # Parameters
//! [`Disjointness`]: whether the paths may share nodes.
//!
//! # Limitations
//! Takes one Bellman-Ford pass per path. Shared risks of links are ignored; with them the problem is
//! NP-complete.

use crate::k_shortest::length;
use crate::{DirectedLink, Topology};

/// Elements that two paths must not share, apart from their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disjointness {
    /// Links.
    Links,
    /// Nodes, and therefore links.
    Nodes,
}

/// Arc of the flow network with capacity one.
#[derive(Clone, Copy)]
struct Arc {
    from: usize,
    to: usize,
    /// Cost, then hops.
    cost: [i64; 2],
    hop: Option<DirectedLink>,
    used: bool,
}

/// Returns the pair, shorter path first; `None` if no pair exists.
#[must_use]
pub fn disjoint_pair(
    topology: &Topology,
    from: usize,
    to: usize,
    apart: Disjointness,
) -> Option<[Vec<DirectedLink>; 2]> {
    if from == to {
        return None;
    }
    let mut arcs = arcs(topology, [from, to], apart);
    // Node n is entered at 2 n and left at 2 n + 1.
    let (source, sink) = (2 * from + 1, 2 * to);
    for _ in 0..2 {
        for arc in cheapest(&arcs, 2 * topology.nodes(), source, sink)? {
            arcs[arc].used = !arcs[arc].used;
        }
    }
    // A link used in both directions belongs to neither path.
    let used = |hop: DirectedLink| arcs.iter().any(|arc| arc.used && arc.hop == Some(hop));
    let mut left: Vec<DirectedLink> = arcs
        .iter()
        .filter(|arc| arc.used)
        .filter_map(|arc| arc.hop)
        .filter(|&(link, way)| !used((link, 1 - way)))
        .collect();
    let mut path = || {
        let (mut node, mut path) = (from, Vec::new());
        while node != to {
            let leaves = |hop: &DirectedLink| {
                topology.links()[hop.0].is_some_and(|link| link.ends[hop.1] == node)
            };
            let hop = left.remove(left.iter().position(leaves)?);
            node = topology.adjacency(hop)?.to;
            path.push(hop);
        }
        Some(path)
    };
    let mut pair = [path()?, path()?];
    pair.sort_by_key(|path| length(topology, path));
    Some(pair)
}

/// Returns the bridges by number: links whose removal disconnects two nodes, such as links of
/// hosts.
#[must_use]
pub fn bridges(topology: &Topology) -> Vec<bool> {
    let mut found = vec![false; topology.links().len()];
    // Visiting order of each node, and the earliest node reachable from it and its descendants.
    let mut order: Vec<Option<usize>> = vec![None; topology.nodes()];
    let mut earliest = vec![usize::MAX; topology.nodes()];
    let mut count = 0;
    for root in 0..topology.nodes() {
        if order[root].is_some() {
            continue;
        }
        // Open nodes, each with the link by which it was reached and the number of processed links.
        let mut open: Vec<(usize, Option<usize>, usize)> = vec![(root, None, 0)];
        while let Some(&mut (node, by, ref mut done)) = open.last_mut() {
            let here = *order[node].get_or_insert_with(|| {
                count += 1;
                count
            });
            if *done == 0 {
                earliest[node] = here;
            }
            if let Some(next) = topology.adjacencies(node).get(*done) {
                *done += 1;
                if by == Some(next.hop.0) {
                    continue;
                }
                match order[next.to] {
                    Some(known) => earliest[node] = earliest[node].min(known),
                    None => open.push((next.to, Some(next.hop.0), 0)),
                }
                continue;
            }
            open.pop();
            if let (Some(&(before, ..)), Some(by)) = (open.last(), by) {
                found[by] = earliest[node] > order[before].unwrap_or(0);
                earliest[before] = earliest[before].min(earliest[node]);
            }
        }
    }
    found
}

/// Network with known bridges, for finding pairs of paths between them.
#[derive(Clone, Debug)]
pub struct Bridged {
    bridges: Vec<bool>,
    /// Network without the bridges, which contains all disjoint pairs.
    between: Topology,
}

impl Bridged {
    /// Finds the bridges.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let bridges = bridges(topology);
        let between = topology.without((0..bridges.len()).filter(|&link| bridges[link]));
        Bridged { bridges, between }
    }

    /// Returns a pair of paths that share no links except the bridges that every path needs. The bridges are
    /// in the shorter path only, which comes first. Both paths are empty if there is no path.
    ///
    /// `shortest` is the shortest path between the two nodes.
    ///
    /// # Panics
    /// If `shortest` belongs to another topology.
    #[must_use]
    pub fn pair(
        &self,
        topology: &Topology,
        from: usize,
        shortest: Vec<DirectedLink>,
    ) -> [Vec<DirectedLink>; 2] {
        let (mut begin, mut end) = (from, from);
        let mut pair = [Vec::new(), Vec::new()];
        for hop in shortest {
            let beyond = topology.adjacency(hop).expect("a hop of a path is there").to;
            if self.bridges[hop.0] {
                self.extend(&mut pair, begin, end);
                pair[0].push(hop);
                begin = beyond;
            }
            end = beyond;
        }
        self.extend(&mut pair, begin, end);
        pair
    }

    /// Appends two disjoint paths between nodes that no bridge separates.
    fn extend(&self, pair: &mut [Vec<DirectedLink>; 2], from: usize, to: usize) {
        let between = disjoint_pair(&self.between, from, to, Disjointness::Links);
        debug_assert!(from == to || between.is_some(), "no bridge is between them");
        for (path, part) in pair.iter_mut().zip(between.into_iter().flatten()) {
            path.extend(part);
        }
    }
}

fn arcs(topology: &Topology, ends: [usize; 2], apart: Disjointness) -> Vec<Arc> {
    let mut arcs = Vec::new();
    for node in (0..topology.nodes()).filter(|&node| !topology.adjacencies(node).is_empty()) {
        let inside = Arc { from: 2 * node, to: 2 * node + 1, cost: [0; 2], hop: None, used: false };
        // Two paths through a node need two units.
        let units = if apart == Disjointness::Links && !ends.contains(&node) { 2 } else { 1 };
        arcs.extend(std::iter::repeat_n(inside, units));
        arcs.extend(topology.adjacencies(node).iter().map(|adjacency| Arc {
            from: 2 * node + 1,
            to: 2 * adjacency.to,
            cost: [i64::from(adjacency.cost), 1],
            hop: Some(adjacency.hop),
            used: false,
        }));
    }
    arcs
}

/// Returns the arcs of the cheapest augmenting path between two places, over free arcs or backwards over used
/// arcs, which refunds their cost.
fn cheapest(arcs: &[Arc], places: usize, source: usize, sink: usize) -> Option<Vec<usize>> {
    let mut reached: Vec<Option<([i64; 2], usize)>> = vec![None; places];
    reached[source] = Some(([0; 2], usize::MAX));
    let mut changed = true;
    // A path of minimum cost has no loop, so that this ends after at most as many rounds as there are places.
    while changed {
        changed = false;
        for (index, arc) in arcs.iter().enumerate() {
            let (tail, head, sign) = match arc.used {
                false => (arc.from, arc.to, 1),
                true => (arc.to, arc.from, -1),
            };
            let Some((cost, _)) = reached[tail] else { continue };
            let cost = [0, 1].map(|i| cost[i] + sign * arc.cost[i]);
            if head != source && reached[head].is_none_or(|(known, _)| cost < known) {
                reached[head] = Some((cost, index));
                changed = true;
            }
        }
    }
    let mut way = Vec::new();
    let mut place = sink;
    while place != source {
        let (_, arc) = reached[place]?;
        way.push(arc);
        place = if arcs[arc].used { arcs[arc].to } else { arcs[arc].from };
    }
    Some(way)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Link, Tree};

    fn graph(nodes: usize, links: &[(usize, usize, u32)]) -> Topology {
        let link = |&(a, b, cost)| Some(Link { ends: [a, b], costs: [cost; 2] });
        Topology::new(nodes, links.iter().map(link).collect())
    }

    /// The trap: the shortest path from 0 to 5, over 1 and 4, blocks all others; two disjoint ones exist.
    #[test]
    fn a_trap_is_avoided() {
        let links = [(0, 1, 1), (1, 4, 1), (4, 5, 1), (0, 2, 2), (2, 4, 2), (1, 3, 2), (3, 5, 2)];
        let topology = graph(6, &links);
        for apart in [Disjointness::Links, Disjointness::Nodes] {
            let pair = disjoint_pair(&topology, 0, 5, apart);
            assert_eq!(pair, Some([vec![(0, 0), (5, 0), (6, 0)], vec![(3, 0), (4, 0), (2, 0)]]));
        }
    }

    /// Two diamonds in a row share the node between them, but no link.
    #[test]
    fn paths_may_share_a_node_but_no_link() {
        let links = [
            (0, 1, 1),
            (0, 2, 1),
            (1, 3, 1),
            (2, 3, 1),
            (3, 4, 1),
            (3, 5, 1),
            (4, 6, 1),
            (5, 6, 1),
        ];
        let topology = graph(7, &links);
        assert!(disjoint_pair(&topology, 0, 6, Disjointness::Links).is_some());
        assert_eq!(disjoint_pair(&topology, 0, 6, Disjointness::Nodes), None);
    }

    /// Behind the host's link, the pair uses both triangles; the link between them has no alternative.
    #[test]
    fn bridges_are_shared_by_both_paths() {
        // Host 0 at node 1; triangles 1 2 3 and 4 5 6, connected by 3-4.
        let links = [
            (0, 1, 1),
            (1, 2, 1),
            (2, 3, 1),
            (1, 3, 3),
            (3, 4, 1),
            (4, 5, 1),
            (5, 6, 1),
            (4, 6, 1),
        ];
        let topology = graph(7, &links);
        let bridges = bridges(&topology);
        assert_eq!(bridges, [true, false, false, false, true, false, false, false]);
        let shortest = Tree::new(&topology, 6).path(&topology, 0);
        let [path, other] = Bridged::new(&topology).pair(&topology, 0, shortest);
        assert_eq!(path, [(0, 0), (1, 0), (2, 0), (4, 0), (7, 0)]);
        assert_eq!(other, [(3, 0), (5, 0), (6, 0)]);
        assert_eq!(disjoint_pair(&topology, 0, 6, Disjointness::Links), None);
    }

    /// Returns all loop-free paths between two nodes.
    fn all_paths(topology: &Topology, from: usize, to: usize) -> Vec<Vec<DirectedLink>> {
        fn walk(
            topology: &Topology,
            visited: &mut Vec<usize>,
            path: &mut Vec<DirectedLink>,
            to: usize,
            all: &mut Vec<Vec<DirectedLink>>,
        ) {
            let node = visited[visited.len() - 1];
            if node == to {
                all.push(path.clone());
                return;
            }
            for adjacency in topology.adjacencies(node) {
                if !visited.contains(&adjacency.to) {
                    visited.push(adjacency.to);
                    path.push(adjacency.hop);
                    walk(topology, visited, path, to, all);
                    visited.pop();
                    path.pop();
                }
            }
        }
        let mut all = Vec::new();
        walk(topology, &mut vec![from], &mut Vec::new(), to, &mut all);
        all
    }

    proptest! {
        /// A link is a bridge exactly if its removal leaves no path between its ends.
        #[test]
        fn bridges_are_links_without_detour(links in prop::collection::vec((0..6_usize, 0..6_usize, 1..9_u32), 0..12)) {
            let links: Vec<_> = links.into_iter().filter(|(a, b, _)| a != b).collect();
            let topology = graph(6, &links);
            let found = bridges(&topology);
            for (number, &(a, b, _)) in links.iter().enumerate() {
                let left = topology.without([number]);
                prop_assert_eq!(found[number], all_paths(&left, a, b).is_empty());
            }
            // If two disjoint paths exist, these are returned.
            if let Some(pair) = disjoint_pair(&topology, 0, 5, Disjointness::Links) {
                let shortest = Tree::new(&topology, 5).path(&topology, 0);
                prop_assert_eq!(Bridged::new(&topology).pair(&topology, 0, shortest), pair);
            }
        }

        /// No pair of paths is shorter, and a pair is found whenever one exists.
        #[test]
        fn no_other_pair_is_shorter(links in prop::collection::vec((0..6_usize, 0..6_usize, 1..9_u32), 0..12)) {
            let links: Vec<_> = links.into_iter().filter(|(a, b, _)| a != b).collect();
            let topology = graph(6, &links);
            let all = all_paths(&topology, 0, 5);
            let nodes = |path: &[DirectedLink]| -> Vec<usize> {
                path.iter().filter_map(|&hop| topology.adjacency(hop)).map(|a| a.to).filter(|&n| n != 5).collect()
            };
            for apart in [Disjointness::Links, Disjointness::Nodes] {
                let disjoint = |a: &[DirectedLink], b: &[DirectedLink]| {
                    let links = a.iter().all(|one| b.iter().all(|other| one.0 != other.0));
                    links && (apart == Disjointness::Links || nodes(a).iter().all(|node| !nodes(b).contains(node)))
                };
                let sum = |a: &[DirectedLink], b: &[DirectedLink]| length(&topology, a) + length(&topology, b);
                let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
                let best = pairs.filter(|(a, b)| disjoint(a, b)).map(|(a, b)| sum(a, b)).min();
                let found = disjoint_pair(&topology, 0, 5, apart);
                if let Some([a, b]) = &found {
                    prop_assert!(disjoint(a, b));
                }
                prop_assert_eq!(found.map(|[a, b]| sum(&a, &b)), best);
            }
        }
    }
}
