//! Overrides of a parsed scenario, its form as a file, and its settings.

use optcp_scenario::Scenario;

const WORLD: &str = r#"
title = "a line"
stop = "2 s"
parameters = { rate = "10 Mbps", odd = 3 }

[tcp.web]
profile = "rfc"
window_limit = "60 segments"

[tcp."long.lived"]
profile = "rfc"

[[nodes]]
names = ["A", "B", "C"]

[[links]]
chains = [["A", "B"], ["B", "C"]]
rate = "$rate"
delay = "1 ms"
queue = "50 packets"

[[flows]]
group = "all"
path = ["A", "B", "C"]
tcp = "web"

[[observe]]
name = "goodput"
kind = "goodput"
interval = "1 s"

[sweep]
"parameters.rate" = ["10 Mbps", "20 Mbps"]
links.0.delay = ["1 ms", "2 ms", "3 ms"]
"#;

fn pairs(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn parsed(text: &str, settings: &[(&str, &str)]) -> Scenario {
    Scenario::parse(text, "line.toml", &pairs(settings)).unwrap_or_else(|d| panic!("{d}"))
}

#[test]
fn overrides_of_parsed_scenario_match_overrides_of_text() {
    let base = parsed(WORLD, &[("links.0.queue", "60 packets")]);
    let later = base
        .with_overrides(&pairs(&[("parameters.rate", "20 Mbps"), ("links.0.queue", "70 packets")]))
        .expect("a world");
    let at_once = parsed(WORLD, &[("parameters.rate", "20 Mbps"), ("links.0.queue", "70 packets")]);
    assert_eq!(later.sha256(), at_once.sha256());
    assert_ne!(later.sha256(), base.sha256());
    // The present ones are still named in a message about a later one.
    let message = base.with_overrides(&pairs(&[("links.0.rate", "fast")])).expect_err("no rate");
    assert!(message.to_string().contains("links.0.rate"), "{message}");
}

#[test]
fn overridden_axis_is_removed_from_sweep() {
    let world = parsed(WORLD, &[]);
    let names = |world: &Scenario| -> Vec<String> {
        world.axes().iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&world), ["parameters.rate", "links.0.delay"]);
    let cell = world.with_overrides(&pairs(&[("links.0.delay", "2 ms")])).expect("a world");
    assert_eq!(names(&cell), ["parameters.rate"]);
    assert_eq!(names(&parsed(WORLD, &[("parameters.rate", "15 Mbps")])), ["links.0.delay"]);
}

#[test]
fn scenario_survives_a_round_trip_through_a_file() {
    let world =
        parsed(WORLD, &[("tcp.web.window_limit", "40 segments"), ("links.0.queue", "60 packets")]);
    let again = parsed(&world.to_toml(), &[]);
    assert_eq!(again.sha256(), world.sha256());
    assert_eq!(again.axes(), world.axes());
    assert_eq!(again.settings(), world.settings());
}

#[test]
fn settings_reproduce_the_scenario_as_overrides() {
    let world = parsed(WORLD, &[("links.0.queue", "60 packets")]);
    let settings = world.settings();
    let value = |key: &str| {
        settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    };
    assert_eq!(value("links.0.queue"), Some("60 packets"));
    assert_eq!(value("tcp.\"long.lived\".profile"), Some("rfc"));
    assert_eq!(value("links.0.rate"), Some("$rate"));
    assert_eq!(value("flows.0.path"), Some(r#"["A", "B", "C"]"#));
    assert_eq!(value("title"), None);
    assert!(settings.iter().all(|(key, _)| !key.starts_with("sweep")));
    let again = world.with_overrides(&settings).expect("a world");
    assert_eq!(again.sha256(), world.sha256());
}

/// A square of routers: each link's failure leaves another path.
const SQUARE: &str = r#"
stop = "2 s"
tcp = { all = { profile = "rfc" } }
routing = { repair = "lfa", detection = "5 ms" }
nodes = [{ names = ["A", "B", "C", "D"] }]
links = [{ chains = [["A", "B", "C", "D", "A"]], rate = "10 Mbps", delay = "1 ms", queue = "50 packets" }]
flows = [{ group = "all", from = "A", to = "C", tcp = "all" }]
failures = [{ link = ["A", "B"], at = "1 s" }]
observe = [{ name = "goodput", kind = "goodput", interval = "1 s" }]
"#;

#[test]
fn coverage_is_computed_per_combination() {
    let square = parsed(SQUARE, &[]);
    let lfa = square.coverage().expect("routed");
    // Computed by hand: in a square, an LFA exists only for the opposite router, because both
    // neighbours are equally close to it.
    assert_eq!((lfa.pairs, lfa.protectable, lfa.protected), (12, 12, 4));
    let cells = [
        [("failures.0.link", r#"["C", "D"]"#)],
        [("routing.repair", "ti-lfa")],
        [("links.0.chains", r#"[["A", "B", "C", "D"]]"#)],
    ];
    for cell in cells {
        let over = square.with_overrides(&pairs(&cell)).expect("a world");
        assert_eq!(over.coverage(), parsed(SQUARE, &cell).coverage(), "{cell:?}");
    }
    let ti_lfa = square.with_overrides(&pairs(&cells[1])).expect("a world");
    assert_eq!(ti_lfa.coverage().map(|found| found.protected), Some(12));
}
