//! Links over which packets travel in bursts.

use optcp_optical::burst::{Assembly, Hybrid, Size, Timer};
use optcp_units::Duration;

use crate::plan::{BurstsPlan, Plan, QueueLimit};
use crate::problem::Problems;
use crate::schema::{AssemblyKind, BurstsEntry, File};
use crate::tree::place;

use super::network::Network;

/// Finds the links, and what is said of them elsewhere that does not go with bursts.
pub(super) fn bursts(
    file: &File,
    plan: &mut Plan,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (i, entry) in file.bursts.iter().enumerate() {
        let place = place!["bursts", i, "link"];
        let assembly = assembly(i, entry, problems);
        let probability = entry.loss_probability.map_or(0.0, |probability| probability.0);
        if probability > 1.0 {
            let message = format!("`{probability}` is more than certain");
            problems
                .at(place!["bursts", i, "loss_probability"], message)
                .label("must be from 0 to 1");
        }
        let links = network.referred(&entry.link, place, problems).unwrap_or_default();
        for (link, _) in links {
            let name = &network.links[link].name;
            if plan.in_bursts(link) {
                problems.at(place, format!("`{name}` is there twice"));
                continue;
            }
            if let Some(what) = conflict(link, plan, network) {
                problems.at(place, format!("`{name}` {what}")).label("does not go with bursts");
            }
            let Some(assembly) = assembly else { continue };
            let offset = entry.offset.map_or(Duration::ZERO, |offset| offset.0);
            plan.bursts.push(BurstsPlan { link, assembly, offset, probability });
        }
    }
}

/// The assembly, if it has what it needs and nothing else.
fn assembly(i: usize, entry: &BurstsEntry, problems: &mut Problems<'_>) -> Option<Assembly> {
    let before = problems.found.len();
    let name = entry.assembly.name();
    let (timed, sized) = match entry.assembly {
        AssemblyKind::Timer => (true, false),
        AssemblyKind::Size => (false, true),
        AssemblyKind::Hybrid => (true, true),
    };
    let keys = [
        ("timer", entry.timer.is_some(), timed, "timer = \"1 ms\""),
        ("size", entry.size.is_some(), sized, "size = \"64 kB\""),
    ];
    for (key, given, wanted, example) in keys {
        if given && !wanted {
            let message = format!("assembly `{name}` has no `{key}`");
            problems.at(place!["bursts", i, key], message);
        }
        if wanted && !given {
            problems
                .at(place!["bursts", i], format!("assembly `{name}` needs `{key}`"))
                .help(format!("for example: {example}"));
        }
    }
    if entry.timer.is_some_and(|timer| timer.0 == Duration::ZERO) {
        problems
            .at(place!["bursts", i, "timer"], "a timer without length")
            .label("must be above zero");
    }
    if entry.size.is_some_and(|size| size.0.count() == 0) {
        problems.at(place!["bursts", i, "size"], "bursts of nothing").label("must be above zero");
    }
    if problems.found.len() > before {
        return None;
    }
    let timer = entry.timer.map(|timer| Timer { period: timer.0 });
    let size = entry.size.map(|size| Size { threshold: size.0 });
    Some(match entry.assembly {
        AssemblyKind::Timer => Assembly::Timer(timer?),
        AssemblyKind::Size => Assembly::Size(size?),
        AssemblyKind::Hybrid => Assembly::Hybrid(Hybrid { timer: timer?, size: size? }),
    })
}

/// What is said of a link that an assembler in the place of its queues cannot do.
fn conflict(link: usize, plan: &Plan, network: &Network) -> Option<&'static str> {
    let directions = &network.links[link].directions;
    let conflicts = [
        (directions.iter().any(|port| port.queue != QueueLimit::Unlimited), "has a queue limit"),
        (directions.iter().any(|port| port.jitter > Duration::ZERO), "has jitter"),
        (network.bundles.iter().any(|bundle| bundle.has(link)), "is in a bundle"),
        (plan.losses.iter().any(|loss| loss.hop.0 == link), "loses packets one by one"),
        (plan.failures.iter().any(|failure| failure.link == link), "fails"),
        (
            plan.protections.iter().any(|entry| entry.hops.iter().any(|&(hop, _)| hop == link)),
            "is on a backup",
        ),
    ];
    conflicts.into_iter().find_map(|(found, what)| found.then_some(what))
}
