//! The random transfers of the tests, as many as asked for: `cargo run --release --example soak -- N`.

#[path = "../tests/network/mod.rs"]
mod network;

fn main() {
    let transfers = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000_u64);
    // Seeds that the tests do not use.
    const FIRST: u64 = 1 << 32;
    let mut steps = 0;
    for seed in FIRST..FIRST + transfers {
        let done = std::panic::catch_unwind(|| network::run(seed));
        steps += done.unwrap_or_else(|_| panic!("the transfer of seed {seed}"));
    }
    println!("{transfers} transfers, {steps} steps: every rule held");
}
