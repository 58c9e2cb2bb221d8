//! Links that are protected for all routed traffic.

use optcp_optical::protection::{Revert, Scheme};
use optcp_routing::{Topology, TunnelTtl};

use crate::plan::LinkWay;
use crate::problem::Problems;
use crate::routed;
use crate::schema::{Disjoint, ListOr, ProtectionEntry};
use crate::tree::place;

use super::backup_scope::{BackupScope, avoids, name_of, written};
use super::backups::Search;
use super::draft::Draft;
use super::network::Network;
use super::route::Route;

/// Returns the links that an entry without `flows` protects: the named link or bundle, or every link with a
/// detour.
pub(super) fn links(
    i: usize,
    entry: &ProtectionEntry,
    named: &[usize],
    routes: Option<&[Route]>,
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Vec<BackupScope> {
    let before = problems.found.len();
    check_keys(i, entry, plan, problems);
    if problems.found.len() > before || network.incomplete {
        return Vec::new();
    }
    let topology = routed::topology(network.nodes.len(), &network.links, &network.bundles);
    let taken: Vec<usize> =
        plan.protections.iter().filter_map(|one| Some(one.link.as_ref()?.hops[0].0)).collect();
    let of_routers: Vec<usize> = match named {
        [] => (0..network.links.len()).filter(|&link| topology.links()[link].is_some()).collect(),
        [first, ..] => match routing_link(i, *first, named, &topology, network, problems) {
            Some(link) => vec![link],
            None => return Vec::new(),
        },
    };
    if let Some(twice) = of_routers.iter().find(|link| taken.contains(link)) {
        let name = &network.links[*twice].name;
        let message =
            format!("`{name}` is already protected for all traffic that routers send over it");
        problems.at(place!["protection", i, "link"], message);
        return Vec::new();
    }
    match (&entry.backup, routes) {
        (ListOr::Found(disjoint), _) => {
            around(i, entry, &of_routers, *disjoint, plan, network, problems)
        }
        (_, Some(routes)) => {
            let backup = written(i, entry, routes, network, problems);
            let covers =
                backup.and_then(|backup| along(i, of_routers[0], named, backup, network, problems));
            covers.into_iter().collect()
        }
        (ListOr::List(_), None) => Vec::new(),
    }
}

/// Reports keys that do not apply to a single link.
fn check_keys(i: usize, entry: &ProtectionEntry, plan: &Draft, problems: &mut Problems<'_>) {
    let Some(routing) = &plan.routing else {
        problems
            .at(place!["protection", i], "no protected traffic")
            .label("needs `flows`; protection of links for all traffic needs [routing]");
        return;
    };
    if routing.ttl == TunnelTtl::Pipe {
        problems
            .at(place!["routing", "ttl"], "`pipe` tunnels over protected links")
            .label("use `uniform` if links are protected for all traffic");
    }
    if entry.revert == Some(Revert::OpticalEmulated) {
        problems
            .at(place!["protection", i, "revert"], "`optical-emulated` for all traffic of a link")
            .label("needs `flows` that have paths of their own");
    }
    if let Some(scheme) = entry.scheme.filter(|&scheme| is_path_scheme(scheme)) {
        let message = format!("scheme `{}` for a single link", scheme.name());
        problems
            .at(place!["protection", i, "scheme"], message)
            .label("notifies nodes along a path; use `local`, `1:1`, `1+1` or `restoration`");
    }
    if matches!(entry.backup, ListOr::List(_)) && entry.link.is_none() {
        problems
            .at(place!["protection", i, "backup"], "backup without a protected link")
            .label("needs `link`, or a computed backup");
    }
}

/// Returns whether a scheme differs from `local` only if more than one link is protected.
fn is_path_scheme(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Path | Scheme::LoopBack | Scheme::LoopBackVariant | Scheme::Segment)
}

/// Returns the link that represents the named link or bundle in routing.
fn routing_link(
    i: usize,
    first: usize,
    named: &[usize],
    topology: &Topology,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<usize> {
    let whole = network.bundles.iter().find(|bundle| bundle.has(first));
    let alone = named.len() == 1 && whole.is_some();
    let link = whole.map_or(first, |bundle| bundle.leader());
    if alone || topology.links()[link].is_none() {
        let message =
            format!("routing does not use `{}` as a separate link", network.links[first].name);
        let problem = problems.at(place!["protection", i, "link"], message);
        if let Some(bundle) = whole {
            problem.label(format!("name the bundle `{}`", bundle.name));
        }
        return None;
    }
    Some(link)
}

/// Returns the path over a link of the topology, or over the bundle that it represents, in a direction, with
/// its links.
fn way(link: usize, direction: usize, network: &Network) -> (LinkWay, Vec<usize>) {
    let ends = network.links[link].ends;
    let bundle = network.bundles.iter().position(|bundle| bundle.leader() == link);
    let links = match bundle {
        Some(bundle) => network.bundles[bundle].members.iter().map(|member| member.0).collect(),
        None => vec![link],
    };
    let path = [ends[direction], ends[1 - direction]];
    let bundles = bundle.map(|bundle| (0, bundle)).into_iter().collect();
    (LinkWay { path, hops: [(link, direction)], bundles }, links)
}

/// Computes backups around each of these links.
fn around(
    i: usize,
    entry: &ProtectionEntry,
    links: &[usize],
    disjoint: Disjoint,
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Vec<BackupScope> {
    let Some(search) = Search::new(i, entry, disjoint, plan, network, problems) else {
        return Vec::new();
    };
    if disjoint == Disjoint::Node {
        problems
            .at(place!["protection", i, "backup"], "node-disjoint backup of a link")
            .label("use `auto`, `link-disjoint` or `risk-disjoint`");
        return Vec::new();
    }
    let found: Vec<BackupScope> = links
        .iter()
        .filter_map(|&link| {
            let (way, links) = way(link, 0, network);
            let backup = search.around(&links, way.path, disjoint)?;
            Some(BackupScope { flows: Vec::new(), link: Some(way), links, backup })
        })
        .collect();
    if found.is_empty() && !links.is_empty() {
        problems
            .at(place!["protection", i, "backup"], "no link has a backup")
            .label("no disjoint path exists");
    }
    found
}

/// Returns the backup of a link with listed nodes, from either end of the link.
fn along(
    i: usize,
    link: usize,
    named: &[usize],
    backup: Route,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<BackupScope> {
    let ends = [backup.nodes[0], backup.nodes[backup.nodes.len() - 1]];
    let of_link = network.links[link].ends;
    let Some(direction) = [0, 1].into_iter().find(|&d| ends == [of_link[d], of_link[1 - d]]) else {
        let [a, b] = of_link.map(|node| network.name(node));
        let message = format!("the backup does not lead around `{}`", name_of(named, network));
        problems
            .at(place!["protection", i, "backup"], message)
            .label(format!("must lead from one of `{a}` and `{b}` to the other"));
        return None;
    };
    let (way, links) = way(link, direction, network);
    if !avoids(i, &backup, &links, "uses the link that it protects", network, problems) {
        return None;
    }
    Some(BackupScope { flows: Vec::new(), link: Some(way), links, backup })
}
