//! Multiple routing configurations (MRC).
//!
//! # Model
//! Routers have several routing configurations of the same network, computed in advance. In each, some nodes are
//! *isolated*: they carry no transit packets, only their own. A link of an isolated node is itself *isolated*, and
//! carries nothing, or *restricted*, and carries packets of this node only. All other nodes and links, the
//! *backbone*, are connected. Each node is isolated in one configuration, and each link at one of its ends.
//!
//! The router that detects a failure marks packets with the configuration that isolates the failed component.
//! Routers forward marked packets on the shortest paths of this configuration. Paths take as few restricted links as
//! possible, as if their weight exceeded the sum of all others. Packets are not encapsulated.
//!
//! Configurations are generated node by node, in the order of the file. A node is added to the next configuration
//! in turn that stays valid. In a valid configuration the backbone is connected, and each isolated node has a
//! restricted link to it. Of the node's links,
//!
//! 1. those that are restricted where their other end is isolated become isolated;
//! 2. those that are isolated there become restricted;
//! 3. others become isolated, except for the last if the node has no restricted link. Then the node at its other end
//!    is next.
//!
//! If a node fits into none of n configurations, all are generated again with n + 1.
//!
//! # References
//! A. Kvalbein, A. F. Hansen, T. Cicic, S. Gjessing, O. Lysne, "Fast IP Network Recovery Using Multiple Routing
//! Configurations", INFOCOM 2006: Algorithm 1 and the forwarding rule of section IV.
//!
//! # Parameters
//! `Protect`: whether packets get the configuration that isolates the link, or the next hop (the paper's rule).
//!
//! # Limitations
//! - The paper requires a network that no single node separates. Here each block of a network, a part that no node
//!   separates, has its own configurations. Packets leave the configuration at the last router of the block. Bridges
//!   are not protected.
//! - The paper processes links in a queue. The order of the three rules replaces it. The growth of n and the test for
//!   links to the backbone are additions.
//! - A marked packet that meets a second failure is lost, as in the paper. All configurations have the
//!   weights of the normal one: repaired traffic is not balanced.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use crate::blocks::blocks;
use crate::{Adjacency, DirectedLink, Protect, Routes, Topology};

/// Use of a link in a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Link of the backbone.
    Normal,
    /// Link for packets from and to its isolated end.
    Restricted,
    /// Link without packets.
    Isolated,
}

/// Configuration of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Isolated nodes.
    pub isolated: Vec<usize>,
    /// Restricted and isolated links.
    pub weights: BTreeMap<usize, Weight>,
}

impl Configuration {
    /// Returns the use of a link.
    #[must_use]
    pub fn weight(&self, link: usize) -> Weight {
        self.weights.get(&link).copied().unwrap_or(Weight::Normal)
    }
}

/// Next hop of each node to a destination.
type NextHops = BTreeMap<usize, DirectedLink>;

/// Block of a network with its configurations.
#[derive(Clone, Debug)]
pub struct Block {
    /// Links.
    links: Vec<usize>,
    /// Configurations; none for a bridge.
    pub configurations: Vec<Configuration>,
    /// By configuration: the last requested destination, and the next hop of each node to it.
    paths: RefCell<BTreeMap<usize, (usize, NextHops)>>,
}

/// Returns the blocks of a network with their configurations.
#[must_use]
pub fn configured(topology: &Topology) -> Vec<Block> {
    let block = |links: Vec<usize>| {
        // With one configuration per node the algorithm succeeds, unless the block is a bridge.
        let nodes = links.len() + 1;
        let mut generated = (1..=nodes).filter_map(|n| generate(topology, &links, n));
        let configurations = generated.next().unwrap_or_default();
        Block { links, configurations, paths: RefCell::default() }
    };
    blocks(topology).into_iter().map(block).collect()
}

/// Adjacencies of each node of a block.
fn adjacencies(topology: &Topology, links: &[usize]) -> BTreeMap<usize, Vec<Adjacency>> {
    let mut all: BTreeMap<usize, Vec<Adjacency>> = BTreeMap::new();
    for &link in links {
        for direction in [0, 1] {
            if let (Some(there), Some(back)) =
                (topology.adjacency((link, direction)), topology.adjacency((link, 1 - direction)))
            {
                all.entry(back.to).or_default().push(there);
            }
        }
    }
    all.values_mut().for_each(|list| list.sort_unstable());
    all
}

/// Generates n configurations of a block that is no bridge; `None` if a node fits into none.
fn generate(topology: &Topology, links: &[usize], n: usize) -> Option<Vec<Configuration>> {
    let around = adjacencies(topology, links);
    let mut all = vec![Configuration::default(); n];
    let mut home: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue: VecDeque<usize> = around.keys().copied().collect();
    let mut turn = 0;
    while let Some(node) = queue.pop_front() {
        let tried = (0..n).map(|by| (turn + by) % n);
        let (place, configuration, next) = tried
            .filter_map(|place| {
                let (configuration, next) = isolate(&around, &all, &home, place, node)?;
                Some((place, configuration, next))
            })
            .next()?;
        all[place] = configuration;
        home.insert(node, place);
        turn = (place + 1) % n;
        if let Some(next) = next {
            queue.retain(|&other| other != next);
            queue.push_front(next);
        }
    }
    Some(all)
}

/// Returns a configuration in which a node is isolated too, and the node that must be next; `None` if it would
/// be invalid.
fn isolate(
    around: &BTreeMap<usize, Vec<Adjacency>>,
    all: &[Configuration],
    home: &BTreeMap<usize, usize>,
    place: usize,
    node: usize,
) -> Option<(Configuration, Option<usize>)> {
    let mut changed = all[place].clone();
    changed.isolated.push(node);
    if !connected(around, &changed.isolated) {
        return None;
    }
    let (mut unknown, mut next, mut kept) = (Vec::new(), None, false);
    for &Adjacency { to, hop: (link, _), .. } in &around[&node] {
        let Some(&other) = home.get(&to) else {
            unknown.push((link, to));
            continue;
        };
        if all[other].weight(link) == Weight::Restricted {
            changed.weights.insert(link, Weight::Isolated);
        } else if other != place {
            changed.weights.insert(link, Weight::Restricted);
            kept = true;
        }
    }
    if let Some((link, to)) = unknown.pop_if(|_| !kept) {
        changed.weights.insert(link, Weight::Restricted);
        next = Some(to);
    }
    changed.weights.extend(unknown.into_iter().map(|(link, _)| (link, Weight::Isolated)));
    let attached = |node: &usize| {
        around[node].iter().any(|over| {
            changed.weight(over.hop.0) == Weight::Restricted && !changed.isolated.contains(&over.to)
        })
    };
    changed.isolated.iter().all(attached).then_some((changed, next))
}

/// Returns whether the nodes of a block without some of them are connected, and whether any are left.
fn connected(around: &BTreeMap<usize, Vec<Adjacency>>, without: &[usize]) -> bool {
    let mut left: Vec<usize> =
        around.keys().copied().filter(|node| !without.contains(node)).collect();
    let mut open: Vec<usize> = left.pop().into_iter().collect();
    let some = !open.is_empty();
    while let Some(node) = open.pop() {
        for over in &around[&node] {
            if let Ok(place) = left.binary_search(&over.to) {
                left.remove(place);
                open.push(over.to);
            }
        }
    }
    some && left.is_empty()
}

/// Returns the repair path of `router` for `destination`, up to the last node of the block, and this node; `None` over a
/// bridge.
#[must_use]
pub fn marked(
    blocks: &[Block],
    topology: &Topology,
    routes: &Routes,
    protect: Protect,
    (router, destination): (usize, usize),
) -> Option<(Vec<DirectedLink>, usize)> {
    let primary = topology.adjacency(routes.next(router, destination)?)?;
    let block = blocks.iter().find(|block| block.links.binary_search(&primary.hop.0).is_ok())?;
    // Last node of the path in the block.
    let mut end = primary.to;
    while let Some(hop) = routes.next(end, destination) {
        if block.links.binary_search(&hop.0).is_err() {
            break;
        }
        end = topology.adjacency(hop)?.to;
    }
    let isolates_link = |one: &Configuration| one.weight(primary.hop.0) == Weight::Isolated;
    let isolates_node = |one: &Configuration| one.isolated.contains(&primary.to);
    let number = match protect {
        Protect::Node if primary.to != end => block.configurations.iter().position(isolates_node),
        _ => block.configurations.iter().position(isolates_link),
    }?;
    Some((block.path(topology, number, router, end)?, end))
}

impl Block {
    /// Returns the path between two nodes in a configuration.
    fn path(
        &self,
        topology: &Topology,
        number: usize,
        from: usize,
        to: usize,
    ) -> Option<Vec<DirectedLink>> {
        let mut paths = self.paths.borrow_mut();
        let known = paths.get(&number).is_some_and(|&(known, _)| known == to);
        if !known {
            paths.insert(number, (to, self.towards(topology, &self.configurations[number], to)));
        }
        let (_, next) = paths.get(&number)?;
        let (mut hops, mut node) = (Vec::new(), from);
        while node != to {
            let &hop = next.get(&node)?;
            hops.push(hop);
            node = topology.adjacency(hop)?.to;
        }
        Some(hops)
    }

    /// Returns the next hop of each node to a destination: fewest restricted links, then minimum cost, fewest hops,
    /// first neighbour and first link.
    fn towards(&self, topology: &Topology, configuration: &Configuration, to: usize) -> NextHops {
        type Length = (u32, u64, u32);
        let around = adjacencies(topology, &self.links);
        let length = |over: &Adjacency, (restricted, cost, hops): Length| {
            let more = match configuration.weight(over.hop.0) {
                Weight::Normal => 0,
                Weight::Restricted => 1,
                Weight::Isolated => return None,
            };
            Some((restricted + more, cost + u64::from(over.cost), hops + 1))
        };
        let mut found: BTreeMap<usize, Length> = BTreeMap::new();
        let mut near = BinaryHeap::from([Reverse(((0, 0, 0), to))]);
        while let Some(Reverse((here, node))) = near.pop() {
            if found.contains_key(&node) {
                continue;
            }
            found.insert(node, here);
            for over in &around[&node] {
                let back = topology.adjacency((over.hop.0, 1 - over.hop.1));
                near.extend(
                    back.and_then(|back| length(&back, here)).map(|l| Reverse((l, over.to))),
                );
            }
        }
        let next = |(&node, own): (&usize, &Length)| {
            let fits = |over: &&Adjacency| {
                found.get(&over.to).and_then(|&rest| length(over, rest)) == Some(*own)
            };
            Some((node, around[&node].iter().find(fits)?.hop))
        };
        found.iter().filter(|&(&node, _)| node != to).filter_map(next).collect()
    }
}
