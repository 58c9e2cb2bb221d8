//! Switches with queues at their inputs.

use optcp_net::MOST_PORTS;
use optcp_units::nearest::suggestion;
use optcp_units::{Bytes, Duration, Rate};

use crate::plan::{QueueLimit, SwitchPlan};
use crate::problem::Problems;
use crate::schema::{File, SwitchEntry};
use crate::tree::place;

use super::draft::Draft;
use super::network::Network;

const USUAL_CELL: Bytes = Bytes::new(64);
/// Maximum number of iterations. More than the number of ports have no effect.
const MOST_ITERATIONS: u32 = 128;

/// Creates the switches of the file.
pub(super) fn switches(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let with = [("[[voqs]]", !file.voqs.is_empty()), ("[[bursts]]", !file.bursts.is_empty())];
    for (other, given) in with {
        if given && !file.switches.is_empty() {
            problems
                .at(place!["switches", 0], format!("switches in a scenario with {other}"))
                .label("their ports have queues of another kind");
        }
    }
    for (i, entry) in file.switches.iter().enumerate() {
        let of_group = network.group.get(&entry.node).cloned();
        let nodes = of_group.or_else(|| network.find_node(&entry.node).map(|node| vec![node]));
        let Some(nodes) = nodes else {
            if network.is_new_problem(&entry.node) {
                let names = network.nodes.iter().chain(network.group.keys());
                let help = suggestion(&entry.node, "nodes", names.map(String::as_str));
                let place = place!["switches", i, "node"];
                problems.at(place, format!("unknown node `{}`", entry.node)).help(help);
            }
            continue;
        };
        for node in nodes {
            if plan.switches.iter().any(|switch| switch.node == node) {
                let message = format!("`{}` is already a switch", network.nodes[node]);
                problems.at(place!["switches", i, "node"], message);
            } else if let Some(switch) = switch(i, entry, node, network, problems) {
                plan.switches.push(switch);
            }
        }
    }
}

fn switch(
    i: usize,
    entry: &SwitchEntry,
    node: usize,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Option<SwitchPlan> {
    let links = || network.links.iter().filter(|link| link.ends.contains(&node));
    let count = links().count();
    if count == 0 || count > MOST_PORTS {
        let message = format!("`{}` has {count} links", network.nodes[node]);
        problems
            .at(place!["switches", i, "node"], message)
            .label(format!("a switch has at least one, and at most {MOST_PORTS}"));
        return None;
    }
    let cell = entry.cell.map_or(USUAL_CELL, |cell| cell.0);
    if cell == Bytes::ZERO {
        problems.at(place!["switches", i, "cell"], "cell without data").label("must be above zero");
        return None;
    }
    let iterations = entry.iterations.map_or(1, |count| count.0);
    if iterations == 0 || iterations > MOST_ITERATIONS {
        problems
            .at(place!["switches", i, "iterations"], format!("{iterations} iterations"))
            .label(format!("needs at least one, and at most {MOST_ITERATIONS}"));
        return None;
    }
    let queue = entry.queue.map_or(QueueLimit::Unlimited, |queue| queue.0);
    if queue.is_nothing() {
        problems.at(place!["switches", i, "queue"], "no packet fits").label("must be above zero");
        return None;
    }
    let lines = links().flat_map(|link| link.directions.iter().map(|port| port.rate));
    let line = entry.rate.map(|rate| rate.0).or_else(|| lines.max())?;
    let speed_up = entry.speed_up.map_or(1.0, |number| number.0);
    let crossbar = rate(line, speed_up);
    let slot = crossbar.map(|rate| rate.transmission_time(cell));
    let Some((crossbar, _)) = crossbar.zip(slot.filter(|&slot| slot > Duration::ZERO)) else {
        problems
            .at(place!["switches", i, "speed_up"], format!("speed-up of {speed_up}"))
            .label("a cell must take at least 1 ps and at most the maximum length of a run");
        return None;
    };
    let fifo = entry.fifo.unwrap_or(false);
    Some(SwitchPlan { node, fifo, iterations, cell, crossbar, queue })
}

/// Returns a multiple of a rate in whole bit/s; `None` if it is not above zero, or too high.
fn rate(line: Rate, speed_up: f64) -> Option<Rate> {
    let bps = (line.bps() as f64 * speed_up).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    let bps = (1.0..=1e15).contains(&bps).then_some(bps as u64)?;
    Rate::from_bps(bps)
}
