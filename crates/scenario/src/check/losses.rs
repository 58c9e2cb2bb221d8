//! Segments that are lost by order.

use crate::nearest::suggestion;
use crate::plan::{LossPlan, Plan};
use crate::problem::Problems;
use crate::schema::File;
use crate::tree::place;

use super::network::Network;

/// Finds the ports and flows that lose segments.
pub(super) fn losses(
    file: &File,
    plan: &mut Plan,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (i, entry) in file.losses.iter().enumerate() {
        let hops = network.referred(&entry.link, place!["losses", i, "link"], problems);
        if entry.segments.is_empty() {
            problems.at(place!["losses", i, "segments"], "no segments").label("name one at least");
        }
        if entry.transmission == 0 {
            problems
                .at(place!["losses", i, "transmission"], "transmissions are counted from 1")
                .label("must be above zero");
        }
        let Some(group) = plan.groups.iter().position(|group| *group == entry.flows) else {
            let groups = plan.groups.iter().map(String::as_str);
            let help = suggestion(&entry.flows, "groups of flows", groups);
            let message = format!("no group of flows `{}`", entry.flows);
            problems.at(place!["losses", i, "flows"], message).help(help);
            continue;
        };
        for hop in hops.unwrap_or_default() {
            let passes = |&flow: &usize| {
                plan.flows[flow].group == group && plan.flows[flow].hops.contains(&hop)
            };
            let flows: Vec<usize> = (0..plan.flows.len()).filter(passes).collect();
            if flows.is_empty() && plan.flows.iter().any(|flow| flow.group == group) {
                let name = &network.links[hop.0].name;
                let message = format!("no data of `{}` passes `{name}` this way", entry.flows);
                problems.at(place!["losses", i, "link"], message).label("not on their path");
            }
            let (segments, transmission) = (entry.segments.clone(), entry.transmission);
            plan.losses.push(LossPlan { hop, flows, segments, transmission });
        }
    }
}
