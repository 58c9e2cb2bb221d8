//! A run that is advanced in steps, forked and changed into itself equals the run in one piece.

use optcp_des::Streams;
use optcp_engine::Counts;
use optcp_runs::{Cancel, Engine, LiveRun, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;
use optcp_units::Time;

use crate::schema::Schema;
use crate::{check, generate, parts};

/// Number of scenarios that `cargo test` checks; `LIVE_WORLDS` sets another.
const USUAL: u64 = 25;

/// Number of steps of a run.
const STEPS: usize = 1000;

fn same(live: &Run, whole: &Run, number: u64) {
    let digests = |run: &Run| (run.records_sha256.clone(), run.metrics_sha256.clone());
    assert_eq!(digests(live), digests(whole), "world {number}");
    assert_eq!(live.series, whole.series, "world {number}");
    // The number of events depends on the steps of the fast engine.
    let counts =
        |run: &Run| (run.drops.clone(), run.measured.map(|counts| Counts { events: 0, ..counts }));
    assert_eq!(counts(live), counts(whole), "world {number}");
}

/// Runs a scenario in steps. On average, every tenth step continues a fork while the original runs to another time, and
/// every hundredth changes the scenario into itself.
fn in_steps(scenario: &Scenario, seed: u64, options: RunOptions) -> Run {
    let mut stream = Streams::new(seed).stream("steps");
    let stop = scenario.plan().stop.as_ps();
    let mut times: Vec<u64> = (0..STEPS).map(|_| stream.below(stop + 2)).collect();
    times.sort_unstable();
    let mut run = LiveRun::new(scenario, seed, options);
    for at in times {
        run.advance(Time::from_ps(at));
        if stream.below(10) == 0 {
            let mut original = run.clone();
            std::mem::swap(&mut run, &mut original);
            original.advance(Time::from_ps(at + stream.below(stop / 50 + 1)));
        }
        if stream.below(100) == 0 {
            assert_eq!(run.change(scenario), Ok(()));
        }
    }
    run.finish()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the number of a longer check comes from outside")]
fn run_in_random_steps_with_forks_equals_run_in_one_piece() {
    let wanted = std::env::var("LIVE_WORLDS").ok().and_then(|text| text.parse().ok());
    let schema = Schema::new();
    let mut checked = 0;
    for number in 0.. {
        if checked == wanted.unwrap_or(USUAL) {
            break;
        }
        let world = generate::world(number, &schema);
        let mut last = world.clone();
        let Some(world) = parts::mended(world, &mut last) else { continue };
        let scenario = check::read(&parts::written(&world), &[]).expect("it is mended");
        let engine = if number % 2 == 0 { Engine::Fast } else { Engine::Reference };
        let options = RunOptions { fork: false, digest: true, engine, threads: 1 };
        let whole = run_branches(&[&scenario], number, options, &Cancel::default());
        let whole = whole.expect("nobody stops it").remove(0);
        same(&in_steps(&scenario, number, options), &whole, number);
        checked += 1;
    }
}
