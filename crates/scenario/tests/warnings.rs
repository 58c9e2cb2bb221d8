//! Warnings at bottlenecks, and the form of messages; computed by hand.

use optcp_scenario::{Library, Matrix, ReferenceResolver, Scenario, Warning};

struct Matrices;

impl ReferenceResolver for Matrices {
    fn graph(&self, _: optcp_scenario::Reference<'_>) -> Result<optcp_scenario::Graph, String> {
        Err("no topology here".to_owned())
    }
    fn matrix(&self, name: &str) -> Result<Matrix, String> {
        let weight = if name == "alike.csv" { 1 } else { 1000 };
        let row = |line, to: &str, weight| (line, "H0".to_owned(), to.to_owned(), weight);
        Ok(Matrix { heading: None, rows: vec![row(1, "H1", weight), row(2, "H2", 1)] })
    }
}

fn warnings(text: &str, set: &[(&str, &str)]) -> Vec<Warning> {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Scenario::parse_with(text, "net.toml", &set, &Library::new(Matrices))
        .unwrap_or_else(|problem| panic!("{problem}"))
        .warnings()
}

fn of<'w>(warnings: &'w [Warning], name: &str) -> Vec<&'w str> {
    let named = warnings.iter().filter(|one| one.kind.name() == name);
    named.map(|one| one.message.as_str()).collect()
}

/// Eight hosts, and one port that all of their flows leave by.
const ERLANG_B: &str = include_str!("../../../python/optcp/scenarios/erlang-b.toml");

const INCAST: &str = r#"
stop = "10 s"
nodes = [{ group = "H", count = 8 }, { names = ["R", "B"] }]
links = [
    { chain = ["H", "R"], rate = "10 Mbps", delay = "10 ms", queue = "50 packets" },
    { chain = ["R", "B"], rate = "10 Mbps", delay = "10 ms", queue = "50 packets" },
]
flows = [{ group = "f", path = ["H", "R", "B"], tcp = "linux-6", size = "50000 segments" }]
"#;

#[test]
fn equal_starts_are_found_where_flows_meet() {
    // All links alike; access ten times as fast; and slower than the shared link, but not eight of it.
    for set in [
        &[][..],
        &[("links.0.rate", "100 Mbps")],
        &[("links.0.rate", "10 Mbps"), ("links.1.rate", "40 Mbps")],
    ] {
        let found = warnings(INCAST, set);
        let [said] = of(&found, "equal-starts")[..] else { panic!("{set:?}: {found:?}") };
        assert!(said.starts_with("8 flows start at 0 s") && said.contains("`R-B`"), "{said}");
    }
    // Eight hosts at 10 Mb/s do not fill 100 Mb/s, and no two flows share a link of theirs.
    assert_eq!(of(&warnings(INCAST, &[("links.1.rate", "100 Mbps")]), "equal-starts"), [""; 0]);
}

/// 1500 B at 10 Mb/s take 1.2 ms, so the RTT is about 42.5 ms and the BDP 53 kB. Divided by the
/// square root of 8, that is 18.8 kB. Two segments of 1500 B are more than a tenth of it, one is
/// less.
#[test]
fn a_shallow_queue_is_found_where_flows_meet() {
    for (queue, found) in [("1 packets", 1), ("2 packets", 0)] {
        let set = [("links.1.queue", queue)];
        assert_eq!(of(&warnings(INCAST, &set), "shallow-queue").len(), found, "{queue}");
    }
    let both = [("links.0.queue", "1 packets"), ("links.1.queue", "1 packets")];
    let found = warnings(INCAST, &both);
    let said = of(&found, "shallow-queue");
    assert!(said.iter().any(|one| one.contains("`R-B`") && one.contains("8 flows")), "{said:?}");
    // Of one line: the port with the most flows stands for the others.
    let one_line = INCAST.replace(
        r#"    { chain = ["H", "R"], rate = "10 Mbps", delay = "10 ms", queue = "50 packets" },
    { chain = ["R", "B"], rate = "10 Mbps", delay = "10 ms", queue = "50 packets" },"#,
        r#"    { chains = [["H", "R"], ["R", "B"]], rate = "10 Mbps", delay = "10 ms", queue = "1 packets" },"#,
    );
    let found = warnings(&one_line, &[]);
    let [said] = of(&found, "shallow-queue")[..] else { panic!("{found:?}") };
    assert!(said.contains("`R-B`") && said.contains("8 flows with an RTT of"), "{said}");
}

/// Two leaves of four hosts each, all links alike: the last link carries the most flows.
#[test]
fn warning_names_the_slowest_link_with_most_flows() {
    let text = r#"
        stop = "10 s"
        nodes = [{ group = "H", count = 8 }, { group = "L", count = 2 }, { names = ["S", "B"] }]
        links = [{ chain = ["H", "L", "S", "B"], rate = "10 Mbps", delay = "1 ms", queue = "50 packets" }]
        flows = [{ group = "f", path = ["H", "L", "S", "B"], tcp = "linux-6" }]
    "#;
    let found = warnings(text, &[]);
    let [said] = of(&found, "equal-starts")[..] else { panic!("{found:?}") };
    assert!(said.starts_with("8 flows") && said.contains("`S-B`"), "{said}");
}

const MESH: &str = r#"
stop = "10 s"
nodes = [{ group = "H", count = 4 }]
links = [{ mesh = "H", rate = "10 Mbps", delay = "2 ms", queue = "50 packets" }]
flows = [{ group = "f", pairs = { among = "H", matrix = "m.csv" }, path = "shortest", tcp = "linux-6" }]
"#;

#[test]
fn unused_weights_cause_warning() {
    let found = warnings(MESH, &[]);
    let [said] = of(&found, "weights-unused")[..] else { panic!("{found:?}") };
    assert!(said.contains("`matrix`") && said.contains("`count`"), "{said}");
    for set in [
        &[("flows.0.pairs.count", "5")][..],
        &[("flows.0.pairs.count", "5"), ("flows.0.pairs.seed", "1")],
        &[("flows.0.load", "0.5"), ("flows.0.size", "100 segments")][..1],
        &[("flows.0.pairs.matrix", "alike.csv")],
    ] {
        let more = [set, &[("flows.0.size", "1448000 B")]].concat();
        assert_eq!(of(&warnings(MESH, &more), "weights-unused"), [""; 0], "{set:?}");
    }
    let traffic = MESH
        .replace("tcp = \"linux-6\"", "process = \"poisson\", rate = \"1 Mbps\", size = \"500 B\"");
    let found = warnings(&traffic.replace("flows = ", "traffic = "), &[]);
    assert_eq!(of(&found, "weights-unused").len(), 1, "{found:?}");
}

#[test]
fn keys_without_effect_cause_warnings() {
    let unused = format!("parameters = {{ rate = \"1 Mbps\", other = \"2\" }}\n{INCAST}");
    let found = warnings(
        &unused.replace(
            "rate = \"10 Mbps\", delay = \"10 ms\", queue = \"50 packets\" },\n    {",
            "rate = \"$rate\", delay = \"10 ms\", queue = \"50 packets\" },\n    {",
        ),
        &[],
    );
    let [said] = of(&found, "no-effect")[..] else { panic!("{found:?}") };
    assert!(said.contains("`$other`"), "{said}");
    let used = [("links.0.delay", "$other * 1 ms")];
    let found = warnings(&unused, &used);
    assert!(of(&found, "no-effect").iter().all(|one| !one.contains("`$other`")), "{found:?}");

    let class = [("flows.0.class", "3")];
    assert!(of(&warnings(INCAST, &class), "no-effect")[0].contains("`class` of `f`"));
    let queue = "{ kind = \"priority\", limit = \"50 packets\" }";
    let distinct = [class[0], ("links.1.queue", queue)];
    assert_eq!(of(&warnings(INCAST, &distinct), "no-effect"), [""; 0]);
}

#[test]
fn unused_classes_of_bursts_cause_warnings() {
    let found = |set: &[(&str, &str)]| {
        let found = warnings(ERLANG_B, set);
        of(&found, "no-effect").iter().map(|&one| one.to_owned()).collect::<Vec<_>>()
    };
    let preemption = ("core.preemption", "true");
    assert!(found(&[preemption])[0].contains("`preemption` has no effect"));
    let classes = ("bursts.0.classes", "[{ class = 0 }, { class = 4 }]");
    let missing = found(&[preemption, classes]);
    assert!(missing.len() == 1 && missing[0].contains("no flow has class 4"), "{missing:?}");
    assert_eq!(found(&[preemption, classes, ("traffic.0.class", "4")]).len(), 1);
    let both = ("bursts.0.classes", "[{ class = 4 }]");
    assert_eq!(found(&[preemption, both, ("traffic.0.class", "4")]), [""; 0]);
}

#[test]
fn sizes_changed_by_rounding_cause_warnings() {
    let size = |size: &str| {
        let found = warnings(INCAST, &[("flows.0.size", size)]);
        of(&found, "whole-segments").iter().map(|&one| one.to_owned()).collect::<Vec<_>>()
    };
    assert!(
        size("1 B")[0].starts_with("1 B are sent as 1 whole segment of 1.45 kB"),
        "{:?}",
        size("1 B")
    );
    assert!(size("1500 B")[0].contains("2 whole segments"), "{:?}", size("1500 B"));
    for good in ["1448 B", "1 MB", "1 segments", "greedy"] {
        assert_eq!(size(good), [""; 0], "{good}");
    }
    let web = [("flows.0.arrivals", "10 flows/s"), ("flows.0.sizes", "{ kind = \"hadoop\" }")];
    let text = INCAST.replace(", size = \"50000 segments\"", "");
    let found = warnings(&text, &web);
    let [said] = of(&found, "whole-segments")[..] else { panic!("{found:?}") };
    assert!(said.contains("% of the flows are smaller than a segment of 1.45 kB"), "{said}");
}

/// Fact, consequence, remedy; three significant digits.
#[test]
fn messages_are_short() {
    let found = warnings(INCAST, &[("links.0.delay", "6 s"), ("stop", "8 s")]);
    let short = of(&found, "short-run");
    assert!(short[0].starts_with("the run lasts 8 s, less than 20 RTTs (12 s each)"), "{short:?}");
    let long = of(&found, "long-delay");
    assert!(long[0].contains("light in fibre (5 us/km) takes 200 ms around the earth"), "{long:?}");
    for one in &found {
        assert!(one.message.len() < 220, "{one:?}");
    }
}

#[test]
fn trimming_needs_a_queue_and_a_receiver_that_reports() {
    let queue = ("links.1.queue", r#"{ kind = "trim", limit = "50 packets" }"#);
    let text = INCAST.to_owned()
        + r#"
[tcp.host]
profile = "linux-6"
loss_detection = "trimmed"
"#;
    let told = |set: &[(&str, &str)]| -> Vec<String> {
        let found = warnings(&text, set);
        of(&found, "no-effect").into_iter().map(str::to_owned).collect()
    };
    let [queue_alone] = &told(&[queue])[..] else { panic!("one warning") };
    assert!(queue_alone.starts_with("no flow reports trimmed segments"), "{queue_alone}");
    let [flow_alone] = &told(&[("flows.0.tcp", "host")])[..] else { panic!("one warning") };
    assert!(flow_alone.starts_with("no queue trims segments of `f`"), "{flow_alone}");
    assert_eq!(told(&[queue, ("flows.0.tcp", "host")]), [""; 0]);
}
