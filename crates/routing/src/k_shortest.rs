//! K shortest paths between two nodes.
//!
//! # Model
//! Loop-free paths sorted by cost, then by hops, then by [`Tree`]'s preference of neighbours and links at the
//! node where they diverge. The first is the path of [`Tree`].
//!
//! # References
//! J. Y. Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17, 1971.
//!
//! # Parameters
//! `count`: number of paths.
//!
//! # Limitations
//! Each further path needs a shortest-path tree for every node of the previous path.

use std::collections::BTreeSet;

use crate::{Adjacency, DirectedLink, Distance, Topology, Tree};

/// Returns the `count` shortest paths between two nodes, or fewer if there are not enough.
#[must_use]
pub fn k_shortest(
    topology: &Topology,
    from: usize,
    to: usize,
    count: usize,
) -> Vec<Vec<DirectedLink>> {
    let first = Tree::new(topology, to).path(topology, from);
    if first.is_empty() || count == 0 {
        return Vec::new();
    }
    let mut found = vec![first];
    // By distance, then by neighbours and links, node by node.
    let mut candidates: BTreeSet<(Distance, Vec<Adjacency>)> = BTreeSet::new();
    let mut seen: BTreeSet<Vec<DirectedLink>> = found.iter().cloned().collect();
    while found.len() < count {
        let last = &found[found.len() - 1];
        let mut root_nodes = vec![from];
        for at in 0..last.len() {
            let (root, spur) = (&last[..at], root_nodes[at]);
            let parting = found.iter().filter(|path| path.starts_with(root)).map(|path| path[at].0);
            // Nodes of the root are excluded. Removing both directions of a link changes nothing: on a
            // loop-free path, none of these leads back to the node where the paths diverge.
            let root_links = root_nodes[..at]
                .iter()
                .flat_map(|&node| topology.adjacencies(node))
                .map(|a| a.hop.0);
            let left = topology.without(parting.chain(root_links).collect::<BTreeSet<_>>());
            let rest = Tree::new(&left, to).path(&left, spur);
            if !rest.is_empty() {
                let path: Vec<DirectedLink> = root.iter().copied().chain(rest).collect();
                if seen.insert(path.clone()) {
                    let steps = path.iter().filter_map(|&hop| topology.adjacency(hop)).collect();
                    candidates.insert((length(topology, &path), steps));
                }
            }
            root_nodes.extend(topology.adjacency(last[at]).map(|adjacency| adjacency.to));
        }
        let Some((_, next)) = candidates.pop_first() else { break };
        found.push(next.iter().map(|step| step.hop).collect());
    }
    found
}

/// Returns the length of a path.
#[must_use]
pub fn length(topology: &Topology, path: &[DirectedLink]) -> Distance {
    let costs = path.iter().filter_map(|&hop| topology.adjacency(hop));
    costs.fold(Distance::default(), |sum, one| sum + crate::shortest::link(one.cost))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Link;

    fn graph(nodes: usize, links: &[(usize, usize, u32)]) -> Topology {
        let link = |&(a, b, cost)| Some(Link { ends: [a, b], costs: [cost; 2] });
        Topology::new(nodes, links.iter().map(link).collect())
    }

    /// Textbook example of Yen's algorithm: C to H with costs 5, 7 and 8.
    #[test]
    fn textbook_example_is_reproduced() {
        let [c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5];
        let one_way = |&(a, b, cost): &(usize, usize, u32)| {
            // The reverse direction is too expensive to be used.
            Some(Link { ends: [a, b], costs: [cost, 1000] })
        };
        let links = [
            (c, d, 3),
            (c, e, 2),
            (d, f, 4),
            (e, d, 1),
            (e, f, 2),
            (e, g, 3),
            (f, g, 2),
            (f, h, 1),
            (g, h, 2),
        ];
        let topology = Topology::new(6, links.iter().map(one_way).collect());
        let paths = k_shortest(&topology, c, h, 3);
        let costs: Vec<u64> = paths.iter().map(|path| length(&topology, path).cost).collect();
        assert_eq!(costs, [5, 7, 8]);
    }

    #[test]
    fn paths_without_loops_are_listed_once_each() {
        // Square with a diagonal: from 0 to 2, the diagonal and two detours.
        let topology = graph(4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1), (0, 2, 1)]);
        let paths = k_shortest(&topology, 0, 2, 10);
        assert_eq!(paths, [vec![(4, 0)], vec![(0, 0), (1, 0)], vec![(3, 1), (2, 1)]]);
    }
}
