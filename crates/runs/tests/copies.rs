//! Protection 1+1 sends every packet over two paths: losses are counted per packet, not per copy.
//!
//! A packet leaves S at k = 0, 1, 2, ... ms. Each link takes 0.8 us to send it. Over the working path it is at `e` 11.0024 ms
//! after it has left S, over the standby path `stand` + 1.0024 ms after it. The link n-e fails at 1 s; the selector at `e` turns
//! 50 ms after that.
//!
//! ```text
//!         5 ms  n  5 ms
//!         .-----+-----.
//!   S --- w           e --- R
//!    1 ms '-----+-----'  1 ms
//!               s
//! ```

use optcp_runs::{Cancel, Engine, Run, RunOptions, Values, run_branches};
use optcp_scenario::Scenario;

const WORLD: &str = r#"
stop = "3 s"
parameters = { stand = "15 ms", revert = "none" }
nodes = [{ names = ["S", "w", "n", "s", "e", "R"] }]
links = [
    { chains = [["S", "w"], ["e", "R"]], rate = "10 Gbps", delay = "1 ms", queue = "1000 packets" },
    { chain = ["w", "n", "e"], rate = "10 Gbps", delay = "5 ms", queue = "1000 packets" },
    { chain = ["w", "s", "e"], rate = "10 Gbps", delay = "$stand", queue = "1000 packets" },
]
failures = [{ link = ["n", "e"], at = "1 s", repair = "2 s" }]
"#;

const DATAGRAMS: &str = r#"
[[traffic]]
group = "ticks"
path = ["S", "w", "n", "e", "R"]
process = "constant"
rate = "1000 packets/s"
size = "1000 B"

[[protection]]
flows = "ticks"
scheme = "1+1"
backup = ["w", "s", "e"]
switch_delay = "50 ms"
revert = "$revert"

[[observe]]
name = "ticks"
kind = "datagrams"
interval = "3 s"

[[observe]]
name = "packets"
kind = "packets"
"#;

/// The same in the other direction.
const BACK: &str = r#"
[[traffic]]
group = "back"
path = ["R", "e", "n", "w", "S"]
process = "constant"
rate = "1000 packets/s"
size = "1000 B"

[[protection]]
flows = "back"
scheme = "1+1"
backup = ["e", "s", "w"]
switch_delay = "50 ms"
"#;

/// 500 segments of 1000 B a second, of which the link S-w is always busy.
const FLOW: &str = r#"
[tcp.stream]
profile = "rfc"
mss = "1000 B"
header = "0 B"
window_limit = "400 packets"

[[flows]]
group = "stream"
path = ["S", "w", "n", "e", "R"]
tcp = "stream"

[[protection]]
flows = "stream"
scheme = "1+1"
backup = ["w", "s", "e"]
switch_delay = "50 ms"

[[observe]]
name = "out"
kind = "outages"
after = "900 ms"
"#;

fn scenario(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(text, "copies.toml", &set)
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)))
}

/// A run, which must be the same with all engines, and as a branch of another one.
fn run(text: &str, set: &[(&str, &str)]) -> Run {
    let scenario = scenario(text, set);
    let later = scenario.with_overrides(&[("failures.0.at".to_owned(), "1500 ms".to_owned())]);
    let later = later.expect("the link may fail later");
    let of = |engine, fork| {
        let branches = [&scenario, &later];
        let options = RunOptions { engine, fork, digest: true, ..RunOptions::default() };
        let runs = run_branches(&branches, 1, options, &Cancel::default());
        runs.expect("nobody cancels it").remove(0)
    };
    let fast = of(Engine::Fast, true);
    for (engine, fork) in [
        (Engine::Fast, false),
        (Engine::Reference, false),
        (Engine::Reference, true),
        (Engine::Stepped(u64::MAX), true),
        (Engine::Stepped(0b1010), false),
    ] {
        let other = of(engine, fork);
        assert_eq!(fast.records_sha256, other.records_sha256, "{engine:?} {fork}");
        assert_eq!(fast.metrics_sha256, other.metrics_sha256, "{engine:?} {fork}");
        assert_eq!(fast.drops, other.drops, "{engine:?} {fork}");
    }
    let count = |name| count(&fast, name);
    let ended = count("delivered") + count("dropped") + count("copies_discarded");
    assert_eq!(count("sent") + count("copied"), ended + count("in_flight"));
    fast
}

fn count(run: &Run, name: &str) -> u64 {
    run.counts.iter().find(|(known, _)| *known == name).map_or(0, |&(_, count)| count)
}

fn values(run: &Run, series: &str, name: &str) -> Vec<u64> {
    let series = run.series.iter().find(|one| one.name == series).expect("it is observed");
    let column = series.columns.iter().find(|column| column.name == name).expect("a column");
    let Values::U64(values) = &column.values else { panic!("{:?}", column.values) };
    values.clone()
}

/// Returns the number of copies that have arrived at an endpoint.
fn arrivals(run: &Run) -> u64 {
    let series = run.series.iter().find(|one| one.name == "packets").expect("it is observed");
    let column = series.columns.iter().find(|column| column.name == "event").expect("a column");
    let Values::U8(events) = &column.values else { panic!("{:?}", column.values) };
    events.iter().filter(|&&event| event == 2).count() as u64
}

/// The working path delivers packets that reach `e` until 1000 ms, up to k = 988. The other path
/// delivers those that reach it from 1050 ms on.
///
/// The first is lost from k = 989 on, five of them on the line. Standby paths of 30 ms and of 2 ms deliver from k = 1019 and from
/// 1047 on: lost are 50 - 20 and 50 + 8 packets. A standby path of 80 ms delivers from k = 969 on: nothing is lost, and 20 come
/// twice.
#[test]
fn cut_of_working_path_loses_rate_times_switch_delay_minus_path_difference() {
    for (stand, lost, twice) in
        [("15 ms", 1018 - 988, 0), ("1 ms", 1046 - 988, 0), ("40 ms", 0, 20)]
    {
        let run = run(&format!("{WORLD}{DATAGRAMS}"), &[("parameters.stand", stand)]);
        let drops = [("link-down", lost.max(5) - 5), ("lost-in-flight", lost.min(5))];
        let drops: Vec<_> = drops.into_iter().filter(|&(_, count)| count > 0).collect();
        assert_eq!(run.drops, drops, "{stand}");
        assert_eq!(count(&run, "dropped"), lost);
        assert_eq!(values(&run, "ticks", "lost_packets"), [lost], "{stand}");
        // At 3 s these are in flight to R over the standby path, with the last one ahead of `w`.
        let way = match stand {
            "15 ms" => 32,
            "1 ms" => 4,
            _ => 82,
        };
        let arrived = 3000 - way - lost;
        assert_eq!(count(&run, "delivered"), arrived, "{stand}");
        assert_eq!(values(&run, "ticks", "arrived_packets"), [arrived], "{stand}");
        assert_eq!(arrivals(&run), arrived + twice, "{stand}");
        // Of each packet of which both copies have ended one is discarded; the first copies from k = 2989 on have not.
        assert_eq!((count(&run, "sent"), count(&run, "copied")), (3000, 2999), "{stand}");
        assert_eq!(count(&run, "copies_discarded"), 2989, "{stand}");
        assert_eq!(count(&run, "in_flight"), way + 10, "{stand}");
    }
}

/// The selector reverts 100 ms after the repair, when both paths deliver. Reverting to a path
/// shorter by 20 ms loses the packets whose first copy arrived earlier and whose second arrives
/// later. A path longer by 8 ms delivers packets twice.
///
/// Without the 100 ms it turns at 2 s. Packets up to k = 1968 came over the standby path, those up to k = 1993 find the link down.
#[test]
fn reversion_to_shorter_path_loses_path_difference() {
    for (stand, wait, cut, not_selected, twice) in [
        ("15 ms", "100 ms", 30, 20, 0),
        ("1 ms", "100 ms", 58, 0, 8),
        ("15 ms", "0 ms", 30 + (1993 - 1968), 0, 0),
    ] {
        let set = [
            ("parameters.stand", stand),
            ("parameters.revert", "optical"),
            ("protection.0.wait_to_restore", wait),
        ];
        let run = run(&format!("{WORLD}{DATAGRAMS}"), &set);
        let drops = [("link-down", cut - 5), ("lost-in-flight", 5), ("not-selected", not_selected)];
        let drops: Vec<_> = drops.into_iter().filter(|&(_, count)| count > 0).collect();
        assert_eq!(run.drops, drops, "{stand} {wait}");
        assert_eq!(values(&run, "ticks", "lost_packets"), [cut + not_selected], "{stand} {wait}");
        // The working path is 12 ms long.
        let arrived = 3000 - 12 - cut - not_selected;
        assert_eq!(count(&run, "delivered"), arrived, "{stand} {wait}");
        assert_eq!(arrivals(&run), arrived + twice, "{stand} {wait}");
    }
}

/// Data of the other direction reach `w` after 11.0024 ms. Its selector switches at 1055 ms,
/// because loss of signal takes 5 ms from `n`: k = 994 to 1023 are lost.
#[test]
fn each_direction_loses_by_its_own_selector() {
    let run = run(&format!("{WORLD}{DATAGRAMS}{BACK}"), &[]);
    assert_eq!(values(&run, "ticks", "lost_packets"), [1018 - 988, 1023 - 993]);
    assert_eq!(count(&run, "dropped"), 60);
}

/// The failure of the standby path does not affect the traffic: the same packets arrive as without
/// it.
#[test]
fn cut_of_standby_leg_loses_nothing() {
    let text = format!("{WORLD}{DATAGRAMS}{FLOW}");
    let cut = run(&text, &[("failures.0.link", r#"["s", "e"]"#)]);
    let whole = run(&text, &[("failures", r#"[{ link = ["s", "e"], at = "2999 ms" }]"#)]);
    assert_eq!(count(&cut, "dropped"), 0);
    assert_eq!(cut.drops, []);
    assert_eq!(count(&cut, "delivered"), count(&whole, "delivered"));
    assert_eq!(values(&cut, "out", "lost_packets"), [0]);
    assert_eq!(values(&cut, "out", "gap_ps"), values(&whole, "out", "gap_ps"));
    assert_eq!(values(&cut, "ticks", "lost_packets"), [0]);
}

/// The link n-e fails for data only, and one segment passes every 2 ms. A standby path of 2 ms
/// loses 58 ms of them, and one of 80 ms loses none.
#[test]
fn flow_is_affected_by_the_cut_of_its_working_leg() {
    for (stand, lost) in [("1 ms", 29), ("40 ms", 0)] {
        let set = [
            ("parameters.stand", stand),
            ("links.0.rate", "4 Mbps"),
            ("failures.0.direction", "forward"),
        ];
        let run = run(&format!("{WORLD}{FLOW}"), &set);
        assert_eq!(values(&run, "out", "lost_packets"), [lost], "{stand}");
        assert_eq!(count(&run, "dropped"), lost, "{stand}");
        assert_eq!(values(&run, "out", "dropped_packets"), [0], "{stand}");
    }
}

/// Congested queues of the working path drop packets; queues of the standby path drop their copies.
/// Cutting the standby path changes nothing for the traffic.
#[test]
fn congestion_drops_count_once_and_standby_cut_adds_no_drops() {
    let text = r#"
stop = "8 s"
nodes = [{ names = ["A", "w", "n", "s", "e", "B"] }]
links = [{ chains = [["A", "w"], ["e", "B"]], rate = "100 Mbps", delay = "2 ms", queue = "100 packets" },
         { chains = [["w", "n", "e"], ["w", "s", "e"]], rate = "20 Mbps", delay = "4 ms", queue = "60 packets" }]
flows = [{ group = "f", path = ["A", "w", "n", "e", "B"], per_source = 4, tcp = "linux-6", start = "uniform(0 s, 0.2 s)" }]
protection = [{ flows = "f", scheme = "1+1", backup = ["w", "s", "e"], switch_delay = "10 ms" }]
failures = [{ link = ["s", "e"], at = "3 s" }]
observe = [{ name = "out", kind = "outages", after = "3 s" }, { name = "list", kind = "drops" }]
"#;
    let cut = run(text, &[]);
    let whole = run(text, &[("failures", r#"[{ link = ["s", "e"], at = "7999 ms" }]"#)]);
    for name in ["sent", "delivered", "dropped"] {
        assert_eq!(count(&cut, name), count(&whole, name), "{name}");
    }
    assert_eq!(cut.drops, whole.drops);
    let [(reason, dropped)] = cut.drops[..] else { panic!("{:?}", cut.drops) };
    assert_eq!(reason, "queue-full");
    assert!(dropped > 0 && 100 * dropped < count(&cut, "sent"), "{dropped}");
    assert_eq!(values(&cut, "out", "lost_packets"), [0; 4]);
    assert_eq!(values(&cut, "out", "gap_ps"), values(&whole, "out", "gap_ps"));
    // Drops of ports are still listed, including copies.
    let listed = values(&cut, "list", "time_ps").len() as u64;
    assert_eq!(listed, dropped + count(&cut, "copies_discarded"));
}

/// Every packet arrives once, in spite of the failure. The standby path is `longer` ms longer. After the repair, the packets
/// from k = 1994 on take the working path, and wait until k = 1993 has come over the standby path. These are the packets of
/// the difference of both delays: 1 packet per ms.
#[test]
fn resequencing_loses_nothing_and_buffers_rate_times_path_difference() {
    let text = format!("{WORLD}{DATAGRAMS}")
        .replace("switch_delay = \"50 ms\"\nrevert = \"$revert\"", "resequencing = \"100 ms\"");
    for (stand, longer) in [("5250 us", 0), ("10250 us", 10), ("20250 us", 30)] {
        let run = run(&text, &[("parameters.stand", stand)]);
        assert_eq!(run.drops, [], "{stand}");
        assert_eq!(values(&run, "ticks", "lost_packets"), [0], "{stand}");
        assert_eq!(count(&run, "delivered"), arrivals(&run), "{stand}");
        assert_eq!(run.switches, [], "{stand}");
        let buffers: Vec<_> = run.resequencing.iter().filter(|one| !one.acks).collect();
        let [buffer] = buffers[..] else { panic!("{buffers:?}") };
        assert_eq!(buffer.node, "e");
        assert_eq!([buffer.most.packets, buffer.most.bytes], [longer, 1000 * longer], "{stand}");
    }
}

/// Without a wait, packets on the working path pass at once after the repair. Earlier ones on the standby path come late, and
/// are not lost.
#[test]
fn resequencing_without_wait_loses_nothing_and_reorders() {
    let text = format!("{WORLD}{DATAGRAMS}")
        .replace("switch_delay = \"50 ms\"\nrevert = \"$revert\"", "resequencing = \"0 s\"");
    let run = run(&text, &[("parameters.stand", "10250 us")]);
    assert_eq!(values(&run, "ticks", "lost_packets"), [0]);
    assert_eq!(count(&run, "delivered"), arrivals(&run));
}

/// A TCP flow does not notice the failure: no RTO, no retransmission.
#[test]
fn flow_over_resequenced_paths_is_undisturbed() {
    let text =
        format!("{WORLD}{FLOW}").replace("switch_delay = \"50 ms\"", "resequencing = \"100 ms\"");
    let run = run(&text, &[("parameters.stand", "20250 us")]);
    assert_eq!(run.drops, []);
    for name in ["timeouts", "resent", "needless", "lost_packets"] {
        assert_eq!(values(&run, "out", name), [0], "{name}");
    }
}
