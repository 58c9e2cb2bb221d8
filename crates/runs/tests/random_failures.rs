//! Failures at random times.

use optcp_runs::{Cancel, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;
use optcp_units::{Duration, Time};

const WORLD: &str = r#"
stop = "10 s"
routing = { repair = "lfa", hold_down = "20 s" }
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chain = ["A", "B", "C", "A"], rate = "100 Mbps", delay = "5 ms", queue = "unlimited" }]
flows = [{ group = "flow", from = "A", to = "B" }]
failures = [{ node = "B", at = "1 s", repair = "2.5 s", later = "uniform(0 s, 2 s)" }]
"#;

fn run(text: &str, seed: u64, set: &[(&str, &str)]) -> Run {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scenario = Scenario::parse(text, "random.toml", &set).expect("a world");
    run_branches(&[&scenario], seed, RunOptions::default(), &Cancel::default())
        .expect("runs")
        .remove(0)
}

/// When routers saw the failure and the repair.
fn seen(run: &Run) -> Vec<Time> {
    let steps = &run.routing.as_ref().expect("there is routing").steps;
    steps.iter().map(|step| step.at).collect()
}

/// All links of the node fail together and work again 1.5 s later, within the range. The time
/// differs between seeds, and does not depend on other parts of the scenario.
#[test]
fn a_failure_keeps_its_length_wherever_it_falls() {
    let mut starts = Vec::new();
    for seed in 1..=20 {
        let seen_at = seen(&run(WORLD, seed, &[]));
        let (down, up) = (seen_at[0], seen_at[seen_at.len() - 1]);
        let seconds = |s| Time::ZERO + Duration::from_secs(s);
        assert!((seconds(1)..=seconds(3)).contains(&down), "{down}");
        assert_eq!(up - down, Duration::from_ms(1500));
        let failed = &run(WORLD, seed, &[]).failed;
        assert_eq!(failed.len(), 4, "both directions of two links: {failed:?}");
        assert!(failed.iter().all(|port| port.at == down && port.repair == Some(up)));
        assert!(seen_at.iter().all(|&at| at == down || at == up), "{seen_at:?}");
        assert_eq!(seen_at, seen(&run(WORLD, seed, &[("flows.0.tcp", "linux-6")])));
        starts.push(down);
    }
    starts.sort();
    starts.dedup();
    assert_eq!(starts.len(), 20);
    let ms = |m| Time::ZERO + Duration::from_ms(m);
    assert!(starts[0] < ms(1500) && starts[19] > ms(2500), "spread over the range: {starts:?}");
}

/// The progress callback reports all the simulated time.
#[test]
fn runs_tell_how_much_time_they_have_simulated() {
    let scenario = Scenario::parse(WORLD, "random.toml", &[]).expect("a world");
    let cancel = Cancel::default();
    for runs in 1..=3 {
        run_branches(&[&scenario], runs, RunOptions::default(), &cancel).expect("runs");
        assert_eq!(cancel.simulated(), Duration::from_secs(10 * runs));
    }
}

/// A cable with both links of B, and with two of three parallel links elsewhere. Its cut equals the
/// node's failure, and links outside the cable keep working.
#[test]
fn links_that_share_a_risk_fail_together() {
    let cable = WORLD.replace("node = \"B\"", "links = [[\"A\", \"B\"], [\"C\", \"B\"]]");
    for seed in 1..=3 {
        let (node, links) = (run(WORLD, seed, &[]), run(&cable, seed, &[]));
        assert_eq!(links.metrics_sha256, node.metrics_sha256);
        assert_eq!(links.routing, node.routing);
    }
    let lightpaths = r#"
stop = "10 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], name = "fibre", count = 3, rate = "8 Mbps", delay = "1 ms", queue = "unlimited" }]
bundles = [{ name = "all", links = ["fibre"], selection = "round-robin", detection = "1 s" }]
traffic = [{ group = "main", path = ["A", "B"], process = "constant", rate = "300 packets/s", size = "1000 B" }]
failures = [{ links = ["fibre0", "fibre2"], at = "1 s", repair = "2 s", later = "uniform(0 s, 2 s)" }]
"#;
    let lost = |set| {
        let run = run(lightpaths, 1, set);
        let lost: u64 = run.drops.iter().map(|&(_, count)| count).sum();
        i64::try_from(lost).expect("few")
    };
    // For a second, two of three packets are lost. A failure of the whole bundle loses all packets,
    // and one of the reverse direction none.
    assert!((lost(&[]) - 200).abs() <= 1, "{}", lost(&[]));
    assert!((lost(&[("failures.0.links", "[\"all\"]")]) - 300).abs() <= 1);
    let back = [("failures.0.links", "[[\"B\", \"A\"]]"), ("failures.0.direction", "forward")];
    assert_eq!(lost(&back), 0);
}

/// One draw for both ends of B, or one for each: two scenarios, which must have different digests.
#[test]
fn joint_and_separate_draws_give_different_digests() {
    let entry = |link| {
        format!(
            "{{ link = {link}, at = \"1 s\", repair = \"2.5 s\", later = \"uniform(0 s, 2 s)\" }}"
        )
    };
    let [a, c] = ["[\"A\", \"B\"]", "[\"B\", \"C\"]"].map(entry);
    let apart = WORLD.replace("failures = [{ node = \"B\", at = \"1 s\", repair = \"2.5 s\", later = \"uniform(0 s, 2 s)\" }]", &format!("failures = [{a}, {c}]"));
    let digest =
        |text: &str| Scenario::parse(text, "one.toml", &[]).expect("a world").sha256().to_owned();
    assert_ne!(digest(WORLD), digest(&apart));
    // The draw of later failures must differ, too.
    let fixed = WORLD.replace(
        ", later = \"uniform(0 s, 2 s)\" }]",
        " }, { link = [\"C\", \"A\"], at = \"5 s\", later = \"uniform(0 s, 2 s)\" }]",
    );
    let two = fixed.replace("{ node = \"B\", at = \"1 s\", repair = \"2.5 s\" }", "{ link = [\"A\", \"B\"], at = \"1 s\", repair = \"2.5 s\" }, { link = [\"B\", \"C\"], at = \"1 s\", repair = \"2.5 s\" }");
    assert_ne!(digest(&fixed), digest(&two));
}

/// The emulation of an optical switch-back cuts the backup path 20 ms after the reversion, at 2.021
/// s. After the second failure, at 2.010 s, packets use the backup path again from 2.011 s on.
/// Nothing is cut then, and the losses equal those with an electrical switch-back.
#[test]
fn a_backup_that_is_in_use_again_is_not_cut() {
    let text = r#"
stop = "6 s"
parameters = { revert = "optical-emulated" }
nodes = [{ names = ["A", "B", "C", "X"] }]
links = [{ chains = [["A", "B", "C"], ["A", "X", "C"]], rate = "10 Mbps", delay = "20 ms", queue = "50 packets" }]
traffic = [{ group = "g", path = ["A", "B", "C"], process = "constant", rate = "500 packets/s", size = "1000 B" }]
protection = [{ flows = "g", scheme = "path", backup = ["A", "X", "C"], switch_delay = "1 ms", revert = "$revert" }]
failures = [
    { link = ["A", "B"], at = "1 s", repair = "2 s" },
    { link = ["A", "B"], at = "2.010 s", repair = "5 s" },
]
"#;
    let [emulated, electrical] = ["optical-emulated", "electrical"]
        .map(|revert| run(text, 1, &[("parameters.revert", revert)]).drops);
    // 20 ms after the last reversion, the backup path holds only the packets that the emulation is
    // supposed to lose.
    let lost = |drops: &[(&str, u64)]| drops.iter().map(|&(_, count)| count).sum::<u64>();
    assert!(lost(&emulated) <= lost(&electrical) + 10, "{emulated:?} {electrical:?}");
}

/// The backup of ACKs ends with the link from A to B, which fails together with B-C. A switchover to this
/// backup must not repair it: each of the 500 packets per second after 1 s finds it down.
#[test]
fn emulation_does_not_repair_a_failed_link() {
    let text = r#"
stop = "3 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chains = [["A", "B", "C"], ["A", "C"]], rate = "10 Mbps", delay = "20 ms", queue = "50 packets" }]
traffic = [{ group = "g", path = ["A", "B", "C"], process = "constant", rate = "500 packets/s", size = "1000 B" }]
protection = [{ flows = "g", backup = ["B", "A", "C"], switch_delay = "10 ms", revert = "optical-emulated" }]
failures = [{ link = ["A", "B"], at = "1 s" }, { link = ["B", "C"], at = "1 s" }]
"#;
    let drops = run(text, 1, &[]).drops;
    let down = drops.iter().find(|(reason, _)| *reason == "link-down").map(|&(_, count)| count);
    assert!((999..=1001).contains(&down.unwrap_or(0)), "{drops:?}");
}
