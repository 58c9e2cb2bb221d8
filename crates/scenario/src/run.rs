//! Runs: one scenario, one seed, and what was observed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use optcp_engine::observe::{Digest, Reducers, hex};
use optcp_engine::{Kernel, Simulation};
use optcp_net::DropReason;
use optcp_units::Time;
use sha2::{Digest as _, Sha256};

use crate::Plan;
use crate::Scenario;
use crate::build::{RoutingRecord, Switched, World, world};
use crate::series::{Series, series};

/// A flag that several runs share, to stop them.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// A run was stopped through [`Cancel`]; it has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Cancel {
    /// Asks every run that shares the flag to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How runs are made. Results are equal for all, but for what is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Whether branches whose worlds are the same up to an instant share the run up to there.
    pub fork: bool,
    /// Whether [`Run::records_sha256`] is wanted.
    pub digest: bool,
    /// What drives the run.
    pub kernel: Kernel,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { fork: true, digest: false, kernel: Kernel::default() }
    }
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// [`Scenario::sha256`].
    pub scenario_sha256: String,
    /// Digest of everything that happened, if it was asked for.
    pub records_sha256: Option<String>,
    /// Digest of all counts and series.
    pub metrics_sha256: String,
    /// Numbers of packets: sent, delivered, dropped, in_flight, packet_hops; events; and, with 1+1, copied.
    pub counts: Vec<(&'static str, u64)>,
    /// Dropped packets by reason, those above zero only.
    pub drops: Vec<(&'static str, u64)>,
    /// Up to when the run shared its past with other branches.
    pub forked_at: Option<Time>,
    /// What protection switched, in order of time.
    pub switches: Vec<Switched>,
    /// What routing did; `None` without routing.
    pub routing: Option<RoutingRecord>,
    /// What was observed, in the order of the scenario.
    pub series: Vec<Series>,
}

/// Runs every branch with the same seed.
///
/// # Errors
/// [`Cancelled`] once `cancel` is set.
pub fn run_branches(
    branches: &[&Scenario],
    seed: u64,
    options: RunOptions,
    cancel: &Cancel,
) -> Result<Vec<Run>, Cancelled> {
    let RunOptions { fork, digest, kernel } = options;
    let mut worlds: Vec<World> =
        branches.iter().map(|branch| world(branch.plan(), seed, digest)).collect();
    let switches: Vec<Vec<Switched>> =
        worlds.iter_mut().map(|world| std::mem::take(&mut world.switches)).collect();
    let routing: Vec<Option<RoutingRecord>> =
        worlds.iter_mut().map(|world| world.routing.take()).collect();
    let populated: Vec<Option<Plan>> =
        worlds.iter_mut().map(|world| world.populated.take()).collect();
    let mut runs: Vec<Option<Run>> = branches.iter().map(|_| None).collect();
    for family in families(branches, &worlds, fork) {
        let finish = |simulation: &mut Simulation<Reducers>, index: usize, forked_at| {
            advance(simulation, None, cancel)?;
            let plan = populated[index].as_ref().unwrap_or(branches[index].plan());
            let run = result(branches[index], plan, seed, forked_at, simulation);
            Ok(Run { switches: switches[index].clone(), routing: routing[index].clone(), ..run })
        };
        let (trunk, others) = (family.members[0], &family.members[1..]);
        let reducers = std::mem::take(&mut worlds[trunk].reducers);
        let mut simulation = Simulation::new(&worlds[trunk].blueprint, kernel, reducers);
        if !others.is_empty() {
            advance(&mut simulation, Some(family.fork_at), cancel)?;
        }
        for &index in others {
            let mut branch = simulation.clone();
            branch.continue_as(&worlds[index].blueprint);
            runs[index] = Some(finish(&mut branch, index, Some(family.fork_at))?);
        }
        let forked_at = (!others.is_empty()).then_some(family.fork_at);
        runs[trunk] = Some(finish(&mut simulation, trunk, forked_at)?);
    }
    Ok(runs.into_iter().flatten().collect())
}

/// Branches that share their past up to `fork_at`; the first one runs it.
struct Family {
    members: Vec<usize>,
    fork_at: Time,
}

fn families(branches: &[&Scenario], worlds: &[World], fork: bool) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for (index, world) in worlds.iter().enumerate() {
        let same_past = |family: &Family| {
            let trunk = family.members[0];
            let (a, b) = (branches[trunk].plan(), branches[index].plan());
            // Observations are part of the state that is copied.
            let observed_alike = a.observe == b.observe && a.stop == b.stop;
            let shared = worlds[trunk].blueprint.shared_until(&world.blueprint);
            (fork && observed_alike && shared > Time::ZERO).then_some(shared)
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

/// Runs to `until`, or to the end, and looks at `cancel` from time to time.
fn advance(
    simulation: &mut Simulation<Reducers>,
    until: Option<Time>,
    cancel: &Cancel,
) -> Result<(), Cancelled> {
    let mut go_on = || !cancel.is_set();
    let through = go_on()
        && match until {
            Some(until) => simulation.run_before_while(until, &mut go_on),
            None => simulation.run_while(&mut go_on),
        };
    if through { Ok(()) } else { Err(Cancelled) }
}

fn result(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
    forked_at: Option<Time>,
    simulation: &Simulation<Reducers>,
) -> Run {
    let counts = simulation.counts();
    let dropped = DropReason::ALL.iter().zip(counts.dropped);
    let mut run = Run {
        seed,
        scenario_sha256: scenario.sha256().to_owned(),
        records_sha256: simulation.observer().digest.as_ref().map(Digest::sha256),
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
        switches: Vec::new(),
        routing: None,
        series: series(plan, simulation.observer()),
    };
    if counts.copied > 0 {
        run.counts.push(("copied", counts.copied));
    }
    run.metrics_sha256 = metrics_sha256(&run);
    run
}

/// SHA-256 over the counts and the series, names included, numbers little-endian.
fn metrics_sha256(run: &Run) -> String {
    let mut sha = Sha256::new();
    // Events are the kernel's affair: another kernel makes the same run of fewer.
    let counts = run.counts.iter().filter(|(name, _)| *name != "events");
    for (name, value) in counts.chain(&run.drops) {
        sha.update(name);
        sha.update(value.to_le_bytes());
    }
    run.series.iter().for_each(|series| series.digest(&mut sha));
    hex(&sha.finalize())
}
