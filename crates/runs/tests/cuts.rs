//! Path outages with protection and routing, compared with results computed by hand.

use optcp_runs::{Cancel, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;

const SCHEMES: &str = include_str!("schemes.toml");
const SQUARE: &str = include_str!("square.toml");

fn run(text: &str, set: &[(&str, &str)], seed: u64) -> Run {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scenario =
        Scenario::parse(text, "w.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
    let runs = run_branches(&[&scenario], seed, RunOptions::default(), &Cancel::default());
    runs.expect("nobody cancels it").remove(0)
}

/// Each cut with its direction and its ends in microseconds.
fn cuts(run: &Run) -> Vec<(&'static str, u64, u64)> {
    let us = |at: optcp_units::Time| at.as_ps() / 1_000_000;
    let way = |acks: bool| if acks { "acks" } else { "data" };
    run.path_outages.iter().map(|cut| (way(cut.acks), us(cut.from), us(cut.until))).collect()
}

const MS: u64 = 1000;

/// L1-L2 fails at 5 s. The node adjacent to the failure acts after 5 ms; L0 is notified 40 ms
/// later, and L3 10 ms later. The request of 1:1 takes 111 ms between them. With 1+1 only the tail
/// end acts: L3 for data, L0 for ACKs. After the repair the old path exists while packets use the
/// backup path.
#[test]
fn outage_lasts_until_switching_node_is_notified() {
    let around = ("protection.0.backup", r#"["L0", "L6", "L7", "L3"]"#);
    for (set, data, acks) in [
        (vec![], 5, 5),
        (vec![("parameters.revert", "optical")], 5, 5),
        (vec![("protection.0.switch_delay", "50 ms")], 50, 50),
        (vec![("parameters.scheme", "path"), around], 45, 15),
        (vec![("parameters.scheme", "1:1"), around], 126, 156),
        (vec![("parameters.scheme", "1+1"), ("parameters.revert", "optical"), around], 15, 45),
    ] {
        let run = run(SCHEMES, &set, 1);
        let expected =
            [("data", 5000 * MS, (5000 + data) * MS), ("acks", 5000 * MS, (5000 + acks) * MS)];
        assert_eq!(cuts(&run), expected, "{set:?}");
        assert_eq!(
            (run.path_outages[0].flow.as_str(), run.path_outages[0].group.as_str()),
            ("probes/A/0", "probes")
        );
    }
}

/// A way without a backup is cut until the repair, or until the end of the run.
#[test]
fn outage_without_backup_lasts_as_long_as_the_failure() {
    let unprotected = ("protection", "[]");
    let both = |until| [("data", 5000 * MS, until), ("acks", 5000 * MS, until)];
    assert_eq!(cuts(&run(SCHEMES, &[unprotected], 1)), both(10_000 * MS));
    let lasting = ("failures", r#"[{ link = ["L1", "L2"], at = "5 s" }]"#);
    let early = [unprotected, lasting, ("stop", "7 s")];
    assert_eq!(cuts(&run(SCHEMES, &early, 1)), both(7000 * MS));
    // A failure of one direction does not affect the other.
    let one = [unprotected, ("failures.0.direction", "forward")];
    assert_eq!(cuts(&run(SCHEMES, &one, 1)), [("data", 5000 * MS, 10_000 * MS)]);
}

/// A-C fails from 2 s to 4 s. A and C see it after the detection and go around it; when it works again they do for as
/// long, which cuts nothing.
#[test]
fn a_repair_at_a_router_cuts_for_the_detection() {
    for (repair, detection, us) in
        [("remote-lfa", "5 ms", 5000), ("ti-lfa", "10 ms", 10_000), ("ti-lfa", "0 s", 0)]
    {
        let set = [("routing.repair", repair), ("routing.detection", detection)];
        let found = cuts(&run(SQUARE, &set, 1));
        let both = [("data", 2000 * MS, 2000 * MS + us), ("acks", 2000 * MS, 2000 * MS + us)];
        let expected: Vec<_> = both.into_iter().filter(|cut| cut.1 < cut.2).collect();
        assert_eq!(found, expected, "{repair} {detection}");
    }
}

/// Routers update their FIBs at different times. If A is earlier than B, B still sends packets for
/// R back to A until its own update.
#[test]
fn a_loop_is_a_cut_until_the_last_router_has_converged() {
    let lasting = [
        ("failures", r#"[{ link = ["A", "C"], at = "2 s" }]"#),
        ("routing.hold_down", "1 s"),
        ("routing.update", "uniform(0 s, 2 s)"),
    ];
    let mut loops = 0;
    for seed in 1..=6 {
        let run = run(SQUARE, &lasting, seed);
        let record = run.routing.as_ref().expect("it is routed");
        let converged = |router: &str| {
            let mut steps = record.steps.iter();
            let step = steps.find(|step| step.cause == "convergence" && step.router == router);
            step.expect("every router converges").at.as_ps() / 1_000_000
        };
        let (at_a, at_b) = (converged("A"), converged("B"));
        let mut expected = vec![("data", 2000 * MS, 2005 * MS)];
        if at_a < at_b {
            expected.push(("data", at_a, at_b));
            loops += 1;
        }
        let mut found = cuts(&run);
        found.retain(|(way, ..)| *way == "data");
        assert_eq!(found, expected, "seed {seed}");
    }
    assert!((1..6).contains(&loops), "{loops} loops");
}
