//! Sample scenario and a small one, compared with numbers computed by hand.

use std::collections::BTreeMap;

use optcp_optical::protection::Revert;
use optcp_scenario::Scenario;
use optcp_scenario::plan::{
    DetectionPlan, DirectedLink, LinkPlan, ObserveKind, Plan, QueueLimit, Spread,
};
use optcp_units::{Bytes, Duration, Rate, Time};

const SAMPLE: &str =
    include_str!("../../../papers/optcp_papers/gmpls/scenarios/gmpls-section5.toml");
const SMALL: &str = include_str!("small.toml");

fn read(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(text, "test.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

fn link<'p>(plan: &'p Plan, name: &str) -> &'p LinkPlan {
    plan.links.iter().find(|link| link.name == name).expect("a link of that name")
}

fn ports(plan: &Plan, hops: &[DirectedLink]) -> Vec<String> {
    hops.iter().map(|&hop| plan.port_name(hop)).collect()
}

fn names(plan: &Plan, nodes: &[usize]) -> String {
    let names: Vec<&str> = nodes.iter().map(|&node| plan.nodes[node].as_str()).collect();
    names.join(" ")
}

#[test]
fn the_sample_has_the_network_of_the_paper() {
    let sample = read(SAMPLE, &[]);
    let plan = sample.plan();
    assert_eq!(plan.title, "Speed of protection switching (GMPLS paper, section 5)");
    assert_eq!(plan.stop, Time::from_ps(10_000_000_000_000));
    // A B C D, L0 to L7, ten sources on each side.
    assert_eq!(plan.nodes.len(), 4 + 8 + 10 + 10);
    assert_eq!(plan.nodes[11], "L7");
    assert_eq!(plan.nodes[12], "S0");
    assert_eq!(plan.nodes[31], "F9");
    // 10 + 10 sources; A-L0, L3-B, C-L4, L7-D; two rows of three; L1-L5 and L6-L2.
    assert_eq!(plan.links.len(), 10 + 10 + 4 + 3 + 3 + 2);

    let source = link(plan, "S3-A");
    assert_eq!(names(plan, &source.ends), "S3 A");
    let [forward, back] = &source.directions;
    assert_eq!(forward, back);
    assert!(source.shared_delay);
    assert_eq!(forward.rate, Rate::from_bps(9_000_000).unwrap());
    let (low, high) = (Duration::from_ms(10), Duration::from_ms(100));
    assert_eq!(forward.delay, Spread::Uniform { low, high });
    assert_eq!(forward.queue, QueueLimit::Packets(50));

    for (name, mbps) in [("L7-D", 9), ("L1-L2", 10), ("L6-L2", 10)] {
        let port = &link(plan, name).directions[0];
        assert_eq!(port.rate, Rate::from_bps(mbps * 1_000_000).unwrap(), "{name}");
        assert_eq!(port.delay, Spread::Fixed(Duration::from_ms(1)), "{name}");
    }
}

#[test]
fn the_sample_has_the_flows_of_the_paper() {
    let sample = read(SAMPLE, &[]);
    let plan = sample.plan();
    assert_eq!(plan.groups, ["switched", "fixed"]);
    assert_eq!(plan.flows.len(), 200);
    let flow = &plan.flows[34];
    assert_eq!(flow.name, "switched/S3/4");
    assert_eq!((flow.group, flow.tcp, flow.size), (0, Some(0), None));
    assert_eq!(names(plan, &flow.path), "S3 A L0 L1 L2 L3 B");
    let hops = ["S3->A", "A->L0", "L0->L1", "L1->L2", "L2->L3", "L3->B"];
    assert_eq!(ports(plan, &flow.hops), hops);
    let (low, high) = (Duration::from_ms(500), Duration::from_secs(1));
    assert_eq!(flow.start, Spread::Uniform { low, high });
    assert_eq!(plan.flows[199].name, "fixed/F9/9");
    assert_eq!(names(plan, &plan.flows[199].path), "F9 C L4 L5 L6 L7 D");

    let (name, tcp) = &plan.tcp[0];
    assert_eq!((name.as_str(), plan.tcp.len()), ("all", 1));
    assert_eq!((tcp.mss, tcp.header), (Bytes::new(1000), Bytes::ZERO));
    assert_eq!((tcp.window_limit, tcp.initial_ssthresh), (30, Some(30)));
    assert_eq!(tcp.tick, Duration::from_ms(100));
}

#[test]
fn the_sample_fails_is_switched_and_observed() {
    let sample = read(SAMPLE, &[]);
    let plan = sample.plan();
    let [failure] = &plan.failures[..] else { panic!("one failure") };
    assert_eq!(plan.links[failure.link].name, "L1-L2");
    assert_eq!((failure.at, failure.repair), (Time::from_ps(5_000_000_000_000), None));

    let [protection] = &plan.protections[..] else { panic!("one protection") };
    assert_eq!((protection.group, &protection.links), (Some(0), &vec![failure.link]));
    assert_eq!(protection.flows, (0..100).collect::<Vec<_>>());
    assert_eq!(names(plan, &protection.backup), "L1 L5 L6 L2");
    assert_eq!(ports(plan, &protection.hops), ["L1->L5", "L5->L6", "L6->L2"]);
    assert_eq!(protection.detection, DetectionPlan::After([Duration::from_ms(50); 2]));
    assert_eq!(protection.revert, Revert::None);

    let [goodput, load, drops] = &plan.observe[..] else { panic!("three observations") };
    assert_eq!((goodput.kind, &goodput.groups), (ObserveKind::Goodput, &vec![0, 1]));
    assert_eq!(goodput.interval, Some(Duration::from_ms(10)));
    let loaded = load.ports.as_ref().expect("chosen ports");
    assert_eq!(ports(plan, loaded), ["L1->L2", "L2->L1", "L5->L6", "L6->L5"]);
    assert_eq!((load.kind, load.interval), (ObserveKind::Load, Some(Duration::from_ms(100))));
    assert_eq!((drops.kind, &drops.ports), (ObserveKind::Drops, &None));
}

#[test]
fn the_summary_counts() {
    let summary = read(SAMPLE, &[("parameters.sources", "3")]).summary();
    assert_eq!((summary.nodes, summary.links, summary.flows), (18, 18, 60));
    assert_eq!(summary.groups, ["switched", "fixed"]);
    assert_eq!(summary.observe, ["goodput", "load", "drops"]);
    assert_eq!(summary.parameters["backbone"], "10 Mbps");
    assert_eq!(summary.parameters["access_share"], "0.9");
    assert_eq!(summary.parameters["sources"], "3");
}

#[test]
fn overrides_reach_everything() {
    let scenario = read(
        SAMPLE,
        &[
            ("parameters.backbone", "20 Mbps"),
            ("parameters.flows_per_source", "1"),
            ("links.3.reverse.rate", "\"0.5 * $backbone\""),
            ("tcp.all.profile", "rfc"),
            ("tcp.all.window_limit", "unlimited"),
            ("tcp.all.handshake", "true"),
            ("failures.0.repair", "7 s"),
            ("protection.0.switch_delay", "{ data = '1 ms', ack = '2 ms' }"),
        ],
    );
    let plan = scenario.plan();
    assert_eq!(plan.flows.len(), 20);
    assert_eq!(link(plan, "S0-A").directions[0].rate, Rate::from_bps(18_000_000).unwrap());
    let rates = link(plan, "L1-L2").directions.each_ref().map(|port| port.rate.bps());
    assert_eq!(rates, [20_000_000, 10_000_000]);
    let tcp = &plan.tcp[0].1;
    assert_eq!((tcp.window_limit, tcp.handshake, tcp.header), (u32::MAX, true, Bytes::new(40)));
    assert_eq!(plan.failures[0].repair, Some(Time::from_ps(7_000_000_000_000)));
    let each = [Duration::from_ms(1), Duration::from_ms(2)];
    assert_eq!(plan.protections[0].detection, DetectionPlan::After(each));

    let later = scenario.with_overrides(&[("parameters.backbone".into(), "30 Mbps".into())]);
    assert_eq!(link(later.unwrap().plan(), "L1-L2").directions[0].rate.bps(), 30_000_000);
}

#[test]
fn parameters_are_evaluated_exactly() {
    let parameters = "
        third = 0.333
        half = \"0.5 * $whole\"
        whole = \"3 Mbps\"
        low = \"2 ms\"
        some = { data = \"$low\", ack = \"2 * $low\" }
        around = [\"L1\", \"L3\", \"L2\"]
        on = true
        two = 2
    ";
    let text = SMALL.replace("[parameters]", &format!("[parameters]\n{parameters}"));
    let scenario = read(
        &text,
        &[
            ("links.0.rate", "$third * $half * 2"),
            ("links.0.delay", "uniform(0.5 * $low, $low)"),
            ("links.0.queue", "$two * 1.5 kB"),
            ("nodes.1.count", "$two * 2"),
            ("tcp.all.limited_transmit", "$on"),
            ("protection.0.backup", "$around"),
            ("protection.0.switch_delay", "$some"),
        ],
    );
    let plan = scenario.plan();
    let [port, _] = &plan.links[0].directions;
    assert_eq!(port.rate.bps(), 999_000);
    let (low, high) = (Duration::from_ms(1), Duration::from_ms(2));
    assert_eq!(port.delay, Spread::Uniform { low, high });
    assert_eq!(port.queue, QueueLimit::Bytes(Bytes::new(3000)));
    assert_eq!(plan.flows.len(), 4);
    assert!(plan.tcp[0].1.limited_transmit);
    let DetectionPlan::After([data, ack]) = plan.protections[0].detection else { panic!() };
    assert_eq!((data, ack), (Duration::from_ms(2), Duration::from_ms(4)));
}

#[test]
fn parallel_links_are_distinguished_by_name() {
    let more = "
        [[links]]
        chain = [\"L2\", \"L1\"]
        name = \"second\"
        rate = \"1 Mbps\"
        delay = \"1 ms\"
        queue = \"unlimited\"
        reverse = { delay = \"3 ms\" }

        [[flows]]
        group = \"over\"
        path = [\"A\", \"L1\", \"second\", \"L2\", \"B\"]
        tcp = \"ns2-2.35\"
        size = \"2500 B\"

        [[observe]]
        name = \"load\"
        kind = \"load\"
        links = [\"second\", [\"S\", \"A\"]]
        interval = \"1 s\"
    ";
    let scenario = read(&format!("{SMALL}{more}"), &[("failures.0.link", "second")]);
    let plan = scenario.plan();
    let second = link(plan, "second");
    assert!(!second.shared_delay);
    assert_eq!(second.directions[1].delay, Spread::Fixed(Duration::from_ms(3)));
    let flow = plan.flows.last().unwrap();
    assert_eq!((flow.name.as_str(), flow.size), ("over/A/0", Some(3)));
    assert_eq!(ports(plan, &flow.hops), ["A->L1", "second:L1->L2", "L2->B"]);
    assert_eq!(plan.tcp[flow.tcp.unwrap()].0, "ns2-2.35");
    // The path of the first group takes the link that has no name.
    assert_eq!(ports(plan, &plan.flows[0].hops)[2], "L1->L2");
    assert_eq!(plan.links[plan.failures[0].link].name, "second");
    let loaded = plan.observe[1].ports.as_ref().expect("chosen ports");
    let expected = ["second:L2->L1", "second:L1->L2", "S0->A", "A->S0", "S1->A", "A->S1"];
    assert_eq!(ports(plan, loaded), expected);
}

#[test]
fn groups_on_one_path_are_matched_by_member() {
    let text = "
        stop = \"1 s\"
        nodes = [{ group = \"S\", count = 2 }, { group = \"D\", names = [\"Ulm\", \"Köln\"] }, { names = [\"M\"] }]
        links = [{ chain = [\"S\", \"M\", \"D\"], rate = \"1 Mbps\", delay = \"0 s\", queue = \"1 packet\" }]
        flows = [{ group = \"g\", path = [\"S\", \"M\", \"D\"] }, { group = \"h\", path = [\"M\", \"D\"] }]
    ";
    let scenario = read(text, &[]);
    let plan = scenario.plan();
    let links: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(links, ["S0-M", "M-Ulm", "S1-M", "M-Köln"]);
    let flows: BTreeMap<&str, String> =
        plan.flows.iter().map(|flow| (flow.name.as_str(), names(plan, &flow.path))).collect();
    let expected = [
        ("g/S0/0", "S0 M Ulm"),
        ("g/S1/0", "S1 M Köln"),
        ("h/Köln/0", "M Köln"),
        ("h/Ulm/0", "M Ulm"),
    ];
    assert_eq!(flows, expected.map(|(name, path)| (name, path.to_owned())).into());
    assert_eq!(plan.flows[0].start, Spread::ZERO);
    assert_eq!(plan.tcp[0].0, "rfc");
}

#[test]
fn axes_keep_the_order_of_the_file_and_read_back() {
    let sweep = "
        [sweep]
        \"protection.0.switch_delay\" = [\"0 ms\", \"50 ms\", { data = \"1 ms\", ack = \"2 ms\" }]
        parameters.backbone = [\"5 Mbps\", \"10 Mbps\"]
        \"flows.0.per_source\" = [1, 10]
        title = [\"1\", \"a\"]
    ";
    let scenario = read(&format!("{SMALL}{sweep}"), &[]);
    let axes: Vec<(&str, Vec<&str>)> = scenario
        .axes()
        .iter()
        .map(|(key, values)| (key.as_str(), values.iter().map(String::as_str).collect()))
        .collect();
    let both = "{\"data\" = \"1 ms\", \"ack\" = \"2 ms\"}";
    assert_eq!(
        axes,
        [
            ("protection.0.switch_delay", vec!["0 ms", "50 ms", both]),
            ("parameters.backbone", vec!["5 Mbps", "10 Mbps"]),
            ("flows.0.per_source", vec!["1", "10"]),
            ("title", vec!["\"1\"", "a"]),
        ]
    );
    for (key, values) in scenario.axes() {
        for value in values {
            let cell = scenario.with_overrides(&[(key.clone(), value.clone())]);
            assert!(cell.is_ok(), "{key} = {value}");
        }
    }
}

#[test]
fn the_resolved_scenario_has_every_default() {
    let scenario = read(SMALL, &[]);
    let resolved: serde_json::Value = serde_json::from_str(&scenario.resolved_json()).unwrap();
    insta::assert_snapshot!(format!("{resolved:#}"));
    assert_eq!(scenario.sha256().len(), 64);
}

#[test]
fn equal_scenarios_have_equal_digests() {
    let plain = read(SAMPLE, &[]);
    let respelt =
        read(SAMPLE, &[("parameters.backbone", "10000 kbit/s"), ("tcp.all.tick", "0.1 s")]);
    assert_eq!(plain.sha256(), respelt.sha256());
    let other = read(SAMPLE, &[("parameters.backbone", "11 Mbps")]);
    assert_ne!(plain.sha256(), other.sha256());
}

#[test]
fn failure_of_zero_duration_is_valid() {
    let plan = read(SAMPLE, &[("failures.0.repair", "5 s")]).plan().clone();
    assert_eq!(plan.failures[0].repair, Some(plan.failures[0].at));
}
