//! Repair paths of the routers of a network.

use std::cell::{OnceCell, RefCell};

use crate::backup::{Mechanism, Protect, Repair, Segment};
use crate::fifr::KeyLinks;
use crate::lfa::{Alternate, alternates, choose};
use crate::mrc::{Block, configured, marked};
use crate::not_via::not_via;
use crate::remote_lfa::pq_node;
use crate::ti_lfa::post_convergence;
use crate::u_turn::u_turns;
use crate::{Adjacency, DirectedLink, Routes, Topology};

/// Network with its shortest paths, for the computation of repair paths.
#[derive(Clone, Debug)]
pub struct Repairs {
    topology: Topology,
    routes: Routes,
    /// Routing configurations of each block, for MRC.
    blocks: OnceCell<Vec<Block>>,
    /// Key links for the last requested destination, for FIFR.
    key_links: RefCell<Option<(usize, KeyLinks)>>,
}

impl Repairs {
    /// Computes the shortest paths of a network. Repair paths are computed when they are requested.
    #[must_use]
    pub fn new(topology: Topology) -> Self {
        let routes = Routes::new(&topology);
        let (blocks, key_links) = (OnceCell::new(), RefCell::new(None));
        Repairs { topology, routes, blocks, key_links }
    }

    /// Returns the network.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns its shortest paths.
    #[must_use]
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Returns the repair path of `router` for `destination`; `None` if the mechanism finds none.
    #[must_use]
    pub fn find(
        &self,
        mechanism: Mechanism,
        protect: Protect,
        router: usize,
        destination: usize,
    ) -> Option<Repair> {
        let Repairs { topology, routes, .. } = self;
        let primary = topology.adjacency(routes.next(router, destination)?)?;
        let repair = |mechanism, hops, end| self.over(mechanism, (primary, destination), hops, end);
        let tunnel = |hops, end, segments| Repair {
            encapsulated: true,
            segments,
            ..repair(mechanism, hops, end)
        };
        let by_neighbour = || {
            let found = alternates(topology, routes, router, destination);
            let Alternate { adjacency, node_protecting, .. } = choose(&found, protect)?;
            let hops = vec![adjacency.hop];
            Some(Repair { node_protecting, ..repair(Mechanism::Lfa, hops, adjacency.to) })
        };
        match mechanism {
            Mechanism::None => None,
            Mechanism::Lfa => by_neighbour(),
            Mechanism::RemoteLfa => by_neighbour().or_else(|| {
                let pq = pq_node(topology, routes, router, primary)?;
                Some(tunnel(pq.hops, pq.node, vec![Segment::Node(pq.node)]))
            }),
            Mechanism::TiLfa => {
                let path = post_convergence(topology, routes, protect, router, destination)?;
                Some(tunnel(path.hops, path.end, path.segments))
            }
            Mechanism::UTurn => {
                let falls_short = |repair: &Repair| match protect {
                    Protect::Link => false,
                    Protect::Node => !repair.node_protecting,
                    Protect::Risk => !repair.risk_protecting,
                };
                let direct = by_neighbour().map(|found| (falls_short(&found), None, found));
                let around = u_turns(topology, routes, router, destination).into_iter().map(|u| {
                    let hops = vec![u.neighbour.hop, u.alternate.hop];
                    let found = repair(mechanism, hops, u.alternate.to);
                    (falls_short(&found), Some((u.cost, u.neighbour)), found)
                });
                let all = direct.into_iter().chain(around);
                let best = all.min_by_key(|&(falls_short, rank, _)| (falls_short, rank));
                best.map(|(.., found)| found)
            }
            Mechanism::NotVia => {
                let path = not_via(topology, routes, protect, router, destination)?;
                Some(tunnel(path.hops, path.end, vec![Segment::Node(path.end)]))
            }
            Mechanism::Mrc => {
                let blocks = self.blocks.get_or_init(|| configured(topology));
                let (hops, end) = marked(blocks, topology, routes, protect, (router, destination))?;
                Some(repair(mechanism, hops, end))
            }
            Mechanism::Fifr => {
                let tree = routes.to(destination);
                let mut known = self.key_links.borrow_mut();
                let known = match &mut *known {
                    Some((of, keys)) if *of == destination => keys,
                    other => &mut other.insert((destination, KeyLinks::new(topology, tree))).1,
                };
                let (hops, end) = known.path(topology, tree, router)?;
                Some(repair(mechanism, hops, end))
            }
        }
    }

    /// Returns a repair path without encapsulation, with the elements that it avoids.
    fn over(
        &self,
        mechanism: Mechanism,
        (primary, destination): (Adjacency, usize),
        hops: Vec<DirectedLink>,
        end: usize,
    ) -> Repair {
        let Repairs { topology, routes, .. } = self;
        // Neither the path nor any shortest path from its end touches the next hop: inequality 3 of RFC 5286 if
        // the end is a neighbour.
        let beyond = routes.cost(end, primary.to) + routes.cost(primary.to, destination);
        let touches =
            |&hop: &DirectedLink| topology.adjacency(hop).is_some_and(|a| a.to == primary.to);
        let at_risk = topology.at_risk_with(&primary.hop.0);
        Repair {
            mechanism,
            node_protecting: routes.cost(end, destination) < beyond && !hops.iter().any(touches),
            risk_protecting: routes.avoid_links(topology, at_risk, &hops, end, destination),
            hops,
            end,
            encapsulated: false,
            segments: Vec::new(),
        }
    }
}
