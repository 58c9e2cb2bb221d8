//! Runs over written forwarding tables, and delays that change evenly, against what can be worked out by hand.

use optcp_engine::observe::Values;
use optcp_runs::{Cancel, Engine, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;

/// From A to B over X (10 ms in all) or Y (3 ms): 1000 bytes take 1 ms on each link. ACKs go back over X.
const WORLD: &str = r#"
stop = "1 s"
[[nodes]]
names = ["A", "X", "Y", "B"]
[[links]]
chains = [["A", "X"], ["X", "B"]]
rate = "8 Mbps"
delay = "5 ms"
queue = "50 packets"
[[links]]
chains = [["A", "Y"], ["Y", "B"]]
rate = "8 Mbps"
delay = "1.5 ms"
queue = "50 packets"
[[traffic]]
group = "t"
from = "A"
to = "B"
process = "constant"
rate = "500 packets/s"
size = "1000 B"
until = "100 ms"
[[observe]]
name = "p"
kind = "packets"
"#;

const OVER_X: &str = r#"
[forwarding]
entries = [
  { node = "A", to = "B", next = "X" },
  { node = "X", to = "B", next = "B" },
  { node = "Y", to = "B", next = "B" },
  { node = "B", to = "A", next = "X > A" },
"#;

/// A run, which must be the same on both engines.
fn run(text: &str) -> Run {
    let scenario = Scenario::parse(text, "written.toml", &[])
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let of = |engine| {
        let options = RunOptions { engine, fork: false, digest: true, ..RunOptions::default() };
        run_branches(&[&scenario], 1, options, &Cancel::default()).expect("nobody cancels it")
    };
    let [fast, plain] = [Engine::Fast, Engine::Reference].map(of);
    assert_eq!(fast[0].records_sha256, plain[0].records_sha256);
    assert_eq!(fast[0].metrics_sha256, plain[0].metrics_sha256);
    fast[0].clone()
}

/// By number of a packet, in microseconds: when it is sent, and when it comes, if it does.
fn packets(run: &Run) -> Vec<(u64, Option<u64>)> {
    let series = &run.series[0];
    let column = |name: &str| {
        let found = series.columns.iter().find(|column| column.name == name);
        &found.expect("a column").values
    };
    let (Values::U64(times), Values::U8(events), Values::U32(seqs)) =
        (column("time_ps"), column("event"), column("seq"))
    else {
        panic!("columns of numbers")
    };
    let names = &series.names.iter().find(|(list, _)| *list == "events").expect("names").1;
    let mut found: Vec<(u64, Option<u64>)> = Vec::new();
    for ((&at, &event), &seq) in times.iter().zip(events).zip(seqs) {
        let at = at / 1_000_000;
        match &*names[usize::from(event)] {
            "sent" => found.push((at, None)),
            "arrived" => found[seq as usize].1 = Some(at),
            _ => {}
        }
    }
    found
}

fn dropped(run: &Run, reason: &str) -> u64 {
    run.drops.iter().find(|(name, _)| *name == reason).map_or(0, |(_, count)| *count)
}

#[test]
fn packets_overtake_after_change_to_shorter_path() {
    let change = r#"{ at = "45 ms", node = "A", to = "B", next = "Y" }]"#;
    let run = run(&format!("{WORLD}{OVER_X}{change}"));
    let packets = packets(&run);
    assert!(packets.len() > 45);
    for &(sent, came) in &packets {
        let takes = if sent < 45_000 { 12_000 } else { 5_000 };
        assert_eq!(came, Some(sent + takes));
    }
    // One that leaves over Y is there 7 ms before one that left over X at the same time.
    assert!(packets.windows(2).any(|pair| pair[1].1 < pair[0].1));
}

#[test]
fn queued_packets_keep_their_path_after_table_change() {
    let text =
        format!("{WORLD}{OVER_X}{}", r#"{ at = "20 ms", node = "A", to = "B", next = "Y" }]"#);
    // Twice what the link carries: the k-th begins 1 ms after the one before it, on either way.
    let run = run(&text
        .replace("500 packets/s", "2000 packets/s")
        .replace("until = \"100 ms\"", "until = \"30 ms\""));
    let packets = packets(&run);
    let first = packets[0].0;
    let over_x = packets.iter().filter(|(sent, _)| *sent < 20_000).count();
    assert!(over_x > 30);
    for (k, &(_, came)) in packets[..over_x].iter().enumerate() {
        assert_eq!(came, Some(first + 1_000 * k as u64 + 12_000));
    }
    let begins = packets[over_x].0;
    for (k, &(_, came)) in packets[over_x..].iter().enumerate() {
        assert_eq!(came, Some(begins + 1_000 * k as u64 + 5_000));
    }
}

/// A packet takes 6 ms to X.
#[test]
fn packets_without_route_are_lost_unless_path_was_fixed() {
    let closed = r#"{ at = "45 ms", node = "X", to = "B", next = "none" }]"#;
    let by_hop = run(&format!("{WORLD}{OVER_X}{closed}"));
    for &(sent, came) in &packets(&by_hop) {
        assert_eq!(came, (sent + 6_000 < 45_000).then_some(sent + 12_000), "sent at {sent} us");
    }
    let lost = packets(&by_hop).iter().filter(|(_, came)| came.is_none()).count();
    assert_eq!(dropped(&by_hop, "no-route"), lost as u64);
    let decided = OVER_X.replace(r#"to = "B", next = "X" }"#, r#"to = "B", next = "X > B" }"#);
    let at_once = run(&format!("{WORLD}{decided}{closed}"));
    assert_eq!(dropped(&at_once, "no-route"), 0);
    assert!(packets(&at_once).iter().all(|&(sent, came)| came == Some(sent + 12_000)));
}

#[test]
fn packet_delay_is_fixed_at_transmission_start() {
    let change = r#"]
[[schedules]]
delays = "linear"
changes = [
  { at = "0 s", link = ["A", "X"], delay = "5 ms" },
  { at = "60 ms", link = ["A", "X"], delay = "8 ms" },
  { at = "60 ms", link = ["A", "X"], delay = "14 ms" },
  { at = "80 ms", link = ["A", "X"], delay = "12 ms" },
]
"#;
    let run = run(&format!("{WORLD}{OVER_X}{change}"));
    for &(sent, came) in &packets(&run) {
        let delay = match sent {
            0..60_000 => 5_000 + sent / 20,
            60_000..80_000 => 14_000 - (sent - 60_000) / 10,
            _ => 12_000,
        };
        assert_eq!(came, Some(sent + 1_000 + delay + 6_000), "sent at {sent} us");
    }
}
