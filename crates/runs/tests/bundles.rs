//! Bundles, groups of different sizes and counts of ports, against numbers worked out by hand.

use optcp_runs::{Cancel, Engine, Run, RunOptions, Series, Values, run_branches};
use optcp_scenario::Scenario;
use optcp_scenario::plan::Plan;

const LBAS: &str = include_str!("../../../papers/optcp_papers/lbas/scenarios/lbas.toml");

fn read(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(text, "test.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

fn runs(branches: &[&Scenario], options: RunOptions) -> Vec<Run> {
    run_branches(branches, 1, options, &Cancel::default()).expect("nobody cancels")
}

fn run(scenario: &Scenario) -> Run {
    runs(&[scenario], RunOptions::default()).remove(0)
}

fn names(plan: &Plan, nodes: &[usize]) -> String {
    let names: Vec<&str> = nodes.iter().map(|&node| plan.nodes[node].as_str()).collect();
    names.join(" ")
}

fn numbers(series: &Series, name: &str) -> Vec<u64> {
    let column = series.columns.iter().find(|column| column.name == name).expect("a column");
    let Values::U64(values) = &column.values else { panic!("{column:?}") };
    values.clone()
}

/// K = 2, b_D = 3, N = 7: six subnetworks per side. Source 9 is in subnetwork 1 and sends to
/// subnetwork 9 mod 6 = 3. The formula assigns it lightpath 1 + (4 - 1) mod 3 = 1; each lightpath
/// gets K N = 14.
#[test]
fn flows_use_the_lightpath_of_the_lbas_formula() {
    let set = [
        ("parameters.K", "2"),
        ("parameters.bundling_degree", "3"),
        ("parameters.hosts", "7"),
        ("parameters.selection", "destination"),
    ];
    let scenario = read(LBAS, &set);
    let plan = scenario.plan();
    // Six subnetworks of 14 hosts and a metro node on each side, two core nodes; a link a host and a
    // metro node, three lightpaths.
    assert_eq!((plan.nodes.len(), plan.links.len()), (2 * 6 * 15 + 2, 2 * 6 * 15 + 3));
    assert_eq!(plan.flows.len(), 2 * 6 * 7);
    assert_eq!(names(plan, &plan.flows[9].path), "SL9 ML1 L R MR3 DR9");
    assert_eq!(plan.flows[9].name, "rightward/SL9/0");
    assert_eq!(names(plan, &plan.flows[42 + 41].path), "SR41 MR5 R L ML5 DL41");
    let mut of_lightpath = [[0; 3]; 2];
    for flow in &plan.flows {
        assert_eq!(flow.bundles.keys().collect::<Vec<_>>(), [&2], "the third hop is the bundle");
        let source: u32 = plan.nodes[flow.path[0]][2..].parse().unwrap();
        assert_eq!(plan.destination(flow, 2, 0), source % 6);
        assert_eq!(plan.destination(flow, 2, 1), source / 7, "ACKs go back to the source's");
        of_lightpath[flow.group][(plan.destination(flow, 2, 0) % 3) as usize] += 1;
    }
    assert_eq!(of_lightpath, [[14; 3]; 2]);
}

/// The largest scenario of the paper: 50 subnetworks per side, 10 000 flows.
#[test]
fn the_largest_bundle_of_the_paper_is_read() {
    let scenario = read(LBAS, &[("parameters.bundling_degree", "10"), ("parameters.hosts", "100")]);
    let summary = scenario.summary();
    assert_eq!((summary.nodes, summary.links), (20_102, 20_110));
    assert_eq!(summary.flows, 10_000);
}

/// One packet of 1000 B on two parallel links of 8 Mb/s: it stands in a queue for 1 ms.
const PARALLEL: &str = r#"
stop = "50 ms"
parameters = { selection = "round-robin", size = "1 segments", down = "40 ms", detection = "0 s" }
tcp.all = { mss = "1000 B", header = "0 B", initial_window = 100 }
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], name = "fibre", count = 2, rate = "8 Mbps", delay = "1 ms", queue = "unlimited" }]
bundles = [{ name = "both", links = ["fibre"], selection = "$selection", detection = "$detection" }]
flows = [{ group = "main", path = ["A", "B"], tcp = "all", start = "12 ms", size = "$size" }]
failures = [{ link = "fibre0", at = "$down" }]
observe = [
    { name = "ports", kind = "ports", links = ["fibre"], after = "10 ms", interval = "10 ms" },
]
"#;

#[test]
fn ports_count_bytes_and_how_long_they_stand() {
    let series = &run(&read(PARALLEL, &[])).series[0];
    let ports = ["fibre0:A->B", "fibre0:B->A", "fibre1:A->B", "fibre1:B->A"];
    assert_eq!(series.names[0].1, ports);
    // Four intervals a port; round-robin begins with the first link, for the data and for the ACK.
    let mut bytes = [0; 16];
    (bytes[0], bytes[4]) = (1000, 40);
    assert_eq!(numbers(series, "bytes"), bytes);
    assert_eq!(numbers(series, "longest_ps")[..4], [1_000_000_000; 4]);
    let mean = series.columns.iter().find(|column| column.name == "mean_bytes").unwrap();
    let Values::F64(mean) = &mean.values else { panic!("{mean:?}") };
    // 1000 B for 1 ms of 10 ms, and 40 B for 40 us.
    assert_eq!((mean[0], mean[4], mean[8]), (100.0, 0.16, 0.0));
}

/// 40 packets at once, back to back on both links: each is busy for 20 ms. The first link fails at
/// 20 ms and loses the packets that it still holds. Packets end every millisecond from 13 to 32 ms.
/// The 13 packets from 20 ms on are lost, because a failure precedes other events at the same time.
/// Packets that arrive after the detection are not lost.
#[test]
fn failed_link_is_chosen_until_detection() {
    let set = [("parameters.size", "40 segments"), ("parameters.down", "20 ms")];
    let lost = |detection| {
        let detection = ("parameters.detection", detection);
        let run = run(&read(PARALLEL, &[set[0], set[1], detection]));
        let of = |wanted: &str| {
            run.drops.iter().find(|(reason, _)| *reason == wanted).map_or(0, |&(_, count)| count)
        };
        // ACKs are lost on their return path, too.
        (of("queue-flushed"), of("link-down"))
    };
    let (flushed, down) = lost("0 s");
    assert_eq!((flushed, down), (13, 0));
    let (flushed, down) = lost("30 ms");
    assert_eq!(flushed, 13);
    // ACKs of the second link come every millisecond from 21 to 34 ms, every other one to the dead link.
    assert!(down >= 6, "{down}");
}

/// Small enough to run at once, busy enough to drop.
fn small(selection: &str, set: &[(&str, &str)]) -> Scenario {
    let mut all = vec![
        ("stop", "3 s"),
        ("parameters.rate", "20 Mbps"),
        ("parameters.buffer", "25 kB"),
        ("parameters.far_buffer", "25 kB"),
        ("parameters.hosts", "2"),
        ("parameters.warm_up", "1 s"),
        ("parameters.batch", "0.7 s"),
        ("parameters.selection", selection),
    ];
    all.extend(set);
    read(LBAS, &all)
}

#[test]
fn a_run_is_the_same_however_it_is_made() {
    let early = small("anycast", &[("failures", "[{link = \"lightpath0\", at = \"1.5 s\"}]")]);
    let late = small("anycast", &[("failures", "[{link = \"lightpath0\", at = \"2.5 s\"}]")]);
    let forked = runs(&[&early, &late], RunOptions::default());
    assert!(forked.iter().all(|run| run.forked_at.is_some()));
    for (scenario, forked) in [early, late].iter().zip(forked) {
        assert!(numbers(&forked.series[0], "bytes").iter().sum::<u64>() > 1_000_000);
        assert!(forked.drops.iter().any(|&(reason, _)| reason == "queue-full"));
        // Without records, with them, and with the other engine.
        for (digest, engine) in
            [(false, Engine::Fast), (true, Engine::Fast), (false, Engine::Reference)]
        {
            let options = RunOptions { fork: false, digest, engine, ..RunOptions::default() };
            let alone = runs(&[scenario], options).remove(0);
            assert_eq!(alone.series, forked.series);
            assert_eq!(alone.metrics_sha256, forked.metrics_sha256);
        }
    }
}

#[test]
fn selections_differ() {
    let kinds = ["destination", "anycast", "fewest-packets", "flow-hash", "round-robin"];
    let digests: Vec<String> =
        kinds.iter().map(|kind| run(&small(kind, &[])).metrics_sha256).collect();
    for (i, one) in digests.iter().enumerate() {
        assert!(!digests[..i].contains(one), "{}", kinds[i]);
    }
}

/// A group of two in front of one of four, in turn: each flow is called after its member of the larger one.
#[test]
fn flows_are_called_after_the_nodes_that_tell_them_apart() {
    let text = r#"
stop = "1 s"
nodes = [{ group = "M", count = 2 }, { group = "S", count = 4 }]
links = [{ chain = ["M", "S"], members = "in-turn", rate = "10 Mbps", delay = "1 ms", queue = "unlimited" }]
flows = [{ group = "g", path = ["M", "S"] }]
traffic = [{ group = "t", path = ["M", "S"], process = "poisson", rate = "10 packets/s", size = "1000 B" }]
"#;
    let scenario = read(text, &[]);
    let names: Vec<&str> = scenario.plan().flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["g/S0/0", "g/S1/0", "g/S2/0", "g/S3/0", "t/S0", "t/S1", "t/S2", "t/S3"]);
}
