//! Random networks, compared with independent definitions over distances by Floyd and Warshall.

use std::collections::BTreeSet;

use optcp_routing::{
    Adjacency, Converge, Coverage, DirectedLink, Entry, Failure, Forwarding, Link, Mechanism,
    Protect, Removed, Repair, Repairs, Routes, Timing, Topology, Tree, alternates, coverage,
    extended_p_space, p_space, q_space, timeline,
};
use optcp_units::{Duration, Time};
use proptest::prelude::*;

use crate::distances::{FAR, distances};

const MECHANISMS: [Mechanism; 6] = [
    Mechanism::Lfa,
    Mechanism::RemoteLfa,
    Mechanism::TiLfa,
    Mechanism::UTurn,
    Mechanism::NotVia,
    Mechanism::Mrc,
];

/// One next hop for each destination.
fn one(mechanism: Mechanism) -> Forwarding {
    Forwarding { mechanism, protect: Protect::Link, multipath: false }
}

/// Returns the FIB entry for several next hops.
fn entry(mut hops: Vec<DirectedLink>) -> Option<Entry> {
    match hops.len() {
        0 => None,
        1 => hops.pop().map(Entry::Next),
        _ => Some(Entry::Ecmp(hops)),
    }
}

/// A network: a random tree and more links, parallel ones too, with costs 1 to 4 each way. Where a branch of
/// the tree is missing it may be in parts, and nodes without any link.
fn networks() -> impl Strategy<Value = Topology> {
    (3usize..9).prop_flat_map(|nodes| {
        let cost = 1u32..5;
        let branch = (0usize..100, cost.clone(), cost.clone(), 0u32..5);
        let parents = proptest::collection::vec(branch, nodes - 1);
        let more = proptest::collection::vec((0..nodes, 1..nodes, cost.clone(), cost), 0..nodes);
        (Just(nodes), parents, more).prop_map(|(nodes, parents, more)| {
            let tree = parents.iter().enumerate().map(|(i, &(parent, there, back, kept))| {
                let ends = [i + 1, parent % (i + 1)];
                (kept > 0).then_some(Link { ends, costs: [there, back] })
            });
            let more = more.iter().map(|&(from, by, there, back)| Link {
                ends: [from, (from + by) % nodes],
                costs: [there, back],
            });
            Topology::new(nodes, tree.chain(more.map(Some)).collect())
        })
    })
}

/// The cost of the shortest path between each two nodes.
fn floyd_warshall(topology: &Topology) -> Vec<Vec<u64>> {
    distances(topology, |_, _| Some(0))
}

/// Returns the destination of a repaired packet if only the repairing router has detected the
/// failure: the others use their first FIBs. `None` if the packet meets the failed link or does not
/// arrive.
fn follow(
    topology: &Topology,
    routes: &Routes,
    from: usize,
    backup: &Repair,
    to: usize,
    failed: &[usize],
) -> Option<usize> {
    let mut node = from;
    let mut walk = backup.hops.clone();
    for _ in 0..4 * topology.nodes() {
        let hop = match walk.is_empty() {
            true if node == to => return Some(node),
            true => routes.next(node, to)?,
            false => walk.remove(0),
        };
        if failed.contains(&hop.0) {
            return None;
        }
        let adjacency = topology.adjacency(hop)?;
        node = adjacency.to;
    }
    None
}

/// Every pair of a router and a destination with the link that it leaves by.
fn pairs(topology: &Topology, routes: &Routes) -> Vec<(usize, usize, usize)> {
    let all = (0..topology.nodes()).flat_map(|s| (0..topology.nodes()).map(move |d| (s, d)));
    all.filter_map(|(s, d)| routes.next(s, d).map(|hop| (s, d, hop.0))).collect()
}

fn timing(topology: &Topology, spread: u64) -> Timing {
    Timing {
        detection: Duration::from_ms(5),
        detection_up: Duration::from_ms(5),
        hold_down: Duration::from_ms(100),
        flooding: Duration::from_ms(1),
        computation: Duration::from_ms(2),
        update: (0..topology.nodes() as u64).map(|n| Duration::from_ms(n * spread % 37)).collect(),
        hold: Duration::ZERO,
        delay: vec![[Duration::from_ms(3); 2]; topology.links().len()],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn paths_are_shortest_and_entries_agree(topology in networks()) {
        let (routes, cost) = (Routes::new(&topology), floyd_warshall(&topology));
        for (from, row) in cost.iter().enumerate() {
            for (to, &cost) in row.iter().enumerate() {
                prop_assert_eq!(routes.cost(from, to).sum(), (cost < FAR).then_some(cost));
                let path = routes.to(to).path(&topology, from);
                let sum: u64 = path.iter().map(|&hop| u64::from(topology.adjacency(hop).unwrap().cost)).sum();
                prop_assert_eq!(sum, if cost < FAR { cost } else { 0 });
            }
        }
    }

    #[test]
    fn detours_are_paths_of_the_reduced_graph(topology in networks()) {
        let routes = Routes::new(&topology);
        for (router, to, link) in pairs(&topology, &routes) {
            let tree = routes.to(to);
            let next = topology.adjacency(tree.next(router).unwrap()).unwrap().to;
            let around = topology.adjacencies(next).iter().map(|adjacency| adjacency.hop.0).collect();
            let third: Vec<usize> = (link % 3..topology.links().len()).step_by(3).collect();
            let one = [link];
            let mut gone = vec![
                (Removed::Links(&one), vec![link]),
                (Removed::Links(&third), third.clone()),
            ];
            gone.extend((next != to).then_some((Removed::Node(next), around)));
            for (gone, links) in gone {
                let left = topology.without(links);
                let anew = Tree::new(&left, to);
                for from in 0..topology.nodes() {
                    let way: Vec<_> = tree.detour(&topology, gone, from).iter().map(|step| step.hop).collect();
                    prop_assert_eq!(way, anew.path(&left, from), "{:?} of {} to {}", gone, from, to);
                }
            }
        }
    }

    #[test]
    fn alternates_match_the_inequalities(topology in networks()) {
        let (routes, cost) = (Routes::new(&topology), floyd_warshall(&topology));
        for (s, d, primary) in pairs(&topology, &routes) {
            let e = topology.adjacency(routes.next(s, d).unwrap()).unwrap().to;
            let found = alternates(&topology, &routes, s, d);
            for adjacency in topology.adjacencies(s) {
                let n = adjacency.to;
                let expected = adjacency.hop.0 != primary && cost[n][d] < cost[n][s] + cost[s][d];
                let one = found.iter().find(|one| one.adjacency.hop == adjacency.hop);
                prop_assert_eq!(one.is_some(), expected);
                if let Some(one) = one {
                    prop_assert_eq!(one.downstream, cost[n][d] < cost[s][d]);
                    prop_assert_eq!(one.node_protecting, cost[n][d] < cost[n][e] + cost[e][d]);
                }
            }
        }
    }

    /// P- and Q-spaces say that all shortest paths stay the same without the link.
    #[test]
    fn spaces_are_unaffected_by_the_link_failure(topology in networks()) {
        let (routes, cost) = (Routes::new(&topology), floyd_warshall(&topology));
        for s in 0..topology.nodes() {
            for primary in topology.adjacencies(s) {
                // The direction is taken away by a cost that no path would pay.
                let links = topology.links().iter().enumerate().map(|(index, link)| {
                    let mut link = (*link)?;
                    if index == primary.hop.0 {
                        link.costs[primary.hop.1] = 1 << 20;
                    }
                    Some(link)
                });
                let without = floyd_warshall(&Topology::new(topology.nodes(), links.collect()));
                for node in 0..topology.nodes() {
                    // There is a shortest path, and none takes the link: not one of several, and not the
                    // only one.
                    let through = |from: usize, to: usize| {
                        cost[from][s] + u64::from(primary.cost) + cost[primary.to][to]
                    };
                    let avoids = |from: usize, to: usize| {
                        cost[from][to] < FAR
                            && without[from][to] == cost[from][to]
                            && through(from, to) > cost[from][to]
                    };
                    prop_assert_eq!(p_space(&routes, s, *primary, node), avoids(s, node));
                    prop_assert_eq!(q_space(&routes, s, *primary, node), avoids(node, primary.to));
                    let by_neighbour = topology.adjacencies(s).iter().any(|over| {
                        over.hop.0 != primary.hop.0
                            && cost[over.to][node] < FAR
                            && cost[over.to][node] < cost[over.to][s] + cost[s][node]
                    });
                    let extended = extended_p_space(&topology, &routes, s, *primary, node);
                    prop_assert_eq!(extended.is_some(), avoids(s, node) || by_neighbour);
                }
            }
        }
    }

    #[test]
    fn backups_arrive_while_one_link_is_down(topology in networks()) {
        let repairs = Repairs::new(topology.clone());
        let routes = repairs.routes();
        for (s, d, failed) in pairs(&topology, routes) {
            let left = Routes::new(&topology.without([failed]));
            for protect in [Protect::Link, Protect::Node] {
                for mechanism in MECHANISMS {
                    let Some(backup) = repairs.find(mechanism, protect, s, d) else {
                        // They have a path without the link: there is a backup wherever there is a way.
                        let complete = matches!(mechanism, Mechanism::TiLfa | Mechanism::NotVia | Mechanism::Mrc);
                        prop_assert!(!complete || left.next(s, d).is_none());
                        continue;
                    };
                    prop_assert_eq!(follow(&topology, routes, s, &backup, d, &[failed]), Some(d));
                }
            }
        }
    }

    /// Counted a second time: a pair is protected if its packets arrive though its first link is down.
    #[test]
    fn protected_pairs_are_protectable(topology in networks()) {
        let repairs = Repairs::new(topology.clone());
        let routes = repairs.routes();
        for mechanism in MECHANISMS {
            let (mut pairs_of, mut protectable, mut protected) = (0, 0, 0);
            for (s, d, failed) in pairs(&topology, routes) {
                let left = floyd_warshall(&topology.without([failed]));
                pairs_of += 1;
                protectable += u64::from(left[s][d] < FAR);
                let backup = repairs.find(mechanism, Protect::Link, s, d);
                let arrives = |backup: &Repair| follow(&topology, routes, s, backup, d, &[failed]);
                protected += u64::from(backup.as_ref().and_then(arrives) == Some(d));
            }
            let found = coverage(&topology, one(mechanism));
            let expected = Coverage { pairs: pairs_of, protectable, protected, ..found };
            prop_assert_eq!(found, expected);
            if matches!(mechanism, Mechanism::TiLfa | Mechanism::NotVia | Mechanism::Mrc) {
                prop_assert_eq!(protected, protectable);
            }
        }
    }

    #[test]
    fn node_protecting_backups_avoid_the_next_router(topology in networks()) {
        let repairs = Repairs::new(topology.clone());
        let routes = repairs.routes();
        for (s, d, _) in pairs(&topology, routes) {
            let e = topology.adjacency(routes.next(s, d).unwrap()).unwrap().to;
            for mechanism in MECHANISMS {
                let backup = repairs.find(mechanism, Protect::Node, s, d);
                let Some(backup) = backup.filter(|backup| backup.node_protecting) else { continue };
                for adjacency in topology.adjacencies(e) {
                    let arrived = follow(&topology, routes, s, &backup, d, &[adjacency.hop.0]);
                    prop_assert_eq!(arrived, Some(d));
                }
            }
        }
    }

    /// Every third link shares a risk with the others of its kind.
    #[test]
    fn risk_protecting_backups_arrive_while_all_links_at_risk_are_down(topology in networks()) {
        let links = topology.links().len();
        let risks: Vec<Vec<usize>> = (0..3).map(|first| (first..links).step_by(3).collect()).collect();
        let topology = topology.with_risks(risks.iter().map(Vec::as_slice));
        let repairs = Repairs::new(topology.clone());
        let routes = repairs.routes();
        for (s, d, primary) in pairs(&topology, routes) {
            let failed = topology.at_risk_with(&primary);
            let left = floyd_warshall(&topology.without(failed.iter().copied()));
            for mechanism in MECHANISMS {
                let backup = repairs.find(mechanism, Protect::Risk, s, d);
                let protecting = backup.as_ref().is_some_and(|backup| backup.risk_protecting);
                let arrives = backup.is_some_and(|backup| {
                    follow(&topology, routes, s, &backup, d, failed) == Some(d)
                });
                prop_assert!(arrives || !protecting);
                // Along the post-convergence path there is a backup wherever there is a way.
                if mechanism == Mechanism::TiLfa {
                    prop_assert_eq!(protecting, left[s][d] < FAR);
                }
            }
        }
    }

    #[test]
    fn a_transient_failure_leaves_every_table_as_it_was(topology in networks(), link in 0usize..100) {
        let link = link % topology.links().len();
        let at = Time::ZERO + Duration::from_ms(1000);
        let failure = Failure {
            link, directions: [true; 2], at, repair: Some(at + Duration::from_ms(90)),
        };
        let timing = timing(&topology, 11);
        let by = Mechanism::RemoteLfa;
        let line = timeline(&topology, &[failure], &timing, one(by), Converge::Own, &mut || true).unwrap();
        prop_assert!(line.announcements.is_empty());
        let routes = Routes::new(&topology);
        let mut changed = std::collections::BTreeMap::new();
        for change in line.changes {
            changed.insert((change.router, change.destination), change.entry);
        }
        for ((router, destination), entry) in changed {
            prop_assert_eq!(entry, Entry::Next(routes.next(router, destination).unwrap()));
        }
    }

    /// Whatever is left in parts: where there still is a way, tables end as shortest paths.
    #[test]
    fn several_failures_end_in_the_network_that_is_left(
        topology in networks(),
        failing in proptest::collection::vec((0usize..100, 0u64..6), 1..5),
    ) {
        let link = |number: usize| number % topology.links().len();
        let failures: Vec<Failure> = failing.iter().map(|&(number, after)| Failure {
            link: link(number),
            directions: [true; 2],
            at: Time::ZERO + Duration::from_ms(1000 + 40 * after),
            repair: None,
        }).collect();
        let after = Routes::new(&topology.without(failures.iter().map(|failure| failure.link)));
        let before = Routes::new(&topology);
        for mechanism in MECHANISMS {
            let timing = timing(&topology, 23);
            let line = timeline(
                &topology, &failures, &timing, Forwarding { protect: Protect::Node, ..one(mechanism) },
                Converge::Own, &mut || true,
            ).unwrap();
            let mut last = std::collections::BTreeMap::new();
            for change in line.changes {
                last.insert((change.router, change.destination), change.entry);
            }
            for s in 0..topology.nodes() {
                for d in 0..topology.nodes() {
                    let Some(left) = after.next(s, d) else { continue };
                    let first = before.next(s, d).map(Entry::Next);
                    let entry = last.get(&(s, d)).cloned().or(first);
                    prop_assert_eq!(entry, Some(Entry::Next(left)));
                }
            }
        }
    }

    /// After all routers have acted on a permanent failure, FIBs match the remaining network. If
    /// all act at once, packets never meet entries that form a loop.
    #[test]
    fn convergence_ends_in_the_network_that_is_left(topology in networks(), link in 0usize..100) {
        let link = link % topology.links().len();
        let at = Time::ZERO + Duration::from_ms(1000);
        let failure = Failure { link, directions: [true; 2], at, repair: None };
        let left = topology.without([link]);
        let after = Routes::new(&left);
        let before = Routes::new(&topology);
        for (converge, multipath) in [
            (Converge::Own, false), (Converge::Synchronized, false),
            (Converge::Own, true), (Converge::Synchronized, true),
        ] {
            let timing = timing(&topology, 23);
            let forwarding = Forwarding { multipath, ..one(Mechanism::TiLfa) };
            let line = timeline(&topology, &[failure], &timing, forwarding, converge, &mut || true).unwrap();
            let of = |topology: &Topology, routes: &Routes, s, d| match multipath {
                true => entry(equal(topology, routes, s, d)),
                false => routes.next(s, d).map(Entry::Next),
            };
            let mut table: Vec<Vec<Option<Entry>>> = (0..topology.nodes())
                .map(|s| (0..topology.nodes()).map(|d| of(&topology, &before, s, d)).collect())
                .collect();
            for together in line.changes.chunk_by(|a, b| a.at == b.at) {
                for change in together {
                    table[change.router][change.destination] = Some(change.entry.clone());
                }
                if converge == Converge::Synchronized {
                    for (s, d, _) in pairs(&left, &after) {
                        prop_assert!(arrives(&topology, &table, s, d));
                    }
                }
            }
            for (s, d, _) in pairs(&left, &after) {
                prop_assert_eq!(&table[s][d], &of(&left, &after, s, d));
            }
        }
    }
}

/// The next hops over which the way is as short as any, from distances alone.
fn equal(topology: &Topology, routes: &Routes, from: usize, to: usize) -> Vec<DirectedLink> {
    let least = routes.cost(from, to).sum();
    let over = |next: &&Adjacency| {
        let rest = routes.cost(next.to, to).sum();
        from != to && rest.map(|rest| rest + u64::from(next.cost)) == least && least.is_some()
    };
    topology.adjacencies(from).iter().filter(over).map(|next| next.hop).collect()
}

/// Whether entries lead a packet to its destination, whichever of several next hops it takes.
fn arrives(topology: &Topology, table: &[Vec<Option<Entry>>], from: usize, to: usize) -> bool {
    let far_end = |hop| topology.adjacency(hop).map_or(to, |adjacency| adjacency.to);
    let mut nodes = BTreeSet::from([from]);
    for _ in 0..4 * topology.nodes() {
        let mut next = BTreeSet::new();
        for &node in nodes.iter().filter(|&&node| node != to) {
            match &table[node][to] {
                Some(Entry::Next(hop)) => next.extend([far_end(*hop)]),
                Some(Entry::Ecmp(hops)) => next.extend(hops.iter().map(|&hop| far_end(hop))),
                Some(Entry::Backup(backup)) => {
                    next.extend(backup.hops.last().map(|&hop| far_end(hop)))
                }
                None => return false,
            }
        }
        if next.is_empty() {
            return true;
        }
        nodes = next;
    }
    false
}
