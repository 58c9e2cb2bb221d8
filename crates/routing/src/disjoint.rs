//! Two paths between two nodes that share no link, or no node: as short as possible together.
//!
//! # Models
//! The pair with the least sum of costs, then of hops. It exists wherever two disjoint paths do, also where the shortest
//! path shuts every other one out (a trap).
//! # Source
//! J. W. Suurballe, "Disjoint Paths in a Network", Networks 4, 1974, as a flow of two units of least cost (R. Bhandari,
//! "Survivable Networks", 1999).
//! # Parameters
//! Whether they may share nodes.
//! # Limits
//! Costs of one pass of Bellman and Ford for each path. Shared risks of links are not considered: with them the problem is
//! NP-complete.

use crate::k_shortest::length;
use crate::{DirectedLink, Topology};

/// What two paths must not have in common, apart from their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// No link.
    Links,
    /// No node, and so no link.
    Nodes,
}

/// An arc of the flow network; every arc holds one unit.
#[derive(Clone, Copy)]
struct Arc {
    from: usize,
    to: usize,
    /// Cost, then hops.
    cost: [i64; 2],
    hop: Option<DirectedLink>,
    used: bool,
}

/// The pair, its shorter path first; `None` where there are no two.
#[must_use]
pub fn disjoint_pair(
    topology: &Topology,
    from: usize,
    to: usize,
    apart: Apart,
) -> Option<[Vec<DirectedLink>; 2]> {
    if from == to {
        return None;
    }
    let mut arcs = arcs(topology, [from, to], apart);
    // A node is entered at 2 n and left at 2 n + 1.
    let (source, sink) = (2 * from + 1, 2 * to);
    for _ in 0..2 {
        for arc in cheapest(&arcs, 2 * topology.nodes(), source, sink)? {
            arcs[arc].used = !arcs[arc].used;
        }
    }
    // A link that is used both ways is used by neither path.
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

fn arcs(topology: &Topology, ends: [usize; 2], apart: Apart) -> Vec<Arc> {
    let mut arcs = Vec::new();
    for node in 0..topology.nodes() {
        let inside = Arc { from: 2 * node, to: 2 * node + 1, cost: [0; 2], hop: None, used: false };
        // Two paths through a node need two units.
        let units = if apart == Apart::Links && !ends.contains(&node) { 2 } else { 1 };
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

/// The arcs of the cheapest way from one place to another on which a unit may go: over arcs that are free, or back over arcs
/// that are used, which is paid for by what they cost.
fn cheapest(arcs: &[Arc], places: usize, source: usize, sink: usize) -> Option<Vec<usize>> {
    let mut reached: Vec<Option<([i64; 2], usize)>> = vec![None; places];
    reached[source] = Some(([0; 2], usize::MAX));
    let mut changed = true;
    // No way of least cost has a loop, so this ends after as many rounds as there are places.
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
    use crate::Link;

    fn graph(nodes: usize, links: &[(usize, usize, u32)]) -> Topology {
        let link = |&(a, b, cost)| Some(Link { ends: [a, b], costs: [cost; 2] });
        Topology::new(nodes, links.iter().map(link).collect())
    }

    /// The trap: the shortest path from 0 to 5, over 1 and 4, leaves no other; two disjoint ones exist.
    #[test]
    fn a_trap_is_avoided() {
        let links = [(0, 1, 1), (1, 4, 1), (4, 5, 1), (0, 2, 2), (2, 4, 2), (1, 3, 2), (3, 5, 2)];
        let topology = graph(6, &links);
        for apart in [Apart::Links, Apart::Nodes] {
            let pair = disjoint_pair(&topology, 0, 5, apart);
            assert_eq!(pair, Some([vec![(0, 0), (5, 0), (6, 0)], vec![(3, 0), (4, 0), (2, 0)]]));
        }
    }

    /// Two diamonds in a row share the node between them, and no link.
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
        assert!(disjoint_pair(&topology, 0, 6, Apart::Links).is_some());
        assert_eq!(disjoint_pair(&topology, 0, 6, Apart::Nodes), None);
    }

    /// All paths without loops between two nodes.
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
        /// No pair among all paths is shorter, and where there is one, one is found.
        #[test]
        fn no_other_pair_is_shorter(links in prop::collection::vec((0..6_usize, 0..6_usize, 1..9_u32), 0..12)) {
            let links: Vec<_> = links.into_iter().filter(|(a, b, _)| a != b).collect();
            let topology = graph(6, &links);
            let all = all_paths(&topology, 0, 5);
            let nodes = |path: &[DirectedLink]| -> Vec<usize> {
                path.iter().filter_map(|&hop| topology.adjacency(hop)).map(|a| a.to).filter(|&n| n != 5).collect()
            };
            for apart in [Apart::Links, Apart::Nodes] {
                let disjoint = |a: &[DirectedLink], b: &[DirectedLink]| {
                    let links = a.iter().all(|one| b.iter().all(|other| one.0 != other.0));
                    links && (apart == Apart::Links || nodes(a).iter().all(|node| !nodes(b).contains(node)))
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
