//! Blocks of a graph: the parts that no single node separates.
//!
//! # Model
//! Each link belongs to one block. Two blocks share at most one node, a cut node. A bridge is a separate block.
//!
//! # References
//! R. E. Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972.
//!
//! # Limitations
//! Links count in both directions.

use crate::Topology;

/// Returns the links of each block, sorted.
#[must_use]
pub fn blocks(topology: &Topology) -> Vec<Vec<usize>> {
    // Visiting order of each node, and the earliest node reachable from it and its descendants.
    let mut order: Vec<Option<usize>> = vec![None; topology.nodes()];
    let mut earliest = vec![usize::MAX; topology.nodes()];
    let mut count = 0;
    let mut found = Vec::new();
    // Links that are not yet in a block.
    let mut pending: Vec<usize> = Vec::new();
    for root in 0..topology.nodes() {
        if order[root].is_some() {
            continue;
        }
        // Open nodes, each with the link by which it was reached, the number of links pending before it and the
        // number of processed links.
        let mut open: Vec<(usize, Option<usize>, usize, usize)> = vec![(root, None, 0, 0)];
        while let Some(&mut (node, by, before, ref mut done)) = open.last_mut() {
            let here = *order[node].get_or_insert_with(|| {
                count += 1;
                earliest[node] = count;
                count
            });
            if let Some(next) = topology.adjacencies(node).get(*done) {
                *done += 1;
                match order[next.to] {
                    _ if by == Some(next.hop.0) => {}
                    None => {
                        open.push((next.to, Some(next.hop.0), pending.len(), 0));
                        pending.push(next.hop.0);
                    }
                    // Links to descendants were added by the descendants.
                    Some(known) if known < here => {
                        earliest[node] = earliest[node].min(known);
                        pending.push(next.hop.0);
                    }
                    Some(_) => {}
                }
                continue;
            }
            open.pop();
            let Some(&(parent, ..)) = open.last() else { continue };
            earliest[parent] = earliest[parent].min(earliest[node]);
            if order[parent].is_some_and(|order| earliest[node] >= order) {
                let mut block = pending.split_off(before);
                block.sort_unstable();
                found.push(block);
            }
        }
    }
    found.sort_unstable();
    found
}
