//! Links over which packets travel in bursts.

use optcp_optical::burst::BurstProtection;
use optcp_optical::switching::BurstCore;
use optcp_units::Duration;

use crate::plan::{BurstsPlan, PortPlan, QueueLimit, Spread};
use crate::problem::Problems;
use crate::schema::{BurstsEntry, File};
use crate::tree::{Step, place};

use super::assembly::{Assemblies, assemblies};
use super::burst_routes::Detours;
use super::draft::Draft;
use super::network::Network;

/// Creates the links that carry bursts, and reports conflicts with other keys.
pub(super) fn bursts(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (link, fibre) in network.links.iter().enumerate() {
        if fibre.wavelengths.is_some()
            && let Some(what) = conflict(link, plan, network)
        {
            let message = format!("fibre `{}` {what}", fibre.name);
            problems.at(&network.wavelengths(link), message).label("not possible with wavelengths");
        }
    }
    for (i, entry) in file.bursts.iter().enumerate() {
        let place = place!["bursts", i, "link"];
        let assembly = assemblies(i, entry, problems);
        let Some(link) = &entry.link else {
            over_fibres(i, entry, assembly, plan, network, problems);
            continue;
        };
        let probabilities = loss_probabilities(i, entry, problems);
        let links = network.referred(link, place, problems).unwrap_or_default();
        for (link, direction) in links {
            let name = &network.links[link].name;
            if network.links[link].wavelengths.is_some() {
                problems
                    .at(place, format!("`{name}` is a fibre"))
                    .label("send bursts over fibres with `path` or `between`");
                continue;
            }
            if plan.in_bursts(link) {
                problems.at(place, format!("`{name}` is listed twice"));
                continue;
            }
            if let Some(what) = conflict(link, plan, network) {
                problems.at(place, format!("`{name}` {what}")).label("not possible with bursts");
            }
            let Some(Assemblies { assembly, classes }) = assembly.clone() else { continue };
            let offset = entry.offset.map_or(Duration::ZERO, |offset| offset.0);
            let mut probabilities = probabilities;
            probabilities.rotate_left(direction);
            if entry.protection.is_some() {
                problems
                    .at(place!["bursts", i, "protection"], "protection of bursts without fibres")
                    .label("needs `path` or `between`");
            }
            let (protection, others) = (BurstProtection::None, Default::default());
            plan.bursts.push(BurstsPlan {
                entry: i,
                link,
                assembly,
                offset,
                classes,
                probabilities,
                protection,
                others,
            });
        }
    }
}

/// Returns the loss probability of bursts, in the direction of the entry's link and in the reverse direction.
fn loss_probabilities(i: usize, entry: &BurstsEntry, problems: &mut Problems<'_>) -> [f64; 2] {
    let there = entry.loss_probability.map_or(0.0, |probability| probability.0);
    let back = entry.reverse.loss_probability.map_or(there, |probability| probability.0);
    for (probability, place) in written_probabilities(i, entry) {
        if probability > 1.0 {
            let message = format!("probability `{probability}` is above 1");
            problems.at(&place, message).label("must be from 0 to 1");
        }
    }
    [there, back]
}

/// Returns the loss probabilities of an entry with their places.
fn written_probabilities(
    i: usize,
    entry: &BurstsEntry,
) -> impl Iterator<Item = (f64, Vec<Step<'_>>)> {
    let there = (entry.loss_probability, place!["bursts", i, "loss_probability"].to_vec());
    let back = place!["bursts", i, "reverse", "loss_probability"].to_vec();
    let back = (entry.reverse.loss_probability, back);
    [there, back].into_iter().filter_map(|(given, place)| Some((given?.0, place)))
}

/// Adds bursts over fibres to the links that were created for them.
fn over_fibres(
    i: usize,
    entry: &BurstsEntry,
    assembly: Option<Assemblies>,
    plan: &mut Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) {
    for (_, place) in written_probabilities(i, entry) {
        let message = "loss probability for bursts over fibres";
        problems.at(&place, message).label("needs `link`; over fibres, contention causes losses");
    }
    let Some(Assemblies { assembly, classes }) = assembly else { return };
    let processing = plan.core.map_or(Duration::ZERO, |core| core.processing);
    let own = network.burst_links.iter().filter(|&&(of, _)| of == i);
    let protection = entry.protection.unwrap_or(BurstProtection::None);
    let mut detours = Detours::default();
    let mut short = None;
    for &(_, link) in own {
        let name = &network.links[link].name;
        if let Some(what) = conflict(link, plan, network) {
            let message = format!("`{name}` {what}");
            problems.at(place!["bursts", i], message).label("not possible with bursts");
        }
        let least = BurstCore::least_offset(processing, network.links[link].over.len());
        let offset = entry.offset.map_or(least, |offset| offset.0);
        if offset < least {
            short = short.max(Some((least, link)));
        }
        let place = place!["bursts", i, "protection"];
        let others = network.other_routes(link, protection, &mut detours, place, problems);
        let Some(others) = others else { return };
        let probabilities = [0.0; 2];
        plan.bursts.push(BurstsPlan {
            entry: i,
            link,
            assembly,
            offset,
            classes: classes.clone(),
            probabilities,
            protection,
            others,
        });
    }
    if let Some((least, link)) = short {
        let [from, to] = network.links[link].ends.map(|node| network.name(node));
        let switches = network.links[link].over.len() - 1;
        problems
            .at(
                place!["bursts", i, "offset"],
                format!("`{from}` to `{to}` needs an offset of {least}"),
            )
            .label(format!("{processing} at each switch after the ingress edge node: {switches}"))
            .help("without `offset`, each route uses its minimum".to_owned());
    }
}

/// Returns the first property of a link that conflicts with burst assembly.
fn conflict(link: usize, plan: &Draft, network: &Network) -> Option<&'static str> {
    let directions = &network.links[link].directions;
    let conflicts = [
        (directions.iter().any(|port| port.queue != QueueLimit::Unlimited), "has a queue limit"),
        (directions.iter().any(PortPlan::is_managed), "has a queue discipline"),
        (directions.iter().any(|port| port.jitter != Spread::ZERO), "has jitter"),
        (network.bundles.iter().any(|bundle| bundle.has(link)), "is in a bundle"),
        (plan.losses.iter().any(|loss| loss.hop.0 == link), "has losses per packet"),
        (plan.buckets.iter().any(|bucket| bucket.hop.0 == link), "has token buckets"),
        (
            network.links[link].wavelengths.is_none()
                && plan.failures.iter().any(|failure| failure.link == link),
            "fails",
        ),
        (
            plan.protections.iter().any(|entry| entry.hops.iter().any(|&(hop, _)| hop == link)),
            "is part of a backup",
        ),
    ];
    conflicts.into_iter().find_map(|(found, what)| found.then_some(what))
}
