//! Bundles in networks with routing, against what can be worked out by hand.

use optcp_runs::{Cancel, Engine, Run, RunOptions, Series, Values, run_branches};
use optcp_scenario::Scenario;

const SQUARE: &str = include_str!("square.toml");

/// One packet a millisecond from S to R. A and B are two fibres apart, or one link each over C.
const DETOUR: &str = r#"
stop = "700 ms"
parameters = { selection = "round-robin", repair = "lfa" }
nodes = [{ names = ["S", "A", "B", "C", "R"] }]
links = [
    { chains = [["S", "A", "C", "B", "R"]], rate = "1 Gbps", delay = "1 ms", queue = "unlimited" },
    { chain = ["A", "B"], name = "fibre", count = 2, rate = "1 Gbps", delay = "1 ms", queue = "unlimited" },
]
bundles = [{ name = "core", links = ["fibre"], selection = "$selection" }]
routing = { repair = "$repair", detection = "10 ms", hold_down = "50 ms" }
traffic = [{ group = "main", from = "S", to = "R", process = "constant", rate = "1000 packets/s", size = "1000 B" }]
failures = [
    { link = "fibre0", at = "100 ms", repair = "600 ms" },
    { link = "fibre1", at = "300 ms", repair = "500 ms" },
]
observe = [
    { name = "ports", kind = "ports", links = ["fibre", "A-C"], after = "0 ms", interval = "100 ms" },
]
"#;

/// Two links between B and D, as one.
const TWO: &str = r#"
[[links]]
chain = ["B", "D"]
name = "lane"
count = 2
rate = "100 Mbps"
delay = "5 ms"
queue = "1000 packets"

[[bundles]]
name = "two"
links = ["lane"]
selection = "round-robin"
"#;

fn read(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(text, "test.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

/// A run, which must be the same on both engines.
fn run(text: &str, set: &[(&str, &str)], seed: u64) -> Run {
    let scenario = read(text, set);
    let [fast, plain] = [Engine::Fast, Engine::Reference].map(|engine| {
        let options = RunOptions { engine, fork: false, digest: true, ..RunOptions::default() };
        let runs = run_branches(&[&scenario], seed, options, &Cancel::default());
        runs.expect("nobody cancels").remove(0)
    });
    assert_eq!(fast.records_sha256, plain.records_sha256, "{set:?}, seed {seed}");
    assert_eq!(fast.metrics_sha256, plain.metrics_sha256, "{set:?}, seed {seed}");
    fast
}

/// Packets of 1000 B that a port took, by interval.
fn packets(series: &Series, port: &str) -> Vec<u64> {
    let number = series.names[0].1.iter().position(|name| name == port).expect("a port");
    let bytes = series.columns.iter().find(|column| column.name == "bytes").expect("a column");
    let Values::U64(bytes) = &bytes.values else { panic!("{bytes:?}") };
    let intervals = bytes.len() / series.names[0].1.len();
    bytes[number * intervals..(number + 1) * intervals].iter().map(|bytes| bytes / 1000).collect()
}

/// The packet that leaves S at k ms arrives at A 1.008 ms later. The bundle is down from 300 to 500
/// ms. 10 ms later A uses its alternate, and 50 ms after that its new table, which gives the same
/// path.
#[test]
fn a_bundle_is_one_link_that_fails_when_all_of_its_links_have() {
    let run = run(DETOUR, &[], 1);
    let ports = &run.series[0];
    // Of the 99 packets of the first 100 ms the even ones; the last 100 ms have 100 for both.
    assert_eq!(packets(ports, "fibre0:A->B"), [50, 0, 0, 0, 0, 0, 50]);
    assert_eq!(packets(ports, "fibre1:A->B"), [49, 100, 100, 0, 0, 90, 50]);
    assert_eq!(packets(ports, "A->C"), [0, 0, 0, 90, 100, 10, 0]);
    // One is in flight on each fibre that fails, and ten arrive until A detects the failure.
    assert_eq!(run.drops, [("link-down", 10), ("lost-in-flight", 2)]);
}

/// The failure of one fibre is not reported. Both ends of the bundle have paths to two others over
/// it.
#[test]
fn routers_detect_and_report_bundle_failures() {
    let record = run(DETOUR, &[], 1).routing.unwrap();
    let steps: Vec<_> = record
        .steps
        .iter()
        .map(|step| (step.at.as_ps() / 1_000_000_000, &step.router[..], step.cause, step.entries))
        .collect();
    let both = |at, cause| [(at, "A", cause, 2), (at, "B", cause, 2)];
    let expected = [both(310, "failure"), both(360, "convergence"), both(510, "convergence")];
    assert_eq!(steps, expected.concat());
    assert_eq!(record.announcements, 4);
    let backups = read(DETOUR, &[]).backups();
    let of = |router: &str, to: &str| {
        let backup = backups.iter().find(|one| one.router == router && one.destination == to);
        let backup = backup.expect("routers have routes");
        (backup.next.join(" "), backup.ports.join(" "))
    };
    assert_eq!(of("A", "R"), ("core:A->B".to_owned(), "A->C".to_owned()));
    assert_eq!(of("B", "S"), ("core:B->A".to_owned(), "B->C".to_owned()));
    // A is two from R, so nothing that C sends there comes back.
    assert_eq!(of("C", "R"), ("C->B".to_owned(), "C->A".to_owned()));
    assert_eq!(of("S", "R"), ("S->A".to_owned(), String::new()));
}

/// The node after the bundle on the shortest path is R, the fifth of the nodes. Number 4 of two
/// links is the first one. In the reverse direction it is S, number 0.
#[test]
fn static_selection_goes_by_the_node_behind_the_bundle() {
    let set = [("parameters.selection", "destination")];
    let (before, behind) = DETOUR.split_once("failures").expect("a table of failures");
    let (_, behind) = behind.split_once("]\n").expect("the end of it");
    let quiet = format!("{before}{behind}");
    let there = run(&quiet, &set, 1);
    assert_eq!(packets(&there.series[0], "fibre0:A->B"), [99, 100, 100, 100, 100, 100, 100]);
    let odd = quiet.replace("\"C\", \"R\"] }]", "\"C\", \"X\", \"R\"] }]");
    let odd = odd.replace("[[\"S\"", "[[\"X\", \"S\"");
    let there = run(&odd, &set, 1);
    assert_eq!(packets(&there.series[0], "fibre1:A->B"), [99, 100, 100, 100, 100, 100, 100]);
}

/// The square's tunnel from A over B to D, around A-C, goes through a bundle of two links between B and D.
#[test]
fn tunnels_lead_through_bundles() {
    let text =
        SQUARE.replace("[\"A\", \"B\", \"D\", \"C\"]", "[\"A\", \"B\"], [\"D\", \"C\"]") + TWO;
    for repair in ["remote-lfa", "ti-lfa"] {
        let set = [("routing.repair", repair)];
        let whole = run(SQUARE, &set, 1);
        let of_two = run(&text, &set, 1);
        assert_eq!(of_two.drops, whole.drops, "{repair}");
        assert_eq!(of_two.routing, whole.routing, "{repair}");
        let backup = |scenario: &Scenario| {
            let backups = scenario.backups();
            let of = backups.into_iter().find(|one| one.router == "A" && one.destination == "C");
            of.expect("A has a route to C").ports.join(" ")
        };
        assert_eq!(backup(&read(SQUARE, &set)), "A->B B->D", "{repair}");
        assert_eq!(backup(&read(&text, &set)), "A->B two:B->D", "{repair}");
    }
}

/// With TCP in both directions, every selection, members that fail in turn, and independent
/// routers.
#[test]
fn engines_agree_on_bundles_under_routing() {
    let flows = r#"flows = [
    { group = "main", from = "S", to = "R", per_source = 3 }, { group = "back", from = "R", to = "S" },
]"#;
    let (before, behind) = DETOUR.split_once("traffic").expect("a table of traffic");
    let (_, behind) = behind.split_once('\n').expect("a line of traffic");
    let tcp = format!("{before}{flows}\n{behind}");
    let tcp = tcp.replace("1 Gbps", "20 Mbps").replace("unlimited", "10 packets");
    for selection in ["destination", "anycast", "fewest-packets", "flow-hash", "round-robin"] {
        for repair in ["none", "lfa", "ti-lfa"] {
            for seed in 1..=2 {
                let set = [
                    ("parameters.selection", selection),
                    ("parameters.repair", repair),
                    ("routing.update", "uniform(0 ms, 40 ms)"),
                    ("bundles.0.detection", "5 ms"),
                ];
                let run = run(&tcp, &set, seed);
                assert!(run.drops.iter().any(|&(reason, _)| reason == "queue-full"), "{set:?}");
            }
        }
    }
}

/// A's path to D fails. LFA uses the bundle to N (M would send packets back), TI-LFA the bundle to
/// M. In both scenarios this path is the first that A installs, so it has the same number: the
/// branches must not share it.
#[test]
fn branches_part_where_one_number_names_two_bundles() {
    let text = r#"
stop = "2 s"
nodes = [{ names = ["S", "A", "D", "M", "N"] }]
links = [
    { chains = [["S", "A"], ["A", "D"]], rate = "100 Mbps", delay = "1 ms", queue = "unlimited" },
    { chain = ["A", "M"], name = "am", count = 2, rate = "100 Mbps", delay = "1 ms", queue = "unlimited" },
    { chain = ["A", "N"], name = "an", count = 2, cost = 3, rate = "100 Mbps", delay = "1 ms", queue = "unlimited" },
    { chain = ["M", "D"], cost = 3, rate = "100 Mbps", delay = "1 ms", queue = "unlimited" },
    { chain = ["N", "D"], cost = 2, rate = "100 Mbps", delay = "1 ms", queue = "unlimited" },
]
bundles = [
    { name = "m", links = ["am"], selection = "round-robin" },
    { name = "n", links = ["an"], selection = "round-robin" },
]
routing = { repair = "lfa", hold_down = "10 s" }
traffic = [{ group = "g", from = "S", to = "D", process = "constant", rate = "100 packets/s", size = "1000 B" }]
failures = [{ link = ["A", "D"], at = "1 s" }]
observe = [{ name = "load", kind = "load", links = ["am", "an"], interval = "1 s" }]
"#;
    let worlds = ["lfa", "ti-lfa"].map(|repair| read(text, &[("routing.repair", repair)]));
    let both: Vec<&Scenario> = worlds.iter().collect();
    let of = |fork| {
        let options = RunOptions { fork, digest: true, ..RunOptions::default() };
        let runs = run_branches(&both, 1, options, &Cancel::default()).expect("nobody cancels");
        runs.into_iter().map(|run| run.records_sha256).collect::<Vec<_>>()
    };
    let (forked, apart) = (of(true), of(false));
    assert_eq!(forked, apart);
    assert_ne!(apart[0], apart[1]);
}

/// A branch without a switch to the backup, whose table of labels has fewer entrances of bundles.
const BRANCHES: &str = r#"
stop = "339600 ns"
nodes = [{ names = ["L1x0", "L2x0", "L3x0", "L3x1", "L4x0"] }]
links = [
    { chain = ["L1x0", "L2x0"], delay = "1800 ns", rate = "33300 Mbps", queue = "1000 packets" },
    { chain = ["L2x0", "L3x0"], name = "par2", delay = "0 ps", rate = "10 Gbps", queue = "30 packets" },
    { chain = ["L2x0", "L3x1"], delay = "3600 ns", rate = "8 Gbps", queue = "1000 packets" },
    { chain = ["L3x0", "L4x0"], delay = "7200 ns", rate = "10 Gbps", queue = "40 packets" },
    { chain = ["L3x1", "L4x0"], delay = "6615339 ps", rate = "10 Gbps", queue = "1000 packets" },
]
bundles = [{ name = "bun2", links = ["par2"], selection = "anycast" }]
failures = [{ link = ["L3x0", "L4x0"], at = "113278451 ps" }]
protection = [{ backup = "link-disjoint", switch_delay = "339600 ns" }]
routing = {}
traffic = [
    { group = "f0", from = "L3x1", to = "L4x0", process = "poisson", rate = "633097.762073 packets/s", size = "992 B" },
    { group = "f1", from = "L1x0", to = "L3x1", process = "constant", rate = "88339.222614 packets/s", size = "1138 B" },
]
"#;

#[test]
fn windows_end_where_another_branch_goes_on_with_fewer_entrances() {
    let scenarios = ["21381764 ps", "0 ps"].map(|delay| {
        let set = [("protection.0.switch_delay".to_owned(), format!("{delay:?}"))];
        Scenario::parse(BRANCHES, "branches.toml", &set).unwrap_or_else(|error| panic!("{error}"))
    });
    let runs = |engine| {
        let options = RunOptions { engine, digest: true, ..RunOptions::default() };
        let branches: Vec<&Scenario> = scenarios.iter().collect();
        let runs =
            run_branches(&branches, 4198, options, &Cancel::default()).expect("not cancelled");
        runs.into_iter().map(|run| run.records_sha256).collect::<Vec<_>>()
    };
    assert_eq!(runs(Engine::Windows { length: Some(31), stepped: 0 }), runs(Engine::Reference));
}
