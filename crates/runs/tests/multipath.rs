//! Flows that routers spread over next hops of equal cost, against what the hash says of each.

use optcp_net::{Hashing, multipath};
use optcp_runs::{Cancel, Engine, Run, RunOptions, Values, run_branches};
use optcp_scenario::{Scenario, ecmp_paths};

const FLOWS: usize = 60;

/// Two leaves and three spines. Each flow sends ten segments at once, and ten at 2 s: no queue is ever full.
const LEAVES: &str = r#"
title = "Leaves and spines"
stop = "4 s"

[routing]
ecmp = "modulo-n"
detection = "10 ms"
converge = "synchronized"

[tcp.ten]
initial_window = "10 segments"

[[nodes]]
names = ["L1", "L2", "S1", "S2", "S3", "H", "R"]

[[links]]
chains = [["H", "L1"], ["L2", "R"], ["L1", "S1", "L2"], ["L1", "S2", "L2"], ["L1", "S3", "L2"]]
rate = "1 Gbps"
delay = "1 ms"
queue = "unlimited"

[[flows]]
group = "f"
from = "H"
to = "R"
per_source = 60
tcp = "ten"
writes = [{ after = "0 s", size = "10 segments" }, { after = "2 s", size = "10 segments" }]

[[observe]]
name = "ports"
kind = "ports"
interval = "1 s"
"#;

fn scenario(set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(LEAVES, "leaves.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

/// A run, which must be the same on both engines.
fn run(scenario: &Scenario, seed: u64) -> Run {
    let of = |engine| {
        let options = RunOptions { engine, fork: false, digest: true, ..RunOptions::default() };
        let runs = run_branches(&[scenario], seed, options, &Cancel::default());
        runs.expect("nobody cancels it").remove(0)
    };
    let [fast, plain] = [Engine::Fast, Engine::Reference].map(of);
    assert_eq!(fast.records_sha256, plain.records_sha256);
    fast
}

/// How many packets a port takes in an interval.
fn packets(run: &Run, port: &str, interval: usize) -> u64 {
    let series = &run.series[0];
    let ports = &series.names[0].1;
    let number = ports.iter().position(|name| name == port).expect("a port");
    let packets = series.columns.iter().find(|column| column.name == "packets").expect("a column");
    let Values::U64(packets) = &packets.values else { panic!("{packets:?}") };
    packets[number * (packets.len() / ports.len()) + interval]
}

/// How many flows go from a leaf over each spine, by the hash alone, where these are left.
fn expected(scenario: &Scenario, seed: u64, leaf: &str, left: [bool; 3]) -> [u64; 3] {
    let plan = scenario.plan();
    let hashing = plan.routing.as_ref().and_then(|routing| routing.ecmp).expect("spreads");
    let node = plan.nodes.iter().position(|name| name == leaf).expect("a leaf");
    let router = ecmp_paths::seeds(plan, seed)[node];
    // Links 2, 4 and 6 lead from L1 to the spines, 3, 5 and 7 from them to L2.
    let (first, direction) = if leaf == "L1" { (2, 0) } else { (3, 1) };
    let spines: Vec<usize> = (0..3).filter(|&spine| left[spine]).collect();
    let numbers = spines.iter().map(|spine| ecmp_paths::number((first + 2 * spine, direction)));
    let mut counts = [0; 3];
    for flow in 0..FLOWS {
        let key = multipath::key(ecmp_paths::key(&format!("f/H/{flow}")), leaf == "L2");
        counts[spines[hashing.place(router, key, numbers.clone())]] += 1;
    }
    counts
}

#[test]
fn packets_take_the_next_hop_that_the_hash_chooses() {
    for (hashing, seed) in [(0, 1), (1, 1), (2, 1), (1, 2)] {
        let name = Hashing::ALL[hashing].name();
        let scenario = scenario(&[("routing.ecmp", name)]);
        let run = run(&scenario, seed);
        let of = |leaf| expected(&scenario, seed, leaf, [true; 3]);
        let over = |leaf: &str, spine: usize| packets(&run, &format!("{leaf}->S{}", spine + 1), 0);
        // As many ACKs of each flow.
        let acks: u64 = (0..3).map(|spine| over("L2", spine)).sum::<u64>() / FLOWS as u64;
        assert!(acks > 0);
        for spine in 0..3 {
            assert_eq!(over("L1", spine), 10 * of("L1")[spine], "{name} {seed}");
            assert_eq!(over("L2", spine), acks * of("L2")[spine], "{name} {seed}");
        }
        // The paths that `validate` prints are those.
        let hashed = ecmp_paths::hashed(scenario.plan(), seed).expect("spreads");
        let first = |spine: usize| {
            let over = |way: &&[Vec<_>; 2]| way[0][1] == (2 + 2 * spine, 0);
            hashed.ways.iter().filter(over).count() as u64
        };
        assert_eq!([0, 1, 2].map(first), of("L1"));
        assert_eq!(hashed.spread.len(), 2);
    }
}

/// If a spine fails both leaves hash over the two remaining ones: L1 by itself, L2 after the
/// notification.
#[test]
fn flows_of_a_next_hop_that_failed_take_the_others() {
    let failure = r#"[{ link = ["L1", "S2"], at = "1.5 s" }]"#;
    for hashing in Hashing::ALL {
        let scenario = scenario(&[("routing.ecmp", hashing.name()), ("failures", failure)]);
        let run = run(&scenario, 3);
        for leaf in ["L1", "L2"] {
            let after = expected(&scenario, 3, leaf, [true, false, true]);
            let over = [1, 2, 3].map(|spine| packets(&run, &format!("{leaf}->S{spine}"), 2));
            let each = over.iter().sum::<u64>() / FLOWS as u64;
            assert!(each > 0);
            assert_eq!(over, after.map(|flows| each * flows), "{hashing:?} {leaf}");
        }
    }
}

#[test]
fn seed_in_the_file_applies_to_all_runs() {
    let fixed = scenario(&[("routing.ecmp_seed", "7")]);
    let ways =
        |scenario: &Scenario, seed| ecmp_paths::hashed(scenario.plan(), seed).expect("spreads");
    assert_eq!(ways(&fixed, 1), ways(&fixed, 2));
    let drawn = scenario(&[]);
    assert_ne!(ways(&drawn, 1), ways(&drawn, 2));
    let count = |seed| packets(&run(&fixed, seed), "L1->S1", 0);
    assert_eq!(count(1), count(2));
}

/// 42 pairs of seven nodes. L1 and L2 have three next hops to the other leaf and its host, and each
/// spine has two to each other spine. If a spine fails, others remain. Two paths between spines use
/// different leaves.
#[test]
fn a_set_of_next_hops_protects_its_links() {
    let coverage = scenario(&[]).coverage().expect("routed");
    let sets = 2 * 2 + 3 * 2;
    assert_eq!((coverage.pairs, coverage.protected, coverage.node_protected), (42, sets, sets));
}

/// A router B behind one link. One next hop is D, whose port X also feeds; another is C, which only
/// A feeds. Flows to E are spread over both. Flows to G are spread over C and F, so their packets
/// wait only because of the flows to E.
const FEEDERS: &str = r#"
stop = "1 s"

[routing]
ecmp = "modulo-n"
ecmp_seed = 1

[[nodes]]
names = ["H", "A", "B", "C", "D", "F", "G", "E", "X"]

[[links]]
chains = [["H", "A"], ["B", "C", "E"], ["B", "D", "E"], ["C", "G"], ["B", "F", "G"], ["X", "B"]]
rate = "100 Mbps"
delay = "1 ms"
queue = "1000 packets"

[[links]]
chain = ["A", "B"]
rate = "10 Mbps"
delay = "1 ms"
queue = "1000 packets"

[[traffic]]
group = "spread"
pairs = { from = "H", to = "E", count = 8, seed = 1 }
process = "constant"
rate = "1 Mbps"
size = "1000 B"

[[traffic]]
group = "one"
from = "H"
to = "C"
process = "constant"
rate = "4 Mbps"
size = "1000 B"

[[traffic]]
group = "other"
from = "X"
to = "D"
process = "constant"
rate = "1 Mbps"
size = "1000 B"
"#;

/// Four sources for G, and one for F.
const FARTHER: &str = r#"
[[traffic]]
group = "farther"
pairs = { from = "H", to = "G", count = 4, seed = 2 }
process = "constant"
rate = "500 kbps"
size = "500 B"

[[traffic]]
group = "near"
from = "H"
to = "F"
process = "constant"
rate = "1 Mbps"
size = "1000 B"
"#;

/// The link from A to B carries at most 10 Mb/s. A queue of 1000 packets after it, at 100 Mb/s,
/// therefore never fills. A packet is lost only if it enters a port after later ones.
#[test]
fn packets_under_spread_labels_and_others_enter_a_port_in_their_order() {
    let windows = Engine::Windows { length: Some(29), stepped: 0 };
    let stepped = [u64::MAX, 0x5555_5555_5555_5555].map(Engine::Stepped);
    for (farther, sent) in [("", 1625), (FARTHER, 2250)] {
        let scenario = Scenario::parse(&format!("{FEEDERS}{farther}"), "feeders.toml", &[])
            .unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
        let run = |(engine, threads)| {
            let options = RunOptions { engine, threads, digest: true, ..RunOptions::default() };
            let runs = run_branches(&[&scenario], 1, options, &Cancel::default());
            runs.expect("nobody cancels it").remove(0)
        };
        let reference = run((Engine::Reference, 1));
        let count = |name: &str| reference.counts.iter().find(|(known, _)| *known == name);
        assert_eq!(count("sent"), Some(&("sent", sent)));
        assert_eq!(count("dropped"), Some(&("dropped", 0)));
        let engines = [Engine::Fast, stepped[0], stepped[1], windows].map(|engine| (engine, 1));
        for engine in engines.into_iter().chain([(windows, 2)]) {
            let other = run(engine);
            assert_eq!(other.drops, reference.drops, "{engine:?}");
            assert_eq!(other.records_sha256, reference.records_sha256, "{engine:?}");
        }
    }
}
