//! Scheduled changes.

use std::collections::{BTreeMap, BTreeSet};

use optcp_net::Chance;
use optcp_net::schedule::Drift;
use optcp_units::{Duration, Time};

use crate::library::Library;
use crate::plan::{ChangePlan, DirectedLink, SchedulePlan, StepPlan};
use crate::problem::Problems;
use crate::schema::{
    ChangeEntry, DelayCourse, Directions, EceFlag, File, LinkState, Probability, ScheduleEntry,
    ScheduleForm, Transmitter,
};
use crate::tree::{Step, place};

use super::draft::Draft;
use super::generated;
use super::network::Network;
use super::outages::Outages;
use super::traced::rows;
use super::voqs::served;

/// Maximum number of steps of all schedules in a run; each is an event.
const MOST_STEPS: u64 = 200_000_000;

/// Adds the changes of schedules.
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
            // Steps that only change the state of links are failures of the plan.
            let changing: Vec<StepPlan> =
                schedule.steps.into_iter().filter(|step| !step.changes.is_empty()).collect();
            if !changing.is_empty() {
                plan.schedules.push(SchedulePlan { steps: changing, ..schedule });
            }
        }
        if steps > MOST_STEPS {
            problems
                .at(place!["schedules", i], format!("schedules have {steps} steps in the run"))
                .label(format!("at most {MOST_STEPS}"));
            return;
        }
    }
    outages.place(file.failures.len(), plan, network, problems);
}

/// Interpolates delays linearly up to the next change of the same port. Of several changes at the same time,
/// the first ends the previous segment and the last starts the next one.
fn drift(steps: &mut BTreeMap<Duration, Vec<(DirectedLink, ChangePlan)>>) {
    let mut next: BTreeMap<DirectedLink, (Duration, Duration)> = BTreeMap::new();
    for (&at, changes) in steps.iter_mut().rev() {
        // Iterate backwards, so that the next change is known.
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

/// Reader of an entry.
pub(super) struct Reader<'r, 't> {
    /// Number of the entry.
    pub(super) i: usize,
    plan: &'r Draft,
    pub(super) network: &'r mut Network,
    pub(super) problems: &'r mut Problems<'t>,
    /// State changes of links in a period.
    states: Vec<State>,
}

/// State of a link direction from a time of the period on.
pub(super) type State = (DirectedLink, Duration, LinkState);

impl Reader<'_, '_> {
    /// Returns the schedules of an entry; `None` if a problem was reported.
    fn schedule(&mut self, entry: &ScheduleEntry, library: &Library) -> Option<Vec<SchedulePlan>> {
        let (i, before) = (self.i, self.problems.found.len());
        let start = entry.start.map_or(Time::ZERO, |start| Time::ZERO + start.0);
        if start >= self.plan.stop {
            let message = format!("starts at {start}, but the run stops at {}", self.plan.stop);
            let problem = self.problems.at(place!["schedules", i, "start"], message);
            problem.label("must be before `stop`");
        }
        let period = entry.period.map(|period| period.0);
        if period == Some(Duration::ZERO) {
            self.problems
                .at(place!["schedules", i, "period"], "period is zero")
                .label("must be above zero");
        }
        if entry.form == Some(ScheduleForm::Mahimahi) {
            let found = self.trace(entry, start, library)?;
            return (self.problems.found.len() == before).then_some(found);
        }
        let of_files = [
            ("form", entry.form.is_some() && entry.file.is_none(), "needs `file`"),
            ("link", entry.link.is_some(), "needs `form = \"mahimahi\"`; a change names its own"),
            ("direction", entry.direction.is_some(), "needs `form = \"mahimahi\"`"),
        ];
        for (key, _, label) in of_files.into_iter().filter(|(_, given, _)| *given) {
            let message = format!("`{key}` is not used here");
            self.problems.at(place!["schedules", i, key], message).label(label);
        }
        let mut steps = BTreeMap::new();
        match (&entry.changes, &entry.file, &entry.generator) {
            (changes, None, None) => {
                if changes.is_empty() {
                    let place = place!["schedules", i, "changes"];
                    self.problems.at(place, "schedule without changes");
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
                        // Later lines probably contain the same mistake.
                        return None;
                    }
                }
            }
            (changes, None, Some(generator)) if changes.is_empty() => {
                if entry.delays.is_some() {
                    self.problems
                        .at(place!["schedules", i, "delays"], "`delays` is not used here")
                        .label("generated circuits do not change delays");
                }
                if period.is_some() {
                    self.problems
                        .at(place!["schedules", i, "period"], "`period` is not used here")
                        .label("it follows from `day`, `night` and the number of circuits");
                }
                let found = generated::generated(i, generator, start, self.network, self.problems)?;
                return (self.problems.found.len() == before).then_some(found);
            }
            _ => {
                self.problems
                    .at(place!["schedules", i], "no changes, or several definitions")
                    .label("needs exactly one of `changes`, `file` and `generator`");
            }
        }
        if let Some(course) = entry.delays {
            let moves =
                |(_, change): &(DirectedLink, ChangePlan)| matches!(change, ChangePlan::Delay(_));
            if !steps.values().flatten().any(moves) && self.problems.found.len() == before {
                self.problems
                    .at(place!["schedules", i, "delays"], "`delays` is not used here")
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

    /// Adds a change to the steps. Changes at the same time keep their order.
    fn step(
        &mut self,
        change: &ChangeEntry,
        place: &[Step<'_>],
        period: Option<Duration>,
        steps: &mut BTreeMap<Duration, Vec<(DirectedLink, ChangePlan)>>,
    ) {
        let at = change.at.0;
        if let Some(period) = period.filter(|&period| at >= period) {
            let message = format!("change at {at} in a period of {period}");
            let problem = self.problems.at(&[place, place!["at"]].concat(), message);
            problem.label("must be before the end of the period");
        }
        let changes = self.changes(change, place);
        steps.entry(at).or_default().extend(changes);
    }

    /// Returns the changes of all links that an entry names.
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
                // Other links would cause the same message.
                break;
            }
        }
        let nothing = found.is_empty() && self.states.len() == states;
        if nothing && self.problems.found.is_empty() {
            self.problems.at(place, "change without effect").label(
                "needs `served`, `rate`, `delay`, `queue`, `transmitter`, `state`, `ece` or `loss`",
            );
        }
        found
    }

    /// Returns the changes of one link, with directions.
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
        if plan_of.wavelengths.is_some() || network.is_burst_route(link) || !plan_of.over.is_empty()
        {
            problems
                .at(&at("link"), format!("scheduled change of `{name}`"))
                .label("needs a link that carries single packets");
            return Vec::new();
        }
        let mut found: Vec<ChangePlan> = Vec::new();
        let of_links = [
            ("rate", entry.rate.is_some()),
            ("delay", entry.delay.is_some()),
            ("transmitter", entry.transmitter.is_some()),
            ("state", entry.state.is_some()),
            ("loss", entry.loss.is_some()),
        ];
        match (&plan_of.voq, &entry.served) {
            (Some(voq), way) => {
                for (key, _) in of_links.into_iter().filter(|(_, given)| *given) {
                    problems
                        .at(&at(key), format!("`{key}` of a virtual output queue"))
                        .label("set it on the links of its paths");
                }
                let way = way.as_ref().and_then(|way| served(voq, way, &at("served"), problems));
                found.extend(way.map(ChangePlan::Serve));
            }
            (None, Some(_)) => {
                problems
                    .at(&at("served"), format!("`{name}` is not a virtual output queue"))
                    .label("only virtual output queues have paths");
            }
            (None, None) => {
                found.extend(entry.rate.map(|rate| ChangePlan::Rate(rate.0)));
                found.extend(entry.delay.map(|delay| ChangePlan::Delay(delay.0)));
                let sends = entry.transmitter.map(|does| does == Transmitter::Sends);
                found.extend(sends.map(ChangePlan::Sends));
                let state =
                    |state| directions.iter().map(move |&one| ((link, one), entry.at.0, state));
                self.states.extend(entry.state.into_iter().flat_map(state));
                if let Some(Probability(loss)) = entry.loss {
                    if loss > 1.0 {
                        problems
                            .at(&at("loss"), format!("probability `{loss}` is above 1"))
                            .label("must be from 0 to 1");
                        return Vec::new();
                    }
                    found.push(ChangePlan::Loss(Chance::new(loss)));
                }
            }
        }
        if let Some(queue) = entry.queue {
            let keeps = |&direction: &usize| {
                plan_of.directions[direction].discipline.kind().decides_on_departure()
            };
            if directions.iter().any(keeps) {
                problems
                    .at(&at("queue"), format!("scheduled limit of the queue of `{name}`"))
                    .label("its discipline has one fixed limit");
            }
            if queue.0.is_nothing() {
                problems.at(&at("queue"), "queue limit is zero");
            }
            // The new limit drops packets before other changes let the transmitter send.
            found.insert(0, ChangePlan::Limit(queue.0));
        }
        found.extend(entry.ece.map(|flag| ChangePlan::Ece(flag == EceFlag::Set)));
        let each = |direction| found.iter().map(move |&change| ((link, direction), change));
        directions.into_iter().flat_map(each).collect()
    }
}
