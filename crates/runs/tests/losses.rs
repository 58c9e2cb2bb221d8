//! Losses of whole scenarios: how many, where, why, and the same however a run is made.

use optcp_runs::{Cancel, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;
use optcp_scenario::plan::Loses;

/// Two flows of 3000 segments, one per direction, over a line that is lossless by default.
const WORLD: &str = r#"
stop = "60 s"
parameters = { loss = 0.01 }
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chain = ["A", "B", "C"], rate = "100 Mbps", delay = "5 ms", queue = "unlimited" }]
flows = [
    { group = "there", path = ["A", "B", "C"], size = "3000 segments" },
    { group = "back", path = ["C", "B", "A"], size = "3000 segments" },
]
failures = [{ link = ["A", "B"], at = "59 s" }]
observe = [{ name = "drops", kind = "drops" }]
"#;

fn scenario(losses: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(&format!("{WORLD}\n{losses}"), "losses.toml", &set)
        .unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

fn runs(branches: &[&Scenario], seed: u64, fork: bool) -> Vec<Run> {
    run_branches(
        branches,
        seed,
        RunOptions { fork, digest: true, ..RunOptions::default() },
        &Cancel::default(),
    )
    .expect("nobody cancels")
}

fn run(losses: &str, seed: u64) -> Run {
    runs(&[&scenario(losses, &[])], seed, true).remove(0)
}

const INDEPENDENT: &str =
    r#"losses = [{ link = ["A", "B"], kind = "independent", probability = 0.01 }]"#;

/// Packets on A->B are retransmitted until they arrive: 3000 segments take 3000 / (1 - p)
/// transmissions.
#[test]
fn random_losses_have_their_reason_and_their_share() {
    let run = run(INDEPENDENT, 1);
    let [(reason, lost)] = run.drops[..] else { panic!("one reason: {:?}", run.drops) };
    assert_eq!(reason, "random-loss");
    let mean = 3000.0 * 0.01 / 0.99;
    assert!((lost as f64 - mean).abs() < 4.0 * f64::sqrt(mean), "{lost} of {mean}");
}

/// 3000 segments and r transmissions again, of which every 50th is lost: 3000 + r = 50 r + rest.
#[test]
fn periodic_losses_match_the_period() {
    let losses = r#"losses = [{ link = ["A", "B"], kind = "periodic", period = 50 }]"#;
    let run = run(losses, 1);
    let [(reason, lost)] = run.drops[..] else { panic!("one reason: {:?}", run.drops) };
    assert_eq!(reason, "periodic-loss");
    // Spurious retransmissions pass the port, too.
    assert!((3000 / 49..3100 / 49).contains(&lost), "{lost}");
    let named = r#"losses = [{ link = ["A", "B"], kind = "periodic", probability = 0.02 }]"#;
    assert_eq!(scenario(named, &[]).sha256(), scenario(losses, &[]).sha256());
    let third =
        scenario(r#"losses = [{ link = ["A", "B"], kind = "periodic", probability = 0.3 }]"#, &[]);
    let Loses::Periodic { period, .. } = third.plan().losses[0].loses else { panic!("periodic") };
    assert_eq!(period.get(), 3);
}

#[test]
fn acks_are_lost_where_they_pass() {
    let of = |link: &str, packets: &str| {
        let text = format!(
            "losses = [{{ link = {link}, kind = 'periodic', period = 10, packets = '{packets}' }}]"
        );
        run(&text, 1).drops
    };
    // Each of the roughly 3000 ACKs passes once; ACKs are not retransmitted.
    for link in ["['B', 'A']", "['A', 'B']"] {
        let acks = of(link, "acks")[0].1;
        assert!((300..330).contains(&acks), "{acks}");
        assert!(of(link, "both")[0].1 > of(link, "data")[0].1);
    }
}

#[test]
fn a_seed_has_its_losses_however_the_run_is_made() {
    let early = scenario(INDEPENDENT, &[("failures.0.at", "0.7 s")]);
    let late = scenario(INDEPENDENT, &[("failures.0.at", "0.9 s")]);
    let forked = runs(&[&early, &late], 3, true);
    let unforked = runs(&[&early, &late], 3, false);
    assert!(forked[0].forked_at.is_some(), "losses do not keep branches apart");
    for (one, other) in forked.iter().zip(&unforked) {
        assert_eq!(one.records_sha256, other.records_sha256);
    }
    let other_seed = runs(&[&early], 4, true);
    assert_ne!(forked[0].records_sha256, other_seed[0].records_sha256);
}

/// The number and fate of packets at one port do not change the draws of another.
#[test]
fn each_port_draws_from_a_separate_stream() {
    let drops_of = |losses: &str| run(losses, 1).drops[0].1;
    let one = |from: &str, to: &str| {
        format!("{{ link = ['{from}', '{to}'], kind = 'independent', probability = 0.01 }}")
    };
    let (there, back) = (one("A", "B"), one("C", "B"));
    let alone = drops_of(&format!("losses = [{there}]")) + drops_of(&format!("losses = [{back}]"));
    let both = drops_of(&format!("losses = [{there}, {back}]"));
    // Which transmission of a flow is lost hangs on its ordinal at its port only; ACKs of the other
    // flow pass there too. The few transmissions that are not needed may differ.
    assert!(alone.abs_diff(both) <= 2, "{alone} and {both}");
    // Branches that differ in a probability differ from the start.
    let low = scenario(INDEPENDENT, &[("losses.0.probability", "0.001")]);
    let high = scenario(INDEPENDENT, &[]);
    assert_eq!(runs(&[&low, &high], 1, true)[0].forked_at, None);
    assert_ne!(low.sha256(), high.sha256());
}

#[test]
fn a_probability_may_be_a_parameter_or_a_product() {
    for written in ["'$loss'", "'0.5 * $loss * 2'", "0.01", "1e-2"] {
        let text = format!(
            "losses = [{{ link = ['A', 'B'], kind = 'independent', probability = {written} }}]"
        );
        assert_eq!(scenario(&text, &[]).sha256(), scenario(INDEPENDENT, &[]).sha256(), "{written}");
    }
    let off = scenario(INDEPENDENT, &[("losses.0.probability", "0")]);
    assert!(runs(&[&off], 1, true)[0].drops.is_empty());
}

/// Losses beside a bundle, on it and on one of its links, each seen from a flow that takes the bundle.
#[test]
fn losses_apply_outside_and_inside_a_bundle() {
    let world = r#"
        stop = "1 s"
        nodes = [{ names = ["A", "B", "C", "D"] }]
        links = [
            { chain = ["A", "B"], name = "lp", count = 2, rate = "1 Mbps", delay = "1 ms", queue = "10 packets" },
            { chain = ["B", "C", "D"], rate = "8 Mbps", delay = "1 ms", queue = "50 packets" },
        ]
        bundles = [{ name = "bun", links = ["lp"], selection = "round-robin" }]
        flows = [{ group = "g", path = ["A", "bun", "B", "C", "D"] }]
    "#;
    let cases: [(&str, &[&str]); 3] = [
        (r#"["C", "D"]"#, &["C->D"]),
        (r#""bun""#, &["lp0:A->B", "lp1:A->B"]),
        (r#""lp1""#, &["lp1:A->B"]),
    ];
    for (link, ports) in cases {
        let kinds = [
            (r#"kind = "periodic", period = 10"#, "periodic-loss"),
            (r#"flows = "g", segments = [5, 6]"#, "scripted"),
        ];
        for (kind, reason) in kinds {
            let text = format!("{world}\nlosses = [{{ link = {link}, {kind} }}]");
            let scenario = Scenario::parse(&text, "bundle.toml", &[])
                .unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
            let plan = scenario.plan();
            let named: Vec<_> = plan.losses.iter().map(|loss| plan.port_name(loss.hop)).collect();
            assert_eq!(named, ports, "{link}");
            let run = runs(&[&scenario], 1, true).remove(0);
            let named = |&(why, count): &(&str, u64)| why == reason && count > 0;
            assert!(run.drops.iter().any(named), "{link}: {:?}", run.drops);
        }
    }
}

/// Datagrams, one per millisecond for 10 s. The link loses all from 2 s to 4 s, and a quarter from 4 s to 8 s. Of 6000
/// packets, 2000 and a quarter of 4000 are lost, with a standard deviation of sqrt(4000 x 0.25 x 0.75) = 27.4. The other
/// direction loses nothing.
#[test]
fn scheduled_losses_follow_the_schedule() {
    let text = r#"
stop = "11 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "100 Mbps", delay = "5 ms", queue = "unlimited" }]
schedules = [{ changes = [
    { at = "1999.5 ms", link = ["A", "B"], direction = "forward", loss = 1 },
    { at = "3999.5 ms", link = ["A", "B"], direction = "forward", loss = 0.25 },
    { at = "7999.5 ms", link = ["A", "B"], direction = "forward", loss = 0 },
] }]
traffic = [
    { group = "there", path = ["A", "B"], process = "constant", rate = "1000 packets/s", size = "100 B", until = "10 s" },
    { group = "back", path = ["B", "A"], process = "constant", rate = "1000 packets/s", size = "100 B", until = "10 s" },
]
observe = [{ name = "fate", kind = "datagrams", interval = "11 s" }]
"#;
    let scenario = Scenario::parse(text, "losses.toml", &[]).unwrap_or_else(|one| panic!("{one}"));
    let run = runs(&[&scenario], 1, true).remove(0);
    let [(reason, lost)] = run.drops[..] else { panic!("one reason: {:?}", run.drops) };
    assert_eq!(reason, "random-loss");
    assert!((lost as f64 - 3000.0).abs() < 4.0 * 27.4, "{lost}");
    // Another seed draws other packets.
    assert_ne!(runs(&[&scenario], 2, true)[0].records_sha256, run.records_sha256);
}
