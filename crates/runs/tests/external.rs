//! Flows whose packets come from outside: they keep their class, and their data is observed.

use optcp_runs::{Engine, External, FlowId, LiveRun, NotExternal, RunOptions};
use optcp_scenario::Scenario;
use optcp_units::{Codepoint, Duration, Marking, Time};

const LINK: &str = r#"
title = "two classes"
stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "5 ms", queue = { limit = "3 packets", kind = "priority" } }]
flows = [
  { group = "low", path = ["A", "B"], tcp = "rfc", size = "1460 B" },
  { group = "high", path = ["A", "B"], tcp = "rfc", class = 1, size = "2920 B" },
]
observe = [{ name = "packets", kind = "packets" }, { name = "drops", kind = "drops" }, { name = "goodput", kind = "goodput", interval = "1 s" }]
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "link.toml", &[]).expect("a scenario")
}

fn us(us: u64) -> Time {
    Time::from_ps(us * 1_000_000)
}

/// An IPv4 packet of `length` bytes with a TCP segment from port 1 to port 2.
fn segment(seq: u32, syn: bool, length: u16) -> External {
    let mut bytes = vec![0; usize::from(length)];
    bytes[0] = 0x45;
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
    bytes[9] = 6;
    bytes[20..24].copy_from_slice(&[0, 1, 0, 2]);
    bytes[24..28].copy_from_slice(&seq.to_be_bytes());
    bytes[32] = 5 << 4;
    bytes[33] = if syn { 2 } else { 16 };
    let marking = Marking::new(Codepoint::NotEct, 0);
    External { bytes: bytes.into(), marking, flow_label: 0 }
}

/// 1,250 bytes take 1 ms. Three packets come at once. One of class 0 is in transmission when the packet of class 1 comes,
/// which precedes the other one.
#[test]
fn packets_have_the_class_of_their_flow() {
    let (mut run, flows) =
        LiveRun::with_external(&scenario(LINK), 1, RunOptions::default(), &[0, 1])
            .expect("both flows");
    let [low, high] = &flows[..] else { panic!("two flows") };
    assert_eq!([&*low.group, &*high.group], ["low", "high"]);
    assert_eq!((low.nodes, low.mtu.count()), ([0, 1], 1500));
    run.advance(us(1000));
    for (source, seq) in [(low.sources[0], 1), (low.sources[0], 2), (high.sources[0], 3)] {
        run.inject(source, us(1000), segment(seq, false, 1250));
    }
    run.advance(us(20_000));
    let mut arrived: Vec<_> =
        run.take_deliveries().into_iter().map(|one| (one.at, one.bytes[27])).collect();
    arrived.sort_unstable();
    assert_eq!(arrived, [(us(7000), 1), (us(8000), 3), (us(9000), 2)]);
    // The queue holds three packets: a fourth one is dropped, in the group of its flow.
    for _ in 0..4 {
        run.inject(high.sources[0], us(30_000), segment(4, false, 1250));
    }
    let run = run.finish();
    let drops = run.series.iter().find(|series| series.kind == "drops").expect("it is observed");
    let group = drops.columns.iter().find(|column| column.name == "group").expect("a column");
    assert_eq!(format!("{:?}", group.values), "U32([1])");
}

/// A flow of two segments of 1,460 bytes is finished when its last byte is in order. 1,500 bytes take 1.2 ms. The segment
/// behind the gap arrives first.
#[test]
fn data_in_order_finishes_a_flow() {
    let (mut run, flows) =
        LiveRun::with_external(&scenario(LINK), 1, RunOptions::default(), &[0, 1])
            .expect("both flows");
    let source = flows[1].sources[0];
    for (at, packet) in [
        (0, segment(9, true, 40)),
        (10_000, segment(10 + 1460, false, 1500)),
        (20_000, segment(10, false, 1500)),
    ] {
        run.advance(us(at));
        run.inject(source, us(at), packet);
    }
    let run = run.finish();
    let ends = run.ends.flows.iter().find(|one| one.is_finished).expect("it is finished");
    assert_eq!(ends.end, us(26_200));
    assert_eq!(run.ends.flows.iter().filter(|one| !one.is_finished).count(), 1);
    let goodput =
        run.series.iter().find(|series| series.kind == "goodput").expect("it is observed");
    assert_eq!(format!("{:?}", goodput.columns[0].values), "U64([0, 2920])");
}

#[test]
fn flows_that_cannot_carry_real_packets_say_why() {
    let text = LINK.replace("class = 1,", "class = 1, arrivals = \"10 flows/s\",");
    let refused = LiveRun::with_external(&scenario(&text), 1, RunOptions::default(), &[0, 1]);
    assert_eq!(refused.err(), Some(("low/A/0".to_owned(), NotExternal::Arrivals)));
}

/// Sources from outside have numbers beyond the flows. No observation may look them up among the flows.
#[test]
fn every_observation_takes_packets_from_outside() {
    let kinds = ["load", "queue", "marks", "sojourn", "ports", "tcp", "outages", "reordering"];
    let entry = |kind: &&str| match *kind {
        "load" | "queue" | "sojourn" | "ports" => {
            format!("{{ name = \"{kind}\", kind = \"{kind}\", interval = \"1 s\" }}")
        }
        _ => format!("{{ name = \"{kind}\", kind = \"{kind}\" }}"),
    };
    let entries: Vec<String> = kinds.iter().map(entry).collect();
    let text = LINK.replace("observe = [", &format!("observe = [{}, ", entries.join(", ")));
    let (mut run, flows) =
        LiveRun::with_external(&scenario(&text), 1, RunOptions::default(), &[0, 1])
            .expect("both flows");
    for source in flows.iter().flat_map(|flow| flow.sources) {
        (0..5).for_each(|seq| run.inject(source, us(1000), segment(seq, false, 1250)));
    }
    run.advance(us(500_000));
    // Each direction has a queue of three packets.
    assert_eq!(run.take_deliveries().len(), 6);
    assert_eq!(run.finish().series.len(), kinds.len() + 3);
}

const REPAIRED: &str = r#"
title = "a link fails under packets"
stop = "1 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chain = ["A", "B", "C"], rate = "10 Mbps", delay = "5 ms", queue = "3 packets" }]
flows = [{ group = "all", path = ["A", "B", "C"], tcp = "rfc", size = "1460 B" }]
failures = [{ link = ["B", "C"], at = "31 ms", repair = "40 ms" }]
observe = [{ name = "drops", kind = "drops" }]
"#;

/// Returns a run of the reference engine, and the source of its first flow, which leads from the first node to `to`.
fn by_reference(text: &str, to: usize) -> (LiveRun, FlowId) {
    let options = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let made = LiveRun::with_external(&scenario(text), 1, options, &[0, to]);
    let (run, flows) = made.expect("the flows");
    (run, flows[0].sources[0])
}

/// RFC 9293 section 3.7.1: headers of 40 bytes. RFC 7323 section 3: timestamps take 12 bytes more. Linux fills 1,500 bytes.
#[test]
fn mtu_is_a_full_segment_with_its_headers() {
    for (tcp, mtu) in [("rfc", 1460 + 40), ("linux-6", 1448 + 40 + 12)] {
        let text = LINK.replace("tcp = \"rfc\"", &format!("tcp = \"{tcp}\""));
        let made = LiveRun::with_external(&scenario(&text), 1, RunOptions::default(), &[0, 1]);
        let (_, flows) = made.expect("both flows");
        assert!(flows.iter().all(|flow| flow.mtu.count() == mtu), "{tcp}");
    }
}

/// 1,250 bytes take 1 ms to send and 5 ms to arrive. A packet in transmission arrives 5 ms after its end, and a packet that
/// has not entered the network no earlier than after 5 ms.
#[test]
fn next_arrival_is_a_delay_after_the_transmission() {
    let (mut run, source) = by_reference(LINK, 1);
    assert!(run.next_arrival_at() > run.stop());
    run.advance(us(1000));
    run.inject(source, us(1000), segment(1, false, 1250));
    assert_eq!([run.next_at(), run.next_arrival_at()], [us(1000), us(6000)]);
    run.advance(us(1500));
    assert_eq!([run.next_at(), run.next_arrival_at()], [us(2000), us(7000)]);
    run.advance(us(2500));
    assert_eq!([run.next_at(), run.next_arrival_at()], [us(7000), us(7000)]);
}

/// A run that rests until the next arrival delivers the same packets as a run that handles each event at its time.
#[test]
fn no_packet_arrives_before_the_announced_time() {
    let delivered = |next: fn(&LiveRun) -> Time| {
        let (mut run, source) = by_reference(REPAIRED, 2);
        let (mut all, mut steps) = (Vec::new(), 0);
        for at in [0, 1000, 21_000, 22_500, 23_000, 36_000, 45_000].map(us) {
            while next(&run) < at {
                let bound = next(&run);
                run.advance(bound + Duration::from_ps(1000));
                let arrived = run.take_deliveries();
                assert!(arrived.iter().all(|one| one.at >= bound), "{bound}");
                all.extend(arrived.into_iter().map(|one| one.at));
                steps += 1;
            }
            (0..2).for_each(|seq| run.inject(source, at, segment(seq, false, 1250)));
        }
        run.advance(us(100_000));
        all.extend(run.take_deliveries().into_iter().map(|one| one.at));
        (all, steps)
    };
    let (exact, every) = delivered(LiveRun::next_at);
    let (all, fewer) = delivered(LiveRun::next_arrival_at);
    assert_eq!(all, exact);
    assert!(fewer < every, "{fewer} of {every}");
}
