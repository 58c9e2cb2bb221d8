//! Poisson packets at a port, compared with queueing theory.

use crate::common::{WorldBuilder, columns, everything, value};
use optcp_des::Streams;
use optcp_engine::observe::ObserveKind;
use optcp_engine::{DatagramSpec, Engine, Simulation};
use optcp_net::QueueLimit;
use optcp_traffic::{ExponentialSize, PacketRate, PacketSize, Poisson, Process};
use optcp_units::{Codepoint, Duration, Time};

/// Returns a run's mean number of packets in the port, and the mean delay in milliseconds.
fn run(engine: Engine, seed: u64, sizes: PacketSize) -> [f64; 2] {
    let span = Duration::from_secs(500);
    let stop = Time::ZERO + span;
    let mut world = WorldBuilder::default();
    let port = world.port(10, Duration::ZERO, QueueLimit::Unlimited);
    let streams = Streams::new(seed);
    // 800 packets per second.
    let rate = PacketRate::new(800, 1_000_000_000_000).expect("a rate above zero");
    let data = world.paths.entry(0, &[port]);
    world.datagrams.push(DatagramSpec {
        process: Process::Poisson(Poisson::new(rate, streams.stream("arrivals"))),
        sizes,
        stream: streams.stream("sizes"),
        start: Time::ZERO,
        until: stop,
        bytes: None,
        data,
        codepoint: Codepoint::NotEct,
    });
    let blueprint = world.build(stop);
    let observed = everything(&blueprint, &[ObserveKind::Queue, ObserveKind::Datagrams]);
    let mut simulation = Simulation::new(&blueprint, engine, observed);
    simulation.run();
    let found = columns(simulation.observer());
    let [queue, datagrams] = &found[..] else { panic!("two observations") };
    let arrived = value(datagrams, "arrived_packets");
    let missing = value(datagrams, "sent_packets") - arrived - simulation.in_flight() as f64;
    assert!(missing.abs() < 0.5 && value(datagrams, "lost_packets") < 0.5);
    let delay_ms = value(datagrams, "delay_sum_ps") / arrived / 1e9;
    [value(queue, "mean_packets"), delay_ms]
}

/// Returns the mean over seeds and its standard error, for both values.
fn means(runs: &[[f64; 2]]) -> [(f64, f64); 2] {
    let n = runs.len() as f64;
    [0, 1].map(|i| {
        let mean = runs.iter().map(|run| run[i]).sum::<f64>() / n;
        let squares: f64 = runs.iter().map(|run| (run[i] - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0) / n).sqrt())
    })
}

/// M/D/1: 1250 B at 10 Mb/s take 1 ms, so the load is 0.8. By Pollaczek and Khinchine the port
/// contains 0.8 + 0.8^2 / (2 x 0.2) = 2.4 packets on average. The mean delay is 2.4 / 0.8 = 3 ms.
#[test]
fn equal_packets_match_m_d_1_queue() {
    let runs: Vec<[f64; 2]> =
        (0..20).map(|seed| run(Engine::Fast, seed, PacketSize::Fixed(1250))).collect();
    for ((mean, error), expected) in means(&runs).into_iter().zip([2.4, 3.0]) {
        println!("M/D/1: {mean:.4} +- {error:.4}, theory {expected}");
        // The tolerance is three standard errors, which must be small.
        assert!((mean - expected).abs() < 3.0 * error && error < 0.01 * expected);
    }
}

/// M/G/1 with exponential sizes. Sizes from 1 to 10 000 B with mean 1000 B are nearly geometric: the load is 800 x 0.8
/// ms = 0.64. With E S^2 from the probabilities, the mean delay is E S + 800 E S^2 / (2 (1 - 0.64)).
#[test]
fn exponential_packets_match_m_g_1_queue() {
    let sizes = ExponentialSize::new(1000, 1, 10_000).expect("a possible mean");
    let runs: Vec<[f64; 2]> =
        (0..20).map(|seed| run(Engine::Reference, seed, PacketSize::Exponential(sizes))).collect();
    // P(k) is proportional to q^k; q gives the mean.
    let moments = |q: f64| {
        let weight = |k: u32| q.powf(f64::from(k));
        let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
            (1..=10_000).map(|k| weight(k) * f(f64::from(k))).sum()
        };
        let all = sum(&|_| 1.0);
        [sum(&|k| k) / all, sum(&|k| k * k) / all]
    };
    let (mut low, mut high) = (0.99, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if moments(middle)[0] < 1000.0 { low = middle } else { high = middle }
    }
    // 8 bits at 10 Mb/s: 0.0008 ms per byte.
    let second_moment = moments(low)[1] * 0.0008 * 0.0008;
    let delay = 0.8 + 0.8 * second_moment / (2.0 * (1.0 - 0.64));
    for ((mean, error), expected) in means(&runs).into_iter().zip([0.8 * delay, delay]) {
        println!("M/G/1: {mean:.4} +- {error:.4}, theory {expected:.4}");
        assert!((mean - expected).abs() < 3.0 * error && error < 0.01 * expected);
    }
}
