//! Scope of a backup: protected flows and links.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::plan::{BundlePlan, LinkWay};
use crate::problem::Problems;
use crate::schema::ProtectionEntry;
use crate::tree::place;

use super::network::Network;
use super::route::Route;

/// Protection entry for one flow group.
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

/// Flows, or the path over a link, that a backup protects, and the protected links. By default these are all
/// links that the backup bypasses.
pub(super) struct BackupScope {
    pub flows: Vec<usize>,
    pub link: Option<LinkWay>,
    pub links: Vec<usize>,
    pub backup: Route,
}

/// Returns the backup of an entry with listed nodes.
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
            .at(place!["protection", i, "metric"], "`metric` is not used here")
            .label("needs a computed `backup`");
    }
    let [backup] = routes else {
        problems.at(place, "node group in a backup path").label("name one node");
        return None;
    };
    if let Some(bundle) = backup.bundles.values().next() {
        let message = format!("the backup goes through bundle `{}`", network.bundles[*bundle].name);
        problems.at(place, message).help("name one of its links between the two nodes".to_owned());
        return None;
    }
    Some(Route { nodes: backup.nodes.clone(), hops: backup.hops.clone(), bundles: BTreeMap::new() })
}

/// Returns whether a backup avoids the links that it protects; reports it if not.
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

/// Returns the name of a link, or of the bundle that consists of the links.
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
