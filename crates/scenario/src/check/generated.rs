//! Generated cycles of circuits between the members of a group.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::{Duration, Time};

use crate::plan::{ChangePlan, DirectedLink, SchedulePlan, StepPlan, VoqPlan};
use crate::problem::Problems;
use crate::schema::{GeneratorEntry, GeneratorKind, Phases};
use crate::tree::{Step, place};

use super::network::Network;
use super::two_hops;
use super::voqs::served;

/// Circuit between two members: changes at the start of its day and at the start of its night.
struct Circuit {
    link: usize,
    day: [ChangePlan; 2],
    night: [ChangePlan; 2],
}

impl Circuit {
    fn is(&self, there: bool, direction: usize) -> ChangePlan {
        if there { self.day[direction] } else { self.night[direction] }
    }
}

/// Creates the initial step, which sets the state at the start, and the steps of each cycle.
pub(super) fn generated(
    i: usize,
    entry: &GeneratorEntry,
    start: Time,
    network: &mut Network,
    problems: &mut Problems<'_>,
) -> Option<Vec<SchedulePlan>> {
    let at = |key: &'static str| [place!["schedules", i, "generator"], &[Step::from(key)]].concat();
    let members = network.group_named(&entry.among, &at("among"), problems)?;
    let switches = switches(entry, members.len(), &at, problems)?;
    let (day, night) = (entry.day.0, entry.night.0);
    for (key, span) in [("day", day), ("night", night)] {
        if span == Duration::ZERO {
            problems.at(&at(key), format!("{key} is zero")).label("must be above zero");
            return None;
        }
    }
    let matchings = members.len() / switches;
    let (slot, count) = (day + night, matchings as u64);
    let Some(cycle) = slot.as_ps().checked_mul(count).map(Duration::from_ps) else {
        problems
            .at(&at("day"), "infinitely long cycle")
            .label("needs shorter days or fewer members");
        return None;
    };
    let mut days = Vec::new();
    for matching in 0..members.len() {
        let (switch, number) = (matching % switches, (matching / switches) as u64);
        let later = match entry.phases.unwrap_or(Phases::Together) {
            Phases::Together => 0,
            Phases::Staggered => slot.as_ps() / switches as u64 * switch as u64,
        };
        // The phase at `start` follows from a cycle that has always been running.
        let begin = (start.as_ps() % cycle.as_ps() + number * slot.as_ps() + later) % cycle.as_ps();
        let end = (begin + day.as_ps()) % cycle.as_ps();
        let [begin, end] = [begin, end].map(Duration::from_ps);
        let pairs = joined(matching, &members).collect();
        days.push(Day { switch, begin, end, pairs });
    }
    let mut cycles = Cycle::default();
    if entry.two_hops == Some(true) {
        if let Some(key) = way_given(entry) {
            problems
                .at(&at(key), format!("`{key}` is not used here"))
                .label("`two_hops` selects the path of each queue");
            return None;
        }
        two_hops::changes(&members, switches, &days, network, &mut cycles).or_else(|| {
            problems
                .at(&at("two_hops"), "`two_hops` without suitable queues")
                .label("needs [[voqs]] with `mesh` set to the group");
            None
        })?;
    } else {
        for day in &days {
            for &[a, b] in &day.pairs {
                let circuit = circuit([a, b], entry, network, &at, problems)?;
                for direction in [0, 1] {
                    let (port, is) =
                        ((circuit.link, direction), |there| circuit.is(there, direction));
                    cycles.day(day, port, is);
                }
            }
        }
    }
    Some(cycles.schedules(cycle))
}

/// Time of a matching within the cycle.
pub(super) struct Day {
    pub switch: usize,
    pub begin: Duration,
    pub end: Duration,
    pub pairs: Vec<[usize; 2]>,
}

impl Day {
    /// Returns whether the matching is active at a time of the cycle.
    pub(super) fn has(&self, at: Duration) -> bool {
        // A day that continues into the next cycle is also active at its start.
        match self.begin < self.end {
            true => (self.begin..self.end).contains(&at),
            false => at >= self.begin || at < self.end,
        }
    }
}

/// Changes of a cycle, and the state at its start.
#[derive(Default)]
pub(super) struct Cycle {
    first: Vec<(DirectedLink, ChangePlan)>,
    steps: BTreeMap<Duration, Vec<(DirectedLink, ChangePlan)>>,
}

impl Cycle {
    /// Sets `is(true)` for a port during a day and `is(false)` otherwise.
    pub(super) fn day(&mut self, day: &Day, port: DirectedLink, is: impl Fn(bool) -> ChangePlan) {
        self.first.push((port, is(day.has(Duration::ZERO))));
        self.change(day.begin, port, is(true));
        self.change(day.end, port, is(false));
    }

    /// Sets the state at the start.
    pub(super) fn start(&mut self, port: DirectedLink, change: ChangePlan) {
        self.first.push((port, change));
    }

    /// Adds a change at a time of the cycle.
    pub(super) fn change(&mut self, at: Duration, port: DirectedLink, change: ChangePlan) {
        self.steps.entry(at).or_default().push((port, change));
    }

    fn schedules(self, cycle: Duration) -> Vec<SchedulePlan> {
        let once = StepPlan { after: Duration::ZERO, changes: self.first };
        let steps = self.steps.into_iter().map(|(after, changes)| StepPlan { after, changes });
        vec![
            SchedulePlan { start: Time::ZERO, period: None, steps: vec![once] },
            SchedulePlan { start: Time::ZERO, period: Some(cycle), steps: steps.collect() },
        ]
    }
}

/// Returns the number of switches.
fn switches(
    entry: &GeneratorEntry,
    members: usize,
    at: &impl Fn(&'static str) -> Vec<Step<'static>>,
    problems: &mut Problems<'_>,
) -> Option<usize> {
    if entry.kind == GeneratorKind::RoundRobin {
        for (key, given) in
            [("switches", entry.switches.is_some()), ("phases", entry.phases.is_some())]
        {
            if given {
                problems
                    .at(&at(key), format!("`{key}` is not used here"))
                    .label("`round-robin` has one circuit switch");
                return None;
            }
        }
    }
    let switches = entry.switches.map_or(1, |count| usize::try_from(count.0).unwrap_or(usize::MAX));
    if switches == 0 || members < 2 || !members.is_multiple_of(switches) {
        problems.at(&at("switches"), format!("{members} matchings for {switches} switches")).label(
            "each switch needs the same number of matchings; there is one matching per member of the group",
        );
        return None;
    }
    Some(switches)
}

/// Returns the pairs of a matching: member i and member m - i, modulo the number of members.
fn joined(matching: usize, members: &[usize]) -> impl Iterator<Item = [usize; 2]> {
    let other = move |one: usize| (matching + members.len() - one) % members.len();
    let pairs = (0..members.len()).filter(move |&one| one < other(one));
    pairs.map(move |one| [members[one], members[other(one)]])
}

/// Returns the link or virtual output queue between two members.
fn circuit(
    [a, b]: [usize; 2],
    entry: &GeneratorEntry,
    network: &Network,
    at: &impl Fn(&'static str) -> Vec<Step<'static>>,
    problems: &mut Problems<'_>,
) -> Option<Circuit> {
    let between = network.between.get(&(a.min(b), a.max(b))).map_or(&[][..], Vec::as_slice);
    // Links that serve a virtual output queue do not count.
    let voqs = between.iter().filter_map(|&link| network.links[link].voq.as_ref());
    let behind: BTreeSet<usize> = voqs.flat_map(VoqPlan::transmitters).collect();
    let between: Vec<usize> =
        between.iter().copied().filter(|link| !behind.contains(link)).collect();
    let &[link] = &between[..] else {
        let [one, other] = [a, b].map(|node| network.name(node));
        let many = if between.is_empty() { "no link" } else { "several links" };
        problems
            .at(&at("among"), format!("{many} between `{one}` and `{other}`"))
            .label("needs one link per pair of members")
            .help("for example: [[links]] with `mesh` set to the group".to_owned());
        return None;
    };
    let Some(voq) = &network.links[link].voq else {
        if let Some(key) = way_given(entry) {
            let name = &network.links[link].name;
            problems
                .at(&at(key), format!("`{name}` is not a virtual output queue"))
                .label("only virtual output queues have paths");
            return None;
        }
        let [day, night] = [true, false].map(|sends| [ChangePlan::Sends(sends); 2]);
        return Some(Circuit { link, day, night });
    };
    let [day, night] = ways(voq, entry, at, problems)?;
    Some(Circuit { link, day, night })
}

/// Returns the first key that selects the path of a queue.
fn way_given(entry: &GeneratorEntry) -> Option<&'static str> {
    let served = entry.served.as_ref().map(|_| "served");
    served.or(entry.otherwise.as_ref().map(|_| "otherwise"))
}

/// Returns the paths that serve a queue during its day and otherwise.
fn ways(
    voq: &VoqPlan,
    entry: &GeneratorEntry,
    at: &impl Fn(&'static str) -> Vec<Step<'static>>,
    problems: &mut Problems<'_>,
) -> Option<[[ChangePlan; 2]; 2]> {
    let Some(day) = &entry.served else {
        problems
            .at(&at("served"), "no path for the day")
            .label("virtual output queues need `served`");
        return None;
    };
    let day = served(voq, day, &at("served"), problems)?;
    let night = match &entry.otherwise {
        None => None,
        Some(way) => served(voq, way, &at("otherwise"), problems)?,
    };
    Some([day, night].map(|way| [ChangePlan::Serve(way); 2]))
}
