//! Shared risks of links: listed, near a place, or in the ducts of a node.

use std::collections::BTreeSet;

use optcp_routing::Protect;
use optcp_units::nearest::suggestion;

use crate::plan::RiskPlan;
use crate::problem::Problems;
use crate::schema::{File, Real};
use crate::tree::{Step, place};

use super::bounds::check_name;
use super::draft::Draft;
use super::failures::listed;
use super::network::Network;
use super::places::{Place, bearing_degrees, distance_km};

/// Keyword for each node.
const EVERY: &str = "every";

/// Adds the shared risks.
pub(super) fn risks(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let of_file = std::mem::take(&mut network.of_file.risks);
    for (name, links) in of_file {
        if plan.risks.iter().any(|risk| risk.name == name) {
            problems.at(
                place!["topology", "risks"],
                format!("risk `{name}` is also a fibre or a duct"),
            );
        }
        plan.risks.push(RiskPlan { name, links, fibres: Vec::new() });
    }
    let avoided = file.routing.as_ref().is_some_and(|table| table.protect == Some(Protect::Risk));
    if avoided && file.risks.is_empty() && plan.risks.is_empty() {
        problems
            .at(place!["routing", "protect"], "backups avoid shared risks, and there are none")
            .label("needs [[risks]], or fibres");
    }
    for (i, entry) in file.risks.iter().enumerate() {
        check_name(&entry.name, place!["risks", i, "name"], problems);
        if plan.risks.iter().any(|risk| risk.name == entry.name) {
            let message = format!("risk `{}` exists already", entry.name);
            problems.at(place!["risks", i, "name"], message);
        }
        let near = (&entry.near, entry.within_km);
        let leaving = (&entry.leaving, entry.within_degrees);
        match (&entry.links, near, leaving) {
            (Some(links), (None, None), (None, None)) => {
                let links = listed(place!["risks", i, "links"], links, network, problems);
                let links = links.into_iter().map(|hop| hop.0).collect();
                plan.risks.push(RiskPlan { name: entry.name.clone(), links, fibres: Vec::new() });
            }
            (None, (Some(near), Some(within)), (None, None)) => {
                let centres = nodes(near, place!["risks", i, "near"], network, problems);
                plan.risks.extend(centres.into_iter().map(|centre| {
                    let name = match near.as_str() {
                        EVERY => format!("{}-{}", entry.name, network.nodes[centre]),
                        _ => entry.name.clone(),
                    };
                    RiskPlan {
                        name,
                        links: links_near(centre, within.0, network),
                        fibres: Vec::new(),
                    }
                }));
            }
            (None, (None, None), (Some(node), Some(within))) => {
                let nodes = nodes(node, place!["risks", i, "leaving"], network, problems);
                if let Some(within) = degrees(within, i, problems) {
                    ducts(&entry.name, &nodes, within, network, &mut plan.risks);
                }
            }
            _ => {
                problems
                    .at(place!["risks", i], "links of the risk are not clear")
                    .label(
                        "needs either `links`, `near` and `within_km`, or `leaving` and `within_degrees`",
                    );
            }
        }
    }
}

fn known(network: &Network, node: usize) -> Option<Place> {
    network.places.get(node).copied().flatten()
}

/// Returns the node with this name and known coordinates, or with `every` all such nodes.
fn nodes(
    name: &str,
    place: &[Step<'_>],
    network: &Network,
    problems: &mut Problems<'_>,
) -> Vec<usize> {
    let known = |&node: &usize| known(network, node).is_some();
    let all: Vec<usize> = (0..network.places.len()).filter(known).collect();
    let named = |&node: &usize| name == EVERY || network.nodes[node] == name;
    let found: Vec<usize> = all.iter().copied().filter(named).collect();
    if found.is_empty() {
        let names = all.iter().map(|&node| network.nodes[node].as_str());
        match all.is_empty() {
            false => problems
                .at(place, format!("`{name}` is not a node with coordinates"))
                .help(suggestion(name, "nodes", names)),
            true => problems
                .at(place, "coordinates of nodes are unknown")
                .label("needs a [topology] with coordinates"),
        };
    }
    found
}

/// Returns the links that pass near a node.
fn links_near(centre: usize, within_km: f64, network: &Network) -> Vec<usize> {
    let near = |&link: &usize| {
        let [a, b] = network.links[link].ends.map(|node| known(network, node));
        let all = known(network, centre).zip(a.zip(b));
        all.is_some_and(|(at, (a, b))| distance_km(at, [a, b]) <= within_km)
    };
    (0..network.links.len()).filter(near).collect()
}

/// Returns a valid angle.
fn degrees(within: Real, i: usize, problems: &mut Problems<'_>) -> Option<f64> {
    if within.0 > 360.0 {
        let place = place!["risks", i, "within_degrees"];
        problems.at(place, "angle above 360 degrees").label("at most 360");
        return None;
    }
    Some(within.0)
}

/// Adds a risk for each pair of adjacent links that leave one of these nodes in similar directions.
fn ducts(
    name: &str,
    nodes: &[usize],
    within_degrees: f64,
    network: &Network,
    risks: &mut Vec<RiskPlan>,
) {
    let mut names: BTreeSet<String> = risks.iter().map(|risk| risk.name.clone()).collect();
    // Parallel links are adjacent at both ends.
    let mut found: BTreeSet<[usize; 2]> = BTreeSet::new();
    for &node in nodes {
        for pair in neighbouring(&leaving(node, network), within_degrees) {
            let links = pair.map(|one| one.link);
            if !found.insert([links[0].min(links[1]), links[0].max(links[1])]) {
                continue;
            }
            let [a, b] = pair.map(|one| network.name(one.to));
            let plain = format!("{name}-{}-{a}-{b}", network.name(node));
            let numbered = (2..).map(|number| format!("{plain}-{number}"));
            let mut free =
                std::iter::once(plain.clone()).chain(numbered).filter(|name| !names.contains(name));
            let name = free.next().expect("one of so many is free");
            names.insert(name.clone());
            risks.push(RiskPlan { name, links: links.to_vec(), fibres: Vec::new() });
        }
    }
}

/// Link that leaves a node.
#[derive(Clone, Copy)]
struct Leaving {
    /// Bearing at the node, clockwise from north.
    degrees: f64,
    link: usize,
    to: usize,
}

/// Returns the links of a node to others with known coordinates, sorted by bearing.
fn leaving(node: usize, network: &Network) -> Vec<Leaving> {
    let away = |(link, ends): (usize, [usize; 2])| {
        let to = match ends {
            [a, b] if a == node => b,
            [a, b] if b == node => a,
            _ => return None,
        };
        let degrees = bearing_degrees(known(network, node)?, known(network, to)?);
        Some(Leaving { degrees, link, to })
    };
    let links = network.links.iter().map(|link| link.ends).enumerate();
    let mut all: Vec<Leaving> = links.filter_map(away).collect();
    all.sort_by(|a, b| a.degrees.total_cmp(&b.degrees).then(a.link.cmp(&b.link)));
    all
}

/// Returns adjacent pairs of links around the node whose angle does not exceed the limit.
fn neighbouring(all: &[Leaving], within_degrees: f64) -> Vec<[Leaving; 2]> {
    let near = |&(a, b, around): &(Leaving, Leaving, f64)| {
        let angle = b.degrees - a.degrees + around;
        // With two links, the smaller of both angles counts.
        let angle = if all.len() == 2 { angle.min(360.0 - angle) } else { angle };
        angle <= within_degrees
    };
    let next = all.windows(2).map(|two| (two[0], two[1], 0.0));
    let closing = match all {
        [first, _, .., last] if all.len() > 2 => Some((*last, *first, 360.0)),
        _ => None,
    };
    next.chain(closing).filter(near).map(|(a, b, _)| [a, b]).collect()
}
