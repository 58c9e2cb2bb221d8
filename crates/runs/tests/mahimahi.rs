//! Traces of mahimahi, whose opportunities are worked out by hand, with both engines.

use optcp_runs::{Cancel, Column, Engine, Run, RunOptions, Values, run_branches};
use optcp_scenario::{Graph, Library, Reference, ReferenceResolver, Scenario};

/// Reads a trace from the name of its file.
struct Named;

impl ReferenceResolver for Named {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        Err("no topology here".to_owned())
    }

    fn values(&self, file: &str) -> Result<Vec<(u64, String)>, String> {
        Ok((1..).zip(file.split_whitespace().map(str::to_owned)).collect())
    }
}

/// 1500 B take 100 us on the link of the trace, which begins again after 5 ms. A packet waits every 400 us.
const WORLD: &str = r#"
stop = "17.05 ms"
nodes = [{ names = ["A", "B", "C"] }]
links = [
    { chain = ["A", "B"], rate = "1 Gbps", delay = "0 s", queue = "unlimited" },
    { chain = ["B", "C"], rate = "120 Mbps", delay = "1 ms", queue = "unlimited" },
]
schedules = [{ form = "mahimahi", file = "2 2 5", link = ["B", "C"] }]
traffic = [
    { group = "data", path = ["A", "B", "C"], process = "constant", rate = "2500 packets/s", size = "1500 B" },
]
observe = [{ name = "seen", kind = "packets", links = [["B", "C"]] }]
"#;

fn column<'r>(run: &'r Run, name: &str) -> &'r Values {
    let of_it = |column: &&Column| column.name == name;
    &run.series[0].columns.iter().find(of_it).expect("there is one").values
}

/// When packets left, in us, which both engines agree on.
fn left(set: &[(&str, &str)]) -> Vec<u64> {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let world = Scenario::parse_with(WORLD, "mahimahi.toml", &set, &Library::new(Named))
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let [reference, fast] = [Engine::Reference, Engine::Fast].map(|engine| {
        let options = RunOptions { engine, ..RunOptions::default() };
        let runs = run_branches(&[&world], 1, options, &Cancel::default());
        runs.expect("nobody cancels it").remove(0)
    });
    assert_eq!(reference.series, fast.series);
    let (Values::U64(at), Values::U8(events)) = (column(&fast, "time_ps"), column(&fast, "event"))
    else {
        panic!("other columns");
    };
    let transmitted = at.iter().zip(events).filter(|&(_, &event)| event == 5);
    transmitted.map(|(at, _)| at / 1_000_000).collect()
}

/// Two at 2 ms, one at 5 ms, and again from 5 ms on: 7, 7, 10, 12, 12, 15, 17, 17. The last one
/// ends after the end of the run.
#[test]
fn a_backlog_leaves_packet_by_packet_at_the_lines_of_the_trace() {
    let us = [2100, 2200, 5100, 7100, 7200, 10_100, 12_100, 12_200, 15_100];
    assert_eq!(left(&[]), us);
    // One immediately, and two at each end of a round: its own, and the one at 0 ms of the next
    // round.
    let us = [4100, 4200, 8100, 8200, 12_100, 12_200, 16_100, 16_200];
    let at_once = ("schedules.0.file", "0 4");
    assert_eq!(left(&[at_once]), [&[200][..], &us].concat()[1..]);
    // A thousand a second of 1500 B are 12 Mb/s, on a line of just that rate.
    let each = [("schedules.0.file", "\"1\""), ("links.1.rate", "12 Mbps")];
    assert_eq!(left(&each), (2..=17).map(|ms| 1000 * ms).collect::<Vec<_>>());
}

/// Until the trace starts, a link sends at its configured rate.
#[test]
fn a_trace_has_a_start() {
    let later = [("schedules.0.start", "1 ms")];
    let us = [112, 512, 912, 3100, 3200, 6100, 8100, 8200, 11_100, 13_100, 13_200, 16_100];
    assert_eq!(left(&later), us);
}

/// A packet comes every 4 ms, 12 us behind it: opportunities for which none waits are lost.
#[test]
fn unused_opportunity_is_lost() {
    let seldom = ("traffic.0.rate", "250 packets/s");
    assert_eq!(left(&[seldom]), [2100, 5100, 10_100, 12_200]);
}

/// Of small packets one leaves at each opportunity, and one larger than 1500 B needs no second one.
#[test]
fn an_opportunity_is_for_one_packet() {
    let small = [("traffic.0.size", "150 B")];
    let us = [2010, 2110, 5010, 7010, 7110, 10_010, 12_010, 12_110, 15_010, 17_010];
    assert_eq!(left(&small), us);
    let large = [("traffic.0.size", "3000 B"), ("schedules.0.file", "2 5")];
    assert_eq!(left(&large), [2200, 5200, 7200, 10_200, 12_200, 15_200]);
}
