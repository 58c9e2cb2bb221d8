//! Datagrams and flows that come at random, as scenarios have them.

use std::collections::BTreeMap;

use optcp_runs::{Cancel, Column, Engine, Run, RunOptions, Series, Values, run_branches};
use optcp_scenario::Scenario;

/// A line of 10 Mb/s with a second path around its middle.
const WORLD: &str = r#"
stop = "20 s"
parameters = { at = "10 s" }
tcp = { all = { profile = "rfc", mss = "1000 B", header = "40 B" } }
nodes = [{ names = ["A", "L1", "L2", "L3", "B"] }]
links = [
    { chains = [["A", "L1", "L2", "B"], ["L1", "L3", "L2"]], rate = "10 Mbps", delay = "1 ms", queue = "unlimited" },
]
"#;

/// Returns a source over the line, with the given additional keys.
fn source(group: &str, rest: &str) -> String {
    format!(
        "[[traffic]]
group = \"{group}\"
path = [\"A\", \"L1\", \"L2\", \"B\"]
size = \"1250 B\"
{rest}
"
    )
}

fn scenario(rest: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(&format!("{WORLD}\n{rest}"), "traffic.toml", &set)
        .unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

fn runs(branches: &[&Scenario], engine: Engine, fork: bool) -> Vec<Run> {
    let options = RunOptions { fork, digest: true, engine, ..RunOptions::default() };
    run_branches(branches, 1, options, &Cancel::default()).expect("nobody cancels")
}

fn run(rest: &str) -> Run {
    runs(&[&scenario(rest, &[])], Engine::Fast, true).remove(0)
}

fn numbers(series: &Series, name: &str) -> Vec<u64> {
    let Some(Column { values, .. }) = series.columns.iter().find(|column| column.name == name)
    else {
        panic!("no column {name}");
    };
    match values {
        Values::U64(values) => values.clone(),
        Values::U32(values) => values.iter().copied().map(u64::from).collect(),
        Values::Bool(values) => values.iter().copied().map(u64::from).collect(),
        other => panic!("{other:?}"),
    }
}

const WATCHED: &str =
    "[[observe]]\nname = \"datagrams\"\nkind = \"datagrams\"\ninterval = \"1 s\"\n";

/// 100 packets per second at even distances from 1 s until 2 s (exclusive). 1250 B take 1 ms over
/// each of three links, plus a delay of 1 ms each.
#[test]
fn an_even_source_sends_its_packets_and_they_take_their_time() {
    let even = "process = \"constant\"\nrate = \"1 Mbps\"\nstart = \"1 s\"\nuntil = \"2 s\"";
    let run = run(&(source("there", even) + WATCHED));
    let series = &run.series[0];
    let by_second = |count| [vec![1, count], vec![0; 18]].concat();
    // Intervals are closed at their end, so the packet of 1 s is in the first one, and comes in the second.
    assert_eq!(numbers(series, "sent_packets"), by_second(99));
    assert_eq!(
        numbers(series, "sent_bytes"),
        by_second(99).iter().map(|n| n * 1250).collect::<Vec<_>>()
    );
    assert_eq!(numbers(series, "arrived_packets")[..2], [0, 100]);
    assert_eq!(numbers(series, "delay_sum_ps")[1], 100 * 6_000_000_000);
    assert_eq!(numbers(series, "longest_delay_ps")[1], 6_000_000_000);
    assert_eq!(
        run.counts[..4],
        [("sent", 100), ("delivered", 100), ("dropped", 0), ("in_flight", 0)]
    );
}

const FAILURE: &str = r#"
[[failures]]
link = ["L1", "L2"]
at = "$at"

[[protection]]
flows = "there"
link = ["L1", "L2"]
backup = ["L1", "L3", "L2"]
switch_delay = "50 ms"
"#;

/// The line fails at 10 s, and L1 switches 50 ms later.
#[test]
fn protection_switches_datagrams_too() {
    let even = source("there", "process = \"constant\"\nrate = \"5 Mbps\"");
    let run = run(&(even + FAILURE + WATCHED));
    let lost = numbers(&run.series[0], "lost_packets");
    // 500 a second: one every 2 ms. It is 2 ms from A to L1, so those sent at 9.998 s, 10.000 s, ... 10.046 s
    // come to L1 at 10.000 s to 10.048 s: 25. The one sent at 9.996 s came at 9.998 s and arrives at L2 at
    // 10 s, before which the link fails.
    assert_eq!(lost.iter().sum::<u64>(), 26, "{lost:?}");
    assert_eq!(run.switches.len(), 2);
}

#[test]
fn datagrams_follow_the_routing() {
    let run = run(&format!(
        "routing = {{}}\ntraffic = [{{ group = \"there\", from = \"A\", to = \"B\", process = \"poisson\", \
         rate = \"100 packets/s\", size = \"1250 B\" }}]\n\
         flows = [{{ group = \"main\", from = \"A\", to = \"B\", size = \"100 segments\" }}]\n{WATCHED}"
    ));
    let [sent, arrived]: [u64; 2] =
        ["sent_packets", "arrived_packets"].map(|name| numbers(&run.series[0], name).iter().sum());
    // 2000 on average with a deviation of 45; a few are in flight at the end.
    assert!(sent.abs_diff(2000) < 180 && sent - arrived < 10, "{sent}, {arrived}");
}

const COME_AND_GO: &str = r#"
[[flows]]
group = "web"
path = ["A", "L1", "L2", "B"]
tcp = "all"
arrivals = "5 flows/s"
start = "1 s"
until = "19 s"
size = "1000 B"

[[observe]]
name = "completions"
kind = "completions"
"#;

/// A flow of one segment ends when the segment arrives. 1040 B take 0.832 ms over each of three
/// links, plus a delay of 1 ms each. Few of them meet.
#[test]
fn random_flows_end_when_their_data_have_arrived() {
    let run = run(COME_AND_GO);
    let series = &run.series[0];
    let (start, end) = (numbers(series, "start_ps"), numbers(series, "time_ps"));
    // 90 on average.
    assert!((60..120).contains(&start.len()), "{}", start.len());
    let took: Vec<u64> = end.iter().zip(&start).map(|(end, start)| end - start).collect();
    let alone = took.iter().filter(|&&took| took == 3 * 1_832_000_000).count();
    assert!(took.iter().all(|&took| took >= 3 * 1_832_000_000));
    assert!(alone * 10 >= took.len() * 9, "{alone} of {}", took.len());
    assert!(start.iter().all(|start| (1_000_000_000_000..19_000_000_000_000).contains(start)));
    assert!(numbers(series, "bytes").iter().all(|&bytes| bytes == 1000));
    assert!(numbers(series, "finished").iter().all(|&finished| finished == 1));
}

/// A flow that has not ended counts as one that has not.
#[test]
fn flows_that_had_no_time_to_end_are_listed() {
    let run =
        runs(&[&scenario(COME_AND_GO, &[("flows.0.size", "10 MB")])], Engine::Fast, true).remove(0);
    let finished = numbers(&run.series[0], "finished");
    let end = numbers(&run.series[0], "time_ps");
    assert!(finished.contains(&0));
    for (finished, end) in finished.iter().zip(end) {
        assert_eq!(*finished == 0, end == 20_000_000_000_000);
    }
}

/// Arrivals, sizes and the traffic of others use separate random streams.
#[test]
fn draws_are_independent_of_each_other() {
    let starts = |rest: &str, set: &[(&str, &str)]| {
        let run = runs(&[&scenario(rest, set)], Engine::Fast, true).remove(0);
        let series = &run.series[0];
        // Flows may end in another order than they come in.
        let flows = numbers(series, "flow").into_iter().zip(numbers(series, "start_ps"));
        flows.collect::<BTreeMap<_, _>>()
    };
    let plain = starts(COME_AND_GO, &[]);
    let other = COME_AND_GO.replace(
        "size = \"1000 B\"",
        "sizes = { kind = \"pareto\", mean = \"10 kB\", shape = 1.2, largest = \"1 MB\" }",
    );
    assert_eq!(starts(&other, &[]), plain);
    let beside = source("there", "process = \"poisson\"\nrate = \"1 Mbps\"");
    let beside = format!("{COME_AND_GO}\n{beside}");
    assert_eq!(starts(&beside, &[]), plain);
}

/// Branches that fail at different times share the run up to that time, and equal separate runs.
#[test]
fn forked_runs_with_traffic_are_the_runs_themselves() {
    let renewal =
        "process = \"fractal-renewal\"\nhurst = 0.8\nonset = \"10 ms\"\nrate = \"3 Mbps\"";
    let noise = "process = \"fractional-noise\"\nhurst = 0.8\nslot = \"10 ms\"\nrate = \"2 Mbps\"";
    let traffic = source("there", renewal) + &source("more", noise);
    let rest = format!("{COME_AND_GO}\n{FAILURE}\n{traffic}\n{WATCHED}");
    let set = |at| [("parameters.at", at), ("flows.0.size", "300 kB")];
    let branches = [scenario(&rest, &set("10 s")), scenario(&rest, &set("12 s"))];
    let branches: Vec<&Scenario> = branches.iter().collect();
    let expected = runs(&branches, Engine::Reference, false);
    for engine in [Engine::Reference, Engine::Fast, Engine::Stepped(u64::MAX)] {
        let forked = runs(&branches, engine, true);
        assert!(forked.iter().any(|run| run.forked_at.is_some()));
        for (forked, expected) in forked.iter().zip(&expected) {
            assert_eq!(forked.records_sha256, expected.records_sha256);
            assert_eq!(forked.series, expected.series);
        }
    }
}

/// Of 1 flow and 1 datagram a second in a second, none come with probability 1/e each: over twenty seeds
/// every combination does. A series has a row a group and a value an interval all the same.
#[test]
fn groups_without_arrivals_have_rows_of_zeros() {
    let world = r#"
        nodes = [{ names = ["A", "B"] }]
        links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "1 ms", queue = "10 packets" }]
        flows = [
            { group = "web", path = ["A", "B"], arrivals = "1 flows/s", size = "5 kB" },
            { group = "long", path = ["A", "B"] },
            { group = "late", path = ["A", "B"], arrivals = "1 flows/s", size = "5 kB" },
        ]
        traffic = [
            { group = "rare", path = ["A", "B"], process = "poisson", rate = "1 packets/s", size = "1 kB" },
            { group = "even", path = ["B", "A"], process = "constant", rate = "100 packets/s", size = "1 kB" },
        ]
        observe = [
            { name = "all", kind = "goodput", interval = "300 ms" },
            { name = "last", kind = "goodput", interval = "1 s", groups = ["late"] },
            { name = "two", kind = "goodput", interval = "250 ms", groups = ["late", "web"] },
            { name = "datagrams", kind = "datagrams", interval = "300 ms" },
            { name = "rare", kind = "datagrams", interval = "300 ms", groups = ["rare"] },
            { name = "load", kind = "load", interval = "300 ms", links = [["B", "A"]] },
            { name = "queue", kind = "queue", interval = "300 ms", links = [["B", "A"]] },
            { name = "ports", kind = "ports", interval = "300 ms", links = [["B", "A"]] },
        ]
    "#;
    let scenario = Scenario::parse(&format!("stop = \"1 s\"\n{world}"), "test.toml", &[])
        .unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..=20 {
        let options = RunOptions::default();
        let run = run_branches(&[&scenario], seed, options, &Cancel::default()).unwrap().remove(0);
        for (series, rows, intervals) in
            [(0, 3, 4), (1, 1, 1), (2, 2, 4), (3, 2, 4), (4, 1, 4), (5, 2, 4), (6, 2, 4), (7, 2, 4)]
        {
            let series = &run.series[series];
            assert_eq!(series.names[0].1.len(), rows, "{}", series.name);
            for column in &series.columns {
                assert_eq!(
                    column.values.len(),
                    rows * intervals,
                    "{} {}",
                    series.name,
                    column.name
                );
            }
        }
        // Contents of the rows: each group has its own, which is empty in intervals without
        // arrivals.
        let (all, last, two) = [0, 1, 2].map(|i| numbers(&run.series[i], "bytes")).into();
        let sum = |values: &[u64]| values.iter().sum::<u64>();
        let came = [0, 1].map(|group| run.arrived[group].routes.len());
        // Packets sent at the very end have not arrived.
        assert!(came[0] > 0 || sum(&all[..4]) == 0);
        assert!(came[1] > 0 || sum(&all[8..]) == 0);
        assert!(sum(&all[4..8]) > 0);
        assert_eq!([sum(&two[..4]), sum(&two[4..])], [sum(&all[8..]), sum(&all[..4])]);
        assert_eq!(sum(&last), sum(&all[8..]));
        let sent = numbers(&run.series[3], "sent_packets");
        assert_eq!(sum(&sent[..4]), sum(&numbers(&run.series[4], "sent_packets")));
        // One every 10 ms from zero on, up to the stop.
        assert_eq!(sum(&sent[4..]), 100);
        seen.insert((came.map(|came| came > 0), sum(&sent[..4]) > 0));
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}
