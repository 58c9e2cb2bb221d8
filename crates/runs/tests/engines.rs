//! All engines make the same run of every scenario that is shipped, down to the last record.

use std::path::Path;

use optcp_engine::observe::Values;
use optcp_runs::{Cancel, Engine, Run, RunOptions, run_branches};
use optcp_scenario::{Graph, GraphLink, Library, Reference, ReferenceResolver, Scenario};
use optcp_units::{Duration, Time};

/// Longer runs are cut here: nothing new happens in them.
const LONGEST: Duration = Duration::from_secs(100);
/// Scenarios of 10 and 2 Gb/s, with the rate and the buffers reduced to a thousandth and a
/// hundredth. Also a smaller and a shorter one, and one with values of the network below.
const SLOWER: [(&str, &str, &str); 18] = [
    ("gmpls-mesh.toml", "nodes.0.count", "18"),
    ("gmpls-mesh.toml", "failures.0.link", "[\"Hannover\", \"Berlin\"]"),
    ("lbas.toml", "parameters.rate", "10 Mbps"),
    ("lbas.toml", "parameters.buffer", "12.5 kB"),
    ("lbas.toml", "parameters.far_buffer", "12.5 kB"),
    ("obs-cut.toml", "nodes.0.count", "18"),
    ("obs-cut.toml", "failures.0.link", "[\"Hannover\", \"Berlin\"]"),
    ("obs-cut-ip.toml", "nodes.0.count", "18"),
    ("obs-cut-ip.toml", "failures.0.link", "[\"Hannover\", \"Berlin\"]"),
    ("reconfigurable-restoration.toml", "parameters.rate", "20 Mbps"),
    ("reconfigurable-restoration.toml", "parameters.queue", "25 kB"),
    ("reconfigurable-rotor.toml", "parameters.racks", "8"),
    ("reconfigurable-rotor.toml", "parameters.hosts", "16"),
    ("reconfigurable-rotor.toml", "parameters.until", "10 ms"),
    ("reconfigurable-rotor.toml", "parameters.length", "20 ms"),
    ("reconfigurable-days.toml", "parameters.length", "24 ms"),
    ("reconfigurable-days.toml", "parameters.warm", "8 ms"),
    ("reconfigurable-days.toml", "parameters.measured", "16 ms"),
];

/// Replaces every network that a scenario names; the front end has the real ones.
struct Germany;

/// Towns that scenarios name.
const TOWNS: [&str; 18] = [
    "Hamburg",
    "Kiel",
    "Muenchen",
    "Erfurt",
    "Wuerzburg",
    "Kassel",
    "Fulda",
    "Essen",
    "Dortmund",
    "Duesseldorf",
    "Koeln",
    "Koblenz",
    "Siegen",
    "Hannover",
    "Berlin",
    "Frankfurt",
    "Stuttgart",
    "Trier",
];
/// Roads between them, and their lengths in km.
const ROADS: [([usize; 2], u64); 21] = [
    ([0, 1], 100),
    ([0, 2], 600),
    ([1, 2], 900),
    ([3, 4], 150),
    ([5, 6], 80),
    ([3, 5], 130),
    ([4, 6], 90),
    ([0, 5], 280),
    ([2, 4], 240),
    ([7, 8], 30),
    ([9, 7], 29),
    ([10, 9], 34),
    ([10, 11], 82),
    ([11, 12], 65),
    ([12, 8], 75),
    ([8, 13], 180),
    ([13, 0], 135),
    ([13, 14], 250),
    ([11, 15], 90),
    ([15, 16], 155),
    ([11, 17], 100),
];

impl ReferenceResolver for Germany {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        let link = |ends, km: u64| GraphLink { ends, name: None, length_mm: Some(km * 1_000_000) };
        Ok(Graph {
            nodes: TOWNS.map(str::to_owned).to_vec(),
            places: Vec::new(),
            links: ROADS.map(|(ends, km)| link(ends, km)).to_vec(),
            demands: vec![(0, 2, 3), (2, 0, 3), (3, 4, 2), (1, 6, 1)],
            ..Graph::default()
        })
    }
}

/// Runs with the reference engine and the fast engine. Next come two fast runs where all
/// departures, and where departures of every second port, are events. The last two use windows
/// wherever possible, on one thread and on two.
fn with_all_engines(world: &Scenario, seed: u64, digest: bool) -> [Run; 6] {
    let stepped = [u64::MAX, 0x5555_5555_5555_5555].map(Engine::Stepped);
    let windows = Engine::Windows { length: Some(31), stepped: 0 };
    let one = [Engine::Reference, Engine::Fast, stepped[0], stepped[1], windows];
    let [reference, fast, all, some, windowed] = one.map(|engine| (engine, 1));
    [reference, fast, all, some, windowed, (windows, 2)].map(|(engine, threads)| {
        let options = RunOptions { digest, engine, threads, ..RunOptions::default() };
        let runs = run_branches(&[world], seed, options, &Cancel::default());
        runs.expect("nobody cancels it").remove(0)
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads what is shipped")]
fn every_shipped_scenario_runs_alike_with_all_engines() {
    let list =
        |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let papers = list(&root.join("papers/optcp_papers")).map(|paper| paper.join("scenarios"));
    let others = root.join("python/optcp/scenarios");
    let folders = papers.chain([others]).filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| list(&folder));
    let library = Library::new(Germany);
    let mut compared = 0;
    for file in files.filter(|file| file.extension().is_some_and(|end| end == "toml")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        let scenario = |set: &[(String, String)]| {
            let slower = SLOWER.iter().filter(|&&(of, ..)| name == of);
            let set: Vec<(String, String)> = slower
                .map(|&(_, key, value)| (key.to_owned(), value.to_owned()))
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
            let [plain, others @ ..] = with_all_engines(&whole, seed, true);
            for (engine, fast) in others.iter().enumerate() {
                let how = format!("{name}, seed {seed}, engine {engine}");
                assert_eq!(plain.records_sha256, fast.records_sha256, "{how}");
                assert_eq!(plain.series, fast.series, "{how}");
                assert_eq!(plain.metrics_sha256, fast.metrics_sha256, "{how}");
            }
        }
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} scenarios were found");
}

/// Engines process flows in different orders; the SACK reports of their ACKs are listed in order of
/// time.
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
    let library = Library::new(Germany);
    let world = Scenario::parse_with(text, "sack.toml", &[], &library)
        .unwrap_or_else(|problem| panic!("{problem}"));
    let [plain, others @ ..] = with_all_engines(&world, 1, false);
    let sacks = |run: &Run| {
        let (_, sacks) = run.series[0].names.iter().find(|(list, _)| *list == "sacks").unwrap();
        sacks.len()
    };
    assert!(sacks(&plain) > 100, "{} ACKs have blocks", sacks(&plain));
    for fast in others {
        assert_eq!(plain.series, fast.series);
        assert_eq!(plain.metrics_sha256, fast.metrics_sha256);
    }
}

/// A part of the listing is the rows of the whole from its beginning on, and before its end; all else is the same.
#[test]
fn packets_of_a_measured_part_equal_the_whole_run() {
    let world = |window: &str| {
        let text = format!(
            r#"
stop = "2 s"
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "12 Mbps"
delay = "10 ms"
queue = "20 packets"
[[flows]]
group = "all"
path = ["A", "B"]
[[observe]]
name = "seen"
kind = "packets"
links = [["A", "B"]]
{window}
"#
        );
        Scenario::parse(&text, "window.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"))
    };
    let rows = |run: &Run| {
        let columns = &run.series[0].columns;
        let Values::U64(times) = &columns[0].values else { panic!("times") };
        let Values::U32(numbers) = &columns[4].values else { panic!("numbers") };
        times.iter().copied().zip(numbers.iter().copied()).collect::<Vec<_>>()
    };
    let [whole, ..] = with_all_engines(&world(""), 1, false);
    let all = rows(&whole);
    // Each bound is the time of a row.
    let (after, until) = (all[all.len() / 4].0, all[all.len() / 4 * 3].0);
    let kept = all.iter().copied().filter(|&(at, _)| (after..until).contains(&at));
    let kept: Vec<_> = kept.collect();
    assert!(kept.len() > 1000, "{} rows", kept.len());
    let window = format!("after = \"{after} ps\"\nuntil = \"{until} ps\"");
    for run in with_all_engines(&world(&window), 1, false) {
        assert_eq!(rows(&run), kept);
        assert_eq!(run.counts[..5], whole.counts[..5], "all but the number of events");
    }
}

/// A packet of 60000 B takes 480 000 s at 1 b/s. Of the 2000 that arrive in the first second, three
/// have been sent after 480 h = 1 728 000 s. The last would be sent after 30 years, which 64 bits
/// of picoseconds cannot represent.
#[test]
fn transmissions_beyond_maximum_time_never_happen() {
    let world = |queue: &str, rest: &str| {
        format!(
            r#"
            stop = "480 h"
            nodes = [{{ names = ["A", "B"] }}]
            links = [{{ chain = ["A", "B"], rate = "1 bps", delay = "1 ms", queue = "{queue}" {rest} }}]
            [[traffic]]
            group = "d"
            path = ["A", "B"]
            process = "constant"
            rate = "2000 packets/s"
            size = "60000 B"
            until = "1 s"
            [[observe]]
            name = "ports"
            kind = "ports"
            links = [["A", "B"]]
            interval = "100 h"
            "#
        )
    };
    let watched = r#"
        [[observe]]
        name = "queue"
        kind = "queue"
        links = [["A", "B"]]
        interval = "100 h"
    "#;
    // Packets beyond the queue limit are dropped, the rest is queued.
    for (queue, dropped) in
        [("unlimited", 0), ("500 packets", 1500), ("30 MB", 1500), ("90000 B", 1999)]
    {
        for jitter in ["", ", jitter = \"1 h\""] {
            for watched in ["", watched] {
                let text = world(queue, jitter) + watched;
                let scenario = Scenario::parse(&text, "never.toml", &[])
                    .unwrap_or_else(|problem| panic!("{problem}"));
                let runs = with_all_engines(&scenario, 1, true);
                for run in &runs {
                    let count = |name| run.counts.iter().find(|(of, _)| *of == name).unwrap().1;
                    let lost = count("dropped");
                    assert_eq!(count("delivered"), 3.min(2000 - lost), "{queue} {jitter}");
                    assert_eq!(lost, dropped, "{queue} {jitter}");
                }
                let [a, others @ ..] = runs;
                for b in others {
                    assert_eq!(a.metrics_sha256, b.metrics_sha256, "{queue} {jitter}");
                    assert_eq!(a.records_sha256, b.records_sha256, "{queue} {jitter}");
                }
            }
        }
    }
}

/// With bundles, failures or maintenance, all engines agree on queues that outlast the maximum
/// time.
#[test]
fn queues_beyond_the_end_of_time_are_alike() {
    for selection in ["anycast", "fewest-packets", "round-robin"] {
        for packets in ["kept", "lost"] {
            for queue in ["unlimited", "100 packets", "6 MB"] {
                let text = format!(
                    r#"
                    stop = "480 h"
                    nodes = [{{ names = ["A", "B", "C"] }}]
                    links = [
                        {{ chain = ["A", "B"], name = "lp", count = 3, rate = "1 bps", delay = "400 h", queue = "{queue}" }},
                        {{ chain = ["B", "C"], rate = "1 Mbps", delay = "1 h", queue = "unlimited" }},
                    ]
                    bundles = [{{ name = "bun", links = ["lp"], selection = "{selection}", detection = "20 h" }}]
                    failures = [{{ link = "lp1", at = "10 h", repair = "200 h", packets = "{packets}" }}]
                    [[traffic]]
                    group = "large"
                    path = ["A", "bun", "B", "C"]
                    process = "poisson"
                    rate = "10 packets/s"
                    size = "60000 B"
                    until = "10 s"
                    [[traffic]]
                    group = "small"
                    path = ["A", "bun", "B", "C"]
                    process = "constant"
                    rate = "0.001 packets/s"
                    size = "100 B"
                    [[observe]]
                    name = "ports"
                    kind = "ports"
                    links = ["bun"]
                    interval = "7 h"
                    "#
                );
                let scenario = Scenario::parse(&text, "never.toml", &[])
                    .unwrap_or_else(|problem| panic!("{problem}"));
                let [a, others @ ..] = with_all_engines(&scenario, 1, true);
                for b in others {
                    assert_eq!(a.counts[..5], b.counts[..5], "{selection} {packets} {queue}");
                    assert_eq!(a.metrics_sha256, b.metrics_sha256, "{selection} {packets} {queue}");
                    assert_eq!(a.records_sha256, b.records_sha256, "{selection} {packets} {queue}");
                }
            }
        }
    }
}
