//! Sender and receiver under loss, reordering, duplication and delay.

use crate::network;

/// Transfers of one test run, and where their seeds begin. `cargo run --release --example soak` runs more.
const TRANSFERS: u64 = 100_000;
const THREADS: u8 = 2;

#[test]
fn every_transfer_keeps_the_rules_and_completes() {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for seed in (u64::from(thread)..TRANSFERS).step_by(usize::from(THREADS)) {
                    let steps = std::panic::catch_unwind(|| network::run(seed));
                    assert!(steps.is_ok(), "the transfer of seed {seed}");
                }
            });
        }
    });
}
