//! Both kernels make the same run of every scenario that is shipped, down to the last record.

use std::path::Path;

use optcp_scenario::{
    Cancel, Graph, GraphLink, Kernel, Library, Run, RunOptions, Scenario, run_branches,
};
use optcp_units::{Duration, Time};

/// Longer runs are cut here: nothing new happens in them.
const LONGEST: Duration = Duration::from_secs(100);
/// A world of 10 Gb/s, with a thousandth of the rate and of the buffers.
const SLOWER: (&str, [(&str, &str); 3]) = (
    "lbas.toml",
    [
        ("parameters.rate", "10 Mbps"),
        ("parameters.buffer", "12.5 kB"),
        ("parameters.far_buffer", "12.5 kB"),
    ],
);

/// Stands for whatever network a scenario names: the front end has the real ones.
fn triangle() -> Graph {
    let link = |ends, km: u64| GraphLink { ends, name: None, length_mm: Some(km * 1_000_000) };
    Graph {
        nodes: ["Hamburg", "Kiel", "Muenchen"].map(str::to_owned).to_vec(),
        links: vec![link([0, 1], 100), link([0, 2], 600), link([1, 2], 900)],
    }
}

fn with_both_kernels(world: &Scenario, seed: u64, digest: bool) -> [Run; 2] {
    Kernel::ALL.map(|kernel| {
        let options = RunOptions { digest, kernel, ..RunOptions::default() };
        let runs = run_branches(&[world], seed, options, &Cancel::default());
        runs.expect("nobody cancels it").remove(0)
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads what is shipped")]
fn every_shipped_scenario_runs_alike_with_both_kernels() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/optcp/scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let library = Library::new(|_| Ok(triangle()));
    let mut compared = 0;
    for file in files.filter(|file| file.extension().is_some_and(|end| end == "toml")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        let scenario = |set: &[(String, String)]| {
            let slower = SLOWER.1.iter().filter(|_| name == SLOWER.0);
            let set: Vec<(String, String)> = slower
                .map(|&(key, value)| (key.to_owned(), value.to_owned()))
                .chain(set.iter().cloned())
                .collect();
            Scenario::parse_with(&text, &name, &set, &library)
                .unwrap_or_else(|problem| panic!("{problem}"))
        };
        let mut whole = scenario(&[]);
        if whole.plan().stop > Time::ZERO + LONGEST {
            whole = scenario(&[("stop".to_owned(), LONGEST.to_string())]);
        }
        for seed in [1, 2] {
            let [plain, fast] = with_both_kernels(&whole, seed, true);
            assert_eq!(plain.records_sha256, fast.records_sha256, "{name}, seed {seed}");
            assert_eq!(plain.series, fast.series, "{name}, seed {seed}");
            assert_eq!(plain.metrics_sha256, fast.metrics_sha256, "{name}, seed {seed}");
        }
        compared += 1;
    }
    assert!(compared >= 16, "only {compared} scenarios were found");
}

/// Kernels come to the flows in different orders; what SACK reports in their ACKs is in the order of time.
#[test]
fn sack_blocks_of_several_flows_are_listed_alike() {
    let text = r#"
title = "four flows with SACK, and a queue that overflows"
stop = "5 s"
[tcp.all]
profile = "rfc"
recovery = "sack"
[[nodes]]
names = ["R", "D"]
[[nodes]]
group = "S"
count = 4
[[links]]
chains = [["S", "R"]]
rate = "10 Mbps"
delay = "uniform(1 ms, 20 ms)"
queue = "unlimited"
[[links]]
chain = ["R", "D"]
rate = "10 Mbps"
delay = "10 ms"
queue = "10 packets"
[[flows]]
group = "all"
path = ["S", "R", "D"]
tcp = "all"
[[observe]]
name = "seen"
kind = "packets"
"#;
    let library = Library::new(|_| Ok(triangle()));
    let world = Scenario::parse_with(text, "sack.toml", &[], &library)
        .unwrap_or_else(|problem| panic!("{problem}"));
    let [plain, fast] = with_both_kernels(&world, 1, false);
    let sacks = |run: &Run| {
        let (_, sacks) = run.series[0].names.iter().find(|(list, _)| *list == "sacks").unwrap();
        sacks.len()
    };
    assert!(sacks(&plain) > 100, "{} ACKs have blocks", sacks(&plain));
    assert_eq!(plain.series, fast.series);
    assert_eq!(plain.metrics_sha256, fast.metrics_sha256);
}
