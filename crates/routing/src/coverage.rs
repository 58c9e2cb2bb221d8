//! How much of a network fast reroute protects.

use std::collections::BTreeMap;

use crate::backup::Repair;
use crate::repair::repair;
use crate::{DirectedLink, Forwarding, Removed, Routes, Topology};

/// Counts over all pairs of a router and a destination (RFC 6571's per-prefix view), and over all
/// directions of links (its per-link view). A pair stands for the link that it leaves by, so that pairs
/// of a link and a destination behind it give the same counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Pairs with a way from the one to the other.
    pub pairs: u64,
    /// Pairs with another way once the first link has failed: what any mechanism could protect.
    pub protectable: u64,
    /// Pairs with a backup.
    pub protected: u64,
    /// Pairs with a backup that avoids the next hop too; none if that is the destination.
    pub node_protected: u64,
    /// Pairs whose backup is a tunnel.
    pub tunnels: u64,
    /// Directions of links that some packets leave by.
    pub links: u64,
    /// Of these, those with a backup for every destination behind them.
    pub links_protected: u64,
}

/// The coverage that routers give; of no mechanism, what could be protected. Where flows are spread over several next hops,
/// each protects the others.
#[must_use]
pub fn coverage(topology: &Topology, forwarding: Forwarding) -> Coverage {
    let Forwarding { mechanism, protect, .. } = forwarding;
    let routes = Routes::new(topology);
    let mut counts = Coverage::default();
    let mut links: BTreeMap<DirectedLink, bool> = BTreeMap::new();
    // Links go both ways: what lies behind one can be reached without it if its far end can.
    let mut around: BTreeMap<DirectedLink, bool> = BTreeMap::new();
    for destination in 0..topology.nodes() {
        for router in 0..topology.nodes() {
            let set = forwarding.next_hops(topology, &routes, router, destination);
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
            let backup: Option<Repair> =
                repair(topology, &routes, mechanism, protect, router, destination);
            let around = around.entry(hop).or_insert_with(|| {
                let way =
                    routes.to(destination).detour(topology, Removed::LinkBehind(router), router);
                !way.is_empty()
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
