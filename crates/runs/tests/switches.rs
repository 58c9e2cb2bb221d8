//! Switches with queues at their inputs, against times worked out by hand.

use optcp_runs::{Run, Series, Values};
use optcp_scenario::Scenario;

use crate::support::run_on_both;

/// A packet of 1000 B takes 1 ms on each link, and has four cells. The packets of A and B arrive at X at 2 ms and 2.1 ms.
const MERGE: &str = r#"
stop = "20 ms"
nodes = [{ names = ["A", "B", "X", "D"] }]
links = [{ chains = [["A", "X"], ["B", "X"], ["X", "D"]], rate = "8 Mbps", delay = "1 ms", queue = "unlimited" }]
switches = [{ node = "X", cell = "250 B" }]
observe = [
    { name = "fate", kind = "datagrams", interval = "20 ms" },
    { name = "ports", kind = "ports", interval = "20 ms" },
]

[[traffic]]
group = "a"
path = ["A", "X", "D"]
process = "constant"
rate = "1000 packets/s"
size = "1000 B"
until = "0.5 ms"

[[traffic]]
group = "b"
path = ["B", "X", "D"]
process = "constant"
rate = "1000 packets/s"
size = "1000 B"
start = "0.1 ms"
until = "0.6 ms"
"#;

fn run(set: &[(&str, &str)]) -> Run {
    run_on_both(MERGE, set, 1)
}

fn numbers(series: &Series, name: &str) -> Vec<u64> {
    let column = series.columns.iter().find(|column| column.name == name).expect("a column");
    let Values::U64(values) = &column.values else { panic!("{column:?}") };
    values.clone()
}

/// Returns the delays of both packets, in us.
fn delays_us(set: &[(&str, &str)]) -> Vec<u64> {
    let run = run(set);
    numbers(&run.series[0], "longest_delay_ps").into_iter().map(|ps| ps / 1_000_000).collect()
}

#[test]
fn without_a_switch_packets_enter_the_port_at_once() {
    // A: sent at X from 2 to 3 ms. B: from 3 to 4 ms.
    assert_eq!(delays_us(&[("switches", "[]")]), [4000, 4900]);
}

#[test]
fn cells_of_two_inputs_alternate() {
    // Slots of 250 us from 2.25 ms on: A, B, A, B, ... The last cell of A has crossed at 4 ms, of B at 4.25 ms.
    assert_eq!(delays_us(&[]), [6000, 6900]);
}

#[test]
fn speed_up_shortens_slots() {
    // Slots of 125 us from 2.125 ms on: A has crossed at 3 ms, B at 3.125 ms.
    assert_eq!(delays_us(&[("switches.0.speed_up", "2")]), [5000, 5900]);
    // The same by the rate of a line.
    assert_eq!(delays_us(&[("switches.0.rate", "16 Mbps")]), [5000, 5900]);
}

#[test]
fn large_cell_is_padded() {
    // A packet is one cell, which takes 1.5 ms: A crosses from 3 to 4.5 ms, B from 4.5 to 6 ms.
    assert_eq!(delays_us(&[("switches.0.cell", "1500 B")]), [6500, 7900]);
}

/// Two links from X to D in a bundle. B's packet arrives before a cell of A's has crossed.
#[test]
fn anycast_counts_packets_at_the_inputs() {
    let link = |chains: &str, name: &str| {
        format!(
            r#"{{ chains = [{chains}], {name} rate = "8 Mbps", delay = "1 ms", queue = "unlimited" }}"#
        )
    };
    let links = format!(
        "[{}, {}]",
        link(r#"["A", "X"], ["B", "X"]"#, ""),
        link(r#"["X", "D"]"#, r#"name = "fibre", count = 2,"#)
    );
    for (selection, delays) in [
        // A takes the first link and B the second: both cross from 2.25 to 3.25 ms.
        ("anycast", [5250, 5150]),
        ("fewest-packets", [5250, 5150]),
    ] {
        let bundle =
            format!(r#"[{{ name = "both", links = ["fibre"], selection = "{selection}" }}]"#);
        assert_eq!(delays_us(&[("links", &links), ("bundles", &bundle)]), delays, "{selection}");
    }
}

/// The link from X to D fails at 3 ms, while cells of both packets cross.
#[test]
fn packets_at_the_inputs_are_lost_when_they_reach_a_failed_link() {
    let run = run(&[("failures", r#"[{ link = ["X", "D"], at = "3 ms" }]"#)]);
    assert_eq!(numbers(&run.series[0], "lost_packets"), [1, 1]);
    assert_eq!(run.drops, [("link-down", 2)]);
}

#[test]
fn full_queue_at_an_input_drops_packets() {
    let set = [
        ("switches.0.queue", "1 packets"),
        ("traffic.0.rate", "2000 packets/s"),
        ("traffic.0.until", "2.9 ms"),
    ];
    let run = run(&set);
    // Packets of A arrive at X at 2, 3, ... 7 ms. B takes every second slot until 4.25 ms, so the first crosses until
    // 4 ms, and the second is lost. The third arrives at 4 ms, after the slot that ends then, and crosses from 4.25 to
    // 5.25 ms: the fourth is lost. The fifth crosses from 6.25 to 7.25 ms: the sixth is lost.
    let (arrived, lost) =
        (numbers(&run.series[0], "arrived_packets"), numbers(&run.series[0], "lost_packets"));
    assert_eq!((arrived[0], lost[0]), (3, 3));
    assert_eq!((arrived[1], lost[1]), (1, 0));
    let names = &run.series[1].names[0].1;
    let place = names.iter().position(|name| name == "X->D").expect("a port");
    assert_eq!(numbers(&run.series[1], "dropped")[place], lost[0]);
}

#[test]
fn wrong_switches_are_refused() {
    for (set, message) in [
        (("switches.0.node", "Y"), "unknown node `Y`"),
        (("switches.0.cell", "0 B"), "cell without data"),
        (("switches.0.speed_up", "0"), "speed-up of 0"),
        (("switches.0.iterations", "0"), "0 iterations"),
        (("switches.0.queue", "0 packets"), "no packet fits"),
    ] {
        let set = [(set.0.to_owned(), set.1.to_owned())];
        let found = Scenario::parse(MERGE, "test.toml", &set).expect_err("a problem").to_string();
        assert!(found.contains(message), "{found}");
    }
}
