//! Failures of links and nodes.

use optcp_units::{Duration, Time};

use crate::plan::{DirectedLink, FailurePlan, Spread};
use crate::problem::Problems;
use crate::schema::{FailedDirections, FailedPackets, FailureEntry, File, LinkRef, Span};
use crate::tree::place;
use optcp_units::nearest::suggestion;

use super::draft::Draft;
use super::network::{Network, check_spread};

/// Places the failures.
pub(super) fn failures(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let stop = plan.stop;
    for (i, entry) in file.failures.iter().enumerate() {
        let links = failing(i, entry, network, problems);
        let instant = |span: Span| Time::ZERO + span.0;
        let (at, repair) = (instant(entry.at), entry.repair.map(instant));
        let later = entry.later.map_or(Spread::Fixed(Duration::ZERO), |later| later.0);
        check_spread(later, place!["failures", i, "later"], problems);
        let (latest, ends) = (at + later.high(), repair.map(|repair| repair + later.high()));
        if latest >= stop {
            problems
                .at(
                    place!["failures", i, "at"],
                    format!("it fails at {latest}, the run stops at {stop}"),
                )
                .label("must come before the stop");
        }
        if let (Some(repair), Some(latest)) = (repair, ends) {
            let place = place!["failures", i, "repair"];
            if repair < at {
                let message = format!("repaired at {repair}, before it fails at {at}");
                problems.at(place, message).label("must not come before the failure");
            } else if latest >= stop {
                problems
                    .at(place, format!("repaired at {latest}, the run stops at {stop}"))
                    .help("leave `repair` out for a failure that lasts".to_owned());
            }
        }
        let kept = entry.packets == Some(FailedPackets::Kept);
        for (link, directions) in links {
            let before_end =
                |instant: Time, end: Option<Time>| end.is_none_or(|end| instant <= end);
            let overlap = plan.failures.iter().find(|other| {
                let other_ends = other.repair.map(|repair| repair + other.later.high());
                other.link == link && before_end(at, other_ends) && before_end(other.at, ends)
            });
            if let Some(other) = overlap {
                let name = &network.links[link].name;
                let until = other.repair.map_or("the end".to_owned(), |end| end.to_string());
                let message = format!("`{name}` is already down from {} to {until}", other.at);
                problems.at(place!["failures", i, "at"], message);
            }
            plan.failures.push(FailurePlan { link, directions, kept, at, repair, later, entry: i });
        }
    }
}

/// The links that fail, and which directions of them: one link, several, or all of a node.
fn failing(
    i: usize,
    entry: &FailureEntry,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<(usize, [bool; 2])> {
    let forward = entry.direction == Some(FailedDirections::Forward);
    let directions =
        |(link, way): DirectedLink| (link, [!forward || way == 0, !forward || way == 1]);
    match (&entry.link, &entry.links, &entry.node) {
        (Some(link), None, None) => {
            let hop = network.one_hop(link, place!["failures", i, "link"], problems);
            hop.map(directions).into_iter().collect()
        }
        (None, Some(links), None) => {
            let hops = sharing_a_risk(i, links, network, problems);
            hops.into_iter().map(directions).collect()
        }
        (None, None, Some(name)) => {
            let Some(&node) = network.node.get(name) else {
                let help = suggestion(name, "nodes", network.nodes.iter().map(String::as_str));
                let place = place!["failures", i, "node"];
                problems.at(place, format!("no node `{name}`")).help(help);
                return Vec::new();
            };
            if forward {
                problems
                    .at(place!["failures", i, "direction"], "`direction` has no meaning here")
                    .label("a node fails with both directions of its links");
            }
            let ends = |link: &usize| network.links[*link].ends.contains(&node);
            (0..network.links.len()).filter(ends).map(|link| (link, [true; 2])).collect()
        }
        _ => {
            problems
                .at(place!["failures", i], "what fails is not clear")
                .label("needs one of `link`, `links` and `node`");
            Vec::new()
        }
    }
}

/// The links of a list, each in the direction in which it is written.
fn sharing_a_risk(
    i: usize,
    links: &[LinkRef],
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<DirectedLink> {
    if links.is_empty() {
        problems.at(place!["failures", i, "links"], "no link fails").label("name one at least");
    }
    let mut hops: Vec<DirectedLink> = Vec::new();
    for (j, link) in links.iter().enumerate() {
        let place = place!["failures", i, "links", j];
        for hop in network.referred(link, place, problems).unwrap_or_default() {
            if hops.iter().any(|&(known, _)| known == hop.0) {
                let name = &network.links[hop.0].name;
                problems.at(place, format!("`{name}` is there twice"));
                return hops;
            }
            hops.push(hop);
        }
    }
    hops
}
