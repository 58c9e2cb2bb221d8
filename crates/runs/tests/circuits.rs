//! Goodput over reserved circuits after a failure: bounds computed by hand.

use optcp_runs::{Cancel, RunOptions, Values, run_branches};
use optcp_scenario::Scenario;

/// Four hosts send from `w` over `n` to `e`; the link `w-n` fails at 3 s.
const WORLD: &str = r#"
stop = "9 s"
nodes = [{ group = "A", count = 4 }, { names = ["w", "n", "s", "e"] }, { group = "B", count = 4 }]
links = [
    { chains = [["A", "w"], ["e", "B"]], rate = "100 Mbps", delay = "2 ms", queue = "100 packets" },
    { chains = [["w", "n", "e"], ["w", "s", "e"]], rate = "20 Mbps", delay = "4 ms", queue = "60 packets" },
]
flows = [{ group = "f", from = "A", to = "B", path = "shortest", tcp = "linux-6", start = "uniform(0 s, 0.2 s)" }]
protection = [{ flows = "f", scheme = "1:1", backup = "auto", capacity = "reserved", switch_delay = "10 ms" }]
failures = [{ link = ["w", "n"], at = "3 s" }]
observe = [{ name = "g", kind = "goodput", interval = "3 s" }]
"#;

/// Goodput of all flows in b/s, in the seconds up to 3, up to 6, and up to 9.
fn goodput(settings: &[(&str, &str)]) -> Vec<f64> {
    let settings: Vec<(String, String)> =
        settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let scenario = Scenario::parse(WORLD, "circuits.toml", &settings)
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let runs = run_branches(&[&scenario], 1, RunOptions::default(), &Cancel::default());
    let run = runs.expect("not cancelled").remove(0);
    let series = run.series.iter().find(|one| one.name == "g").expect("it is observed");
    let bytes = series.columns.iter().find(|one| one.name == "bytes").expect("a column");
    let Values::U64(bytes) = &bytes.values else { panic!("whole bytes") };
    bytes.iter().map(|&bytes| bytes as f64 * 8.0 / 3.0).collect()
}

/// Packets of 1500 B carry 1448 B. Some in-order bytes may have been received earlier, above a gap.
/// They are limited by the capacity of the circuit: 60 packets in its queue, and 40 packets in
/// flight. At 20 Mb/s the latter take 4 + 4 + 4 + 4 ms and the hosts' 8 ms.
fn most(circuit_bps: f64) -> f64 {
    let waited = 100.0 * 1448.0 * 8.0 / 3.0;
    circuit_bps * 1448.0 / 1500.0 + waited
}

#[test]
fn goodput_after_failure_equals_circuit_capacity() {
    for (settings, circuit_bps) in [
        // The four share one circuit, as fast as the link that they shared.
        (&[][..], 20e6),
        (&[("protection.0.rate", "5 Mbps")], 5e6),
        (&[("protection.0.scheme", "1+1")], 20e6),
        (&[("protection.0.scheme", "path"), ("protection.0.rate", "12 Mbps")], 12e6),
    ] {
        let after = goodput(settings)[2];
        assert!(after <= most(circuit_bps), "{settings:?}: {after} b/s");
        assert!(after >= 0.9 * circuit_bps * 1448.0 / 1500.0, "{settings:?}: {after} b/s");
    }
    // Four circuits, each as fast as the link, give four times its goodput; the warning
    // `oversubscribed` reports this.
    let after = goodput(&[("protection.0.capacity", "line-rate")])[2];
    assert!(after > 3.5 * 20e6 * 1448.0 / 1500.0, "{after} b/s");
}

/// Copies have separate circuits, so that other traffic loses nothing to them without failures. In
/// shared queues they take about half of the backup path's links.
#[test]
fn reserved_copies_do_not_affect_other_traffic() {
    let beside = [
        ("failures", "[]"),
        (
            "flows",
            "[{ group = 'f', from = 'A', to = 'B', path = 'shortest', tcp = 'linux-6', start = 'uniform(0 s, 0.2 s)' }, \
             { group = 'g', path = ['A0', 'w', 's', 'e', 'B0'], tcp = 'linux-6' }]",
        ),
        ("observe", "[{ name = 'g', kind = 'goodput', interval = '3 s', groups = ['g'] }]"),
    ];
    let with = |scheme: &'static str, capacity: &'static str| {
        let protection = [("protection.0.scheme", scheme), ("protection.0.capacity", capacity)];
        goodput(&[&beside[..], &protection].concat())[2]
    };
    let alone = with("1:1", "reserved");
    assert!(alone > 0.95 * 20e6 * 1448.0 / 1500.0, "{alone} b/s");
    let by_default = [("protection", BY_DEFAULT)];
    let reserved = goodput(&[&beside[..], &by_default].concat())[2];
    assert_eq!(alone.to_bits(), reserved.to_bits());
    let shared = with("1+1", "shared");
    assert!(shared < 0.7 * alone, "{shared} of {alone} b/s");
}

const BY_DEFAULT: &str =
    "[{ flows = 'f', scheme = '1+1', backup = 'auto', switch_delay = '10 ms' }]";
