//! Failures of links and nodes.

use optcp_units::{Duration, Time};

use crate::plan::{DirectedLink, FailurePlan, Spread};
use crate::problem::Problems;
use crate::schema::{FailedDirections, FailedPackets, FailureEntry, File, LinkRef, Span};
use crate::tree::{Step, place};
use optcp_units::nearest::suggestion;

use super::draft::Draft;
use super::network::{Network, checked};

/// Adds the failures.
pub(super) fn failures(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let stop = plan.stop;
    for (i, entry) in file.failures.iter().enumerate() {
        let links = failing(i, entry, plan, network, problems);
        if let Some((link, _)) = links.iter().find(|(link, _)| network.links[*link].voq.is_some()) {
            let name = &network.links[*link].name;
            problems
                .at(place!["failures", i], format!("failure of virtual output queue `{name}`"))
                .label("name links of its paths");
            continue;
        }
        let instant = |span: Span| Time::ZERO + span.0;
        let process = process(i, entry, stop, problems);
        let Some(at) = entry.at.map(instant).or(process.map(|_| Time::ZERO)) else { continue };
        let repair = entry.repair.map(instant);
        let later = checked(entry.later.as_ref(), true, place!["failures", i, "later"], problems);
        let (latest, ends) = (at + later.long(), repair.map(|repair| repair + later.long()));
        if latest >= stop {
            problems
                .at(
                    place!["failures", i, "at"],
                    format!("failure at {latest}, but the run stops at {stop}"),
                )
                .label("`at` must be before `stop`");
        }
        if let (Some(repair), Some(latest)) = (repair, ends) {
            let place = place!["failures", i, "repair"];
            if repair < at {
                let message = format!("repair at {repair}, failure at {at}");
                problems.at(place, message).label("must not be before the failure");
            } else if latest >= stop {
                problems
                    .at(place, format!("repair at {latest}, but the run stops at {stop}"))
                    .help("omit `repair` for a permanent failure".to_owned());
            }
        }
        let kept = entry.packets == Some(FailedPackets::Kept);
        let fibres = fibres(entry, plan);
        let of_fibre = !fibres.is_empty();
        if let Some(optical) = &mut plan.optical {
            let failure = |link| FailurePlan {
                link,
                directions: [true; 2],
                kept,
                at,
                repair,
                later: if process.is_some() { Spread::ZERO } else { later.clone() },
                entry: i,
                process,
                of_fibre,
            };
            optical.failures.extend(fibres.into_iter().map(failure));
        }
        for (link, directions) in links {
            if process.is_some() {
                let later = Spread::ZERO;
                let failure = FailurePlan {
                    link,
                    directions,
                    kept,
                    at,
                    repair,
                    later,
                    entry: i,
                    process,
                    of_fibre,
                };
                plan.failures.push(failure);
                continue;
            }
            let before_end =
                |instant: Time, end: Option<Time>| end.is_none_or(|end| instant <= end);
            let overlap = plan.failures.iter().find(|other| {
                let other_ends = other.repair.map(|repair| repair + other.later.long());
                let single = !(of_fibre || other.of_fibre);
                let once = other.link == link && other.process.is_none() && single;
                once && before_end(at, other_ends) && before_end(other.at, ends)
            });
            if let Some(other) = overlap {
                let name = &network.links[link].name;
                let until = other.repair.map_or("the end".to_owned(), |end| end.to_string());
                let message = format!("`{name}` is already down from {} to {until}", other.at);
                problems.at(place!["failures", i, "at"], message);
            }
            let process = None;
            plan.failures.push(FailurePlan {
                link,
                directions,
                kept,
                at,
                repair,
                later: later.clone(),
                entry: i,
                process,
                of_fibre,
            });
        }
    }
}

/// Returns the fibres that fail.
fn fibres(entry: &FailureEntry, plan: &Draft) -> Vec<usize> {
    let risk = plan.risks.iter().find(|risk| entry.risk.as_ref() == Some(&risk.name));
    risk.map(|risk| risk.fibres.clone()).unwrap_or_default()
}

/// Returns the failing links with their directions: one link, several links, or all links of a node.
fn failing(
    i: usize,
    entry: &FailureEntry,
    plan: &Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<(usize, [bool; 2])> {
    let forward = entry.direction == Some(FailedDirections::Forward);
    let directions =
        |(link, way): DirectedLink| (link, [!forward || way == 0, !forward || way == 1]);
    match (&entry.link, &entry.links, &entry.node, &entry.risk) {
        (Some(link), None, None, None) => {
            let place = place!["failures", i, "link"];
            let hops = network.referred_for_failure(link, place, problems).unwrap_or_default();
            if hops.len() > 1 {
                problems.at(place, "several links in place of one").label("name one link");
                return Vec::new();
            }
            hops.into_iter().map(directions).collect()
        }
        (None, Some(links), None, None) => {
            let hops = listed(place!["failures", i, "links"], links, network, problems);
            hops.into_iter().map(directions).collect()
        }
        (None, None, None, Some(name)) => {
            let Some(risk) = plan.risks.iter().find(|risk| risk.name == *name) else {
                let help =
                    suggestion(name, "risks", plan.risks.iter().map(|risk| risk.name.as_str()));
                let place = place!["failures", i, "risk"];
                problems
                    .at(place, format!("unknown risk `{name}`"))
                    .label("not in [[risks]], and not a fibre or duct")
                    .help(help);
                return Vec::new();
            };
            if forward {
                problems
                    .at(place!["failures", i, "direction"], "`direction` is not used here")
                    .label("a risk affects both directions");
            }
            risk.links.iter().map(|&link| (link, [true; 2])).collect()
        }
        (None, None, Some(name), None) => {
            let Some(node) = network.find_node(name) else {
                if network.is_new_problem(name) {
                    let help = suggestion(name, "nodes", network.nodes.iter().map(String::as_str));
                    let place = place!["failures", i, "node"];
                    problems.at(place, format!("unknown node `{name}`")).help(help);
                }
                return Vec::new();
            };
            if forward {
                problems
                    .at(place!["failures", i, "direction"], "`direction` is not used here")
                    .label("a node fails with both directions of its links");
            }
            // Packets in a virtual output queue are held; the links of its paths fail.
            let ends = |link: &usize| {
                let link = &network.links[*link];
                link.ends.contains(&node) && link.voq.is_none()
            };
            // Routes of bursts fail with their fibres.
            let ends = |link: &usize| ends(link) && !network.is_burst_route(*link);
            (0..network.links.len()).filter(ends).map(|link| (link, [true; 2])).collect()
        }
        _ => {
            problems
                .at(place!["failures", i], "no failed element, or several")
                .label("needs exactly one of `link`, `links`, `node` and `risk`");
            Vec::new()
        }
    }
}

/// Returns the links of a list, each in the direction in which it is written.
pub(super) fn listed(
    place: &[Step<'_>],
    links: &[LinkRef],
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<DirectedLink> {
    if links.is_empty() {
        problems.at(place, "list without links").label("name at least one");
    }
    let mut hops: Vec<DirectedLink> = Vec::new();
    for (j, link) in links.iter().enumerate() {
        let place = [place, place![j]].concat();
        for hop in network.referred_for_failure(link, &place, problems).unwrap_or_default() {
            if hops.iter().any(|&(known, _)| known == hop.0) {
                let name = &network.links[hop.0].name;
                problems.at(&place, format!("`{name}` is listed twice"));
                return hops;
            }
            hops.push(hop);
        }
    }
    hops
}

/// Returns the mean times of a recurrent failure; `None` for a single failure.
fn process(
    i: usize,
    entry: &FailureEntry,
    stop: Time,
    problems: &mut Problems<'_>,
) -> Option<[Duration; 2]> {
    let place = |key| [Step::from("failures"), i.into(), Step::from(key)];
    match (entry.at, entry.mtbf, entry.mttr) {
        (Some(_), None, None) => return None,
        (None, Some(Span(works)), Some(Span(fails))) => {
            for (key, given) in
                [("repair", entry.repair.is_some()), ("later", entry.later.is_some())]
            {
                if given {
                    problems
                        .at(&place(key), format!("`{key}` is not used here"))
                        .label("`mtbf` draws the times of failures");
                }
            }
            for (key, mean) in [("mtbf", works), ("mttr", fails)] {
                if mean == Duration::ZERO {
                    problems.at(&place(key), "mean time is zero").label("must be above zero");
                    return None;
                }
            }
            let all = stop.saturating_since(Time::ZERO).as_secs_f64();
            let expected = all / (works.as_secs_f64() + fails.as_secs_f64());
            if expected > MOST_FAILURES {
                let message = format!("about {expected:.0} failures");
                problems.at(&place("mtbf"), message).label(format!("at most {MOST_FAILURES}"));
                return None;
            }
            return Some([works, fails]);
        }
        (None, None, None) => {
            problems
                .at(place!["failures", i], "no failure time")
                .label("needs `at`, or `mtbf` and `mttr`");
        }
        (Some(_), _, _) => {
            problems
                .at(place!["failures", i], "two definitions of the failure time")
                .label("needs either `at`, or `mtbf` and `mttr`");
        }
        (None, _, _) => {
            let missing = if entry.mtbf.is_some() { "mttr" } else { "mtbf" };
            problems
                .at(place!["failures", i], format!("`{missing}` is missing"))
                .label("needs both `mtbf` and `mttr`");
        }
    }
    None
}

/// Maximum number of failures per entry. Each is an action of the run, for every link of the entry.
const MOST_FAILURES: f64 = 10_000.0;
