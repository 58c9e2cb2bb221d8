//! What a backup is for.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::plan::{BundlePlan, LinkWay};
use crate::problem::Problems;
use crate::schema::ProtectionEntry;
use crate::tree::place;

use super::network::Network;
use super::route::Route;

/// An entry as it is for one of its groups of flows.
pub(super) struct ProtectedGroup<'e> {
    pub entry: &'e ProtectionEntry,
    pub flows: &'e str,
}

impl Deref for ProtectedGroup<'_> {
    type Target = ProtectionEntry;
    fn deref(&self) -> &ProtectionEntry {
        self.entry
    }
}

/// What a backup protects: the flows, or the way over a link; and the links whose failure it is for, all
/// that it goes around if none is named.
pub(super) struct BackupScope {
    pub flows: Vec<usize>,
    pub link: Option<LinkWay>,
    pub links: Vec<usize>,
    pub backup: Route,
}

/// The one backup of an entry that is written node by node.
pub(super) fn written(
    i: usize,
    entry: &ProtectionEntry,
    routes: &[Route],
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<Route> {
    let place = place!["protection", i, "backup"];
    if entry.metric.is_some() {
        problems
            .at(place!["protection", i, "metric"], "`metric` has no meaning here")
            .label("with a `backup` that is found only");
    }
    let [backup] = routes else {
        problems.at(place, "a group of nodes in a backup path").label("name one node");
        return None;
    };
    if let Some(bundle) = backup.bundles.values().next() {
        let message = format!("the backup goes through bundle `{}`", network.bundles[*bundle].name);
        problems.at(place, message).help("name one of its links between the two nodes".to_owned());
        return None;
    }
    Some(Route { nodes: backup.nodes.clone(), hops: backup.hops.clone(), bundles: BTreeMap::new() })
}

/// Whether a backup stays off the links that it protects; reports it if not.
pub(super) fn avoids(
    i: usize,
    backup: &Route,
    links: &[usize],
    label: &str,
    network: &Network,
    problems: &mut Problems<'_>,
) -> bool {
    let crossing = backup.hops.iter().position(|hop| links.contains(&hop.0));
    if let Some(j) = crossing {
        let name = &network.links[backup.hops[j].0].name;
        problems
            .at(place!["protection", i, "backup", j], format!("the backup path uses `{name}`"))
            .label(label);
    }
    crossing.is_none()
}

/// The name of a link, or of the bundle that consists of the links.
pub(super) fn name_of<'n>(links: &[usize], network: &'n Network) -> &'n str {
    match links {
        [link] => &network.links[*link].name,
        _ => {
            let bundle = network.bundles.iter().find(|bundle| consists_of(bundle, links));
            bundle.map_or("", |bundle| &bundle.name)
        }
    }
}

pub(super) fn consists_of(bundle: &BundlePlan, links: &[usize]) -> bool {
    bundle.members.iter().map(|member| &member.0).eq(links)
}
