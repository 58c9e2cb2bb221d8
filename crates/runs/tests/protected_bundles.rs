//! Protection of flows that use a bundle: times and losses computed by hand.

use optcp_runs::{Cancel, Engine, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;
use optcp_units::Time;

/// A packet of 1000 B every millisecond from 0 on, sent in 1 us over each link. Packet n leaves A
/// at n ms. It arrives at L0 at n + 0.501 ms, at L1 at n + 1.002 ms, and at L2 at n + 2.003 ms.
/// Both lightpaths alternate: even packets use lightpath0. A bundle detects failures after 10 ms,
/// protection acts after 20 ms.
const WORLD: &str = r#"
stop = "600 ms"
parameters = { scheme = "local", backup = ["L1", "L3", "L2"], hold_off = "0 s" }
tcp.all = { mss = "1000 B" }
nodes = [{ names = ["A", "L0", "L1", "L2", "L3", "B"] }]
links = [
    { chain = ["A", "L0", "L1"], rate = "8 Gbps", delay = "0.5 ms", queue = "unlimited" },
    { chain = ["L1", "L2"], name = "lightpath", count = 2, rate = "8 Gbps", delay = "1 ms", queue = "unlimited" },
    { chain = ["L2", "B"], rate = "8 Gbps", delay = "1 ms", queue = "unlimited" },
    { chains = [["L0", "L3", "L2"], ["L1", "L3", "B"]], rate = "8 Gbps", delay = "2 ms", queue = "unlimited" },
]
bundles = [{ name = "core", links = ["lightpath"], selection = "round-robin", detection = "10 ms" }]
failures = [
    { link = "lightpath0", at = "100 ms", repair = "300 ms" },
    { link = "lightpath1", at = "200 ms", repair = "400 ms" },
]

[[traffic]]
group = "even"
path = ["A", "L0", "L1", "L2", "B"]
process = "constant"
rate = "8 Mbps"
size = "1000 B"
until = "500 ms"

[[protection]]
flows = "even"
scheme = "$scheme"
backup = "$backup"
switch_delay = "20 ms"
hold_off = "$hold_off"
revert = "electrical"
wait_to_restore = "50 ms"
"#;

fn read(set: &[(&str, &str)]) -> Result<Scenario, String> {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(WORLD, "test.toml", &set).map_err(|problem| problem.to_string())
}

fn runs(branches: &[&Scenario], options: RunOptions) -> Vec<Run> {
    run_branches(branches, 1, options, &Cancel::default()).expect("nobody cancels")
}

/// Each switch as "220000 L1 data backup", in us, and how many packets were lost why.
fn outcome(set: &[(&str, &str)]) -> (String, Vec<(&'static str, u64)>) {
    let scenario = read(set).unwrap_or_else(|problem| panic!("{problem}"));
    let run = runs(&[&scenario], RunOptions::default()).remove(0);
    let one = |switch: &optcp_runs::Switched| {
        let us = switch.at.saturating_since(Time::ZERO).as_ps() / 1_000_000;
        let what = if switch.acks { "acks" } else { "data" };
        let to = if switch.to_backup { "backup" } else { "working" };
        format!("{us} {} {what} {to}", switch.node)
    };
    (run.switches.iter().map(one).collect::<Vec<_>>().join(", "), run.drops)
}

/// The first failure only shrinks the bundle: packet 98 is on the lightpath. Of packets 99 to 108,
/// which arrive at L1 until the detection at 110 ms, the even ones use it. The second failure loses
/// packet 198, and all of 199 to 218, which arrive until L1 switches at 220 ms. At 300 ms
/// lightpath0 works again; it is in service at 310 ms, and the wait to restore ends at 360 ms.
/// Later packets through the bundle are not lost.
#[test]
fn the_last_lightpath_that_fails_is_switched_around_and_the_first_one_back_is_taken() {
    let to_backup = "220000 L1 data backup, 220000 L2 acks backup";
    let back = "360000 L1 data working, 360000 L2 acks working";
    let lost = vec![("link-down", 5 + 20), ("lost-in-flight", 2)];
    let there_and_back = (format!("{to_backup}, {back}"), lost.clone());
    assert_eq!(outcome(&[]), there_and_back);
    for bundle in ["core", "['L1', 'L2']", "lightpath"] {
        assert_eq!(outcome(&[("protection.0.link", bundle)]), there_and_back, "{bundle}");
    }
    let none = "[{ flows = 'even', backup = ['L1', 'L3', 'L2'], switch_delay = '20 ms' }]";
    assert_eq!(outcome(&[("protection", none)]), (to_backup.to_owned(), lost));
}

/// With a hold-off of 5 ms L1 switches at 225 ms: five more packets are lost.
#[test]
fn hold_off_counts_from_the_failure_of_the_last_lightpath() {
    let (switches, lost) = outcome(&[("parameters.hold_off", "5 ms")]);
    let expected = "225000 L1 data backup, 225000 L2 acks backup, \
                    360000 L1 data working, 360000 L2 acks working";
    assert_eq!(switches, expected);
    assert_eq!(lost, [("link-down", 5 + 25), ("lost-in-flight", 2)]);
}

/// lightpath1 works again after 5 ms, earlier than the detection by bundle or protection. Packets
/// 199 to 203, which arrive at L1 until 205 ms, are lost, and nothing is switched. In the case of
/// 15 ms, the bundle detected the failure 5 ms ago, and uses the link again at 225 ms. This is too
/// late for protection, which switches at 220 ms, and back at 275 ms. Until then L1 still
/// alternates between both, because it has no other link. Even packets from 215 to 220 ms go to
/// lightpath0, which is down.
#[test]
fn lightpath_counts_again_after_adjacent_nodes_detect_repair() {
    let with_repair = |at| outcome(&[("failures.1.repair", at)]);
    let (switches, lost) = with_repair("205 ms");
    assert_eq!((switches.as_str(), &lost[0]), ("", &("link-down", 5 + 5)));
    let (switches, lost) = with_repair("215 ms");
    let expected = "220000 L1 data backup, 220000 L2 acks backup, \
                    275000 L1 data working, 275000 L2 acks working";
    assert_eq!(switches, expected);
    // 199 to 213, then 214, 216 and 218.
    assert_eq!(lost, [("link-down", 5 + 15 + 3), ("lost-in-flight", 2)]);
}

/// Notified after 0.5 ms, L0 switches at 220.5 ms. Packet 219 arrived there at 219.501 ms and is lost at L1.
#[test]
fn bundle_failure_is_reported_upstream() {
    let set = [("parameters.scheme", "path"), ("parameters.backup", "['L0', 'L3', 'L2']")];
    let (switches, lost) = outcome(&set);
    let expected = "220000 L2 acks backup, 220500 L0 data backup, \
                    360000 L2 acks working, 360500 L0 data working";
    assert_eq!(switches, expected);
    assert_eq!(lost, [("link-down", 5 + 21), ("lost-in-flight", 2)]);
}

/// L0 and L2 switch 20 ms after L0-L1 fails. Packet 249 is on the link then, and 250 to 269 arrive
/// at L0 until it switches. Nothing is switched for the bundle. Its last lightpath fails at 200 ms.
/// L1 alternates between both until it detects at 310 ms that lightpath0 works again, after a delay
/// of 10 ms.
#[test]
fn another_link_of_the_path_is_protected_by_itself() {
    let only = ("protection.0.link", "['L0', 'L1']");
    let around = ("parameters.backup", "['L0', 'L3', 'L2']");
    let fails = ("failures", "[{ link = ['L0', 'L1'], at = '250 ms' }]");
    let (switches, lost) = outcome(&[only, around, fails]);
    assert_eq!(switches, "270000 L0 data backup, 270000 L2 acks backup");
    assert_eq!(lost, [("link-down", 20), ("lost-in-flight", 1)]);
    let (switches, lost) = outcome(&[only, around]);
    // 199 to 298, and the odd ones of 299 to 308.
    assert_eq!((switches.as_str(), &lost[0]), ("", &("link-down", 5 + 100 + 5)));
}

/// TCP through the bundle, with ACKs on the return path; both engines, as a whole and forked.
#[test]
fn a_run_is_the_same_however_it_is_made() {
    let main =
        "[{ group = 'main', path = ['A', 'L0', 'L1', 'L2', 'B'], tcp = 'all', per_source = 4 }]";
    let [around, far] = ["['L0', 'L3', 'L2']", "['L0', 'L3', 'B']"];
    for (scheme, backup, revert) in [
        ("local", "['L1', 'L3', 'L2']", "electrical"),
        ("path", around, "optical-emulated"),
        ("path", far, "optical"),
        ("1+1", far, "optical"),
        ("1:1", around, "electrical"),
        ("restoration", around, "electrical"),
    ] {
        let with_repair = |at| {
            let set = [
                ("flows", main),
                ("links.0.rate", "20 Mbps"),
                ("links.1.rate", "5 Mbps"),
                ("protection.0.flows", "main"),
                ("parameters.scheme", scheme),
                ("parameters.backup", backup),
                ("protection.0.capacity", "shared"),
                ("protection.0.revert", revert),
                ("failures.0.repair", at),
            ];
            read(&set).unwrap_or_else(|problem| panic!("{problem}"))
        };
        let branches = [with_repair("300 ms"), with_repair("350 ms")];
        let options = RunOptions { digest: true, ..RunOptions::default() };
        let forked = runs(&[&branches[0], &branches[1]], options);
        assert!(forked.iter().all(|run| run.forked_at.is_some() && run.switches.len() == 4));
        for (scenario, forked) in branches.iter().zip(&forked) {
            for engine in [Engine::Fast, Engine::Reference, Engine::Stepped(u64::MAX)] {
                let options =
                    RunOptions { fork: false, digest: true, engine, ..RunOptions::default() };
                let alone = runs(&[scenario], options).remove(0);
                assert_eq!(alone.records_sha256, forked.records_sha256, "{scheme} {engine:?}");
            }
        }
        assert_ne!(forked[0].records_sha256, forked[1].records_sha256);
    }
}

/// Two lightpaths of 8 Gb/s in both directions, and a backup of two links.
#[test]
fn a_bundle_needs_the_capacity_of_all_its_lightpaths() {
    let [spare] = &read(&[]).unwrap().spare()[..] else { panic!("one protection") };
    assert_eq!((spare.working, spare.spare, spare.rate.bps()), (4, 4, 16_000_000_000));
}

/// A link of the bundle has no separate backup path, unless a path names it.
#[test]
fn a_lightpath_is_protected_on_a_path_that_names_it() {
    let set = [("protection.0.link", "lightpath0")];
    assert!(read(&set).unwrap_err().contains("`lightpath0` is one link of bundle `core`"));
    let set = [set[0], ("traffic.0.path", "['A', 'L0', 'L1', 'lightpath0', 'L2', 'B']")];
    assert_eq!(
        outcome(&set).0,
        "120000 L1 data backup, 120000 L2 acks backup, 350000 L1 data working, 350000 L2 acks working"
    );
}
