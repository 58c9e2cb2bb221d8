//! Virtual output queues, and what changes by plan.

use optcp_units::nearest::suggestion;
use optcp_units::{Duration, Time};

use crate::plan::{
    ChangePlan, DirectedLink, LinkPlan, PortPlan, SchedulePlan, Spread, StepPlan, VoqPlan, WayPlan,
};
use crate::problem::Problems;
use crate::schema::{ChangeEntry, Directions, EceFlag, File, ScheduleEntry, Transmitter, VoqEntry};
use crate::tree::{Step, place};

use super::bounds::{MOST, check_name};
use super::draft::Draft;
use super::network::Network;
use super::queues;

/// What a queue is served over while nothing serves it.
const NONE: &str = "none";
/// Steps of all schedules in a run: each is an event.
const MOST_STEPS: u64 = 200_000_000;
/// Ways are numbered in a byte.
const MOST_WAYS: usize = 200;

impl Network {
    /// Makes the virtual output queues.
    pub(super) fn voqs(&mut self, file: &File, problems: &mut Problems<'_>) {
        for (i, entry) in file.voqs.iter().enumerate() {
            let stop = file.stop.0;
            queues::check(&entry.queue, stop, place!["voqs", i, "queue"], problems);
            if let Some(queue) = &entry.reverse.queue {
                queues::check(queue, stop, place!["voqs", i, "reverse", "queue"], problems);
            }
            if self.voq(i, entry, problems).is_none() {
                self.incomplete = true;
            }
        }
    }

    fn voq(&mut self, i: usize, entry: &VoqEntry, problems: &mut Problems<'_>) -> Option<()> {
        let name_place = place!["voqs", i, "name"];
        check_name(&entry.name, name_place, problems);
        let taken = self.node.contains_key(&entry.name)
            || self.group.contains_key(&entry.name)
            || self.link.contains_key(&entry.name)
            || self.parallel.contains_key(&entry.name);
        if taken {
            let message = format!("there is already something called `{}`", entry.name);
            problems
                .at(name_place, message)
                .label("nodes, links and virtual output queues share their names");
            return None;
        }
        let [Some(a), Some(b)] = [0, 1].map(|end| {
            let name = &entry.between[end];
            let node = self.node.get(name).copied();
            if node.is_none() && self.reported.insert(name.clone()) {
                let help = suggestion(name, "nodes", self.nodes.iter().map(String::as_str));
                let place = place!["voqs", i, "between", end];
                problems.at(place, format!("no node `{name}`")).help(help);
            }
            node
        }) else {
            return None;
        };
        if self.links.len() == MOST {
            problems.at(place!["voqs", i], format!("more than {MOST} links"));
            return None;
        }
        let ways = self.ways_of(i, entry, [a, b], problems)?;
        let notify = entry.notify.map(|notify| notify.0);
        let mut voq = VoqPlan { ways, served: [None; 2], notify };
        let there = served(&voq, &entry.served, place!["voqs", i, "served"], problems)?;
        let back = match &entry.reverse.served {
            None => there,
            Some(way) => served(&voq, way, place!["voqs", i, "reverse", "served"], problems)?,
        };
        voq.served = [there, back];
        // Where somebody asks how long packets wait: at the rate of what serves it, or of its first way.
        let port = |direction: usize| {
            let way = voq.served[direction].map_or(0, usize::from);
            let (link, to) = voq.hops(way, direction)[0];
            let queue = entry.reverse.queue.as_ref().filter(|_| direction == 1);
            let queue = queue.unwrap_or(&entry.queue);
            PortPlan {
                rate: self.links[link].directions[to].rate,
                delay: Spread::ZERO,
                jitter: Spread::ZERO,
                overtaking: false,
                queue: queue.limit.0,
                discipline: queues::discipline(queue),
            }
        };
        let directions = [port(0), port(1)];
        self.join(LinkPlan {
            name: entry.name.clone(),
            named: true,
            ends: [a, b],
            directions,
            costs: [1, 1],
            shared_delay: true,
            over: Vec::new(),
            voq: Some(voq),
            wavelengths: None,
            entry: None,
        });
        Some(())
    }

    fn ways_of(
        &mut self,
        i: usize,
        entry: &VoqEntry,
        [a, b]: [usize; 2],
        problems: &mut Problems<'_>,
    ) -> Option<Vec<WayPlan>> {
        if entry.ways.is_empty() || entry.ways.len() > MOST_WAYS {
            let message = format!("a virtual output queue with {} ways", entry.ways.len());
            problems
                .at(place!["voqs", i, "ways"], message)
                .label(format!("needs one at least, and at most {MOST_WAYS}"));
            return None;
        }
        let mut ways: Vec<WayPlan> = Vec::new();
        for (name, nodes) in &entry.ways {
            let place = [place!["voqs", i, "ways"], &[Step::from(name.as_str())]].concat();
            if name == NONE {
                problems
                    .at(&place, "a way called `none`")
                    .label("over `none` nothing leaves the queue");
                return None;
            }
            let routes = self.routes(nodes, &place, problems)?;
            let [route] = &routes[..] else {
                problems.at(&place, "several ways of one name").label("only nodes make a way");
                return None;
            };
            if route.nodes[0] != a || route.nodes[route.nodes.len() - 1] != b {
                let [a, b] = [a, b].map(|node| self.name(node));
                problems
                    .at(&place, format!("the way `{name}` does not lead from `{a}` to `{b}`"))
                    .label("ways lead between the two nodes of the queue");
                return None;
            }
            let plain = |&(link, _): &DirectedLink| {
                let link = &self.links[link];
                link.voq.is_none() && link.over.is_empty() && link.wavelengths.is_none()
            };
            if !route.bundles.is_empty() || !route.hops.iter().all(plain) {
                problems
                    .at(&place, format!("the way `{name}` is not of links alone"))
                    .label("no bundles, fibres, or other virtual output queues");
                return None;
            }
            let hops = route.hops.clone();
            let first = [hops[0], hops[hops.len() - 1]];
            let taken = ways.iter().find(|other| {
                other.hops[0].0 == first[0].0 || other.hops[other.hops.len() - 1].0 == first[1].0
            });
            if let Some(other) = taken {
                let message = format!("the ways `{}` and `{name}` share a transmitter", other.name);
                problems.at(&place, message).label("begins and ends with links of its own");
                return None;
            }
            ways.push(WayPlan { name: name.clone(), hops });
        }
        Some(ways)
    }
}

/// The number of the way that serves a queue, or that none does.
#[expect(clippy::option_option, reason = "the outer one is a problem")]
fn served(
    voq: &VoqPlan,
    name: &str,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) -> Option<Option<u8>> {
    if name == NONE {
        return Some(None);
    }
    let way = voq.way(name);
    if way.is_none() {
        let names = voq.ways.iter().map(|way| way.name.as_str()).chain([NONE]);
        let help = suggestion(name, "ways", names);
        problems.at(place, format!("no way `{name}`")).help(help);
    }
    way.map(Some)
}

/// Places the changes of schedules.
pub(super) fn schedules(
    file: &File,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    for (other, given) in
        [("[routing]", file.routing.is_some()), ("[[protection]]", !file.protection.is_empty())]
    {
        if given && !file.voqs.is_empty() {
            problems
                .at(place!["voqs", 0], format!("virtual output queues in a world with {other}"))
                .label("their flows have a `path` each, and no backup");
        }
    }
    let mut steps = 0_u64;
    for (i, entry) in file.schedules.iter().enumerate() {
        let Some(schedule) = schedule(i, entry, plan, network, problems) else { continue };
        let span = plan.stop.saturating_since(schedule.start).as_ps();
        let periods = schedule.period.map_or(1, |period| span.div_ceil(period.as_ps()));
        steps = steps.saturating_add(periods.saturating_mul(schedule.steps.len() as u64));
        if steps > MOST_STEPS {
            problems
                .at(place!["schedules", i], format!("the run has {steps} steps of schedules"))
                .label(format!("at most {MOST_STEPS}"));
            return;
        }
        plan.schedules.push(schedule);
    }
}

fn schedule(
    i: usize,
    entry: &ScheduleEntry,
    plan: &Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<SchedulePlan> {
    let before = problems.found.len();
    let start = entry.start.map_or(Time::ZERO, |start| Time::ZERO + start.0);
    if start >= plan.stop {
        let message = format!("it begins at {start}, the run stops at {}", plan.stop);
        problems.at(place!["schedules", i, "start"], message).label("must begin before the stop");
    }
    if entry.changes.is_empty() {
        problems.at(place!["schedules", i, "changes"], "a schedule without changes");
    }
    let period = entry.period.map(|period| period.0);
    if period == Some(Duration::ZERO) {
        problems
            .at(place!["schedules", i, "period"], "a period of nothing")
            .label("must be above zero");
    }
    let mut steps: Vec<StepPlan> = Vec::new();
    for (j, change) in entry.changes.iter().enumerate() {
        let at = place!["schedules", i, "changes", j, "at"];
        if let Some(period) = period.filter(|&period| change.at.0 >= period) {
            let message = format!("a change at {} in a period of {period}", change.at.0);
            problems.at(at, message).label("must come before the period ends");
        }
        let changes = changes((i, j), change, plan, network, problems);
        // Those of one instant stay in the order of the file.
        match steps.iter_mut().find(|step| step.after == change.at.0) {
            Some(step) => step.changes.extend(changes),
            None => steps.push(StepPlan { after: change.at.0, changes }),
        }
    }
    steps.sort_by_key(|step| step.after);
    (problems.found.len() == before).then_some(SchedulePlan { start, period, steps })
}

/// What an entry changes of all links that it names.
fn changes(
    (i, j): (usize, usize),
    entry: &ChangeEntry,
    plan: &Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Vec<(DirectedLink, ChangePlan)> {
    let at =
        |key: &'static str| [place!["schedules", i, "changes", j], &[Step::from(key)]].concat();
    let hops = network.referred(&entry.link, &at("link"), problems).unwrap_or_default();
    let before = problems.found.len();
    let mut found = Vec::new();
    for hop in hops {
        found.extend(changes_of((i, j), entry, hop, plan, network, problems));
        if problems.found.len() > before {
            // The others are like it, and would be told the same.
            break;
        }
    }
    if found.is_empty() && problems.found.is_empty() {
        problems
            .at(place!["schedules", i, "changes", j], "what changes is not said")
            .label("needs `served`, `rate`, `delay`, `queue`, `transmitter` or `ece`");
    }
    found
}

/// What an entry changes of a link that it names, in which directions.
fn changes_of(
    (i, j): (usize, usize),
    entry: &ChangeEntry,
    (link, forward): DirectedLink,
    plan: &Draft,
    network: &Network,
    problems: &mut Problems<'_>,
) -> Vec<(DirectedLink, ChangePlan)> {
    let at =
        |key: &'static str| [place!["schedules", i, "changes", j], &[Step::from(key)]].concat();
    let directions = match entry.direction.unwrap_or(Directions::Both) {
        Directions::Both => vec![forward, 1 - forward],
        Directions::Forward => vec![forward],
        Directions::Backward => vec![1 - forward],
    };
    let plan_of = &network.links[link];
    let name = &plan_of.name;
    if plan_of.wavelengths.is_some() || plan.in_bursts(link) || !plan_of.over.is_empty() {
        problems
            .at(&at("link"), format!("`{name}` changes by plan"))
            .label("goes with links that carry packets one by one");
        return Vec::new();
    }
    let mut found: Vec<ChangePlan> = Vec::new();
    let of_links = [
        ("rate", entry.rate.is_some()),
        ("delay", entry.delay.is_some()),
        ("transmitter", entry.transmitter.is_some()),
    ];
    match (&plan_of.voq, &entry.served) {
        (Some(voq), way) => {
            for (key, _) in of_links.into_iter().filter(|(_, given)| *given) {
                problems
                    .at(&at(key), format!("`{key}` of a virtual output queue"))
                    .label("is said of the links of its ways");
            }
            let way = way.as_ref().and_then(|way| served(voq, way, &at("served"), problems));
            found.extend(way.map(ChangePlan::Serve));
        }
        (None, Some(_)) => {
            problems
                .at(&at("served"), format!("`{name}` is no virtual output queue"))
                .label("only these are served over ways");
        }
        (None, None) => {
            found.extend(entry.rate.map(|rate| ChangePlan::Rate(rate.0)));
            found.extend(entry.delay.map(|delay| ChangePlan::Delay(delay.0)));
            let sends = entry.transmitter.map(|does| does == Transmitter::Sends);
            found.extend(sends.map(ChangePlan::Sends));
        }
    }
    if let Some(queue) = entry.queue {
        let keeps = |&direction: &usize| {
            plan_of.directions[direction].discipline.kind().decides_on_departure()
        };
        if directions.iter().any(keeps) {
            problems
                .at(&at("queue"), format!("the queue of `{name}` changes"))
                .label("its discipline keeps packets itself, and has one limit");
        }
        if queue.0.is_nothing() {
            problems.at(&at("queue"), "a queue that holds nothing passes nothing");
        }
        // What it loses for that comes before what it sends then.
        found.insert(0, ChangePlan::Limit(queue.0));
    }
    found.extend(entry.ece.map(|flag| ChangePlan::Ece(flag == EceFlag::Set)));
    let each = |direction| found.iter().map(move |&change| ((link, direction), change));
    directions.into_iter().flat_map(each).collect()
}
