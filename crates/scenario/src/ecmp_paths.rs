//! What routers hash where they spread flows over next hops of equal cost, and which way each flow goes by that.

use std::collections::BTreeMap;

use optcp_des::Streams;
use optcp_net::multipath;
use optcp_routing::Routes;

use crate::plan::{DirectedLink, Plan};
use crate::routed::topology_of;

/// The seed of each router's hash in the run with a seed: its own, drawn for the run, or the same in all runs.
#[must_use]
pub fn seeds(plan: &Plan, run: u64) -> Vec<u64> {
    let fixed = plan.routing.as_ref().and_then(|routing| routing.ecmp_seed);
    let streams = Streams::new(fixed.map_or(run, u64::from));
    let seed = |node| streams.stream(&format!("routing/{node}/ecmp")).next_u64();
    plan.nodes.iter().map(seed).collect()
}

/// What routers hash of a flow or source: a hash of its name, in the place of addresses and ports.
#[must_use]
pub fn key(name: &str) -> u64 {
    Streams::new(0).stream(name).next_u64()
}

/// The number of a next hop that is hashed for highest random weight.
#[must_use]
pub fn number((link, direction): DirectedLink) -> u64 {
    2 * link as u64 + direction as u64
}

/// A router that has several next hops for a destination, as the flows of a run are spread over them before anything fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadAt {
    /// The router.
    pub router: usize,
    /// The destination.
    pub destination: usize,
    /// Of each next hop, how many flows and sources take it.
    pub over: Vec<(DirectedLink, usize)>,
}

/// The ways of flows in a run before anything fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EcmpPaths {
    /// By flow of the plan: the way of its data and that of its ACKs; of sources the first alone.
    pub ways: Vec<[Vec<DirectedLink>; 2]>,
    /// Where flows are spread, by router and destination; routers to which none come are left out.
    pub spread: Vec<SpreadAt>,
}

/// The ways of the flows that follow the routing in the run with a seed; `None` unless routers spread flows. Of flows that come
/// at random or are drawn, each route counts as one.
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
