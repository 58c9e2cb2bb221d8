//! Failure inferencing based fast rerouting (FIFR).
//!
//! # Model
//! Forwarding tables depend on the interface at which a packet arrives. The router that detects the failure of its
//! next hop sends packets along the shortest path without the link. Packets are neither marked nor encapsulated. Some
//! neighbours send packets for a destination only after a failure. A router that receives packets from them infers the
//! links that may have failed, the *key links* of the interface. Link u-v is a key link of interface j-i for D under
//! three conditions:
//!
//! * v is the next hop of u for D.
//! * The path of i to D leads over u-v.
//! * The shortest path of u without u-v leads over j-i.
//!
//! The router forwards the packets along the shortest path without all key links of their interface. Interfaces
//! without key links use the ordinary table. If one link fails, no packet loops and each arrives if a path exists.
//!
//! # References
//! Z. Zhong, S. Nelakuditi, Y. Yu, S. Lee, J. Wang, C.-N. Chuah, "Failure Inferencing Based Fast Rerouting for Handling
//! Transient Link and Node Failures", INFOCOM 2005; S. Lee, Y. Yu, S. Nelakuditi, Z.-L. Zhang, C.-N. Chuah, "Proactive vs
//! Reactive Approaches to Failure Resilient Routing", INFOCOM 2004, for key links.
//!
//! # Limitations
//! - Single link failures: the tables for node failures of the 2005 paper are not modelled. If two links fail, routers
//!   infer the wrong one, and packets may loop until their time to live expires. Here the path of a packet is fixed
//!   for its router's failure, and the packet is lost at the second failed link.
//! - Costs must be equal in both directions. Otherwise packets may arrive over j-i without a failure too.
//! - Equal-cost multipath is not supported: inference needs one path per router.

use std::collections::BTreeMap;

use crate::{DirectedLink, Removed, Topology, Tree};

/// Key links of all interfaces for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLinks(BTreeMap<DirectedLink, Vec<usize>>);

impl KeyLinks {
    /// Computes the key links for the destination of a tree.
    #[must_use]
    pub fn new(topology: &Topology, tree: &Tree) -> Self {
        let mut keys: BTreeMap<DirectedLink, Vec<usize>> = BTreeMap::new();
        for u in 0..topology.nodes() {
            let Some((failed, _)) = tree.next(u) else { continue };
            for step in tree.detour(topology, Removed::Links(&[failed]), u) {
                if !tree.path(topology, step.to).iter().any(|hop| hop.0 == failed) {
                    // From here on, paths are as without the failure.
                    break;
                }
                keys.entry(step.hop).or_default().push(failed);
            }
        }
        KeyLinks(keys)
    }

    /// Returns the key links of packets that arrive over a link direction.
    #[must_use]
    pub fn of(&self, hop: DirectedLink) -> &[usize] {
        self.0.get(&hop).map_or(&[], Vec::as_slice)
    }

    /// Returns the hops of packets after the failure of the next hop of `router`; `None` if there is no path. The
    /// second value is the end of these hops, where forwarding is ordinary.
    #[must_use]
    pub fn path(
        &self,
        topology: &Topology,
        tree: &Tree,
        router: usize,
    ) -> Option<(Vec<DirectedLink>, usize)> {
        let (failed, _) = tree.next(router)?;
        let mut hops: Vec<DirectedLink> = Vec::new();
        let (mut node, mut without) = (router, vec![failed]);
        while !without.is_empty() {
            let step = *tree.detour(topology, Removed::Links(&without), node).first()?;
            hops.push(step.hop);
            node = step.to;
            without = self.of(step.hop).to_vec();
            if hops.len() > topology.links().len() {
                return None;
            }
        }
        Some((hops, node))
    }
}
