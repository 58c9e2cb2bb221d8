//! Multiple routing configurations and failure inferencing: worked examples, and packets followed hop by hop by a
//! second program, for every single failure of generated networks.

use std::collections::BTreeMap;

use optcp_routing::{
    Adjacency, Configuration, DirectedLink, Mechanism, Protect, Repair, Repairs, Topology, Tree,
    Weight, blocks, configured,
};
use proptest::prelude::*;

use crate::distances::{FAR, distances};

use crate::mechanisms::{even, networks, pairs, visited};

/// Weight of restricted links, above the sum of all others.
const HEAVY: u64 = 1 << 20;

fn configurations(topology: &Topology) -> Vec<Vec<Configuration>> {
    configured(topology).into_iter().map(|block| block.configurations).collect()
}

/// Isolated nodes, isolated links and restricted links.
fn summary(one: &Configuration) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let links = |weight| {
        let of = one.weights.iter().filter(move |(_, found)| **found == weight);
        of.map(|(&link, _)| link).collect()
    };
    (one.isolated.clone(), links(Weight::Isolated), links(Weight::Restricted))
}

/// The '#' of the DAS paper. The square A-C-D-B is a block, and the links to the hosts are bridges. In a ring each
/// configuration isolates one link. Two isolated neighbours share their isolated link, and need their other links to
/// reach the backbone. So there are as many configurations as links.
#[test]
fn square_has_four_configurations() {
    let [a, c, b, d, s, r] = [0, 1, 2, 3, 4, 5];
    let links = [(a, c, 1), (a, b, 1), (b, d, 1), (d, c, 1), (s, a, 1), (c, r, 1)];
    let topology = even(6, &links);
    assert_eq!(blocks(&topology), [vec![0, 1, 2, 3], vec![4], vec![5]]);
    let all = configurations(&topology);
    // A first: A-C is isolated, and the last link, A-B, restricted. So B is next and isolates A-B, then D and C.
    let expected = [
        (vec![a], vec![0], vec![1]),
        (vec![b], vec![1], vec![2]),
        (vec![d], vec![2], vec![3]),
        (vec![c], vec![3], vec![0]),
    ];
    assert_eq!(all[0].iter().map(summary).collect::<Vec<_>>(), expected);
    assert!(all[1].is_empty() && all[2].is_empty());

    // A-C is isolated with A: over B and D, where the packet leaves the block and its configuration.
    let repairs = Repairs::new(topology.clone());
    let found = repairs.find(Mechanism::Mrc, Protect::Link, a, r).unwrap();
    assert_eq!((visited(&topology, a, &found), found.end), (vec![a, b, d, c], c));
    assert!(!found.tunnel() && !found.node_protecting);
    assert_eq!(repairs.find(Mechanism::Mrc, Protect::Link, c, r), None, "a bridge");
}

/// Four nodes, each linked to the others. Node 0 leaves its link to 3 restricted. Node 3 isolates this link in the second
/// configuration, and leaves its link to 2 restricted. Node 2 fits into the first configuration and isolates the link to 3.
/// Node 1 fits into the second.
#[test]
fn full_mesh_of_four_has_two_configurations() {
    let links = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1)];
    let topology = even(4, &links);
    let all = configurations(&topology);
    let expected =
        [(vec![0, 2], vec![0, 1, 5], vec![2, 3]), (vec![3, 1], vec![2, 3, 4], vec![0, 5])];
    assert_eq!(all[0].iter().map(summary).collect::<Vec<_>>(), expected);
    // 0 to 1: the link is isolated with 0, whose restricted link leads to 3.
    let found = Repairs::new(topology.clone()).find(Mechanism::Mrc, Protect::Node, 0, 1).unwrap();
    assert_eq!(visited(&topology, 0, &found), [0, 3, 1]);
}

/// Two triangles that share node 2: failures of one do not concern the other.
#[test]
fn cut_node_separates_blocks() {
    let links = [(0, 1, 1), (1, 2, 1), (2, 0, 1), (2, 3, 1), (3, 4, 1), (4, 2, 1)];
    let topology = even(5, &links);
    assert_eq!(blocks(&topology), [vec![0, 1, 2], vec![3, 4, 5]]);
    let repairs = Repairs::new(topology.clone());
    // 0 to 4 over 2: only the link 0-2 can be repaired, and the configuration ends at 2.
    let found = repairs.find(Mechanism::Mrc, Protect::Node, 0, 4).unwrap();
    assert_eq!((visited(&topology, 0, &found), found.end), (vec![0, 1, 2], 2));
}

/// A ring of six, packets for E = 1 from S = 0, whose link to E is down. S sends them to A = 5. They arrive there from
/// A's own next hop: S-E is the key link, and A continues to B = 4. At B paths in both directions are equal, and the
/// tie is resolved over 3, so B is an ordinary router.
#[test]
fn failure_is_inferred_from_the_arrival_interface() {
    let links = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 5, 1), (5, 0, 1)];
    let topology = even(6, &links);
    let repairs = Repairs::new(topology.clone());
    let found = repairs.find(Mechanism::Fifr, Protect::Link, 0, 1).unwrap();
    assert_eq!((visited(&topology, 0, &found), found.end), (vec![0, 5, 4], 4));
    assert!(!found.tunnel());
    // With a cost of 9 for 1-2, all routers reach 1 over S-E, so each of them infers the failure.
    let links = [(0, 1, 1), (1, 2, 9), (2, 3, 1), (3, 4, 1), (4, 5, 1), (5, 0, 1)];
    let topology = even(6, &links);
    let found = Repairs::new(topology.clone()).find(Mechanism::Fifr, Protect::Link, 0, 1).unwrap();
    assert_eq!((visited(&topology, 0, &found), found.end), (vec![0, 5, 4, 3, 2, 1], 1));
}

/// The cost of the shortest path between each two nodes in a configuration.
fn configured_distances(topology: &Topology, one: &Configuration) -> Vec<Vec<u64>> {
    distances(topology, |link, _| match one.weight(link) {
        Weight::Normal => Some(0),
        Weight::Restricted => Some(HEAVY),
        Weight::Isolated => None,
    })
}

/// Checks that hops are a shortest path of a configuration.
fn is_shortest(
    topology: &Topology,
    one: &Configuration,
    hops: &[DirectedLink],
    from: usize,
    to: usize,
) -> bool {
    let cost = configured_distances(topology, one);
    let mut node = from;
    for &hop in hops {
        let Some(over) = topology.adjacency(hop) else { return false };
        let more = match one.weight(hop.0) {
            Weight::Normal => 0,
            Weight::Restricted => HEAVY,
            Weight::Isolated => return false,
        };
        if cost[node][to] != u64::from(over.cost) + more + cost[over.to][to] {
            return false;
        }
        node = over.to;
    }
    node == to && cost[from][to] < FAR
}

/// Key links by their definition, from the shortest paths of each reduced network.
fn key_links(topology: &Topology, d: usize) -> BTreeMap<DirectedLink, Vec<usize>> {
    let whole = Tree::new(topology, d);
    let mut keys: BTreeMap<DirectedLink, Vec<usize>> = BTreeMap::new();
    for u in 0..topology.nodes() {
        let Some((failed, _)) = whole.next(u) else { continue };
        let left = topology.without([failed]);
        for hop in Tree::new(&left, d).path(&left, u) {
            let Some(over) = topology.adjacency(hop) else { continue };
            if whole.path(topology, over.to).iter().any(|hop| hop.0 == failed) {
                keys.entry(hop).or_default().push(failed);
            }
        }
    }
    keys
}

/// Hops of a packet that each router forwards by its arrival interface, while one link is down. `None` if the packet
/// loops, or meets the link at another router.
fn inferred(topology: &Topology, s: usize, d: usize, failed: usize) -> Option<Vec<DirectedLink>> {
    let keys = key_links(topology, d);
    let (mut node, mut without, mut hops) = (s, vec![failed], Vec::new());
    while node != d {
        let left = topology.without(without.iter().copied());
        let hop = Tree::new(&left, d).next(node)?;
        if hop.0 == failed || hops.len() > topology.nodes() {
            return None;
        }
        hops.push(hop);
        node = topology.adjacency(hop)?.to;
        without = keys.get(&hop).cloned().unwrap_or_default();
    }
    Some(hops)
}

/// The hops of a repair and of the ordinary path from its end on.
fn whole(repairs: &Repairs, found: &Repair, d: usize) -> Vec<DirectedLink> {
    let rest = repairs.routes().to(d).path(repairs.topology(), found.end);
    found.hops.iter().copied().chain(rest).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The properties that the paper proves for its configurations.
    #[test]
    fn configurations_isolate_every_node_and_link(topology in networks()) {
        let all = configurations(&topology);
        prop_assert_eq!(all.len(), 1, "no node separates the network");
        let all = &all[0];
        prop_assert!(all.len() >= 2 && all.len() <= topology.nodes());
        for node in 0..topology.nodes() {
            let times = all.iter().filter(|one| one.isolated.contains(&node)).count();
            prop_assert_eq!(times, 1);
        }
        for link in 0..topology.links().len() {
            prop_assert!(all.iter().any(|one| one.weight(link) == Weight::Isolated));
        }
        for one in all {
            let cost = configured_distances(&topology, one);
            let transit: Vec<usize> = (0..topology.nodes()).filter(|n| !one.isolated.contains(n)).collect();
            for &a in &transit {
                for &b in &transit {
                    prop_assert!(cost[a][b] < HEAVY, "the backbone is connected");
                }
                for &node in &one.isolated {
                    prop_assert!(cost[node][a] < 2 * HEAVY && cost[a][node] < 2 * HEAVY);
                }
            }
            for (&link, &weight) in &one.weights {
                let ends = topology.links()[link].unwrap().ends;
                prop_assert!(weight != Weight::Normal && ends.iter().any(|end| one.isolated.contains(end)));
            }
            for &node in &one.isolated {
                let normal = |over: &Adjacency| one.weight(over.hop.0) == Weight::Normal;
                prop_assert!(!topology.adjacencies(node).iter().any(normal));
            }
        }
    }

    /// Every single failure of a link, and of a node that is not the destination, on the shortest path of the
    /// configuration that isolates it.
    #[test]
    fn configurations_repair_every_single_failure(topology in networks()) {
        let (repairs, all) = (Repairs::new(topology.clone()), configurations(&topology));
        for (s, d, primary) in pairs(&repairs) {
            let by = |isolates: &dyn Fn(&Configuration) -> bool| {
                all[0].iter().find(|&one| isolates(one)).unwrap()
            };
            let of_link = by(&|one| one.weight(primary.hop.0) == Weight::Isolated);
            let link = repairs.find(Mechanism::Mrc, Protect::Link, s, d).unwrap();
            prop_assert!(is_shortest(&topology, of_link, &link.hops, s, d));
            prop_assert!(!link.hops.iter().any(|hop| hop.0 == primary.hop.0));
            prop_assert!(link.end == d && !link.tunnel());
            let node = repairs.find(Mechanism::Mrc, Protect::Node, s, d).unwrap();
            if primary.to == d {
                prop_assert_eq!(node, link);
                continue;
            }
            let of_node = by(&|one| one.isolated.contains(&primary.to));
            prop_assert!(is_shortest(&topology, of_node, &node.hops, s, d));
            prop_assert!(node.node_protecting && !visited(&topology, s, &node).contains(&primary.to));
        }
    }

    #[test]
    fn inferred_failures_are_avoided_by_every_router(topology in networks()) {
        let repairs = Repairs::new(topology.clone());
        for (s, d, primary) in pairs(&repairs) {
            let hops = inferred(&topology, s, d, primary.hop.0);
            let found = repairs.find(Mechanism::Fifr, Protect::Link, s, d).unwrap();
            prop_assert_eq!(Some(whole(&repairs, &found, d)), hops);
            let way = visited(&topology, s, &found);
            let mut once = way.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), way.len(), "no router twice");
        }
        // No packet arrives over an interface with key links while all links work.
        for d in 0..topology.nodes() {
            let keys = key_links(&topology, d);
            for node in 0..topology.nodes() {
                let hop = repairs.routes().next(node, d);
                prop_assert!(hop.is_none_or(|hop| !keys.contains_key(&hop)));
            }
        }
    }
}
