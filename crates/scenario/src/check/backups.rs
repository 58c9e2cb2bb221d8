//! Computed backups for the paths of flows.

use std::collections::{BTreeMap, BTreeSet};

use optcp_optical::protection::Scheme;
use optcp_routing::{Topology, Tree, bridges};

use crate::plan::{DirectedLink, FlowPlan};
use crate::problem::Problems;
use crate::protected::TeLink;
use crate::schema::{Disjoint, Metric, ProtectionEntry};
use crate::tree::place;

use super::backup_scope::{BackupScope, ProtectedGroup};
use super::draft::Draft;
use super::network::Network;
use super::p_cycle;
use super::route::Route;
use super::ways::Finder;

/// Maximum number of links per segment of scheme `segment`.
const SEGMENT_LINKS: u32 = 2;

/// Computes the backups of a group. With scheme `local`, each link of the flows gets a backup
/// around it. With `segment`, each path gets a backup per segment. Otherwise each path gets a backup between the first and the last node that two
/// disjoint paths connect. Its flows are switched separately from others.
pub(super) fn found(
    (i, entry, disjoint): (usize, &ProtectedGroup<'_>, Disjoint),
    group: usize,
    plan: &mut Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Vec<BackupScope> {
    let before = problems.found.len();
    let here = |key: &'static str| place!["protection", i, key].to_vec();
    if entry.link.is_some() {
        problems
            .at(&here("link"), "`link` is not used here")
            .label("a computed backup covers every link for which a backup exists");
    }
    if plan.protections.iter().any(|other| other.group == Some(group)) {
        problems.at(&here("flows"), format!("`{}` is already protected", entry.flows));
    }
    if problems.found.len() > before {
        return Vec::new();
    }
    let Some(search) = Search::new(i, entry, disjoint, plan, network, problems) else {
        return Vec::new();
    };
    let scheme = entry.scheme.unwrap_or(Scheme::Local);
    let found = match (scheme, disjoint) {
        (Scheme::Local, Disjoint::Node) => {
            problems.at(&here("backup"), "node-disjoint backup with scheme `local`").label(
                "the nodes adjacent to a failed link switch: `auto`, `link-disjoint` or `risk-disjoint`",
            );
            return Vec::new();
        }
        (Scheme::Local, _) => search.around_links(group, plan, disjoint),
        (_, Disjoint::PCycle) => {
            problems
                .at(&here("scheme"), "a p-cycle protects links")
                .label("the nodes adjacent to a failed link switch: use `local`");
            return Vec::new();
        }
        (Scheme::Segment, _) => {
            let most = entry.segment_links.map_or(SEGMENT_LINKS, |links| links.0);
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            search.backups_of_paths(group, plan, |flow| search.segments(flow, disjoint, most))
        }
        _ => search.backups_of_paths(group, plan, |flow| {
            search.backup_of_path(flow, disjoint).into_iter().collect()
        }),
    };
    if found.is_empty() && plan.flows.iter().any(|flow| flow.group == group) {
        let message = format!("no path of `{}` has a backup", entry.flows);
        problems.at(&here("backup"), message).label("no disjoint path exists");
    }
    found
}

/// Returns, by link, the links that share a risk with it.
fn shared(plan: &Draft) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut shared: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for risk in &plan.risks {
        for link in &risk.links {
            shared.entry(*link).or_default().extend(&risk.links);
        }
    }
    shared
}

/// Search for backups.
pub(super) struct Search<'n> {
    topology: Topology,
    bridges: Vec<bool>,
    risks: BTreeMap<usize, BTreeSet<usize>>,
    /// Links outside the p-cycle.
    outside: BTreeSet<usize>,
    network: &'n Network,
}

impl<'n> Search<'n> {
    /// Creates the search for an entry; reports a problem and returns `None` if it is not possible.
    pub(super) fn new(
        i: usize,
        entry: &ProtectionEntry,
        disjoint: Disjoint,
        plan: &Draft,
        network: &'n Network,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let metric = entry.metric.unwrap_or(Metric::Cost);
        let finder = Finder::new(network, metric, place!["protection", i, "metric"], problems)?;
        let bridges = bridges(&finder.topology);
        let outside = match disjoint {
            Disjoint::PCycle => p_cycle::outside(i, entry, &finder.topology, network, problems)?,
            _ => BTreeSet::new(),
        };
        let risks = shared(plan);
        let search = Search { topology: finder.topology, bridges, risks, outside, network };
        (!network.incomplete).then_some(search)
    }

    /// Finds a backup around a link or bundle, from one end to the other.
    pub(super) fn around(
        &self,
        links: &[usize],
        [from, to]: [usize; 2],
        disjoint: Disjoint,
    ) -> Option<Route> {
        let risks: &[bool] = match disjoint {
            Disjoint::Auto => &[true, false],
            Disjoint::Risk => &[true],
            Disjoint::Link | Disjoint::Node | Disjoint::PCycle => &[false],
        };
        risks.iter().find_map(|&risks| self.way(from, to, &self.gone(links, risks), &[]))
    }

    /// Returns the given links, and with `risks` all links that share a risk with one of them.
    fn gone(&self, links: &[usize], risks: bool) -> BTreeSet<usize> {
        let sharing =
            links.iter().filter_map(|link| self.risks.get(link)).filter(|_| risks).flatten();
        links.iter().chain(sharing).copied().collect()
    }

    /// Finds a path between two nodes that avoids some links and nodes; `None` if no such path exists.
    fn way(
        &self,
        from: usize,
        to: usize,
        links: &BTreeSet<usize>,
        nodes: &[usize],
    ) -> Option<Route> {
        let at_nodes =
            nodes.iter().flat_map(|&node| self.topology.adjacencies(node)).map(|a| a.hop.0);
        let gone: BTreeSet<usize> =
            links.iter().chain(&self.outside).copied().chain(at_nodes).collect();
        let left = self.topology.without(gone);
        let hops = Tree::new(&left, to).path(&left, from);
        // In a bundle, a backup uses the first link.
        let found = Route { bundles: BTreeMap::new(), ..self.network.along(from, &hops) };
        (!hops.is_empty()).then_some(found)
    }

    /// Finds a backup around each link or bundle that flows of a group use.
    fn around_links(&self, group: usize, plan: &Draft, disjoint: Disjoint) -> Vec<BackupScope> {
        // In the order of the flows. Each direction of a link has its own backup.
        let mut order: Vec<(DirectedLink, Vec<usize>, [usize; 2])> = Vec::new();
        let mut flows_on: BTreeMap<DirectedLink, Vec<usize>> = BTreeMap::new();
        for (index, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| flow.group == group) {
            for (place, link) in TeLink::passed(&self.network.bundles, flow).iter().enumerate() {
                let flows = flows_on.entry(link.ports[0]).or_default();
                if flows.is_empty() {
                    let links = link.ports.iter().map(|port| port.0).collect();
                    order.push((link.ports[0], links, [flow.path[place], flow.path[place + 1]]));
                }
                flows.push(index);
            }
        }
        let around = |(port, links, ends): (DirectedLink, Vec<usize>, [usize; 2])| {
            let backup = self.around(&links, ends, disjoint)?;
            let flows = flows_on.get(&port).cloned().unwrap_or_default();
            Some(BackupScope { flows, link: None, links, backup })
        };
        order.into_iter().filter_map(around).collect()
    }

    /// Finds the backups of each path of a group.
    fn backups_of_paths(
        &self,
        group: usize,
        plan: &mut Draft,
        backups: impl Fn(&FlowPlan) -> Vec<Route>,
    ) -> Vec<BackupScope> {
        let mut paths: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut known: BTreeMap<(&[usize], &[DirectedLink]), usize> = BTreeMap::new();
        for (index, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| flow.group == group) {
            match known.get(&(&flow.path[..], &flow.hops[..])) {
                Some(&place) => paths[place].1.push(index),
                None => {
                    known.insert((&flow.path, &flow.hops), paths.len());
                    paths.push((index, vec![index]));
                }
            }
        }
        let found: Vec<BackupScope> = paths
            .into_iter()
            .flat_map(|(first, flows)| {
                let scope = move |backup| BackupScope {
                    flows: flows.clone(),
                    link: None,
                    links: Vec::new(),
                    backup,
                };
                backups(&plan.flows[first]).into_iter().map(scope)
            })
            .collect();
        for covers in &found {
            for &flow in &covers.flows {
                plan.flows[flow].lsp = Some(covers.flows[0]);
            }
        }
        found
    }

    /// Finds the backup that bypasses the longest possible part of a path.
    fn backup_of_path(&self, flow: &FlowPlan, disjoint: Disjoint) -> Option<Route> {
        let last = flow.path.len() - 1;
        let spans = (1..=last)
            .rev()
            .flat_map(|length| (0..=last - length).map(move |at| [at, at + length]));
        self.first_backup(flow, disjoint, spans).map(|(_, backup)| backup)
    }

    /// Divides a path into segments of at most `most` links, and finds a backup for each. Links without a backup
    /// are left out.
    fn segments(&self, flow: &FlowPlan, disjoint: Disjoint, most: usize) -> Vec<Route> {
        let last = flow.path.len() - 1;
        let (mut found, mut at) = (Vec::new(), 0);
        while at < last {
            let spans = (at + 1..=at.saturating_add(most).min(last)).rev().map(|to| [at, to]);
            match self.first_backup(flow, disjoint, spans) {
                Some(([_, to], backup)) => {
                    found.push(backup);
                    at = to;
                }
                None => at += 1,
            }
        }
        found
    }

    /// Finds the first part of a path that has a backup, and the preferred backup of this part.
    fn first_backup(
        &self,
        flow: &FlowPlan,
        disjoint: Disjoint,
        spans: impl Iterator<Item = [usize; 2]>,
    ) -> Option<([usize; 2], Route)> {
        let passed = TeLink::passed(&self.network.bundles, flow);
        let links = |from: usize, to: usize| -> Vec<usize> {
            passed[from..to].iter().flat_map(|link| link.ports.iter().map(|port| port.0)).collect()
        };
        let try_between = |[from, to]: [usize; 2], nodes: bool, risks: bool| {
            let gone = self.gone(&links(from, to), risks);
            // The backup must not touch the path outside the bypassed part.
            let outside = flow.path[..from].iter().chain(&flow.path[to + 1..]);
            let inside = flow.path[from + 1..to].iter().filter(|_| nodes);
            let avoided: Vec<usize> = outside.chain(inside).copied().collect();
            self.way(flow.path[from], flow.path[to], &gone, &avoided)
        };
        let attempts: &[(bool, bool)] = match disjoint {
            Disjoint::Auto => &[(true, true), (false, true), (true, false), (false, false)],
            Disjoint::Risk => &[(false, true)],
            Disjoint::Node => &[(true, false)],
            Disjoint::Link | Disjoint::PCycle => &[(false, false)],
        };
        let weakest = attempts[attempts.len() - 1];
        // A bridge, such as the link of a host, has no backup.
        let possible =
            |&[from, to]: &[usize; 2]| !links(from, to).iter().any(|&link| self.bridges[link]);
        let span = spans
            .filter(possible)
            .find(|&span| try_between(span, weakest.0, weakest.1).is_some())?;
        let backup = attempts.iter().find_map(|&(nodes, risks)| try_between(span, nodes, risks))?;
        Some((span, backup))
    }
}
