//! Costs of shortest paths, by Floyd and Warshall.

use optcp_routing::Topology;

/// More than the cost of every path.
pub(crate) const FAR: u64 = 1 << 40;

/// The cost of the shortest path between each two nodes. `more` is added to the cost of a link; a link without it is left out.
pub(crate) fn distances(
    topology: &Topology,
    more: impl Fn(usize, [usize; 2]) -> Option<u64>,
) -> Vec<Vec<u64>> {
    let nodes = topology.nodes();
    let mut cost = vec![vec![FAR; nodes]; nodes];
    for (index, link) in topology.links().iter().enumerate() {
        let Some(link) = link else { continue };
        let [a, b] = link.ends;
        let Some(more) = more(index, link.ends) else { continue };
        cost[a][b] = cost[a][b].min(u64::from(link.costs[0]) + more);
        cost[b][a] = cost[b][a].min(u64::from(link.costs[1]) + more);
    }
    (0..nodes).for_each(|node| cost[node][node] = 0);
    for via in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                cost[from][to] = cost[from][to].min(cost[from][via] + cost[via][to]);
            }
        }
    }
    cost
}
