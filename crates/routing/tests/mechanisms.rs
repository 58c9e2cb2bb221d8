//! U-turn alternates and not-via addresses: worked examples, and packets followed hop by hop by a second
//! program, for every single failure of generated networks.

use optcp_routing::{
    Adjacency, DirectedLink, Link, Mechanism, Protect, Repair, Repairs, Topology, u_turns,
};
use proptest::prelude::*;

use crate::distances::distances;

pub(crate) fn even(nodes: usize, links: &[(usize, usize, u32)]) -> Topology {
    let link = |&(a, b, cost)| Some(Link { ends: [a, b], costs: [cost; 2] });
    Topology::new(nodes, links.iter().map(link).collect())
}

/// The nodes that a repair visits, the router first.
pub(crate) fn visited(topology: &Topology, router: usize, repair: &Repair) -> Vec<usize> {
    let to = |&hop| topology.adjacency(hop).map_or(router, |over| over.to);
    std::iter::once(router).chain(repair.hops.iter().map(to)).collect()
}

/// S reaches D over E. N reaches D over S; its other neighbour R does not need S.
///
/// ```text
///   E --1-- D        D(N, D) = 1 + 2 over S, 1 + 3 over R
///   |       |
///   1       3        R: D(R, D) = 3 < D(R, S) + D(S, D) = 2 + 2
///   |       |
///   S --1-- N --1-- R   (R is linked to D at cost 3)
/// ```
#[test]
fn neighbour_that_would_return_packets_uses_its_own_alternate() {
    let [s, e, n, r, d] = [0, 1, 2, 3, 4];
    let topology = even(5, &[(s, e, 1), (e, d, 1), (s, n, 1), (n, r, 1), (r, d, 3)]);
    let repairs = Repairs::new(topology.clone());
    assert_eq!(repairs.find(Mechanism::Lfa, Protect::Link, s, d), None, "3 < 1 + 2 does not hold");
    let found = repairs.find(Mechanism::UTurn, Protect::Link, s, d).unwrap();
    assert_eq!((found.mechanism, found.end), (Mechanism::UTurn, r));
    assert_eq!(visited(&topology, s, &found), [s, n, r]);
    // E is not touched: D(R, D) = 3 < D(R, E) + D(E, D) = 3 + 1. No tunnel: the packet is as it was.
    assert!(found.node_protecting && !found.tunnel());
    let all = u_turns(&topology, repairs.routes(), s, d);
    assert_eq!(all.iter().map(|u| u.cost.sum().unwrap()).collect::<Vec<_>>(), [5]);

    // At a cost of 4 R goes to D over S or directly alike: R is no alternate that protects S.
    let topology = even(5, &[(s, e, 1), (e, d, 1), (s, n, 1), (n, r, 1), (r, d, 4)]);
    assert_eq!(Repairs::new(topology).find(Mechanism::UTurn, Protect::Link, s, d), None);
}

/// The ring of RFC 7490, Figure 1. For E the neighbour A of S has no alternate: B's path to E leads over A and S
/// or over C alike. For C, A is a loop-free alternate.
#[test]
fn u_turns_reach_one_router_further_than_neighbours() {
    let [s, e, d, c] = [0, 1, 2, 3];
    let topology = even(6, &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 5, 1), (5, 0, 1)]);
    let repairs = Repairs::new(topology.clone());
    let of = |to| {
        let found = repairs.find(Mechanism::UTurn, Protect::Link, s, to)?;
        Some((found.mechanism, visited(&topology, s, &found)))
    };
    // D(B, E) = 3 < D(B, S) + D(S, E) = 2 + 1 does not hold; D(B, D) = 2 < 2 + 2 does.
    assert_eq!(of(e), None);
    assert_eq!(of(d), Some((Mechanism::UTurn, vec![s, 5, 4])));
    assert_eq!(of(c), Some((Mechanism::Lfa, vec![s, 5])));
}

/// RFC 6981, Figure 1: S reaches B and D behind it over P. B's address that is not via P is reached over X, Y and
/// Z.
///
/// ```text
///   S -- P -- B -- D     every link 1
///   |         |
///   X -- Y -- Z
/// ```
#[test]
fn not_via_addresses_lead_around_the_node_or_the_link() {
    let [s, p, b, d, x, y, z] = [0, 1, 2, 3, 4, 5, 6];
    let links = [(s, p, 1), (p, b, 1), (b, d, 1), (s, x, 1), (x, y, 1), (y, z, 1), (z, b, 1)];
    let topology = even(7, &links);
    let repairs = Repairs::new(topology.clone());
    let of = |protect, to| {
        let found = repairs.find(Mechanism::NotVia, protect, s, to).unwrap();
        assert!(found.tunnel());
        (visited(&topology, s, &found), found.node_protecting)
    };
    // Not via P: decapsulated at B, two routers beyond S.
    assert_eq!(of(Protect::Node, d), (vec![s, x, y, z, b], true));
    // Not via S-P: the packet passes B in the tunnel, is decapsulated at P and returns to B.
    assert_eq!(of(Protect::Link, d), (vec![s, x, y, z, b, p], false));
    // P is the destination: only its link can be repaired.
    assert_eq!(of(Protect::Node, p), (vec![s, x, y, z, b, p], false));
    // S-X shares a duct with S-P: nothing is left, and the link alone is avoided.
    let risks = topology.clone().with_risks([&[0, 3][..]]);
    let found = Repairs::new(risks).find(Mechanism::NotVia, Protect::Risk, s, d).unwrap();
    assert_eq!((visited(&topology, s, &found).len(), found.risk_protecting), (6, false));
}

/// A ring with chords, so that no node and no link separates it. Costs are the same in both directions.
pub(crate) fn networks() -> impl Strategy<Value = Topology> {
    (4usize..10).prop_flat_map(|nodes| {
        let cost = 1u32..5;
        let ring = proptest::collection::vec(cost.clone(), nodes);
        let order = Just((0..nodes).collect::<Vec<_>>()).prop_shuffle();
        let chords = proptest::collection::vec((0..nodes, 1..nodes, cost), 0..nodes);
        (ring, order, chords).prop_map(move |(ring, order, chords)| {
            let ring = ring.iter().enumerate().map(|(i, &c)| (order[i], order[(i + 1) % nodes], c));
            let chords = chords.iter().map(|&(from, by, c)| (from, (from + by) % nodes, c));
            even(nodes, &ring.chain(chords).collect::<Vec<_>>())
        })
    })
}

/// The cost of the shortest path between each two nodes without some links and without a node.
fn distances_without(topology: &Topology, links: &[usize], node: Option<usize>) -> Vec<Vec<u64>> {
    distances(topology, |link, ends| {
        let gone = links.contains(&link) || ends.map(Some).contains(&node);
        (!gone).then_some(0)
    })
}

/// Router, destination, and the adjacency to the next hop.
pub(crate) fn pairs(repairs: &Repairs) -> Vec<(usize, usize, Adjacency)> {
    let nodes = repairs.topology().nodes();
    let all = (0..nodes).flat_map(|s| (0..nodes).map(move |d| (s, d)));
    let primary = |s, d| repairs.topology().adjacency(repairs.routes().next(s, d)?);
    all.filter_map(|(s, d)| Some((s, d, primary(s, d)?))).collect()
}

/// Follows a packet through the first FIBs from `node` on; `None` if it meets a failed link or node, or loops.
fn forwarded(
    repairs: &Repairs,
    (mut node, to): (usize, usize),
    failed: impl Fn(Adjacency, usize) -> bool,
) -> Option<Vec<DirectedLink>> {
    let mut hops = Vec::new();
    while node != to {
        let next = repairs.topology().adjacency(repairs.routes().next(node, to)?)?;
        if failed(next, node) || hops.len() > repairs.topology().nodes() {
            return None;
        }
        hops.push(next.hop);
        node = next.to;
    }
    Some(hops)
}

/// Returns the alternate of a router for packets that arrive from its next hop `from`. It is loop-free and avoids
/// `from`. The cheapest is used, then the first neighbour, then the first link.
fn breaks(
    topology: &Topology,
    cost: &[Vec<u64>],
    n: usize,
    from: usize,
    d: usize,
) -> Option<Adjacency> {
    let fits = |over: &&Adjacency| {
        let r = over.to;
        cost[r][d] < cost[r][n] + cost[n][d] && cost[r][d] < cost[r][from] + cost[from][d]
    };
    let found = topology.adjacencies(n).iter().filter(fits);
    found.min_by_key(|over| (u64::from(over.cost) + cost[over.to][d], **over)).copied()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn u_turns_are_broken_by_the_rule_of_the_neighbour(topology in networks()) {
        let (repairs, cost) = (Repairs::new(topology.clone()), distances_without(&topology, &[], None));
        for (s, d, primary) in pairs(&repairs) {
            let direct = repairs.find(Mechanism::Lfa, Protect::Link, s, d);
            let returns = |n: usize| {
                let next = repairs.routes().next(n, d).and_then(|hop| topology.adjacency(hop));
                next.is_some_and(|next| next.to == s)
            };
            let possible = topology.adjacencies(s).iter().any(|over| {
                returns(over.to) && breaks(&topology, &cost, over.to, s, d).is_some()
            });
            for protect in [Protect::Link, Protect::Node] {
                let found = repairs.find(Mechanism::UTurn, protect, s, d);
                prop_assert_eq!(found.is_some(), direct.is_some() || possible);
                let Some(found) = found else { continue };
                if found.mechanism == Mechanism::UTurn {
                    let way = visited(&topology, s, &found);
                    prop_assert!(returns(way[1]) && way[1] != primary.to);
                    let own = breaks(&topology, &cost, way[1], s, d).unwrap();
                    prop_assert_eq!(found.hops[1], own.hop);
                }
                let by_link = |next: Adjacency, _: usize| next.hop.0 == primary.hop.0;
                prop_assert!(!found.hops.iter().any(|hop| hop.0 == primary.hop.0));
                prop_assert!(forwarded(&repairs, (found.end, d), by_link).is_some());
                if found.node_protecting {
                    let by_node = |next: Adjacency, _: usize| next.to == primary.to;
                    prop_assert!(!visited(&topology, s, &found).contains(&primary.to));
                    prop_assert!(forwarded(&repairs, (found.end, d), by_node).is_some());
                }
            }
            // The preferred protection is given whenever one of the candidates has it.
            let node = repairs.find(Mechanism::UTurn, Protect::Node, s, d);
            let lfa = repairs.find(Mechanism::Lfa, Protect::Node, s, d);
            prop_assert!(!lfa.is_some_and(|lfa| lfa.node_protecting) || node.is_some_and(|u| u.node_protecting));
        }
    }

    /// Every single failure of a link, and of a node that is not the destination, is repaired on the shortest path
    /// without it.
    #[test]
    fn not_via_repairs_every_single_failure(topology in networks()) {
        let repairs = Repairs::new(topology.clone());
        for (s, d, primary) in pairs(&repairs) {
            let e = primary.to;
            let sum = |found: &Repair| -> u64 {
                found.hops.iter().map(|&hop| u64::from(topology.adjacency(hop).unwrap().cost)).sum()
            };
            let link = repairs.find(Mechanism::NotVia, Protect::Link, s, d).unwrap();
            prop_assert_eq!(link.end, e);
            prop_assert_eq!(sum(&link), distances_without(&topology, &[primary.hop.0], None)[s][e]);
            prop_assert!(!link.hops.iter().any(|hop| hop.0 == primary.hop.0));
            let by_link = |next: Adjacency, _: usize| next.hop.0 == primary.hop.0;
            prop_assert!(forwarded(&repairs, (e, d), by_link).is_some());
            if e == d {
                prop_assert_eq!(repairs.find(Mechanism::NotVia, Protect::Node, s, d), Some(link));
                continue;
            }
            let node = repairs.find(Mechanism::NotVia, Protect::Node, s, d).unwrap();
            let beyond = topology.adjacency(repairs.routes().next(e, d).unwrap()).unwrap().to;
            prop_assert!(node.node_protecting && node.end == beyond);
            prop_assert!(!visited(&topology, s, &node).contains(&e));
            prop_assert_eq!(sum(&node), distances_without(&topology, &[], Some(e))[s][beyond]);
            let by_node = |next: Adjacency, _: usize| next.to == e;
            prop_assert!(forwarded(&repairs, (beyond, d), by_node).is_some());
        }
    }
}
