//! Speed of the engines: the dumbbell workload, and the cost of a fork.

use std::hint::black_box;
use std::time::{Duration as Elapsed, Instant};

use optcp_harness::workload::{Dumbbell, Tcp};
use optcp_runs::Engine;
use optcp_units::{Duration, Time};

/// Repetitions of each measurement, of which the shortest counts: other processes only lengthen it.
const REPETITIONS: usize = 10;

/// The shortest time that `run` takes.
fn shortest<S, T>(set_up: impl Fn() -> S, run: impl Fn(&mut S) -> T) -> Elapsed {
    let measure = |_| {
        let mut state = set_up();
        #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
        let start = Instant::now();
        let made = black_box(run(&mut state));
        let took = start.elapsed();
        drop(made);
        took
    };
    (0..REPETITIONS).map(measure).min().unwrap_or_default()
}

fn main() {
    for engine in Engine::ALL {
        for (flows, seconds) in [(10, 10), (100, 2), (1000, 1)] {
            let set_up = || Dumbbell::new(Tcp::NewReno, flows, seconds, engine);
            let took = shortest(set_up, Dumbbell::run).as_secs_f64();
            let rate = set_up().run().packet_hops as f64 / took / 1e6;
            println!(
                "{} engine, dumbbell of {flows} flows: {rate:.2} million packet-hops/s",
                engine.name()
            );
        }
    }
    let set_up = || {
        let mut dumbbell = Dumbbell::new(Tcp::NewReno, 100, 10, Engine::Fast);
        dumbbell.run_before(Time::ZERO + Duration::from_secs(5));
        dumbbell
    };
    let took = shortest(set_up, |dumbbell| dumbbell.clone());
    println!("fork of a world of 100 flows: {:.1} us", took.as_secs_f64() * 1e6);
}
