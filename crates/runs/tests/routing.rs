//! Runs over routed networks against what can be worked out by hand.

use optcp_runs::{Cancel, Engine, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;

const SQUARE: &str = include_str!("square.toml");

fn scenario(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(text, "square.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

fn runs(branches: &[&Scenario], seed: u64, engine: Engine, fork: bool) -> Vec<Run> {
    let options = RunOptions { engine, fork, digest: true, ..RunOptions::default() };
    run_branches(branches, seed, options, &Cancel::default()).expect("nobody cancels it")
}

/// A run, which must be the same on both engines.
fn run(text: &str, set: &[(&str, &str)], seed: u64) -> Run {
    let scenario = scenario(text, set);
    let [fast, plain] =
        [Engine::Fast, Engine::Reference].map(|engine| runs(&[&scenario], seed, engine, false));
    assert_eq!(fast[0].records_sha256, plain[0].records_sha256, "{set:?}, seed {seed}");
    assert_eq!(fast[0].metrics_sha256, plain[0].metrics_sha256, "{set:?}, seed {seed}");
    fast[0].clone()
}

fn dropped(run: &Run, reason: &str) -> u64 {
    run.drops.iter().find(|(name, _)| *name == reason).map_or(0, |(_, count)| *count)
}

/// The square with a tail of routers behind C: R is reached over so many more.
fn with_tail(routers: usize) -> String {
    let names: Vec<String> = (0..routers).map(|i| format!("T{i}")).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let list = quoted.join(", ");
    SQUARE
        .replace("\"S\", \"R\"]", &format!("\"S\", \"R\", {list}]"))
        .replace("\"C\", \"R\"]", &format!("\"C\", {list}, \"R\"]"))
}

/// A packet that n routers forward has 64 - n left, and is dropped by the 64th. Without a failure, A, C and
/// the tail forward it. On the backup A-B-D-C it is A, B, D, C and the tail, of which B stands inside
/// the tunnel from A to D.
#[test]
fn remaining_time_to_live_matches_each_model() {
    let quiet = [("failures.0.at", "1 ms"), ("failures.0.repair", "2 ms")];
    let failing = [("failures.0.at", "1 ms"), ("failures.0.repair", "4 s")];
    for (routers, failure, ttl, expires) in [
        (61, quiet, "uniform", false),
        (62, quiet, "uniform", true),
        (59, failing, "uniform", false),
        (60, failing, "uniform", true),
        (60, failing, "pipe", false),
        (61, failing, "pipe", true),
    ] {
        let mut set = vec![("routing.ttl", ttl), ("flows.0.start", "100 ms")];
        set.push(("flows.0.size", "10 segments"));
        set.push(("stop", "4.5 s"));
        set.extend(failure);
        let run = run(&with_tail(routers), &set, 1);
        assert_eq!(dropped(&run, "ttl-expired") > 0, expires, "{routers} {failure:?} {ttl}");
    }
}

/// The tunnel to a not-via address of C hides B and D: A, C and the tail are left, as without the failure. Packets of
/// other mechanisms are not encapsulated, so `pipe` does not concern them.
#[test]
fn only_tunnels_hide_routers_from_the_time_to_live() {
    for (repair, ttl, hidden) in [
        ("not-via", "uniform", 0),
        ("not-via", "pipe", 2),
        ("u-turn", "pipe", 0),
        ("mrc", "pipe", 0),
        ("fifr", "pipe", 0),
    ] {
        for (routers, expires) in [(59 + hidden, false), (60 + hidden, true)] {
            let set = [
                ("routing.repair", repair),
                ("routing.ttl", ttl),
                ("flows.0.start", "100 ms"),
                ("flows.0.size", "10 segments"),
                ("failures.0.at", "1 ms"),
                ("failures.0.repair", "4 s"),
                ("stop", "4.5 s"),
            ];
            let run = run(&with_tail(routers), &set, 1);
            assert_eq!(dropped(&run, "ttl-expired") > 0, expires, "{routers} {repair} {ttl}");
        }
    }
}

#[test]
fn transient_failure_is_not_flooded() {
    let run = run(SQUARE, &[], 1);
    let record = run.routing.unwrap();
    assert_eq!((record.announcements, record.on_convergence), (0, 0));
    // A reaches C and R over A-C; C reaches A, S and (the first neighbour of two that are as near) B.
    assert_eq!((record.on_failure, record.on_repair), (5, 5));
    let steps: Vec<_> = record
        .steps
        .iter()
        .map(|step| (step.at.as_ps() / 1_000_000_000, step.router.as_str(), step.entries))
        .collect();
    assert_eq!(steps, [(2005, "A", 2), (2005, "C", 3), (4005, "A", 2), (4005, "C", 3)]);
}

/// With A before B, packets for R go to and fro between them until B acts too.
#[test]
fn packets_loop_while_routers_disagree_and_not_for_ever() {
    let lasting = [
        ("failures.0.repair", "5.9 s"),
        ("routing.hold_down", "1 s"),
        // A packet that loops takes 62 times 5 ms at least to expire.
        ("routing.update", "uniform(0 s, 2 s)"),
        ("failures.0.packets", "kept"),
        ("routing.detection", "0 s"),
    ];
    let expired = |converge: &'static str| -> Vec<u64> {
        let set: Vec<_> = lasting.into_iter().chain([("routing.converge", converge)]).collect();
        (1..=6).map(|seed| dropped(&run(SQUARE, &set, seed), "ttl-expired")).collect()
    };
    let own = expired("own");
    assert!(own.iter().any(|&count| count > 0), "{own:?}");
    assert!(own.contains(&0), "where B acts before A nothing loops: {own:?}");
    assert_eq!(expired("synchronized"), [0; 6]);
}

/// Nothing is lost when packets on the link still arrive and routers act at once.
#[test]
fn maintenance_loses_nothing() {
    let set = [("failures.0.packets", "kept"), ("routing.detection", "0 s")];
    for direction in ["both", "forward"] {
        let set: Vec<_> = set.into_iter().chain([("failures.0.direction", direction)]).collect();
        let run = run(SQUARE, &set, 1);
        assert_eq!(run.drops, [], "{direction}");
        let record = run.routing.unwrap();
        let routers: Vec<&str> = record.steps.iter().map(|step| step.router.as_str()).collect();
        let expected = if direction == "both" { &["A", "C", "A", "C"][..] } else { &["A", "A"] };
        assert_eq!(routers, expected);
    }
    // A round trip takes 30 ms; packets that arrive at the closed port until the detection are
    // lost.
    let late = [("failures.0.packets", "kept"), ("routing.detection", "35 ms")];
    let drops = run(SQUARE, &late, 1).drops;
    assert!(matches!(drops[..], [("link-down", lost)] if lost > 0), "{drops:?}");
}

#[test]
fn branches_of_a_sweep_share_warm_up_and_equal_separate_runs() {
    let links = ["[\"A\", \"C\"]", "[\"A\", \"B\"]", "[\"B\", \"D\"]", "[\"C\", \"D\"]"];
    let world = |link: &&str, packets| {
        scenario(SQUARE, &[("failures.0.link", link), ("failures.0.packets", packets)])
    };
    let branches: Vec<Scenario> = ["lost", "kept"]
        .iter()
        .flat_map(|packets| links.iter().map(|link| world(link, packets)))
        .collect();
    let all: Vec<&Scenario> = branches.iter().collect();
    for engine in [Engine::Fast, Engine::Reference] {
        let forked = runs(&all, 3, engine, true);
        let apart = runs(&all, 3, engine, false);
        for (forked, apart) in forked.iter().zip(&apart) {
            assert!(forked.forked_at.is_some_and(|at| at.as_ps() >= 2_000_000_000_000));
            assert_eq!(forked.records_sha256, apart.records_sha256);
            assert_eq!(forked.metrics_sha256, apart.metrics_sha256);
        }
    }
}

#[test]
fn coverage_counts_pairs_of_router_and_destination() {
    // Six nodes: 30 pairs. Hosts are attached by one link. This leaves 12 pairs unprotectable: S to
    // 5 others, R to 5 others, and A to S and C to R over the host's link.
    let of = |repair| scenario(SQUARE, &[("routing.repair", repair)]).coverage().unwrap();
    for (repair, protected, tunnels) in [
        ("none", 0, 0),
        ("lfa", 6, 0),
        ("remote-lfa", 18, 12),
        ("ti-lfa", 18, 12),
        // A and C have U-turns to B and D, whose next hops they are. B and D are no next hops of A and C.
        ("u-turn", 12, 0),
        ("not-via", 18, 18),
        ("mrc", 18, 0),
        ("fifr", 18, 0),
    ] {
        let coverage = of(repair);
        assert_eq!((coverage.pairs, coverage.protectable), (30, 18), "{repair}");
        assert_eq!((coverage.protected, coverage.tunnels), (protected, tunnels), "{repair}");
    }
}

/// S sends a packet to D every millisecond, over E. The duct of S-E and S-N1 is cut at 500.5 ms. The packet of 500 ms is
/// on the link, and the packets of 501 to 510 ms come before the detection at 510.5 ms. Then the alternate over N2 carries the
/// rest, if backups avoid the duct. Otherwise the alternate is N1, behind the same cut, and nothing arrives.
#[test]
fn backups_that_avoid_shared_risks_outlive_a_cut_duct() {
    let text = r#"
title = "a duct"
stop = "1.5 s"
nodes = [{ names = ["S", "E", "N1", "N2", "D"] }]

[routing]
repair = "lfa"
protect = "risk"
detection = "10 ms"
hold_down = "5 s"

[[links]]
chains = [["S", "E"], ["E", "D"], ["N1", "E"]]
rate = "1 Gbps"
delay = "1 ms"
queue = "5 ms"

[[links]]
chain = ["S", "N1"]
rate = "1 Gbps"
delay = "1 ms"
queue = "5 ms"
cost = 2

[[links]]
chain = ["S", "N2"]
rate = "1 Gbps"
delay = "1 ms"
queue = "5 ms"
cost = 3

[[links]]
chain = ["N2", "D"]
rate = "1 Gbps"
delay = "1 ms"
queue = "5 ms"
cost = 4

[[risks]]
name = "duct"
links = [["S", "E"], ["S", "N1"]]

[[failures]]
risk = "duct"
at = "500.5 ms"

[[traffic]]
group = "probe"
from = "S"
to = "D"
process = "constant"
rate = "8 Mbps"
size = "1000 B"
until = "999.5 ms"
"#;
    for mechanism in ["lfa", "ti-lfa"] {
        for (protect, down) in [("risk", 10), ("link", 499), ("node", 10)] {
            let set = [("routing.repair", mechanism), ("routing.protect", protect)];
            let drops = run(text, &set, 1).drops;
            let expected = [("link-down", down), ("lost-in-flight", 1)];
            assert_eq!(drops, expected, "{mechanism}, {protect}");
        }
    }
}
