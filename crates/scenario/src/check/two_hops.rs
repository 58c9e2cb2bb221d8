//! Two-hop forwarding: queues use circuits through a third member while they have no direct circuit.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::Duration;

use crate::plan::{ChangePlan, DirectedLink};

use super::generated::{Cycle, Day};
use super::network::Network;
use super::voqs::DIRECT;

/// Returns the changes of a cycle: links send during their days, and queues use the available circuits.
/// Returns `None` if two members have no queue with a path through each other member.
pub(super) fn changes(
    members: &[usize],
    switches: usize,
    days: &[Day],
    network: &Network,
    cycle: &mut Cycle,
) -> Option<()> {
    let mut queues = BTreeMap::new();
    for (number, &a) in members.iter().enumerate() {
        for &b in &members[number + 1..] {
            let between = network.between.get(&(a.min(b), a.max(b)))?;
            let queue = between.iter().copied().find(|&link| network.links[link].voq.is_some())?;
            queues.insert((a, b), (queue, 0));
            queues.insert((b, a), (queue, 1));
        }
    }
    // Days and peers, by member and switch.
    let mut joined: BTreeMap<usize, Vec<(&Day, usize)>> = BTreeMap::new();
    for day in days {
        for &[a, b] in &day.pairs {
            joined.entry(a).or_default().push((day, b));
            joined.entry(b).or_default().push((day, a));
            let (queue, _) = queues[&(a, b)];
            let voq = network.links[queue].voq.as_ref()?;
            let (link, direction) = voq.hops(usize::from(voq.way(DIRECT)?), 0)[0];
            for port in [(link, direction), (link, 1 - direction)] {
                cycle.day(day, port, ChangePlan::Sends);
            }
        }
    }
    for (i, &from) in members.iter().enumerate() {
        let of_member = &joined.get(&from)?[..];
        let instants: BTreeSet<Duration> = of_member
            .iter()
            .flat_map(|(day, _)| [day.begin, day.end])
            .chain([Duration::ZERO])
            .collect();
        // Circuits of the member in each interval between changes.
        let present: Vec<(Duration, Vec<(usize, usize)>)> = instants
            .into_iter()
            .map(|at| {
                let there = of_member.iter().filter(|(day, _)| day.has(at));
                (at, there.map(|&(day, to)| (day.switch, to)).collect())
            })
            .collect();
        for (j, &to) in members.iter().enumerate().filter(|&(j, _)| j != i) {
            queue(queues[&(from, to)], to, (i + j) % switches, &present, network, cycle)?;
        }
    }
    Some(())
}

/// Adds the serving paths of a queue in a cycle.
fn queue(
    (link, direction): DirectedLink,
    to: usize,
    switch: usize,
    present: &[(Duration, Vec<(usize, usize)>)],
    network: &Network,
    cycle: &mut Cycle,
) -> Option<()> {
    let voq = network.links[link].voq.as_ref()?;
    let over = |there: &[(usize, usize)]| {
        let own = there.iter().find(|&&(_, other)| other == to);
        let (_, other) = own.or_else(|| there.iter().find(|&&(one, _)| one == switch))?;
        let name = if *other == to { DIRECT } else { network.name(*other) };
        voq.way(name)
    };
    let mut last = None;
    for (at, there) in present {
        let way = over(there);
        if *at == Duration::ZERO {
            cycle.start((link, direction), ChangePlan::Serve(way));
        }
        if last != Some(way) {
            cycle.change(*at, (link, direction), ChangePlan::Serve(way));
            last = Some(way);
        }
    }
    Some(())
}
