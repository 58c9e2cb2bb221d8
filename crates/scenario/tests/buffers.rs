//! Queue limits relative to the rate of their port; computed by hand.

use optcp_scenario::Scenario;
use optcp_scenario::plan::QueueLimit;

fn limits(links: &str, more: &str) -> Vec<u64> {
    let text = format!(
        "title = \"buffers\"\nstop = \"9 s\"\nnodes = [{{ names = [\"A\", \"B\", \"C\"] }}]\n{links}\n{more}"
    );
    let scenario = Scenario::parse(&text, "buffers.toml", &[])
        .unwrap_or_else(|diagnostic| panic!("{}", diagnostic.render(false)));
    let ports = scenario.plan().links.iter().flat_map(|link| &link.directions);
    ports
        .map(|port| match port.queue {
            QueueLimit::Bytes(bytes) => bytes.count(),
            _ => 0,
        })
        .collect()
}

/// 1 Gbit/s for 5 ms are 625 kB; 10 Mbit/s for 8 ms are 10 kB.
#[test]
fn a_time_is_the_data_that_the_port_sends_in_it() {
    let links = r#"
[[links]]
chain = ["A", "B"]
rate = "1 Gbps"
delay = "1 ms"
queue = "5 ms"
reverse = { rate = "10 Mbps", queue = { kind = "codel", limit = "8 ms" } }
[[links]]
chain = ["B", "C"]
rate = "8 Mbps"
delay = "1 ms"
queue = "50 packets"
"#;
    assert_eq!(limits(links, ""), [625_000, 10_000, 0, 0]);
}

/// At 100 Mbit/s, 1500 B take 120 us and an ACK of 40 B takes 3.2 us. With 10 ms each way this is 20.1232 ms, in which
/// the link sends 251,540 B. The second link adds 1.2 ms, 32 us and 10 ms: 31.3552 ms. The first link sends 391,940 B in
/// that time, and the second link 39,194 B.
#[test]
fn a_bandwidth_delay_product_takes_the_longest_round_trip_across_the_port() {
    let links = r#"
[[links]]
chain = ["A", "B"]
rate = "100 Mbps"
delay = "10 ms"
queue = "1 BDP"
[[links]]
chain = ["B", "C"]
rate = "10 Mbps"
delay = "5 ms"
queue = "0.5 BDP"
"#;
    let flow = |group: &str, path: &str| format!("[[flows]]\ngroup = \"{group}\"\npath = {path}\n");
    let short = flow("short", r#"["A", "B"]"#);
    let long = flow("long", r#"["A", "B", "C"]"#);
    // No flow crosses the second link: the longest RTT of all.
    assert_eq!(limits(links, &short), [251_540, 251_540, 12_577, 12_577]);
    assert_eq!(limits(links, &(short + &long)), [391_940, 391_940, 19_597, 19_597]);
}

/// A reserved circuit with a tenth of the rate holds a tenth of the bytes.
#[test]
fn a_circuit_takes_its_share_of_a_time() {
    let links = r#"
[[links]]
chains = [["A", "B"], ["A", "C", "B"]]
rate = "100 Mbps"
delay = "1 ms"
queue = "20 ms"
"#;
    let flows = r#"
[[flows]]
group = "f"
path = ["A", "B"]
[[protection]]
flows = "f"
scheme = "1:1"
backup = ["A", "C", "B"]
capacity = "reserved"
rate = "10 Mbps"
switch_delay = "10 ms"
"#;
    let found = limits(links, flows);
    assert_eq!(found[..6], [250_000; 6]);
    assert!(found[6..].iter().all(|&bytes| bytes == 25_000), "{found:?}");
}
