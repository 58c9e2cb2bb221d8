//! IP links over fibres: failures, recovery in the optical layer, and hold-off of the IP layer.

use optcp_engine::Engine;
use optcp_runs::{Cancel, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;
use optcp_units::{Duration, Time};

/// Two routers with two links. Link `ab` takes fibre A-B of 200 km (1 ms), link `long` takes A-C-B. The fibres A-D-B
/// have 600 km (3 ms) together. 1000 packets per second of 8000 bits need 0.08 ms each.
const WORLD: &str = r#"
stop = "4 s"
nodes = [{ names = ["S", "A", "B", "T"] }]

[optical]
recovery = "restoration"
detection = "10 ms"
computation = "40 ms"
set_up = "50 ms"
wait_to_restore = "500 ms"
fibres = [
    { ends = ["A", "B"], km = 200 },
    { ends = ["A", "D"], km = 300 },
    { ends = ["D", "B"], km = 300, duct = "river" },
    { ends = ["A", "C"], km = 500 },
    { ends = ["C", "B"], km = 500, duct = "river" },
]

[[links]]
chains = [["S", "A"], ["B", "T"]]
rate = "1 Gbps"
delay = "0 ms"
queue = "1000 packets"

[[links]]
name = "ab"
chain = ["A", "B"]
over = "shortest"
rate = "100 Mbps"
queue = "1000 packets"

[[links]]
name = "long"
chain = ["A", "B"]
over = ["A", "C", "B"]
rate = "100 Mbps"
queue = "1000 packets"

[[traffic]]
group = "g"
path = ["S", "A", "ab", "B", "T"]
process = "constant"
rate = "1000 packets/s"
size = "1000 B"
start = "0.5 ms"

[[failures]]
risk = "A-B"
at = "1 s"
repair = "2 s"
"#;

fn run(text: &str, engine: Engine) -> Run {
    let scenario = Scenario::parse(text, "lightpaths.toml", &[])
        .unwrap_or_else(|found| panic!("{}", found.render(false)));
    let options = RunOptions { digest: true, engine, ..RunOptions::default() };
    run_branches(&[&scenario], 1, options, &Cancel::default()).expect("runs").remove(0)
}

fn dropped(run: &Run) -> u64 {
    run.drops.iter().map(|&(_, count)| count).sum()
}

fn ms(at: u64) -> Time {
    Time::ZERO + Duration::from_ms(at)
}

/// The fibre is cut at 1 s. The lightpath is up again at 1.1 s over A-D-B, 3 ms long, and returns to 1 ms at 2.5 s.
/// A scenario with these times in `[[failures]]` and `[[schedules]]` has the same events.
#[test]
fn restoration_equals_a_failure_with_scheduled_delays() {
    let (head, rest) = WORLD.split_once("[optical]").expect("it has fibres");
    let (_, rest) = rest.split_once("[[links]]").expect("it has links");
    let links = format!("{head}[[links]]{rest}")
        .replace("over = \"shortest\"", "delay = \"1 ms\"")
        .replace("over = [\"A\", \"C\", \"B\"]", "delay = \"5 ms\"");
    let (links, _) = links.split_once("[[failures]]").expect("it has failures");
    let written = format!(
        "{links}
[[failures]]
link = \"ab\"
at = \"1 s\"
repair = \"1.1 s\"

[[schedules]]
changes = [{{ at = \"1.1 s\", link = \"ab\", delay = \"3 ms\" }}, {{ at = \"2.5 s\", link = \"ab\", delay = \"1 ms\" }}]
"
    );
    for engine in [Engine::Fast, Engine::Reference] {
        let [optical, written] = [WORLD, &written].map(|text| run(text, engine));
        assert_eq!(optical.records_sha256, written.records_sha256, "{engine:?}");
        assert_eq!(optical.failed, written.failed);
        assert_eq!((optical.failed[0].at, optical.failed[0].repair), (ms(1000), Some(ms(1100))));
        // 100 packets arrive in 100 ms, and one is on the fibre at the cut.
        assert!((100..=102).contains(&dropped(&optical)), "{:?}", optical.drops);
    }
}

#[test]
fn recovery_that_is_not_configured_waits_for_the_repair() {
    let [from, to] = [
        WORLD.find("recovery").expect("it recovers"),
        WORLD.find("fibres").expect("it has fibres"),
    ];
    let text = format!("{}{}", &WORLD[..from], &WORLD[to..]);
    let found = run(&text, Engine::Fast);
    assert_eq!(found.failed[0].repair, Some(ms(2000)));
    assert!((1000..=1002).contains(&dropped(&found)), "{:?}", found.drops);
}

/// Restoration takes 100 ms. IP protection that holds off for 200 ms does not switch; with 50 ms it does.
#[test]
fn hold_off_leaves_the_recovery_to_the_optical_layer() {
    let with = |hold_off: &str| {
        let protection = format!(
            "[[protection]]
flows = \"g\"
backup = [\"A\", \"long\", \"B\"]
link = \"ab\"
switch_delay = \"10 ms\"
hold_off = \"{hold_off}\"
"
        );
        run(&format!("{WORLD}{protection}"), Engine::Fast)
    };
    let data = |run: &Run| {
        run.switches.iter().filter(|one| !one.acks).map(|one| one.at).collect::<Vec<_>>()
    };
    assert_eq!(data(&with("200 ms")), []);
    assert_eq!(data(&with("50 ms")), [ms(1060)]);
    assert!((60..=62).contains(&dropped(&with("50 ms"))));
}

/// The duct holds a fibre of each detour: A-B fails alone, so the links of the duct are `long` only.
#[test]
fn ducts_and_fibres_are_shared_risks() {
    let text = WORLD.replace("risk = \"A-B\"", "risk = \"river\"");
    let found = run(&text, Engine::Fast);
    let ports: Vec<&str> = found.failed.iter().map(|one| one.port.as_str()).collect();
    assert_eq!(ports, ["long:A->B", "long:B->A"]);
    // Restored over A-B, the only path.
    assert_eq!(found.failed[0].repair, Some(ms(1100)));
}
