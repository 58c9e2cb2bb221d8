//! What changes by plan.

use std::collections::{BTreeMap, BTreeSet};

use optcp_net::schedule::Drift;
use optcp_units::{Duration, Time};

use crate::library::Library;
use crate::plan::{ChangePlan, DirectedLink, SchedulePlan, StepPlan};
use crate::problem::Problems;
use crate::schema::{
    ChangeEntry, DelayCourse, Directions, EceFlag, File, LinkState, ScheduleEntry, ScheduleForm,
    Transmitter,
};
use crate::tree::{Step, place};

use super::draft::Draft;
use super::generated;
use super::network::Network;
use super::outages::Outages;
use super::traced::rows;
use super::voqs::served;

/// Steps of all schedules in a run: each is an event.
const MOST_STEPS: u64 = 200_000_000;

/// Places the changes of schedules.
pub(super) fn schedules(
    file: &File,
    library: &Library,
    plan: &mut Draft,
    network: &mut Network,
    problems: &mut Problems<'_>,
) {
    let mut steps = 0_u64;
    let mut outages = Outages::default();
    for (i, entry) in file.schedules.iter().enumerate() {
        let mut reader = Reader { i, plan, network, problems, states: Vec::new() };
        let Some(found) = reader.schedule(entry, library) else { continue };
        let states = reader.states;
        for schedule in found {
            let span = plan.stop.saturating_since(schedule.start).as_ps();
            let periods = schedule.period.map_or(1, |period| span.div_ceil(period.as_ps()));
            steps = steps.saturating_add(periods.saturating_mul(schedule.steps.len() as u64));
            outages.add(&schedule, &states, plan.stop, i);
            // Steps that only say whether links are in service are failures of the plan.
            let changing: Vec<StepPlan> =
                schedule.steps.into_iter().filter(|step| !step.changes.is_empty()).collect();
            if !changing.is_empty() {
                plan.schedules.push(SchedulePlan { steps: changing, ..schedule });
            }
        }
        if steps > MOST_STEPS {
            problems
                .at(place!["schedules", i], format!("the run has {steps} steps of schedules"))
                .label(format!("at most {MOST_STEPS}"));
            return;
        }
    }
    outages.place(file.failures.len(), plan, network, problems);
}

/// Makes delays go evenly from one change to the next one of the same port. Of several at an instant the last one begins what
/// follows, and the first is where what was comes to.
fn drift(steps: &mut BTreeMap<Duration, Vec<(DirectedLink, ChangePlan)>>) {
    let mut next: BTreeMap<DirectedLink, (Duration, Duration)> = BTreeMap::new();
    for (&at, changes) in steps.iter_mut().rev() {
        // From the last to the first, so that what comes next is known.
        let mut begun = BTreeSet::new();
        let mut first = BTreeMap::new();
        for (hop, change) in changes.iter_mut().rev() {
            let ChangePlan::Delay(delay) = *change else { continue };
            first.insert(*hop, (at, delay));
            if begun.insert(*hop)
                && let Some(&(later, to)) = next.get(hop)
            {
                *change = ChangePlan::Drift(Drift { from: delay, to, over: later - at });
            }
        }
        next.extend(first);
    }
}

/// What reads an entry.
pub(super) struct Reader<'r, 't> {
    /// Its number.
    pub(super) i: usize,
    plan: &'r Draft,
    pub(super) network: &'r mut Network,
    pub(super) problems: &'r mut Problems<'t>,
    /// Which links are in service from when in a period.
    states: Vec<State>,
}

/// From when in a period a direction of a link is in service, or is not.
pub(super) type State = (DirectedLink, Duration, LinkState);

impl Reader<'_, '_> {
    /// The schedules that an entry makes; `None` if there is a problem, which has then been reported.
    fn schedule(&mut self, entry: &ScheduleEntry, library: &Library) -> Option<Vec<SchedulePlan>> {
        let (i, before) = (self.i, self.problems.found.len());
        let start = entry.start.map_or(Time::ZERO, |start| Time::ZERO + start.0);
        if start >= self.plan.stop {
            let message = format!("it begins at {start}, the run stops at {}", self.plan.stop);
            let problem = self.problems.at(place!["schedules", i, "start"], message);
            problem.label("must begin before the stop");
        }
        let period = entry.period.map(|period| period.0);
        if period == Some(Duration::ZERO) {
            self.problems
                .at(place!["schedules", i, "period"], "a period of nothing")
                .label("must be above zero");
        }
        if entry.form == Some(ScheduleForm::Mahimahi) {
            let found = self.trace(entry, start, library)?;
            return (self.problems.found.len() == before).then_some(found);
        }
        let of_files = [
            ("form", entry.form.is_some() && entry.file.is_none(), "is of a `file`"),
            (
                "link",
                entry.link.is_some(),
                "goes with `form = \"mahimahi\"`; a change names its own",
            ),
            ("direction", entry.direction.is_some(), "goes with `form = \"mahimahi\"`"),
        ];
        for (key, _, label) in of_files.into_iter().filter(|(_, given, _)| *given) {
            let message = format!("`{key}` has no meaning here");
            self.problems.at(place!["schedules", i, key], message).label(label);
        }
        let mut steps = BTreeMap::new();
        match (&entry.changes, &entry.file, &entry.generator) {
            (changes, None, None) => {
                if changes.is_empty() {
                    let place = place!["schedules", i, "changes"];
                    self.problems.at(place, "a schedule without changes");
                }
                for (j, change) in changes.iter().enumerate() {
                    self.step(change, place!["schedules", i, "changes", j], period, &mut steps);
                }
            }
            (changes, Some(file), None) if changes.is_empty() => {
                let place = place!["schedules", i, "file"];
                for (line, change) in rows(file, "change", place, library, self.problems)? {
                    let known = self.problems.found.len();
                    self.step(&change, place, period, &mut steps);
                    for problem in &mut self.problems.found[known..] {
                        problem.message = format!("`{file}`, line {line}: {}", problem.message);
                    }
                    if self.problems.found.len() > known {
                        // The lines below are likely to have the same mistake.
                        return None;
                    }
                }
            }
            (changes, None, Some(generator)) if changes.is_empty() => {
                if entry.delays.is_some() {
                    self.problems
                        .at(place!["schedules", i, "delays"], "`delays` has no meaning here")
                        .label("circuits that come in turn change no delay");
                }
                if period.is_some() {
                    self.problems
                        .at(place!["schedules", i, "period"], "`period` has no meaning here")
                        .label("follows from `day`, `night` and how many circuits there are");
                }
                let found = generated::generated(i, generator, start, self.network, self.problems)?;
                return (self.problems.found.len() == before).then_some(found);
            }
            _ => {
                self.problems
                    .at(place!["schedules", i], "what changes is said twice")
                    .label("needs one of `changes`, `file` and `generator`");
            }
        }
        if let Some(course) = entry.delays {
            let moves =
                |(_, change): &(DirectedLink, ChangePlan)| matches!(change, ChangePlan::Delay(_));
            if !steps.values().flatten().any(moves) && self.problems.found.len() == before {
                self.problems
                    .at(place!["schedules", i, "delays"], "`delays` has no meaning here")
                    .label("no change has a `delay`");
            }
            if course == DelayCourse::Linear {
                drift(&mut steps);
            }
        }
        let steps = steps.into_iter().map(|(after, changes)| StepPlan { after, changes });
        let schedule = SchedulePlan { start, period, steps: steps.collect() };
        (self.problems.found.len() == before).then(|| vec![schedule])
    }

    /// Adds a change to the steps. Those of one instant stay in their order.
    fn step(
        &mut self,
        change: &ChangeEntry,
        place: &[Step<'_>],
        period: Option<Duration>,
        steps: &mut BTreeMap<Duration, Vec<(DirectedLink, ChangePlan)>>,
    ) {
        let at = change.at.0;
        if let Some(period) = period.filter(|&period| at >= period) {
            let message = format!("a change at {at} in a period of {period}");
            let problem = self.problems.at(&[place, place!["at"]].concat(), message);
            problem.label("must come before the period ends");
        }
        let changes = self.changes(change, place);
        steps.entry(at).or_default().extend(changes);
    }

    /// What an entry changes of all links that it names.
    pub(super) fn changes(
        &mut self,
        entry: &ChangeEntry,
        place: &[Step<'_>],
    ) -> Vec<(DirectedLink, ChangePlan)> {
        let at = [place, place!["link"]].concat();
        let hops = self.network.referred(&entry.link, &at, self.problems).unwrap_or_default();
        let (before, states) = (self.problems.found.len(), self.states.len());
        let mut found = Vec::new();
        for hop in hops {
            found.extend(self.changes_of(entry, hop, place));
            if self.problems.found.len() > before {
                // The others are like it, and would be told the same.
                break;
            }
        }
        let nothing = found.is_empty() && self.states.len() == states;
        if nothing && self.problems.found.is_empty() {
            self.problems
                .at(place, "what changes is not said")
                .label("needs `served`, `rate`, `delay`, `queue`, `transmitter`, `state` or `ece`");
        }
        found
    }

    /// What an entry changes of a link that it names, in which directions.
    fn changes_of(
        &mut self,
        entry: &ChangeEntry,
        (link, forward): DirectedLink,
        place: &[Step<'_>],
    ) -> Vec<(DirectedLink, ChangePlan)> {
        let (network, problems) = (&*self.network, &mut *self.problems);
        let at = |key: &'static str| [place, &[Step::from(key)]].concat();
        let directions = match entry.direction.unwrap_or(Directions::Both) {
            Directions::Both => vec![forward, 1 - forward],
            Directions::Forward => vec![forward],
            Directions::Backward => vec![1 - forward],
        };
        let plan_of = &network.links[link];
        let name = &plan_of.name;
        let of_bursts = network.burst_links.iter().any(|&(_, of_bursts)| of_bursts == link);
        if plan_of.wavelengths.is_some() || of_bursts || !plan_of.over.is_empty() {
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
            ("state", entry.state.is_some()),
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
                let state =
                    |state| directions.iter().map(move |&one| ((link, one), entry.at.0, state));
                self.states.extend(entry.state.into_iter().flat_map(state));
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
}
