//! Segment protection in runs: switching nodes and times, worked by hand.
//!
//! ```text
//!        X           Y          A0-A1 10 ms, A1-A2 20 ms, A2-A3 30 ms, A3-A4 40 ms;
//!      /   \       /   \        the links of X and Y 50 ms each
//!    A0-A1-A2-A3-A4
//! ```

use optcp_runs::{Cancel, Engine, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;
use optcp_units::Time;

const LADDER: &str = r#"
title = "Two segments"
stop = "6 s"
nodes = [{ names = ["A0", "A1", "A2", "A3", "A4", "X", "Y"] }]
flows = [{ group = "f", path = ["A0", "A1", "A2", "A3", "A4"], tcp = "t" }]

[tcp.t]
profile = "rfc"

[[links]]
chain = ["A0", "A1"]
rate = "10 Mbps"
delay = "10 ms"
queue = "100 packets"

[[links]]
chain = ["A1", "A2"]
rate = "10 Mbps"
delay = "20 ms"
queue = "100 packets"

[[links]]
chain = ["A2", "A3"]
rate = "10 Mbps"
delay = "30 ms"
queue = "100 packets"

[[links]]
chain = ["A3", "A4"]
rate = "10 Mbps"
delay = "40 ms"
queue = "100 packets"

[[links]]
chain = ["A0", "X", "A2", "Y", "A4"]
rate = "10 Mbps"
delay = "50 ms"
queue = "100 packets"

[[failures]]
link = ["A1", "A2"]
at = "1 s"
repair = "2 s"

[[failures]]
link = ["A3", "A4"]
at = "3 s"
repair = "4 s"

[[protection]]
flows = "f"
scheme = "segment"
backup = "auto"
switch_delay = "5 ms"
signal_processing = "2 ms"
revert = "electrical"
"#;

fn run(set: &[(&str, &str)]) -> Run {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scenario = Scenario::parse(LADDER, "segments.toml", &set)
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let [fast, reference] = [Engine::Fast, Engine::Reference].map(|engine| {
        let options = RunOptions { engine, digest: true, ..RunOptions::default() };
        run_branches(&[&scenario], 1, options, &Cancel::default()).expect("not cancelled").remove(0)
    });
    assert_eq!(fast.records_sha256, reference.records_sha256);
    fast
}

/// Each switchover to a backup or back, as "1017 A0 data backup", in ms.
fn switches(run: &Run) -> Vec<String> {
    let one = |switch: &optcp_runs::Switched| {
        let ms = switch.at.saturating_since(Time::ZERO).as_ps() / 1_000_000_000;
        let what = if switch.acks { "acks" } else { "data" };
        let to = if switch.to_backup { "backup" } else { "working" };
        format!("{ms} {} {what} {to}", switch.node)
    };
    run.switches.iter().map(one).collect()
}

/// A1 detects the failure of A1-A2 after 5 ms and notifies A0, 10 ms away, which needs 2 ms. For ACKs the segment
/// starts at A2, next to the failure. The other segment does not switch. A3 is 30 ms from A2, the head end of the second
/// segment. Repairs are detected at once.
#[test]
fn each_segment_switches_at_its_head_end() {
    let expected = [
        "1005 A2 acks backup",
        "1017 A0 data backup",
        "2000 A2 acks working",
        "2012 A0 data working",
        "3005 A4 acks backup",
        "3037 A2 data backup",
        "4000 A4 acks working",
        "4032 A2 data working",
    ];
    assert_eq!(switches(&run(&[])), expected);
}

/// One segment of four links is path protection: A3 notifies A2, A1 and A0, 30 + 20 + 10 ms away, with 2 ms at each. For
/// ACKs A1-A2 is two links from A4: 40 + 30 ms, and 2 x 2 ms.
#[test]
fn one_segment_is_the_path() {
    let whole = [("protection.0.segment_links", "4"), ("protection.0.backup", "link-disjoint")];
    let expected = [
        "1017 A0 data backup",
        "1079 A4 acks backup",
        "2012 A0 data working",
        "2074 A4 acks working",
        "3005 A4 acks backup",
        "3071 A0 data backup",
        "4000 A4 acks working",
        "4066 A0 data working",
    ];
    assert_eq!(switches(&run(&whole)), expected);
    let path = [("protection.0.scheme", "path"), ("protection.0.backup", "link-disjoint")];
    assert_eq!(switches(&run(&path)), expected);
}

/// With one link per segment, no detour leads around A0-A1 without A2: only backups that avoid the rest of the path
/// count.
#[test]
fn segments_without_a_backup_are_left_out() {
    let set = [("protection.0.segment_links".to_owned(), "1".to_owned())];
    let problem = Scenario::parse(LADDER, "segments.toml", &set).expect_err("no segment");
    assert!(
        problem.render(false).contains("no path of `f` has a backup"),
        "{}",
        problem.render(false)
    );
    let set = [("protection.0.scheme".to_owned(), "path".to_owned())];
    let set = [set, [("protection.0.segment_links".to_owned(), "2".to_owned())]].concat();
    let problem = Scenario::parse(LADDER, "segments.toml", &set).expect_err("no segments");
    assert!(problem.render(false).contains("`segment_links` is not used here"));
}
