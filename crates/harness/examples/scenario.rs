//! Runs a scenario file once, without Python and so without names of topologies: `scenario FILE [KERNEL [digest]]`.

use optcp_runs::{Cancel, Kernel, RunOptions, run_branches};
use optcp_scenario::Scenario;

#[expect(clippy::disallowed_methods, reason = "a program that reads what it is told to")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_default();
    let kernel = match arguments.next().as_deref() {
        Some("reference") => Kernel::Reference,
        _ => Kernel::Fast,
    };
    let digest = arguments.next().is_some();
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let world = Scenario::parse(&text, &file, &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let options = RunOptions { kernel, digest, ..RunOptions::default() };
    let runs = run_branches(&[&world], 1, options, &Cancel::default());
    let run = runs.expect("nobody cancels it").remove(0);
    println!("{:?} {:?} {} {:?}", run.counts, run.drops, run.metrics_sha256, run.records_sha256);
}
