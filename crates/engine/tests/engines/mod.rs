//! Comparison of the fast engine with the reference engine in random scenarios.
//!
//! The scenarios are meshes of routers with:
//! - flows over private or shared access links, and datagram sources;
//! - ECMP, bundles, burst assemblers and burst-switched cores;
//! - losses, jitter, failures, path changes (including loops), delay changes, and forks.

mod drawn;

use std::collections::BTreeMap;

use crate::common::{self, Log, columns, everything};
use drawn::{world, world_and_members, world_of_packets};
use optcp_engine::observe::{Column, Observations, ObserveKind};
use optcp_engine::{Blueprint, Counts, Engine, QueueSpec, Simulation};
use optcp_net::{DropReason, Tally};
use optcp_units::Time;

/// Number of scenarios that are compared.
const WORLDS: u64 = 2000;

fn observed(blueprint: &Blueprint, engine: Engine) -> Simulation<Observations> {
    let observations = everything(blueprint, &[ObserveKind::Drops, ObserveKind::Bursts]);
    Simulation::new(blueprint, engine, observations)
}

/// Returns the tallies of the ports until now.
fn tallies(blueprint: &Blueprint, simulation: &Simulation<Observations>) -> Vec<Tally> {
    simulation.port_tallies(&blueprint.tallied)
}

/// Returns digest, counts, drops and bursts.
type Outcome = (Option<String>, Counts, Vec<Vec<Column>>);

fn outcome(simulation: &Simulation<Observations>) -> Outcome {
    let observations = simulation.observer();
    let counts = Counts { events: 0, ..simulation.counts() };
    (observations.sha256(), counts, columns(observations))
}

/// Runs a scenario directly, or as a branch of another scenario's run.
fn run(
    blueprint: &Blueprint,
    engine: Engine,
    trunk: Option<&Blueprint>,
) -> Simulation<Observations> {
    run_on(blueprint, engine, trunk, 1)
}

/// Runs a scenario on `threads` threads.
fn run_on(
    blueprint: &Blueprint,
    engine: Engine,
    trunk: Option<&Blueprint>,
    threads: usize,
) -> Simulation<Observations> {
    let mut simulation = match trunk {
        None => observed(blueprint, engine).on_threads(threads),
        Some(trunk) => {
            let mut first = observed(trunk, engine).on_threads(threads);
            first.run_before(trunk.shared_until(blueprint));
            let mut branch = first.clone();
            first.run();
            branch.continue_as(blueprint);
            branch
        }
    };
    simulation.run();
    assert_eq!(simulation.audit(), Ok(()));
    simulation
}

#[test]
fn engines_agree_in_random_scenarios() {
    let (mut hops, mut drops, mut controls) = (0, 0, 0);
    let (mut marked, mut managed) = (0, 0);
    let (mut queues, mut served, mut schedules, mut shrunk, mut shrinking) = (0, 0, 0, 0, 0);
    let (mut bundled, mut sources, mut assemblers, mut contention) = (0, 0, 0, 0);
    let mut having: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..WORLDS {
        let (blueprint, members) = world_and_members(seed);
        members.into_iter().for_each(|member| *having.entry(member).or_default() += 1);
        let mut trunk = blueprint.clone();
        if let Some(last) = trunk.controls.last_mut() {
            last.at = Time::from_ps(last.at.as_ps() + 1);
        }
        let plain = run(&blueprint, Engine::Reference, None);
        let expected = outcome(&plain);
        let counted = tallies(&blueprint, &plain);
        let [fast, stepped, some_stepped] = common::checked(seed);
        let fork = Some(&trunk);
        for (engine, trunk) in [(fast, None), (fast, fork), (stepped, None), (some_stepped, fork)] {
            let fast = run(&blueprint, engine, trunk);
            let how = format!("world {seed}, {engine:?}, forked: {}", trunk.is_some());
            assert_eq!(outcome(&fast), expected, "{how}");
            assert_eq!(tallies(&blueprint, &fast), counted, "{how}");
        }
        bundled += blueprint.bundles.len();
        marked += plain.counts().marked;
        let aqm = [DropReason::Aqm, DropReason::AqmForced];
        managed += aqm.map(|reason| plain.counts().dropped[reason as usize]).iter().sum::<u64>();
        queues += blueprint.queues.len();
        let accepted = |queue: &QueueSpec| plain.port_counts(queue.port).accepted;
        served += blueprint.queues.iter().map(accepted).sum::<u64>();
        schedules += blueprint.schedules.len();
        let dropped = plain.counts().dropped[DropReason::QueueShrunk as usize];
        (shrunk, shrinking) = (shrunk + dropped, shrinking + u64::from(dropped > 0));
        hops += plain.packet_hops();
        drops += plain.counts().dropped_in_all();
        controls += blueprint.controls.len();
        sources += blueprint.datagrams.len();
        assemblers += blueprint.assemblers.len();
        contention += plain.counts().dropped[DropReason::Contention as usize];
    }
    println!(
        "{WORLDS} worlds: {hops} packet-hops, {drops} drops, {controls} control actions, {bundled} bundles, \
         {sources} sources of datagrams, {assemblers} assemblers, {contention} packets lost to contention, {marked} marked and {managed} dropped by disciplines, \
         {queues} queues of several ways with {served} packets, {schedules} schedules, {shrunk} packets lost in {shrinking} worlds as queues shrank"
    );
    // Checked by member, because a new member takes scenarios from others of its registry.
    let had = |member: &String| having.get(member).copied().unwrap_or_default();
    let few: Vec<(String, u64)> = (drawn::members().into_iter())
        .map(|member| (member.clone(), had(&member)))
        .filter(|&(_, worlds)| worlds < WORLDS / 50)
        .collect();
    assert!(few.is_empty(), "fewer than {} worlds had {few:?}", WORLDS / 50);
    // The scenarios must be worth comparing.
    assert!(hops > 2_000 * WORLDS && drops > 40 * WORLDS && controls as u64 > 6 * WORLDS);
    assert!(bundled as u64 > WORLDS / 2 && assemblers as u64 > WORLDS);
    assert!(queues as u64 > WORLDS / 4 && served > 30 * WORLDS);
    assert!(schedules as u64 > WORLDS / 2);
    assert!(shrunk > WORLDS / 5 && shrinking > WORLDS / 25);
    assert!(contention > 5 * WORLDS && marked > WORLDS && managed > 2 * WORLDS);
}

/// Windows of any length, on any number of threads, must not change results.
#[test]
fn windows_and_threads_do_not_change_results() {
    let mut windowed = 0;
    // Some of the scenarios with ECMP have no windows.
    for seed in 0..WORLDS + WORLDS / 4 {
        let blueprint = world_of_packets(seed);
        let mut trunk = blueprint.clone();
        if let Some(last) = trunk.controls.last_mut() {
            last.at = Time::from_ps(last.at.as_ps() + 1);
        }
        let plain = run(&blueprint, Engine::Calendar, None);
        let (expected, counted) = (outcome(&plain), tallies(&blueprint, &plain));
        let engine = common::windows(seed);
        let mut taken = None;
        let more = if seed.is_multiple_of(10) { [3, 4].as_slice() } else { &[] };
        for &threads in [1, 2].iter().chain(more) {
            let fork = (seed % 3 == threads as u64 % 3).then_some(&trunk);
            let run = run_on(&blueprint, engine, fork, threads);
            let how =
                format!("world {seed}, {engine:?}, {threads} threads, forked: {}", fork.is_some());
            assert_eq!(outcome(&run), expected, "{how}");
            assert_eq!(tallies(&blueprint, &run), counted, "{how}");
            // The number of obsolete timers depends on the windows, not on the threads.
            let events = run.counts().events;
            assert_eq!(*taken.get_or_insert(events), events, "{how}");
            windowed += u64::from(run.waiting().contains("logical processes"));
        }
    }
    assert!(windowed > 2 * WORLDS, "only {windowed} runs had windows");
}

/// Tallies must be equal wherever the run is interrupted.
#[test]
fn tallies_agree_at_any_time() {
    for seed in 0..WORLDS / 10 {
        let blueprint = world(seed);
        let run = |engine| {
            let mut simulation = observed(&blueprint, engine);
            let cuts = [333, 700, 701, 1111].map(|cut| {
                simulation.run_before(common::ms(cut));
                tallies(&blueprint, &simulation)
            });
            simulation.run();
            (cuts, outcome(&simulation))
        };
        let plain = run(Engine::Reference);
        for engine in common::checked(seed) {
            assert_eq!(plain, run(engine), "world {seed}, {engine:?}");
        }
    }
}

/// Watching every queue must change only the records.
#[test]
fn records_agree_individually() {
    for seed in 0..WORLDS / 10 {
        let blueprint = world(seed);
        let run = |engine| {
            let mut simulation = Simulation::new(&blueprint, engine, Log::default());
            simulation.run();
            simulation.observer().clone().in_order()
        };
        let plain = run(Engine::Reference);
        for engine in common::checked(seed) {
            let fast = run(engine);
            let differ = plain.iter().zip(&fast).position(|(a, b)| a != b);
            let pair = differ.map(|at| (plain[at], fast[at]));
            assert_eq!(pair, None, "world {seed}, {engine:?}, record {differ:?}");
            assert_eq!(plain.len(), fast.len(), "world {seed}, {engine:?}");
        }
    }
}
