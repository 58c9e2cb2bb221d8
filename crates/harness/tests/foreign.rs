//! Robustness of readers: any text or bytes are read or rejected. The targets match `make fuzz`;
//! inputs are the small stored ones and a fixed number of mutations.

#[path = "../../../fuzz/src/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/src/seeds.rs"]
mod seeds;
#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};

use mutate::Mutator;
use targets::Target;

/// How many inputs are made for each target.
const MADE: u64 = 2000;

fn inputs(target: Target) {
    let mutator = Mutator::new(target);
    let kept = mutator.texts().iter().cloned();
    let starts = mutator.texts().iter().cycle();
    let made = (0..MADE).zip(starts).map(|(seed, text)| mutator.change(text, seed));
    for input in kept.chain(made) {
        if catch_unwind(AssertUnwindSafe(|| target.check(&input))).is_err() {
            panic!("{}: keep this input in fuzz/corpus:\n{}", target.name(), input.escape_ascii());
        }
    }
}

#[test]
fn scenarios_are_read_or_refused() {
    inputs(Target::Scenario);
}

#[test]
fn overrides_are_taken_or_refused() {
    inputs(Target::Overrides);
}

#[test]
fn scripts_run_or_are_refused() {
    inputs(Target::Packetdrill);
}

#[test]
fn conformance_cases_run_or_are_refused() {
    inputs(Target::Conformance);
}

#[test]
fn tables_are_read_or_refused() {
    inputs(Target::Parquet);
}
