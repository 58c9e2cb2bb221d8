//! ECMP hashing: the hash inputs of routers, and the path of each flow.

use std::collections::BTreeMap;

use optcp_des::Streams;
use optcp_net::multipath;
use optcp_routing::Routes;

use crate::plan::{DirectedLink, Plan};
use crate::routed::topology_of;

/// Returns the seed of each router's hash: drawn per run, or equal in all runs.
#[must_use]
pub fn seeds(plan: &Plan, run: u64) -> Vec<u64> {
    let fixed = plan.routing.as_ref().and_then(|routing| routing.ecmp_seed);
    let streams = Streams::new(fixed.map_or(run, u64::from));
    let seed = |node| streams.stream(&format!("routing/{node}/ecmp")).next_u64();
    plan.nodes.iter().map(seed).collect()
}

/// Returns the hash key of a flow or source: a hash of its name, which replaces addresses and ports.
#[must_use]
pub fn key(name: &str) -> u64 {
    Streams::new(0).stream(name).next_u64()
}

/// Returns the number of a next hop for highest-random-weight hashing.
#[must_use]
pub fn number((link, direction): DirectedLink) -> u64 {
    2 * link as u64 + direction as u64
}

/// Distribution of flows over the next hops of a router for one destination, before any failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadAt {
    /// Router.
    pub router: usize,
    /// Destination.
    pub destination: usize,
    /// Number of flows and sources per next hop.
    pub over: Vec<(DirectedLink, usize)>,
}

/// Paths of flows in a run, before any failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EcmpPaths {
    /// Path of data and path of ACKs by flow of the plan; sources only have the first.
    pub ways: Vec<[Vec<DirectedLink>; 2]>,
    /// Distribution by router and destination. Routers without flows are omitted.
    pub spread: Vec<SpreadAt>,
}

/// Returns the paths of routed flows in the run with this seed; `None` without ECMP. For random arrivals and
/// drawn pairs, each route counts as one flow.
#[must_use]
pub fn hashed(plan: &Plan, run: u64) -> Option<EcmpPaths> {
    let routing = plan.routing.as_ref()?;
    let (hashing, forwarding) = (routing.ecmp?, routing.forwarding());
    let topology = topology_of(plan);
    let (routes, seeds) = (Routes::new(&topology), seeds(plan, run));
    let mut spread: BTreeMap<(usize, usize), Vec<(DirectedLink, usize)>> = BTreeMap::new();
    let mut way = |from: usize, to: usize, key: u64| {
        let (mut node, mut way) = (from, Vec::new());
        loop {
            let next_hops = forwarding.next_hops(&topology, &routes, node, to);
            if next_hops.is_empty() {
                return way;
            }
            let place = hashing.place(seeds[node], key, next_hops.iter().copied().map(number));
            if next_hops.len() > 1 {
                let counts = || next_hops.iter().map(|&hop| (hop, 0)).collect();
                spread.entry((node, to)).or_insert_with(counts)[place].1 += 1;
            }
            way.push(next_hops[place]);
            node = topology.adjacency(next_hops[place]).map_or(to, |next| next.to);
        }
    };
    let ways = plan.flows.iter().map(|flow| {
        let (from, to) = (flow.path[0], flow.path[flow.path.len() - 1]);
        let key = key(&flow.name);
        match (flow.routed, flow.tcp) {
            (false, _) => [Vec::new(), Vec::new()],
            (true, None) => [way(from, to, multipath::key(key, false)), Vec::new()],
            (true, Some(_)) => [(from, to, false), (to, from, true)]
                .map(|(a, b, acks)| way(a, b, multipath::key(key, acks))),
        }
    });
    let ways = ways.collect();
    let at = |((router, destination), over)| SpreadAt { router, destination, over };
    Some(EcmpPaths { ways, spread: spread.into_iter().map(at).collect() })
}
