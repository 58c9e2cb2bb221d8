//! Blocks of runs: files, interruption, and metrics computed by hand.

use std::collections::BTreeMap;

use optcp_runs::{Cancel, Data, RunOptions, Table};
use optcp_scenario::Scenario;
use optcp_store::{AxisValue, Block, Cell, File, METRICS, TABLES, read, run_block};

/// One file of 100 segments, sent from 1 s on over a line of 1 Mb/s, and a second one that never ends.
const WORLD: &str = r#"
title = "two files"
stop = "4 s"
parameters = { start = "1 s" }
tcp = { all = { profile = "rfc", mss = "1000 B", header = "0 B", ack_size = "40 B" } }
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chains = [["A", "B"], ["A", "C"]], rate = "1 Mbps", delay = "5 ms", queue = "unlimited" }]

[[flows]]
group = "short"
path = ["A", "B"]
tcp = "all"
start = "$start"
size = "100 kB"

[[flows]]
group = "endless"
path = ["A", "C"]
tcp = "all"
start = "2 s"

[[observe]]
name = "goodput"
kind = "goodput"
interval = "500 ms"

[[observe]]
name = "ended"
kind = "completions"
groups = ["short"]

[[observe]]
name = "load"
kind = "load"
interval = "1 s"
"#;

fn scenario(set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(WORLD, "two.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

/// Files by path; two cells, in whose second one the file starts 50 ms later.
fn made(todo: &[(u64, Vec<usize>)]) -> BTreeMap<String, Vec<u8>> {
    let worlds = [scenario(&[]), scenario(&[("parameters.start", "1.05 s")])];
    let values = [[AxisValue::Number(1.0)], [AxisValue::Number(1.05)]];
    let cells: Vec<Cell<'_>> = ["early", "late"]
        .iter()
        .zip(&worlds)
        .zip(&values)
        .map(|((id, scenario), values)| Cell { id, values, scenario })
        .collect();
    let axes = ["start_s".to_owned()];
    let mut files = BTreeMap::new();
    let mut take = |more: Vec<File>| {
        files.extend(more.into_iter().map(|file| (file.path, file.content)));
        Ok::<(), std::io::Error>(())
    };
    let block = Block { axes: &axes, cells: &cells, todo };
    run_block(block, RunOptions::default(), &Cancel::default(), &mut take).expect("runs");
    files
}

fn table(files: &BTreeMap<String, Vec<u8>>, folder: &str) -> Table {
    let (_, content) = files
        .iter()
        .find(|(path, _)| path.starts_with(&format!("{folder}/")))
        .unwrap_or_else(|| panic!("no {folder}"));
    Table::from_parquet(content.clone()).expect("a table")
}

fn column<'a>(table: &'a Table, name: &str) -> &'a Data {
    let found = table.columns.iter().find(|(known, _)| known == name);
    found.map(|(_, data)| data).unwrap_or_else(|| panic!("no column {name}"))
}

fn texts<'a>(table: &'a Table, name: &str) -> Vec<&'a str> {
    match column(table, name) {
        Data::Text(texts) => texts.iter().collect(),
        other => panic!("{other:?}"),
    }
}

fn scalar(table: &Table, cell: &str, seed: u64, metric: &str, of: &str) -> f64 {
    number(table, "value", (cell, seed), metric, of)
}

/// A number of the row of a metric.
fn number(table: &Table, name: &str, (cell, seed): (&str, u64), metric: &str, of: &str) -> f64 {
    let (Data::U64(seeds), Data::F64(values)) = (column(table, "seed"), column(table, name)) else {
        panic!("other columns");
    };
    let (cells, metrics, ofs) = (texts(table, "cell"), texts(table, "metric"), texts(table, "of"));
    let mut rows = (0..values.len())
        .filter(|&row| (cells[row], seeds[row]) == (cell, seed))
        .filter(|&row| (metrics[row], ofs[row]) == (metric, of));
    let row = rows.next().unwrap_or_else(|| panic!("no {metric} of {of}"));
    assert_eq!(rows.next(), None, "{metric} of {of} twice");
    values[row]
}

#[test]
fn rows_name_their_combination_and_seed() {
    let files = made(&[(7, vec![0, 1]), (8, vec![1])]);
    let goodput = table(&files, "goodput");
    let names: Vec<&str> = goodput.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["start_s", "cell", "seed", "time_ps", "group", "bytes"]);
    // Two groups of eight intervals of 500 ms in each of three runs.
    let runs = [("early", 7), ("late", 7), ("late", 8)];
    let rows = runs.iter().flat_map(|&run| std::iter::repeat_n(run, 16));
    let (cells, seeds): (Vec<&str>, Vec<u64>) = rows.unzip();
    assert_eq!(texts(&goodput, "cell"), cells);
    assert_eq!(column(&goodput, "seed"), &Data::U64(seeds));
    let starts = cells.iter().map(|&cell| if cell == "late" { 1.05 } else { 1.0 });
    assert_eq!(column(&goodput, "start_s"), &Data::F64(starts.collect()));
}

#[test]
fn the_goodput_of_a_file_is_over_its_active_time_too() {
    let files = made(&[(1, vec![0])]);
    let scalars = table(&files, "scalars");
    let of_short = |metric| scalar(&scalars, "early", 1, metric, "short");
    // 100 kB over the whole 4 s.
    assert!((of_short("goodput_bps") - 200_000.0).abs() < 1e-6);
    // Active from its start to its end, which the observation of completions sees on its own.
    let took_s = of_short("completion_mean_s");
    assert!((of_short("active_from_s") - 1.0).abs() < 1e-12);
    assert!((of_short("active_to_s") - (1.0 + took_s)).abs() < 1e-12);
    assert!((of_short("active_goodput_bps") - 800_000.0 / took_s).abs() < 1e-6);
    // A segment takes 8 ms at 1 Mb/s, so 100 of them no less than 800 ms.
    assert!((0.8..1.2).contains(&took_s), "{took_s}");
    assert!((of_short("completed_flows") - 1.0).abs() < 1e-12);
    // An endless flow is active to the end of the run, and its goodput is limited by the line rate.
    let of_endless = |metric| scalar(&scalars, "early", 1, metric, "endless");
    assert!((of_endless("active_to_s") - 4.0).abs() < 1e-12);
    let whole = of_endless("goodput_bps");
    assert!((of_endless("active_goodput_bps") - 2.0 * whole).abs() < 1e-6);
    // 100 segments of 1000 B over a line that could have sent 500 000 B.
    assert!((scalar(&scalars, "early", 1, "utilisation", "A->B") - 0.2).abs() < 1e-12);
}

/// The line of the endless flow fails permanently at 3 s. A segment takes 8 ms plus 5 ms to the
/// receiver, and the sender always has data. The last segment arrives 2.005 + 124 * 0.008 = 2.997 s
/// after the start, 1.003 s before the end. The other flow has ended.
#[test]
fn an_outage_is_the_longest_gap_beyond_the_usual_one() {
    let failing = scenario(&[
        ("failures", r#"[{ link = ["A", "C"], at = "3 s" }]"#),
        ("observe", r#"[{ name = "outages", kind = "outages", after = "3 s" }]"#),
    ]);
    let cells = [Cell { id: "one", values: &[], scenario: &failing }];
    let mut files = BTreeMap::new();
    let mut take = |more: Vec<File>| {
        files.extend(more.into_iter().map(|file| (file.path, file.content)));
        Ok::<(), std::io::Error>(())
    };
    let block = Block { axes: &[], cells: &cells, todo: &[(1, vec![0])] };
    run_block(block, RunOptions::default(), &Cancel::default(), &mut take).expect("runs");
    let outages = table(&files, "outages");
    assert_eq!(texts(&outages, "flow"), ["endless/A/0"]);
    assert_eq!(column(&outages, "gap_ps"), &Data::I64(vec![1_003_000_000_000]));
    assert_eq!(column(&outages, "usual_gap_ps"), &Data::I64(vec![8_000_000_000]));
    assert_eq!(column(&outages, "ended"), &Data::Bool(vec![false]));
    let scalars = table(&files, "scalars");
    let of = |metric, group| scalar(&scalars, "one", 1, metric, group);
    // The end of the run cuts the gap.
    for metric in ["outage_p50_s", "outage_longest_s"] {
        assert!(of(metric, "endless").is_infinite());
        let at_least = number(&scalars, "at_least", ("one", 1), metric, "endless");
        assert!((at_least - 0.995).abs() < 1e-9);
    }
    assert!((of("hit_flows", "endless") - 1.0).abs() < 1e-9);
    assert!(of("hit_flows", "short").abs() < 1e-9);
    let hit: Vec<_> = texts(&scalars, "metric").into_iter().zip(texts(&scalars, "of")).collect();
    assert!(!hit.contains(&("outage_p50_s", "short")));
}

/// The file starts 3.5 s before the end, and a segment takes 8 ms and 5 ms: with 1 MB it has not ended. A second file of the
/// group has, after 10 segments and less than a second.
#[test]
fn completion_time_of_an_unfinished_flow_is_beyond_the_end_of_the_run() {
    let unfinished = scenario(&[
        ("flows.0.size", "1 MB"),
        ("flows.0.start", "0.5 s"),
        ("flows.1.group", "short"),
        ("flows.1.size", "10 kB"),
    ]);
    let scalars = scalars_of(&unfinished);
    let of = |column, metric| number(&scalars, column, ("one", 1), metric, "short");
    assert!((of("value", "unfinished_flows") - 1.0).abs() < 1e-12);
    assert!((of("value", "completed_flows") - 1.0).abs() < 1e-12);
    let ended = of("value", "completion_p50_s");
    assert!((0.08..1.0).contains(&ended), "{ended}");
    assert!(of("value", "completion_p99_s").is_infinite());
    assert!((of("at_least", "completion_p99_s") - 3.5).abs() < 1e-12);
    // The mean restricted to 3.5 s.
    assert!(of("value", "completion_mean_s").is_infinite());
    assert!((of("at_least", "completion_mean_s") - f64::midpoint(ended, 3.5)).abs() < 1e-12);
}

/// Returns the scalars of one run of a scenario.
fn scalars_of(world: &Scenario) -> Table {
    let cells = [Cell { id: "one", values: &[], scenario: world }];
    let mut files = BTreeMap::new();
    let mut take = |more: Vec<File>| {
        files.extend(more.into_iter().map(|file| (file.path, file.content)));
        Ok::<(), std::io::Error>(())
    };
    let block = Block { axes: &[], cells: &cells, todo: &[(1, vec![0])] };
    run_block(block, RunOptions::default(), &Cancel::default(), &mut take).expect("runs");
    table(&files, "scalars")
}

/// Computed by hand. From 1 s on a source sends 1000 B every 16 ms, which take 8 ms at 1 Mb/s. Half
/// of that time one packet is in the queue, and three eighths of the whole 4 s. From 3 s on the
/// line is down, so that all packets of that second are lost. The endless flow, which starts at 2 s
/// with 8 ms per segment, fills its line from 3 s on.
#[test]
fn metrics_after_a_warm_up_cover_the_measured_part_alone() {
    let observe = r#"[
        { name = "goodput", kind = "goodput", interval = "500 ms", groups = ["endless"] },
        { name = "load", kind = "load", interval = "1 s" },
        { name = "queue", kind = "queue", interval = "500 ms" },
        { name = "ended", kind = "completions", groups = ["short"] },
    ]"#;
    let source = r#"[{ group = "steady", path = ["B", "A"], process = "constant", rate = "0.5 Mbps",
                       size = "1000 B", start = "1 s" }]"#;
    let world = |more: &[(&str, &str)]| {
        scalars_of(&scenario(&[&[("observe", observe), ("traffic", source)], more].concat()))
    };
    let of = |table: &Table, metric, of| scalar(table, "one", 1, metric, of);
    let (whole, part) = (world(&[]), world(&[("measure", r#"{ after = "3 s" }"#)]));
    assert!((of(&part, "queue_mean_packets", "B->A") - 0.5).abs() < 0.01);
    assert!((of(&part, "queue_max_packets", "B->A") - 1.0).abs() < 1e-12);
    assert!((of(&part, "utilisation", "B->A") - 0.5).abs() < 0.01);
    // In the whole run 100 ACKs of 0.32 ms as well, each behind at most one packet of 8 ms.
    let acks = 100.0 * 8.32e-3 / 4.0;
    assert!((0.37..0.375 + acks).contains(&of(&whole, "queue_mean_packets", "B->A")));
    // A segment more or less lies at the ends of a second.
    assert!((of(&part, "goodput_bps", "endless") - 1e6).abs() <= 8000.0);
    assert!((of(&part, "utilisation", "A->C") - 1.0).abs() < 0.01);
    assert!(of(&whole, "goodput_bps", "endless") < 0.5e6);
    // The only flow that ends starts at 1 s.
    assert!((of(&whole, "completed_flows", "short") - 1.0).abs() < 1e-12);
    assert!(of(&part, "completed_flows", "short").abs() < 1e-12);
    let failing =
        [("failures", r#"[{ link = ["A", "B"], at = "3 s" }, { link = ["A", "C"], at = "3 s" }]"#)];
    let (before, lost) = (
        world(&[
            failing[0],
            ("measure", r#"{ after = "1 s", until = "2.5 s" }"#),
            ("observe", "[]"),
        ]),
        world(&[failing[0], ("measure", r#"{ after = "3.5 s" }"#), ("observe", "[]")]),
    );
    assert!(of(&before, "drop_share", "").abs() < 1e-12);
    assert!((of(&lost, "drop_share", "") - 1.0).abs() < 1e-12);
    // Metrics that are no mean over time cover the whole run.
    assert!((of(&lost, "sent", "") - of(&before, "sent", "")).abs() < 1e-12);
}

/// Packets of 8 ms from 1 s on, one each 16 ms, over 5 ms: the first one arrives at 1.013 s.
const STEADY: &str = r#"[{ group = "steady", path = ["B", "A"], process = "constant", rate = "0.5 Mbps",
                          size = "1000 B", start = "1 s" }]"#;

#[test]
fn a_packet_that_ends_with_the_measured_part_is_part_of_it() {
    let only = [("flows", "[]"), ("observe", "[]"), ("traffic", STEADY)];
    let table = scalars_of(&scenario(
        &[&only[..], &[("measure", r#"{ after = "1.005 s", until = "1.013 s" }"#)]].concat(),
    ));
    // One delivered, none lost.
    assert!(scalar(&table, "one", 1, "drop_share", "").abs() < 1e-12);
}

/// Each packet becomes two on A-B, and both are lost behind it.
#[test]
fn link_copies_count_as_packets_in_the_drop_share() {
    let table = scalars_of(&scenario(&[
        ("flows", "[]"),
        ("observe", "[]"),
        ("traffic", &STEADY.replace(r#"["B", "A"]"#, r#"["B", "A", "C"]"#)),
        ("losses", r#"[{ link = ["B", "A"], kind = "duplication", probability = 1.0 }]"#),
        ("failures", r#"[{ link = ["A", "C"], at = "0.5 s" }]"#),
        ("stop", "3 s"),
    ]));
    assert!(scalar(&table, "one", 1, "drops", "link-down") > 200.0);
    assert!((scalar(&table, "one", 1, "drop_share", "") - 1.0).abs() < 0.02);
}

/// A packet of 8000 bits ends at 3.008 s on a line of 1 Mb/s, which carries 4000 bits in the measured 4 ms.
#[test]
fn a_transmission_that_began_before_the_measured_part_fills_no_more_than_the_line() {
    let observe = r#"[{ name = "load", kind = "load", interval = "1 ms" }]"#;
    let measure = r#"{ after = "3.005 s", until = "3.009 s" }"#;
    let table =
        scalars_of(&scenario(&[("observe", observe), ("traffic", STEADY), ("measure", measure)]));
    assert!((scalar(&table, "one", 1, "utilisation", "B->A") - 1.0).abs() < 1e-12);
}

/// From 2.5 s on the line has half of its rate, and packets of 0.5 Mb/s fill all of it. Its earlier
/// load, up to 3 s, does not count.
#[test]
fn a_rate_that_changes_before_the_measured_part_is_the_rate_of_all_of_it() {
    let observe = r#"[{ name = "load", kind = "load", interval = "1 s" }]"#;
    let schedules = r#"[{ changes = [{ at = "2.5 s", link = ["B", "A"], rate = "0.5 Mbps" }] }]"#;
    let measure = r#"{ after = "3 s", until = "4 s" }"#;
    let table = scalars_of(&scenario(&[
        ("observe", observe),
        ("traffic", STEADY),
        ("schedules", schedules),
        ("measure", measure),
    ]));
    let measured = scalar(&table, "one", 1, "utilisation", "B->A");
    assert!((measured - 1.0).abs() < 0.02, "{measured}");
}

#[test]
fn impossible_measured_parts_are_rejected() {
    for (window, said) in [
        (r#"{ after = "2.25 s" }"#, "2.25 s is within an interval of `goodput`"),
        (r#"{ after = "1 s", until = "3.5 s" }"#, "3.5 s is within an interval of `load`"),
        (r#"{ after = "3 s", until = "3 s" }"#, "no time between 3 s and 3 s"),
        (r#"{ until = "5 s" }"#, "the run ends at 4 s, before 5 s"),
    ] {
        let set = [("measure".to_owned(), window.to_owned())];
        let refusal = Scenario::parse(WORLD, "two.toml", &set).expect_err("it cannot be");
        assert!(refusal.to_string().contains(said), "{refusal}");
    }
}

#[test]
fn every_scalar_is_a_listed_metric_within_its_bounds() {
    let scalars = table(&made(&[(1, vec![0])]), "scalars");
    let Data::F64(values) = column(&scalars, "value") else { panic!("another column") };
    let rows = texts(&scalars, "metric").into_iter().zip(texts(&scalars, "unit")).zip(values);
    for ((name, unit), value) in rows {
        let metric = METRICS.iter().find(|metric| metric.name == name).expect(name);
        assert_eq!(metric.unit, unit, "{name}");
        let (low, high) = metric.bounds.ends();
        assert!((low..=high).contains(value), "{name}: {value}");
    }
}

#[test]
fn rerun_after_interruption_is_identical() {
    let whole = made(&[(1, vec![0, 1]), (2, vec![0, 1])]);
    let again = made(&[(1, vec![0, 1]), (2, vec![0, 1])]);
    assert_eq!(whole.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>());
    for (path, content) in &whole {
        // A manifest says how long its runs took.
        assert!(path.starts_with("parts/") || content == &again[path], "{path}");
    }
    // The second half is a separate part, with the same numbers.
    let second = made(&[(2, vec![0, 1])]);
    let (all, half) = (table(&whole, "runs"), table(&second, "runs"));
    assert_eq!(texts(&all, "metrics_sha256")[2..], texts(&half, "metrics_sha256"));
}

#[test]
fn rare_tables_exist_only_with_rows() {
    let files = made(&[(1, vec![0])]);
    let folders: Vec<&str> = files.keys().filter_map(|path| path.split('/').next()).collect();
    assert_eq!(folders, ["ended", "goodput", "load", "parts", "runs", "scalars", "slowest"]);
    // Only its flows of finite size have a table here.
    let mut rare = TABLES[2..].iter().filter(|&&table| table != "slowest");
    assert!(rare.all(|table| !folders.contains(table)));
}

#[test]
fn run_has_rows_of_its_own_observations_only() {
    let (plain, watched) = (scenario(&[("observe.2.name", "other")]), scenario(&[]));
    let cells = [("plain", &plain), ("watched", &watched)].map(|(id, scenario)| Cell {
        id,
        values: &[],
        scenario,
    });
    let mut files = BTreeMap::new();
    let mut take = |more: Vec<File>| {
        files.extend(more.into_iter().map(|file| (file.path, file.content)));
        Ok::<(), std::io::Error>(())
    };
    let todo = [(1, vec![0, 1]), (2, vec![0])];
    let block = Block { axes: &[], cells: &cells, todo: &todo };
    run_block(block, RunOptions::default(), &Cancel::default(), &mut take).expect("runs");
    let (load, other) = (table(&files, "load"), table(&files, "other"));
    // Two ports a direction of two links, in four intervals of 1 s.
    let rows = |cell, seed, runs: usize| std::iter::repeat_n((cell, seed), 4 * 4 * runs);
    let found = |table: &Table| -> Vec<(String, u64)> {
        let Data::U64(seeds) = column(table, "seed") else { panic!("no seeds") };
        texts(table, "cell").iter().map(|cell| cell.to_string()).zip(seeds.clone()).collect()
    };
    let expected = |rows: Vec<(&str, u64)>| -> Vec<(String, u64)> {
        rows.into_iter().map(|(cell, seed)| (cell.to_owned(), seed)).collect()
    };
    assert_eq!(found(&load), expected(rows("watched", 1, 1).collect()));
    let plain_rows = rows("plain", 1, 1).chain(rows("plain", 2, 1));
    assert_eq!(found(&other), expected(plain_rows.collect()));
}

#[test]
fn files_are_read_one_behind_the_other_and_a_changed_one_is_named() {
    let folder = std::env::temp_dir().join(format!("optcp-store-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut files = Vec::new();
    for seed in [1, 2] {
        let made = made(&[(seed, vec![0])]);
        let (_, content) =
            made.iter().find(|(path, _)| path.starts_with("goodput/")).expect("goodput");
        let path = folder.join(format!("{seed}.parquet"));
        std::fs::write(&path, content).expect("written");
        let manifest = made.iter().find(|(path, _)| path.starts_with("parts/")).expect("manifest");
        let manifest: serde_json::Value = serde_json::from_slice(manifest.1).expect("JSON");
        let sha256 = manifest["files"]["goodput"]["sha256"].as_str().expect("a checksum");
        files.push((path, sha256.to_owned()));
    }
    let columns = ["seed".to_owned(), "bytes".to_owned()];
    let both = read(&files, Some(&columns)).expect("tables");
    let seeds = [1, 2].iter().flat_map(|&seed| std::iter::repeat_n(seed, 16));
    assert_eq!(column(&both, "seed"), &Data::U64(seeds.collect()));
    assert_eq!(both.columns.len(), 2);

    std::fs::copy(&files[0].0, &files[1].0).expect("copied");
    let message = read(&files, None).expect_err("changed").to_string();
    assert!(
        message.ends_with("2.parquet: changed since it was written: its checksum does not fit")
    );
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn title_is_not_part_of_the_digest() {
    let other = WORLD.replace("two files", "another title");
    let titled = Scenario::parse(&other, "two.toml", &[]).expect("a world");
    assert_eq!(titled.sha256(), scenario(&[]).sha256());
    let late = scenario(&[("parameters.start", "1.05 s")]);
    assert_ne!(late.sha256(), scenario(&[]).sha256());
}
