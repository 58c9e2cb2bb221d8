//! P-cycles: cycles of spare capacity that protect the links on them and across them.
//!
//! # Model
//! Both ends of a failed link switch to the cycle. A link on the cycle has one backup, the rest of the cycle. A link across
//! it has two, and uses the shorter one.
//!
//! # References
//! W. D. Grover and D. Stamatelakis, "Cycle-oriented distributed preconfiguration: ring-like speed with mesh-like
//! capacity for self-planning network restoration", ICC 1998.
//!
//! # Limitations
//! A link across the cycle uses one of its two backups for all traffic. Nodes are not protected.

use std::collections::BTreeSet;

use optcp_routing::Topology;
use optcp_units::nearest::suggestion;

use crate::problem::Problems;
use crate::schema::ProtectionEntry;
use crate::tree::place;

use super::network::Network;

/// Returns the links that are not on the cycle of an entry; reports a problem and returns `None` without one.
pub(super) fn outside(
    i: usize,
    entry: &ProtectionEntry,
    topology: &Topology,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<BTreeSet<usize>> {
    let Some(names) = &entry.cycle else {
        problems
            .at(place!["protection", i, "backup"], "p-cycle without nodes")
            .label("needs `cycle`");
        return None;
    };
    let mut nodes = Vec::new();
    for (j, name) in names.iter().enumerate() {
        let place = place!["protection", i, "cycle", j];
        let Some(node) = network.find_node(name) else {
            let help = suggestion(name, "nodes", network.nodes.iter().map(String::as_str));
            problems.at(place, format!("unknown node `{name}`")).help(help);
            return None;
        };
        if nodes.contains(&node) {
            problems.at(place, format!("`{name}` is twice on the cycle"));
            return None;
        }
        nodes.push(node);
    }
    if nodes.len() < 3 {
        problems
            .at(place!["protection", i, "cycle"], "not a cycle")
            .label("needs three nodes or more");
        return None;
    }
    let mut outside: BTreeSet<usize> = (0..network.links.len()).collect();
    for (j, &node) in nodes.iter().enumerate() {
        let next = nodes[(j + 1) % nodes.len()];
        let between = topology.adjacencies(node).iter().filter(|found| found.to == next);
        let Some(link) = between.map(|found| found.hop.0).min() else {
            let [from, to] = [node, next].map(|node| network.name(node));
            problems
                .at(place!["protection", i, "cycle", j], format!("no link from `{from}` to `{to}`"))
                .label("neighbours on the cycle need a link");
            return None;
        };
        outside.remove(&link);
    }
    Some(outside)
}
