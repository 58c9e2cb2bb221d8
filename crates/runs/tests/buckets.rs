//! Token buckets of whole scenarios, against counts worked out by hand, and in all engines.

use optcp_net::QueueKind;
use optcp_runs::{Engine, Run, Values};

use crate::support::{run_on, run_on_both};

/// A packet of 1000 B every 0.5 ms, which is 16 Mb/s: 2000 packets in a second. Each takes 0.1 ms on a link.
const CONSTANT: &str = r#"
stop = "2 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chain = ["A", "B", "C"], rate = "80 Mbps", delay = "1 ms", queue = "unlimited" }]
observe = [{ name = "fate", kind = "datagrams", interval = "2 s" }]
parameters = { until = "1 s" }

[[traffic]]
group = "g"
path = ["A", "B", "C"]
process = "constant"
rate = "2000 packets/s"
size = "1000 B"
until = "$until"
"#;

/// Runs a scenario in all engines and returns the run.
fn run(text: &str, set: &[(&str, &str)]) -> Run {
    let fast = run_on_both(text, set, 1);
    let windowed = run_on(Engine::Windows { length: Some(29), stepped: 0 }, text, set, 1);
    assert_eq!(windowed.records_sha256, fast.records_sha256, "{text}");
    assert_eq!(windowed.drops, fast.drops, "{text}");
    fast
}

fn number(run: &Run, column: &str) -> u64 {
    let column = run.series[0].columns.iter().find(|one| one.name == column).expect("a column");
    let Values::U64(values) = &column.values else { panic!("{column:?}") };
    values[0]
}

/// The bucket of 4000 B gains 500 B per packet. Packets 0 to 6 pass, and then every other one: 7 + 996 of 2000 packets.
/// Behind the queue, which is empty, the result is the same.
#[test]
fn policer_passes_burst_and_then_its_rate() {
    for (at, reason) in [("ingress", "policed"), ("egress", "policed-egress")] {
        let bucket = format!(
            "buckets = [{{ link = ['A', 'B'], kind = 'policer', at = '{at}', rate = '8 Mbps', burst = '4 kB' }}]"
        );
        let run = run(&format!("{bucket}\n{CONSTANT}"), &[]);
        assert_eq!(run.drops, [(reason, 997)]);
        assert_eq!((number(&run, "arrived_packets"), number(&run, "lost_packets")), (1003, 997));
    }
}

/// Twenty packets. Packet n arrives at 500 n us and needs 1000 (n + 1) tokens, of which 4000 are there at the start. It
/// waits for 500 n - 3000 us. From packet 7 to packet 19, this is 45,500 us in all. Without waits, a packet takes 2200 us.
#[test]
fn shaper_delays_by_missing_tokens() {
    let bucket =
        "buckets = [{ link = ['A', 'B'], kind = 'shaper', rate = '8 Mbps', burst = '4 kB' }]";
    let run = run(&format!("{bucket}\n{CONSTANT}"), &[("parameters.until", "10 ms")]);
    assert_eq!(number(&run, "arrived_packets"), 20);
    assert_eq!(number(&run, "delay_sum_ps"), (20 * 2200 + 45_500) * 1_000_000);
    assert_eq!(number(&run, "longest_delay_ps"), (2200 + 500 * 19 - 3000) * 1_000_000);
}

/// Packets 0 to 7 come at 16 Mb/s. With that peak rate and a peak burst of one packet, all but packet 7 pass, which finds
/// 500 B in the first bucket. With 10 Mb/s, the peak bucket gains 625 B per packet, and every other packet passes.
#[test]
fn peak_rate_limits_the_burst() {
    let passed = |peak: &str| {
        let bucket = format!(
            "buckets = [{{ link = ['A', 'B'], kind = 'policer', rate = '8 Mbps', burst = '4 kB', peak = '{peak}', peak_burst = '1 kB' }}]"
        );
        number(
            &run(&format!("{bucket}\n{CONSTANT}"), &[("parameters.until", "4 ms")]),
            "arrived_packets",
        )
    };
    assert_eq!([passed("16 Mbps"), passed("10 Mbps")], [7, 4]);
}

/// The first marker colours 997 packets yellow, as the policer above drops them. The second one, with ample tokens, is
/// colour-aware and drops them; colour-blind, it makes them green again.
#[test]
fn colours_reach_the_next_marker() {
    for (aware, dropped) in [("true", vec![("policed", 997)]), ("false", vec![])] {
        let buckets = format!(
            "buckets = [
                {{ link = ['A', 'B'], kind = 'trtcm', rate = '8 Mbps', burst = '4 kB', peak = '80 Mbps', peak_burst = '4 kB' }},
                {{ link = ['B', 'C'], kind = 'trtcm', rate = '80 Mbps', burst = '1 MB', peak = '80 Mbps', peak_burst = '1 MB',
                   yellow = 'drop', colour_aware = {aware} }},
            ]"
        );
        assert_eq!(run(&format!("{buckets}\n{CONSTANT}"), &[]).drops, dropped, "{aware}");
    }
}

/// Marked packets pass; packets that are not ECN-capable are dropped.
#[test]
fn mark_needs_ecn() {
    let bucket = "buckets = [{ link = ['A', 'B'], kind = 'policer', exceeding = 'mark', rate = '8 Mbps', burst = '4 kB' }]";
    let text = format!("{bucket}\n{CONSTANT}");
    assert_eq!(run(&text, &[]).drops, [("policed", 997)]);
    let capable = run(&format!("{text}ecn = 'ect0'\n"), &[]);
    assert_eq!(capable.drops, []);
    assert!(capable.counts.contains(&("marked", 997)), "{:?}", capable.counts);
}

/// Two TCP flows with each queue discipline, and a failure in between. Debug runs check that packets are conserved.
#[test]
fn engines_agree_for_every_bucket_beside_every_queue() {
    let buckets = [
        "kind = 'policer'",
        "kind = 'policer', at = 'egress', exceeding = 'mark'",
        "kind = 'trtcm', peak = '8 Mbps', peak_burst = '6 kB', yellow = 'mark'",
        "kind = 'trtcm', at = 'egress', peak = '8 Mbps', peak_burst = '6 kB', colour_aware = true",
        "kind = 'shaper', peak = '8 Mbps', peak_burst = '3 kB'",
    ];
    for &kind in QueueKind::ALL {
        for bucket in buckets {
            let text = format!(
                r#"
                stop = "4 s"
                tcp.t = {{ profile = "linux-6", ecn = "rfc3168" }}
                nodes = [{{ names = ["A", "B", "C"] }}]
                links = [{{ chain = ["A", "B", "C"], rate = "10 Mbps", delay = "3 ms",
                           queue = {{ kind = "{}", limit = "20 packets" }} }}]
                flows = [
                    {{ group = "there", path = ["A", "B", "C"], tcp = "t" }},
                    {{ group = "back", path = ["C", "B", "A"], tcp = "t", start = "100 ms" }},
                ]
                failures = [{{ link = ["B", "C"], at = "1 s", repair = "1.2 s" }}]
                buckets = [{{ link = ["B", "C"], rate = "5 Mbps", burst = "9 kB", {bucket} }}]
                "#,
                kind.name(),
            );
            let run = run(&text, &[]);
            let delivered = run.counts.iter().find(|(name, _)| *name == "delivered");
            assert!(
                delivered.is_some_and(|&(_, packets)| packets > 500),
                "{bucket}: {delivered:?}"
            );
        }
    }
}
