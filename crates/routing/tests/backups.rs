//! Repair paths in networks small enough to be computed by hand.

use optcp_routing::{
    Coverage, Forwarding, Link, Mechanism, Protect, Repair, Repairs, Routes, Segment, Topology,
    alternates, choose, coverage, extended_p_space, p_space, pq_node, q_space,
};

/// A network of links `(from, to, cost there, cost back)`, by index in this order.
fn network(nodes: usize, links: &[(usize, usize, u32, u32)]) -> Topology {
    let link = |&(a, b, there, back)| Some(Link { ends: [a, b], costs: [there, back] });
    Topology::new(nodes, links.iter().map(link).collect())
}

fn even(nodes: usize, links: &[(usize, usize, u32)]) -> Topology {
    let both: Vec<_> = links.iter().map(|&(a, b, cost)| (a, b, cost, cost)).collect();
    network(nodes, &both)
}

/// The repair path of a router for a destination.
fn repair(
    topology: &Topology,
    mechanism: Mechanism,
    protect: Protect,
    [router, destination]: [usize; 2],
) -> Option<Repair> {
    Repairs::new(topology.clone()).find(mechanism, protect, router, destination)
}

/// One next hop for each destination.
fn one(mechanism: Mechanism) -> Forwarding {
    Forwarding { mechanism, protect: Protect::Link, multipath: false }
}

const S: usize = 0;
const E: usize = 1;

/// RFC 7490, Figure 1: a ring S E D C B A of links that cost the same.
fn ring() -> Topology {
    even(6, &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 5, 1), (5, 0, 1)])
}

#[test]
fn in_the_ring_of_rfc_7490_the_only_pq_node_is_across() {
    let [d, c, b, a] = [2, 3, 4, 5];
    let topology = ring();
    let routes = Routes::new(&topology);
    let primary = topology.adjacency(routes.next(S, E).unwrap()).unwrap();
    let inside = |space: &dyn Fn(usize) -> bool| (0..6).filter(|&n| space(n)).collect::<Vec<_>>();
    // C is as far either way, so not in the P-space of S; from A it is nearer the other way.
    assert_eq!(inside(&|n| p_space(&routes, S, primary, n)), [S, b, a]);
    let extended = |n: usize| extended_p_space(&topology, &routes, S, primary, n).is_some();
    assert_eq!(inside(&extended), [S, c, b, a]);
    assert_eq!(inside(&|n| q_space(&routes, S, primary, n)), [E, d, c]);

    let pq = pq_node(&topology, &routes, S, primary).unwrap();
    assert_eq!((pq.node, pq.cost.sum()), (c, Some(3)));
    // S-A, A-B, B-C: each link of the ring against its direction.
    assert_eq!(pq.hops, [(5, 1), (4, 1), (3, 1)]);
    // No neighbour of S protects E and D; C is as near over A.
    for (destination, protected) in [(E, false), (d, false), (c, true)] {
        let found = alternates(&topology, &routes, S, destination);
        assert_eq!(!found.is_empty(), protected, "{destination}");
    }
}

#[test]
fn ring_coverage_matches_rfc_7490() {
    let of = |mechanism| coverage(&ring(), one(mechanism));
    // Of the five destinations of each router, only the one across has a loop-free alternate. It is also
    // the one whose next hop nobody needs: the way there does not touch it.
    let lfa = Coverage {
        pairs: 30,
        protectable: 30,
        protected: 6,
        node_protected: 6,
        tunnels: 0,
        links: 12,
        links_protected: 0,
    };
    assert_eq!(of(Mechanism::Lfa), lfa);
    let remote = of(Mechanism::RemoteLfa);
    assert_eq!((remote.protected, remote.tunnels, remote.links_protected), (30, 24, 12));
    let along = of(Mechanism::TiLfa);
    assert_eq!((along.protected, along.links_protected), (30, 12));
}

/// S reaches D over E; N1 avoids only the link, N2 also E, at a higher cost.
///
/// ```text
///        S --1-- E --1-- D
///        |       |       |
///        2 N1 1--+       |
///        +------- N2 --4-+     S-N1 2, N1-E 1, S-N2 3, N2-D 4
/// ```
fn two_neighbours() -> Topology {
    even(5, &[(S, E, 1), (E, 4, 1), (S, 2, 2), (2, E, 1), (S, 3, 3), (3, 4, 4)])
}

#[test]
fn selection_prefers_required_protection() {
    let (n1, n2, d) = (2, 3, 4);
    let topology = two_neighbours();
    let routes = Routes::new(&topology);
    let found = alternates(&topology, &routes, S, d);
    // N1: D(N1, D) = 2 < D(N1, S) + D(S, D) = 2 + 2, but = D(N1, E) + D(E, D) = 1 + 1; 2 is not < D(S, D) = 2.
    // N2: D(N2, D) = 4 < 3 + 2, and < D(N2, E) + D(E, D) = 4 + 1.
    let properties: Vec<_> = found
        .iter()
        .map(|a| (a.adjacency.to, a.cost.sum().unwrap(), a.downstream, a.node_protecting))
        .collect();
    assert_eq!(properties, [(n1, 4, false, false), (n2, 7, false, true)]);
    assert_eq!(choose(&found, Protect::Link).unwrap().adjacency.to, n1);
    assert_eq!(choose(&found, Protect::Node).unwrap().adjacency.to, n2);
    // To E itself nothing protects against its failure, and the link is protected all the same.
    let to_e = repair(&topology, Mechanism::Lfa, Protect::Node, [S, E]).unwrap();
    assert_eq!((to_e.end, to_e.node_protecting), (n1, false));
    // After convergence without E: over N2.
    let path = repair(&topology, Mechanism::TiLfa, Protect::Node, [S, d]).unwrap();
    assert_eq!((path.hops.clone(), path.end, path.node_protecting), (vec![(4, 0)], n2, true));
    assert!(!path.tunnel() && path.segments.is_empty());
}

/// The links from S to E and to N1 share a duct. N1's path D(N1, D) = 2 leads over E-D, but S-N1 is cut with S-E. N2's
/// path has cost 4 and touches neither.
#[test]
fn selection_avoids_shared_risks() {
    let (n2, d) = (3, 4);
    let topology = two_neighbours().with_risks([&[0, 2][..]]);
    assert_eq!(topology.at_risk_with(&2), [0, 2]);
    assert_eq!(topology.at_risk_with(&5), [5]);
    assert_eq!(topology.without([5]).at_risk_with(&2), [0, 2]);
    let routes = Routes::new(&topology);
    let found = alternates(&topology, &routes, S, d);
    assert_eq!(found.iter().map(|a| a.risk_protecting).collect::<Vec<_>>(), [false, true]);
    assert_eq!(choose(&found, Protect::Risk).unwrap().adjacency.to, n2);
    let path = repair(&topology, Mechanism::TiLfa, Protect::Risk, [S, d]).unwrap();
    assert_eq!((path.hops.clone(), path.end, path.risk_protecting), (vec![(4, 0)], n2, true));
    // A third link in the duct leaves no way: the link alone is protected.
    let topology = two_neighbours().with_risks([&[0, 2, 4][..]]);
    let path = repair(&topology, Mechanism::TiLfa, Protect::Risk, [S, d]).unwrap();
    assert!(!path.risk_protecting);
    assert_eq!(path.hops[0], (2, 0));
}

#[test]
fn costs_of_both_directions_are_separate() {
    // A triangle; from N to D it is 2, but back from N to S only 1 and from S to D 1.
    let topology = network(3, &[(0, 1, 1, 1), (0, 2, 1, 1), (2, 1, 2, 2)]);
    let routes = Routes::new(&topology);
    assert!(alternates(&topology, &routes, 0, 1).is_empty(), "2 < 1 + 1 does not hold");
    let topology = network(3, &[(0, 1, 1, 1), (0, 2, 1, 2), (2, 1, 2, 2)]);
    let routes = Routes::new(&topology);
    assert_eq!(alternates(&topology, &routes, 0, 1).len(), 1, "2 < 2 + 1 holds");
}

#[test]
fn a_parallel_link_protects_the_link_and_not_the_node() {
    let topology = even(3, &[(0, 1, 1), (0, 1, 5), (1, 2, 1)]);
    let backup = repair(&topology, Mechanism::Lfa, Protect::Link, [0, 2]).unwrap();
    assert_eq!(backup.hops, [(1, 0)]);
    assert!(!backup.node_protecting);
}

/// The '#' of the DAS paper: A, C, B, D at the crossings, hosts S at A and R at C.
fn square(diagonal: bool) -> Topology {
    let mut links = vec![(0, 1, 1), (0, 2, 1), (2, 3, 1), (3, 1, 1), (4, 0, 1), (1, 5, 1)];
    if diagonal {
        links.push((2, 1, 1));
    }
    even(6, &links)
}

#[test]
fn backups_of_the_square_match_the_paper() {
    let [a, b, d, r] = [0, 2, 3, 5];
    let backup = |diagonal, mechanism| -> Option<Repair> {
        let topology = square(diagonal);
        repair(&topology, mechanism, Protect::Link, [a, r])
    };
    // D(B, C) = 2 is not < D(B, A) + D(A, C) = 2: no loop-free alternate.
    assert_eq!(backup(false, Mechanism::Lfa), None);
    let tunnel = backup(false, Mechanism::RemoteLfa).unwrap();
    assert_eq!((tunnel.hops.as_slice(), tunnel.end), (&[(1, 0), (2, 0)][..], d));
    assert_eq!(tunnel.segments, [Segment::Node(d)]);
    let along = backup(false, Mechanism::TiLfa).unwrap();
    assert_eq!((along.hops, along.end, along.segments), (tunnel.hops, d, tunnel.segments));
    // With the diagonal B is one: D(B, C) = 1.
    for mechanism in [Mechanism::Lfa, Mechanism::RemoteLfa, Mechanism::TiLfa] {
        let hop = backup(true, mechanism).unwrap();
        assert_eq!((hop.hops.as_slice(), hop.end, hop.tunnel()), (&[(1, 0)][..], b, false));
    }
}

#[test]
fn segment_list_names_link_between_p_and_q() {
    // A ring of five whose link B-C costs 10: S-E 1, E-C 1, C-B 10, B-A 1, A-S 1. B is the last
    // node that shortest paths from S reach without S-E. C is the first node from which they avoid
    // S-E.
    let (c, b, a) = (2, 3, 4);
    let topology = even(5, &[(S, E, 1), (E, c, 1), (c, b, 10), (b, a, 1), (a, S, 1)]);
    assert_eq!(repair(&topology, Mechanism::RemoteLfa, Protect::Link, [S, E]), None);
    let along = repair(&topology, Mechanism::TiLfa, Protect::Link, [S, E]).unwrap();
    assert_eq!(along.hops, [(4, 1), (3, 1), (2, 1)]);
    assert_eq!(along.end, c);
    assert_eq!(along.segments, [Segment::Node(b), Segment::Adjacency((2, 1))]);
}

#[test]
fn ties_are_resolved_by_hops_then_neighbour_then_link() {
    // 0 to 3: over 2 and over 1 alike, and over 4 and 5 at the same cost with a hop more.
    let topology = even(
        6,
        &[(0, 2, 2), (2, 3, 2), (0, 1, 2), (1, 3, 2), (0, 4, 1), (4, 5, 1), (5, 3, 2), (0, 1, 2)],
    );
    let routes = Routes::new(&topology);
    assert_eq!(routes.cost(0, 3).sum(), Some(4));
    assert_eq!(routes.next(0, 3), Some((2, 0)), "neighbour 1 before 2, link 2 before 7");
}

#[test]
fn isolated_node_is_never_a_pq_node() {
    // A - B - C and X apart: nothing else leads from one end of a link to the other.
    let topology = even(4, &[(0, 1, 1), (1, 2, 1)]);
    let routes = Routes::new(&topology);
    let primary = topology.adjacency(routes.next(0, 1).unwrap()).unwrap();
    assert!(!p_space(&routes, 0, primary, 3) && !q_space(&routes, 0, primary, 3));
    assert_eq!(extended_p_space(&topology, &routes, 0, primary, 3), None);
    for mechanism in [Mechanism::Lfa, Mechanism::RemoteLfa, Mechanism::TiLfa] {
        let found = coverage(&topology, one(mechanism));
        // Six pairs of A, B and C; four directions of links.
        let nothing = Coverage { pairs: 6, links: 4, ..Coverage::default() };
        assert_eq!(found, nothing, "{mechanism:?}");
    }
}
