//! Behaviour of a node towards a link that is out of service, until detection and after: losses
//! computed by hand.

use optcp_runs::{Cancel, Engine, RunOptions, run_branches};
use optcp_scenario::Scenario;

/// The packets lost, by reason, which both engines must agree on.
fn lost(text: &str, set: &[(&str, &str)]) -> Vec<(String, u64)> {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scenario = Scenario::parse(text, "test.toml", &set)
        .unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
    let engines = [Engine::Reference, Engine::Fast, Engine::Stepped(u64::MAX)];
    let [plain, fast, stepped] = engines.map(|engine| {
        let options = RunOptions { fork: false, digest: true, engine, ..RunOptions::default() };
        let run =
            run_branches(&[&scenario], 1, options, &Cancel::default()).expect("nobody cancels");
        let drops = run[0].drops.iter().map(|(reason, count)| (reason.to_string(), *count));
        (drops.collect::<Vec<_>>(), run[0].records_sha256.clone())
    });
    assert_eq!(plain, fast, "the engines do not agree");
    assert_eq!(plain, stepped, "the lanes do not agree");
    plain.0
}

/// A packet of 1000 B every 0.5 ms on four links of 8 Mb/s, each of which sends it for 1 ms.
const HALF_LOADED: &str = r#"
stop = "200 ms"
parameters = { selection = "anycast" }
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], name = "fibre", count = 4, rate = "8 Mbps", delay = "1 ms", queue = "10 packets" }]
bundles = [{ name = "all", links = ["fibre"], selection = "$selection", detection = "100 ms" }]
traffic = [{ group = "main", path = ["A", "B"], process = "constant", rate = "2000 packets/s", size = "1000 B" }]
failures = [{ link = "fibre0", at = "10.25 ms" }]
"#;

/// From 10.5 ms to 110 ms 200 packets arrive. With selection of the longest idle of four links, the
/// failed one gets every fourth. With selection of the first idle link, at least two are idle, and
/// it gets every other packet. This continues until the failure is detected.
#[test]
fn failed_lightpath_gets_its_share_until_detection() {
    for (selection, share) in [("anycast", 4), ("fewest-packets", 2), ("round-robin", 4)] {
        let lost = lost(HALF_LOADED, &[("parameters.selection", selection)]);
        let down = lost.iter().find(|(reason, _)| reason == "link-down");
        assert_eq!(down, Some(&("link-down".to_owned(), 200 / share)), "{selection}");
    }
}

/// Six packets at 10 ms, each of which is sent for 1 ms, are three on each link when the first one fails.
const WAITING: &str = r#"
stop = "20 ms"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], name = "fibre", count = 2, rate = "8 Mbps", delay = "1 ms", queue = "unlimited" }]
bundles = [{ name = "all", links = ["fibre"], selection = "fewest-packets", detection = "100 ms" }]
traffic = [
    { group = "first", path = ["A", "B"], process = "constant", rate = "1000000 packets/s", size = "1000 B", start = "10 ms", until = "10.0055 ms" },
    { group = "then", path = ["A", "B"], process = "constant", rate = "10000 packets/s", size = "1000 B", start = "10.2 ms", until = "10.75 ms" },
]
failures = [{ link = "fibre0", at = "10.1 ms" }]
"#;

/// Six more come before one of the first is sent: with three in each queue they take turns.
#[test]
fn queued_packets_of_failed_lightpath_still_count() {
    let expected = [("link-down", 3), ("queue-flushed", 3)];
    assert_eq!(lost(WAITING, &[]), expected.map(|(reason, count)| (reason.to_owned(), count)));
}

/// A byte takes 1 us. Two packets of 1500 B fill the queue from 10 ms until the first is sent at
/// 11.5 ms. From 10.25 ms on, a packet of 100 B arrives every 0.5 ms, so three are dropped.
/// Maintenance closes the port from 10.1 ms to 10.2 ms, and the queued packets are still sent.
const CLOSED: &str = r#"
stop = "20 ms"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "8 Mbps", delay = "1 ms", queue = "3000 B" }]
traffic = [
    { group = "large", path = ["A", "B"], process = "constant", rate = "1000000 packets/s", size = "1500 B", start = "10 ms", until = "10.0015 ms" },
    { group = "small", path = ["A", "B"], process = "constant", rate = "2000 packets/s", size = "100 B", start = "10.25 ms" },
]
failures = [{ link = "A-B", at = "10.1 ms", repair = "10.2 ms", packets = "kept" }]
"#;

#[test]
fn reopened_port_keeps_its_queue() {
    assert_eq!(lost(CLOSED, &[]), [("queue-full".to_owned(), 3)]);
}
