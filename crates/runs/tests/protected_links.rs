//! Links that are protected for all that routers send over them, against what can be worked out by hand.

use optcp_runs::{Cancel, Engine, Run, RunOptions, Values, run_branches};
use optcp_scenario::Scenario;

/// Packets of 1000 B leave S at k = 0, 1, 2, ... ms, and are at A 5.08 ms later. A-C fails from 1 s to 2 s.
///
/// ```text
///   S - A --- C - R      every link 5 ms, 100 Mb/s
///       |     |
///       B --- D
/// ```
const SQUARE: &str = r#"
title = "A square of routers over protected links"
stop = "3 s"

[routing]
detection = "200 ms"

[[nodes]]
names = ["A", "B", "C", "D", "S", "R"]

[[links]]
chains = [["S", "A", "C", "R"], ["A", "B", "D", "C"]]
rate = "100 Mbps"
delay = "5 ms"
queue = "1000 packets"

[[traffic]]
group = "ticks"
from = "S"
to = "R"
process = "constant"
rate = "1000 packets/s"
size = "1000 B"

[[protection]]
link = ["A", "C"]
backup = ["A", "B", "D", "C"]
switch_delay = "50 ms"

[[failures]]
link = ["A", "C"]
at = "1 s"
repair = "2 s"

[[observe]]
name = "ports"
kind = "ports"
interval = "3 s"
"#;

fn scenario(set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(SQUARE, "square.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

/// A run, which must be the same on both engines.
fn run(set: &[(&str, &str)]) -> Run {
    let scenario = scenario(set);
    let of = |engine| {
        let options = RunOptions { engine, fork: false, digest: true, ..RunOptions::default() };
        let runs = run_branches(&[&scenario], 1, options, &Cancel::default());
        runs.expect("nobody cancels it").remove(0)
    };
    let [fast, plain] = [Engine::Fast, Engine::Reference].map(of);
    assert_eq!(fast.records_sha256, plain.records_sha256, "{set:?}");
    assert_eq!(fast.metrics_sha256, plain.metrics_sha256, "{set:?}");
    fast
}

fn packets(run: &Run, port: &str) -> u64 {
    let series = &run.series[0];
    let number = series.names[0].1.iter().position(|name| name == port).expect("a port");
    let packets = series.columns.iter().find(|column| column.name == "packets").expect("a column");
    let Values::U64(packets) = &packets.values else { panic!("{packets:?}") };
    packets[number]
}

fn dropped(run: &Run, reason: &str) -> u64 {
    run.drops.iter().find(|(name, _)| *name == reason).map_or(0, |(_, count)| *count)
}

fn ms(time: optcp_units::Time) -> u64 {
    time.as_ps() / 1_000_000_000
}

/// Packets at A from 1000 to 1050 ms are lost, and so are five packets on the line. Later packets
/// use the backup path, to the end or until 2 s, and routers detect nothing.
#[test]
fn backup_is_used_before_routers_detect_the_failure() {
    for (revert, around) in [("none", 2994 - 1045 + 1), ("electrical", 1994 - 1045 + 1)] {
        let run = run(&[("protection.0.revert", revert)]);
        assert_eq!((dropped(&run, "link-down"), dropped(&run, "lost-in-flight")), (50, 5));
        assert_eq!(packets(&run, "A->B"), around, "{revert}");
        let record = run.routing.as_ref().expect("routed");
        assert_eq!((record.announcements, record.on_failure, record.on_convergence), (0, 0, 0));
        let to_backup = |switch: &&optcp_runs::Switched| switch.to_backup;
        let at: Vec<_> =
            run.switches.iter().filter(to_backup).map(|s| (ms(s.at), &s.node[..])).collect();
        assert_eq!(at, [(1050, "A"), (1050, "C")], "{revert}");
    }
}

/// At 1200 ms both ends detect the failure, earlier than the switchover, and flood it. Without
/// delays for flooding and routes, A immediately sends packets over B, which C does for its own
/// direction. From 1300 ms the backup path is used: that counts as a repair, detected 200 ms later.
#[test]
fn routers_see_the_link_fail_until_the_backup_is_used() {
    let run = run(&[("protection.0.switch_delay", "300 ms")]);
    let record = run.routing.as_ref().expect("routed");
    assert_eq!(record.announcements, 4);
    let of_a = record.steps.iter().filter(|step| step.router == "A");
    let at: Vec<_> = of_a.map(|step| (ms(step.at), step.cause)).collect();
    assert_eq!(at, [(1200, "convergence"), (1500, "convergence")]);
    assert_eq!(dropped(&run, "link-down"), 200);
    // By their table from 1200 ms, and by the backup from 1500 ms on.
    assert_eq!(packets(&run, "A->B"), 2994 - 1195 + 1);
    let later: Vec<_> = run.switches.iter().map(|switch| ms(switch.at)).collect();
    assert_eq!(later, [1300, 1300]);
}

/// Every link gets a bypass, in both directions; the hosts' links have none.
#[test]
fn links_with_a_detour_are_protected() {
    let set = [("protection", r#"[{ backup = "auto", switch_delay = "50 ms", scheme = "1:1" }]"#)];
    let found = scenario(&set);
    let plan = found.plan();
    let around: Vec<String> = plan
        .protections
        .iter()
        .map(|one| one.backup.iter().map(|&node| plan.nodes[node].as_str()).collect())
        .collect();
    assert_eq!(around, ["ABDC", "ACDB", "BACD", "DBAC"]);
    let spare = found.spare();
    assert_eq!((spare.len(), spare[0].working, spare[0].spare), (1, 8, 8));
    assert_eq!(dropped(&run(&set), "lost-in-flight"), 5);
}

/// The copy that leaves S at k ms arrives at C at k + 10.16 ms, the other one at k + 20.32 ms. The
/// first copies arrive up to k = 989. 50 ms after the failure C selects the second copies, from k =
/// 1030 on, and keeps that selection. Packets from k = 990 to 1029 are lost, five of them on the
/// line. Of all others C accepts one copy and discards one, up to k = 2979 for the second copies
/// and 2989 for the first.
#[test]
fn one_plus_one_selects_at_the_far_end_of_the_link() {
    let run = run(&[("protection.0.scheme", "1+1"), ("protection.0.capacity", "shared")]);
    assert_eq!(packets(&run, "A->B"), 2995);
    assert_eq!(packets(&run, "C->R"), 990 + (2979 - 1030 + 1));
    assert_eq!(run.drops, [("link-down", 1029 - 995 + 1), ("lost-in-flight", 5)]);
    let count = |name| run.counts.iter().find(|(known, _)| *known == name).map(|&(_, count)| count);
    // Not selected, refused by the failed line beyond those lost, or ended beside a copy that is lost.
    let not_selected = 1030 + (2989 - 1995 + 1);
    let on_the_line = 1994 - 990 + 1;
    assert_eq!(count("copies_discarded"), Some(not_selected + on_the_line - 40));
    assert_eq!(run.routing.as_ref().expect("routed").announcements, 0);
    let at: Vec<_> = run.switches.iter().map(|s| (ms(s.at), &s.node[..], s.acks)).collect();
    assert_eq!(at, [(1050, "C", false), (1050, "A", true)]);
}
