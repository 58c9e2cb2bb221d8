//! Coverage of fast reroute.

use std::collections::BTreeMap;

use crate::backup::Repair;
use crate::repair::Repairs;
use crate::{DirectedLink, Forwarding, Removed, Topology};

/// Counts over all pairs of a router and a destination (RFC 6571's per-prefix view), and over all link
/// directions (its per-link view). A pair represents the link over which it leaves, so that pairs of a link
/// and a destination behind it give the same counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Pairs with a path.
    pub pairs: u64,
    /// Pairs with another path after the first link has failed: the maximum for any mechanism.
    pub protectable: u64,
    /// Pairs with a repair path.
    pub protected: u64,
    /// Pairs with a repair path that also avoids the next hop; excluded if the next hop is the destination.
    pub node_protected: u64,
    /// Pairs whose repair path is a tunnel.
    pub tunnels: u64,
    /// Link directions over which some pair leaves.
    pub links: u64,
    /// Link directions with a repair path for every destination behind them.
    pub links_protected: u64,
}

/// Returns the coverage of all routers; without a mechanism, the possible coverage. With ECMP, the
/// next hops protect each other.
#[must_use]
pub fn coverage(topology: &Topology, forwarding: Forwarding) -> Coverage {
    let Forwarding { mechanism, protect, .. } = forwarding;
    let repairs = Repairs::new(topology.clone());
    let routes = repairs.routes();
    let mut counts = Coverage::default();
    let mut links: BTreeMap<DirectedLink, bool> = BTreeMap::new();
    // Links are bidirectional: destinations behind a link are reachable without it if its far end is.
    let mut around: BTreeMap<DirectedLink, bool> = BTreeMap::new();
    for destination in 0..topology.nodes() {
        for router in 0..topology.nodes() {
            let set = forwarding.next_hops(topology, routes, router, destination);
            let Some(&hop) = set.first() else { continue };
            if set.len() > 1 {
                counts.pairs += 1;
                counts.protectable += 1;
                counts.protected += 1;
                counts.node_protected +=
                    u64::from(routes.avoid_each_other(topology, &set, destination));
                set.iter().for_each(|&hop| _ = links.entry(hop).or_insert(true));
                continue;
            }
            let backup: Option<Repair> = repairs.find(mechanism, protect, router, destination);
            let around = around.entry(hop).or_insert_with(|| {
                let gone = Removed::Links(&[hop.0]);
                !routes.to(destination).detour(topology, gone, router).is_empty()
            });
            counts.pairs += 1;
            counts.protectable += u64::from(*around);
            let whole = links.entry(hop).or_insert(true);
            *whole &= backup.is_some();
            if let Some(backup) = backup {
                counts.protected += 1;
                counts.node_protected += u64::from(backup.node_protecting);
                counts.tunnels += u64::from(backup.tunnel());
            }
        }
    }
    counts.links = links.len() as u64;
    counts.links_protected = links.values().filter(|&&whole| whole).count() as u64;
    counts
}
