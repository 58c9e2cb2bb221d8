//! Runs of scenarios that tests write as text.

use optcp_runs::{Cancel, Engine, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;

/// Runs a scenario with the overrides `set`.
pub(crate) fn run_with(options: RunOptions, text: &str, set: &[(&str, &str)], seed: u64) -> Run {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scenario =
        Scenario::parse(text, "test.toml", &set).unwrap_or_else(|found| panic!("{found}"));
    run_branches(&[&scenario], seed, options, &Cancel::default()).expect("nobody cancels").remove(0)
}

/// Runs a scenario on an engine, with a digest.
pub(crate) fn run_on(engine: Engine, text: &str, set: &[(&str, &str)], seed: u64) -> Run {
    let options = RunOptions { engine, digest: true, ..RunOptions::default() };
    run_with(options, text, set, seed)
}

/// Runs a scenario on both engines, whose results are equal.
pub(crate) fn run_on_both(text: &str, set: &[(&str, &str)], seed: u64) -> Run {
    let [reference, fast] =
        [Engine::Reference, Engine::Fast].map(|engine| run_on(engine, text, set, seed));
    assert_eq!(reference.records_sha256, fast.records_sha256, "{text}");
    assert_eq!(reference.metrics_sha256, fast.metrics_sha256, "{text}");
    assert_eq!(reference.drops, fast.drops, "{text}");
    fast
}
