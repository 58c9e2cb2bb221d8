//! Runs: one scenario, one seed and the observed series.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use optcp_engine::observe::{Observations, Observer, Quiet, hex};
use optcp_engine::{Blueprint, Counts, Engine, FlowSpec, PathOutage, Simulation, path_outages};
use optcp_net::DropReason;
use optcp_units::{Duration, Time};
use sha2::{Digest as _, Sha256};

use crate::buffers::{ResequencingBuffer, buffers};
use crate::build::{Arrived, Failed, RoutingRecord, Switched, World, world};
use crate::ends::{Ends, ends};
use crate::series::{Series, series};
use optcp_scenario::Plan;
use optcp_scenario::Scenario;
use optcp_scenario::plan::ConnectionPlan;

/// Flag that stops several runs, and their common progress.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    /// Simulated time so far, in microseconds.
    simulated_us: AtomicU64,
}

/// A run was stopped through [`Cancel`]; it has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Cancel {
    /// Stops every run that shares the flag.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the runs were cancelled.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the total simulated time of the runs; shared parts count once.
    #[must_use]
    pub fn simulated(&self) -> Duration {
        Duration::from_us(self.0.simulated_us.load(Ordering::Relaxed))
    }

    /// Records that a run advanced from `reached` to `now`.
    fn tell(&self, reached: &mut Time, now: Time) {
        let us = |at: Time| at.as_ps() / 1_000_000;
        if now > *reached {
            self.0.simulated_us.fetch_add(us(now) - us(*reached), Ordering::Relaxed);
            *reached = now;
        }
    }
}

/// Execution options. They do not affect results, except that results may omit parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// `true`: branches whose scenarios are equal up to some time share the run up to there.
    pub fork: bool,
    /// `true`: compute [`Run::records_sha256`].
    pub digest: bool,
    /// Simulation engine.
    pub engine: Engine,
    /// Maximum number of threads.
    pub threads: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { fork: true, digest: false, engine: Engine::default(), threads: 1 }
    }
}

/// Result of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Seed.
    pub seed: u64,
    /// [`Scenario::sha256`].
    pub scenario_sha256: String,
    /// Digest of all events, if requested.
    pub records_sha256: Option<String>,
    /// Digest of all counts and series.
    pub metrics_sha256: String,
    /// Packet counts: sent, delivered, dropped, in_flight, packet_hops; events; and, if not zero, copied,
    /// duplicated, copies_discarded and marked.
    pub counts: Vec<(&'static str, u64)>,
    /// Number of dropped packets by reason, without zeros.
    pub drops: Vec<(&'static str, u64)>,
    /// End of the part of the run that was shared with other branches.
    pub forked_at: Option<Time>,
    /// Switchovers and reversions, in order of time.
    pub switches: Vec<Switched>,
    /// Resequencing buffers, in the order of the scenario. Not part of the digests.
    pub resequencing: Vec<ResequencingBuffer>,
    /// Failed ports, in order of time.
    pub failed: Vec<Failed>,
    /// Record of routing; `None` without routing.
    pub routing: Option<RoutingRecord>,
    /// Routes of randomly arriving flows, by group.
    pub arrived: Vec<Arrived>,
    /// Path outages by flow, data first, in order of time. Not part of the digests.
    pub path_outages: Vec<CutOff>,
    /// Observed series, in the order of the scenario.
    pub series: Vec<Series>,
    /// Ends of flows of finite size and of operations. Not part of the digests.
    pub ends: Ends,
    /// Active periods of groups with observed goodput, in the order of the scenario, without groups that were
    /// never active. Not part of the digests.
    pub active: Vec<Active>,
    /// State of waiting packets at the end, in words. Not part of the digests.
    pub waiting: String,
    /// Counts in the part of the run that metrics cover, if that is not the whole run. Not part of the
    /// digests.
    pub measured: Option<Counts>,
}

/// Period in which a flow had no working path, according to forwarding tables and ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// Flow or source of datagrams.
    pub flow: String,
    /// Group.
    pub group: String,
    /// `true`: the path of its ACKs, otherwise of its data.
    pub acks: bool,
    /// Start.
    pub from: Time,
    /// End; the end of the run if the path stayed broken.
    pub until: Time,
}

/// Active period of the flows of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// Group.
    pub group: String,
    /// Start of its first flow.
    pub from: Time,
    /// Time at which the last of its flows had all its data in order at the receiver. If a flow is
    /// incomplete, this is the end of the run.
    pub to: Time,
}

/// Runs every branch with the same seed.
///
/// # Errors
/// [`Cancelled`] if `cancel` was set.
pub fn run_branches(
    branches: &[&Scenario],
    seed: u64,
    options: RunOptions,
    cancel: &Cancel,
) -> Result<Vec<Run>, Cancelled> {
    let RunOptions { fork, digest, .. } = options;
    let build = |branch: &&Scenario| {
        world(branch.plan(), seed, digest, &mut || !cancel.is_set()).ok_or(Cancelled)
    };
    let mut worlds: Vec<World> = branches.iter().map(build).collect::<Result<_, _>>()?;
    let mut runs: Vec<Option<Run>> = branches.iter().map(|_| None).collect();
    for family in families(branches, &worlds, fork) {
        let trunk = family.members[0];
        let observations = std::mem::take(&mut worlds[trunk].observations);
        // Records are only built if they are needed.
        let made = match observations.take_records() {
            true => family.run(observations, branches, &worlds, seed, options, cancel),
            false => family.run(Quiet(observations), branches, &worlds, seed, options, cancel),
        }?;
        for (index, run) in made {
            runs[index] = Some(run);
        }
    }
    Ok(runs.into_iter().flatten().collect())
}

/// Interval of checks whether all flows have ended, with `end_with_flows`.
const END_EVERY: Duration = Duration::from_secs(1);

/// Run in progress.
#[derive(Clone)]
pub(crate) struct Progress<O> {
    /// Flows whose end is awaited, by flow; `None` without `end_with_flows`.
    awaited: Option<Vec<bool>>,
    /// Remaining bounds of the measured part of the run, latest first.
    ends: Vec<Time>,
    /// Counts up to each bound that has passed, in order.
    counted: Vec<Counts>,
    pub(crate) simulation: Simulation<O>,
}

impl<O: Observer> Progress<O> {
    /// Creates a run at time zero.
    pub(crate) fn new(
        plan: &Plan,
        blueprint: &Blueprint,
        options: RunOptions,
        observer: O,
    ) -> Self {
        let waited = |flow: &FlowSpec| flow.segments.is_some();
        // Classes of another program may need one thread, and may end the run.
        let has_classes = plan.tcp.iter().any(|(_, config)| config.controllers.class().is_some());
        let threads = if has_classes { 1 } else { options.threads };
        Progress {
            simulation: Simulation::new(blueprint, options.engine, observer).on_threads(threads),
            awaited: plan.end_with_flows.then(|| blueprint.flows.iter().map(waited).collect()),
            ends: plan.measure.iter().flat_map(|window| [window.until, window.after]).collect(),
            counted: Vec::new(),
        }
    }

    /// Runs to `until`, or to the end, and checks `cancel` regularly.
    pub(crate) fn advance(
        &mut self,
        until: Option<Time>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let mut reached = self.simulation.now();
        let result = self.advance_while(until, &mut |now| {
            cancel.tell(&mut reached, now);
            !cancel.is_set()
        });
        cancel.tell(&mut reached, self.simulation.now());
        result
    }

    /// Runs to `until`, or to the end, and calls `go_on` regularly.
    pub(crate) fn advance_while(
        &mut self,
        until: Option<Time>,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> Result<(), Cancelled> {
        self.look_for_the_flows_end(until.unwrap_or(Time::MAX), go_on)?;
        self.count_up_to(until.unwrap_or(Time::MAX), go_on)?;
        let through = go_on(self.simulation.now())
            && match until {
                Some(until) => self.simulation.run_before_while(until, go_on),
                None => self.simulation.run_while(go_on),
            };
        if through { Ok(()) } else { Err(Cancelled) }
    }

    /// Stores the counts at each bound of the measured part before `limit`.
    fn count_up_to(
        &mut self,
        limit: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> Result<(), Cancelled> {
        let stop = self.simulation.stop();
        let due = |at: &Time| *at < limit.min(stop);
        while let Some(at) = self.ends.pop_if(|at| due(at)) {
            // At time zero only starts happen, and they count.
            if at == Time::ZERO {
                self.counted.push(Counts::default());
                continue;
            }
            // Including the time itself.
            if !self.simulation.run_before_while(at + Duration::from_ps(1), go_on) {
                return Err(Cancelled);
            }
            self.counted.push(self.simulation.counts());
        }
        Ok(())
    }

    /// Returns the counts of a finished run in the part that metrics cover.
    fn measured(&self) -> Option<Counts> {
        let [before, up_to @ ..] = &self.counted[..] else { return None };
        Some(up_to.first().copied().unwrap_or(self.simulation.counts()).since(before))
    }

    /// Stops the run at the first whole second before `limit` at which every flow of finite size has ended.
    fn look_for_the_flows_end(
        &mut self,
        limit: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> Result<(), Cancelled> {
        let Some(awaited) = &self.awaited else { return Ok(()) };
        let mut second = self.simulation.now().as_ps().div_ceil(END_EVERY.as_ps()).max(1);
        // `None` after the last representable whole second.
        let at = |second: u64| Some(Time::from_ps(second.checked_mul(END_EVERY.as_ps())?));
        while let Some(at) = at(second).filter(|at| *at < self.simulation.stop().min(limit)) {
            let now = self.simulation.now();
            if !go_on(now) || !self.simulation.run_before_while(at, go_on) {
                return Err(Cancelled);
            }
            let mut flows = self.simulation.senders().zip(awaited);
            let ended = flows.all(|(sender, &awaited)| {
                !awaited || sender.finished() || sender.aborted().is_some()
            });
            drop(flows);
            if ended && self.simulation.connections_have_ended() {
                self.simulation.stop_now();
            }
            // No flow ends before the next event: seconds without events are skipped.
            let next = self.simulation.next_at().max(at);
            second = next.as_ps() / END_EVERY.as_ps() + 1;
        }
        Ok(())
    }
}

/// Branches that share their past up to `fork_at`; the first one runs it.
struct Family {
    members: Vec<usize>,
    fork_at: Time,
}

impl Family {
    /// Runs the members; returns number and result of each.
    fn run<O: Observer + Clone + AsRef<Observations>>(
        &self,
        observer: O,
        branches: &[&Scenario],
        worlds: &[World],
        seed: u64,
        options: RunOptions,
        cancel: &Cancel,
    ) -> Result<Vec<(usize, Run)>, Cancelled> {
        let finish = |mut run: Progress<O>, index: usize, forked_at| {
            run.advance(None, cancel)?;
            let (scenario, world) = (branches[index], &worlds[index]);
            Ok((index, result(scenario, world, seed, forked_at, &run, cancel)?))
        };
        let (trunk, others) = (self.members[0], &self.members[1..]);
        let (plan, blueprint) = (branches[trunk].plan(), &worlds[trunk].blueprint);
        let mut shared = Progress::new(plan, blueprint, options, observer);
        if !others.is_empty() {
            shared.advance(Some(self.fork_at), cancel)?;
        }
        let mut made = Vec::new();
        for &index in others {
            let mut branch = shared.clone();
            branch.simulation.continue_as(&worlds[index].blueprint);
            made.push(finish(branch, index, Some(self.fork_at))?);
        }
        let forked_at = (!others.is_empty()).then_some(self.fork_at);
        made.push(finish(shared, trunk, forked_at)?);
        Ok(made)
    }
}

/// Returns the time up to which both runs, and their observations, are equal. It is zero if they
/// differ from the start, or if one cannot continue as the other.
pub(crate) fn shared_until(one: (&Plan, &World), other: (&Plan, &World)) -> Time {
    let ((a, first), (b, second)) = (one, other);
    // Observations refer to flows by group.
    let groups = |plan: &Plan, world: &World| -> Vec<usize> {
        let plan = world.populated.as_ref().unwrap_or(plan);
        plan.flows.iter().map(|flow| flow.group).collect()
    };
    // Observations are part of the copied state.
    let observed_alike = (&a.observe, a.measure, a.stop) == (&b.observe, b.measure, b.stop)
        && groups(a, first) == groups(b, second);
    // With `end_with_flows`, branches would have to agree on the end.
    let found_on_the_way = a.end_with_flows || b.end_with_flows;
    if !observed_alike || found_on_the_way {
        return Time::ZERO;
    }
    first.blueprint.shared_until(&second.blueprint)
}

fn families(branches: &[&Scenario], worlds: &[World], fork: bool) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for index in 0..worlds.len() {
        let of = |index: usize| (branches[index].plan(), &worlds[index]);
        let same_past = |family: &Family| {
            let shared = shared_until(of(family.members[0]), of(index));
            (fork && shared > Time::ZERO).then_some(shared)
        };
        match families.iter_mut().find_map(|f| same_past(f).map(|shared| (f, shared))) {
            Some((family, shared)) => {
                family.members.push(index);
                family.fork_at = family.fork_at.min(shared);
            }
            None => families.push(Family { members: vec![index], fork_at: Time::MAX }),
        }
    }
    families
}

/// Returns the result of a finished run.
pub(crate) fn result<O: Observer + AsRef<Observations>>(
    scenario: &Scenario,
    world: &World,
    seed: u64,
    forked_at: Option<Time>,
    progress: &Progress<O>,
    cancel: &Cancel,
) -> Result<Run, Cancelled> {
    let simulation = &progress.simulation;
    let plan = world.populated.as_ref().unwrap_or(scenario.plan());
    let starts = world.blueprint.flows.iter().map(|flow| flow.start).collect::<Vec<_>>();
    let observations = simulation.observer().as_ref();
    let counts = simulation.counts();
    let dropped = DropReason::ALL.iter().zip(counts.dropped);
    let mut run = Run {
        seed,
        scenario_sha256: scenario.sha256().to_owned(),
        records_sha256: observations.sha256(),
        metrics_sha256: String::new(),
        counts: vec![
            ("sent", counts.sent),
            ("delivered", counts.delivered),
            ("dropped", counts.dropped_in_all()),
            ("in_flight", simulation.in_flight()),
            ("packet_hops", simulation.packet_hops()),
            ("events", counts.events),
        ],
        drops: dropped
            .filter(|&(_, count)| count > 0)
            .map(|(reason, count)| (reason.name(), count))
            .collect(),
        forked_at,
        switches: world.switches.clone(),
        resequencing: buffers(world, &progress.simulation),
        failed: world.failed.clone(),
        routing: world.routing.clone(),
        arrived: world.arrived.clone(),
        path_outages: cut_off(plan, &world.blueprint, simulation.stop()),
        series: series(plan, observations),
        ends: ends(plan, world, simulation),
        active: active(plan, &starts, simulation),
        waiting: simulation.waiting(),
        measured: progress.measured(),
    };
    let others = [
        ("copied", counts.copied),
        ("duplicated", counts.duplicated),
        ("copies_discarded", counts.copies_discarded),
        ("marked", counts.marked),
    ];
    run.counts.extend(others.into_iter().filter(|&(_, count)| count > 0));
    run.metrics_sha256 = metrics_sha256(&run, cancel)?;
    Ok(run)
}

fn cut_off(plan: &Plan, blueprint: &Blueprint, stop: Time) -> Vec<CutOff> {
    let named = |cut: PathOutage| {
        let flow = &plan.flows[cut.flow.index()];
        let group = plan.groups[flow.group].clone();
        CutOff { flow: flow.name.clone(), group, acks: cut.acks, from: cut.from, until: cut.until }
    };
    path_outages(blueprint, stop).into_iter().map(named).collect()
}

fn active<O: Observer + AsRef<Observations>>(
    plan: &Plan,
    starts: &[Time],
    simulation: &Simulation<O>,
) -> Vec<Active> {
    let flows = || {
        let groups = plan.flows.iter().map(|flow| flow.group).zip(starts.iter().copied());
        let flows = groups.zip(simulation.senders().map(|sender| sender.finished()));
        let first = |connection: &ConnectionPlan| starts[connection.subflows.start];
        let connections = plan.connections.iter().map(move |one| (one.group, first(one)));
        flows.chain(connections.zip(simulation.finished_connections()))
    };
    let mut found: Vec<Active> = Vec::new();
    for (observed, last) in plan.observe.iter().zip(simulation.observer().as_ref().last_progress())
    {
        for (&group, &last) in observed.groups.iter().zip(last) {
            let of_group = || flows().filter(|((its, _), _)| *its == group);
            let from = of_group().map(|((_, start), _)| start).min();
            let Some(from) = from.filter(|&from| from < simulation.stop()) else { continue };
            let name = &plan.groups[group];
            if found.iter().all(|one| one.group != *name) {
                let ended = of_group().all(|(_, has_ended)| has_ended);
                let to = if ended { last } else { simulation.stop() };
                found.push(Active { group: name.clone(), from, to });
            }
        }
    }
    found
}

/// Returns the SHA-256 of counts and series, including names, with little-endian numbers.
fn metrics_sha256(run: &Run, cancel: &Cancel) -> Result<String, Cancelled> {
    let mut sha = Sha256::new();
    // The number of events depends on the engine.
    let counts = run.counts.iter().filter(|(name, _)| *name != "events");
    for (name, value) in counts.chain(&run.drops) {
        sha.update(name);
        sha.update(value.to_le_bytes());
    }
    for series in &run.series {
        if cancel.is_set() {
            return Err(Cancelled);
        }
        series.digest(&mut sha);
    }
    Ok(hex(&sha.finalize()))
}
