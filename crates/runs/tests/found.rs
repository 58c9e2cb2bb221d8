//! Flows whose pairs each run draws, backups that are found, and failures that come again and again.

use std::collections::BTreeSet;

use optcp_runs::{Cancel, Engine, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;

const RING: &str = r#"
stop = "20 s"
[[nodes]]
names = ["A", "B", "C", "D", "E"]
group = "ring"
[[links]]
chain = ["A", "B", "C", "D", "E", "A"]
rate = "10 Mbps"
delay = "2 ms"
queue = "20 packets"
"#;

fn world(more: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> =
        set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::parse(&format!("{RING}{more}"), "ring.toml", &set)
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)))
}

fn runs(worlds: &[&Scenario], seed: u64, engine: Engine) -> Vec<Run> {
    let options = RunOptions { digest: true, engine, ..RunOptions::default() };
    run_branches(worlds, seed, options, &Cancel::default()).expect("nobody cancels it")
}

fn run(world: &Scenario, seed: u64) -> Run {
    runs(&[world], seed, Engine::Fast).remove(0)
}

const DRAWN: &str = r#"
[[flows]]
group = "web"
pairs = { among = "ring", count = 3 }
path = "shortest"
size = "300 segments"
[[protection]]
flows = "web"
backup = "auto"
switch_delay = "50 ms"
[[failures]]
link = ["A", "B"]
at = "100 ms"
[[observe]]
name = "ends"
kind = "completions"
"#;

fn names(run: &Run) -> BTreeSet<String> {
    let names = run.series[0].names.iter().find(|(of, _)| *of == "flows");
    names.expect("completions name flows").1.iter().cloned().collect()
}

#[test]
fn each_run_draws_its_pairs_and_branches_share_them() {
    let (fast, slow) =
        (world(DRAWN, &[]), world(DRAWN, &[("protection.0.switch_delay", "500 ms")]));
    let mut seen = BTreeSet::new();
    for seed in 1..=20 {
        let both = runs(&[&fast, &slow], seed, Engine::Fast);
        assert_eq!(names(&both[0]), names(&both[1]));
        assert!((1..=3).contains(&names(&both[0]).len()));
        seen.insert(names(&both[0]));
        let reference = runs(&[&fast, &slow], seed, Engine::Reference);
        assert_eq!(
            both.iter().map(|run| &run.records_sha256).collect::<Vec<_>>(),
            reference.iter().map(|run| &run.records_sha256).collect::<Vec<_>>()
        );
    }
    assert!(seen.len() > 15, "{} of 20 draws differ", seen.len());
}

/// Every flow that a run draws is in its series by the names of its ends, a pair that was drawn again with a number.
#[test]
fn a_pair_that_is_drawn_again_has_flows_with_numbers() {
    let two = "[[flows]]\ngroup = \"web\"\npairs = { from = \"A\", to = \"C\", count = 3 }\npath = \"shortest\"\nsize = \"1 segments\"\n[[observe]]\nname = \"ends\"\nkind = \"completions\"\n";
    let found = names(&run(&world(two, &[]), 1));
    assert_eq!(found, ["web/A-C/0", "web/A-C/1", "web/A-C/2"].map(str::to_owned).into());
}

/// Around each of the links of A B C there is one path: the found path equals the obvious written
/// one.
#[test]
fn found_local_backups_equal_written_ones() {
    let flows = "[[flows]]\ngroup = \"web\"\npath = [\"A\", \"B\", \"C\"]\n[[failures]]\nlink = [\"B\", \"C\"]\nat = \"5 s\"\nrepair = \"9 s\"\n";
    let each = "flows = \"web\"\nswitch_delay = \"50 ms\"\nrevert = \"electrical\"\n";
    let found = world(&format!("{flows}[[protection]]\n{each}backup = \"link-disjoint\"\n"), &[]);
    let written = [
        ("[\"A\", \"B\"]", "[\"A\", \"E\", \"D\", \"C\", \"B\"]"),
        ("[\"B\", \"C\"]", "[\"B\", \"A\", \"E\", \"D\", \"C\"]"),
    ]
    .map(|(link, backup)| format!("[[protection]]\n{each}link = {link}\nbackup = {backup}\n"))
    .concat();
    let written = world(&format!("{flows}{written}"), &[]);
    let [found, written] = [&found, &written].map(|world| run(world, 1));
    assert!(!found.switches.is_empty());
    assert_eq!(found.switches, written.switches);
    assert_eq!(found.records_sha256, written.records_sha256);
}

/// Two flows of a group share a link after B, each with a separate backup path. If that link fails,
/// each flow is switched at the start of its path, A C far from B.
#[test]
fn flows_with_separate_backups_are_switched_separately() {
    let more = "[[flows]]\ngroup = \"web\"\npairs = { from = \"A\", to = \"C\" }\npath = \"shortest\"\n[[flows]]\ngroup = \"web\"\npairs = { from = \"B\", to = \"C\" }\npath = \"shortest\"\n[[failures]]\nlink = [\"B\", \"C\"]\nat = \"5 s\"\n[[protection]]\nflows = \"web\"\nscheme = \"path\"\nbackup = \"auto\"\nswitch_delay = \"50 ms\"\n";
    let run = run(&world(more, &[]), 1);
    let heads: BTreeSet<&str> =
        run.switches.iter().filter(|one| !one.acks).map(|one| one.node.as_str()).collect();
    assert_eq!(heads, ["A", "B"].into());
}

/// Failures of a process with means of 1.5 s and 0.5 s. Renewal theory gives 10.06 within 20 s on
/// average: t / mu, plus the share of the first cycle. The standard deviation is 2.5, so the mean
/// of 200 runs differs by more than 0.7 once in 10 000.
#[test]
fn failure_count_matches_renewal_theory() {
    let more = "[[flows]]\ngroup = \"web\"\npath = [\"A\", \"B\"]\nsize = \"1 segments\"\n[[failures]]\nlink = [\"A\", \"B\"]\nmtbf = \"1.5 s\"\nmttr = \"0.5 s\"\n[[protection]]\nflows = \"web\"\nlink = [\"A\", \"B\"]\nbackup = [\"A\", \"E\", \"D\", \"C\", \"B\"]\nswitch_delay = \"0 s\"\nrevert = \"electrical\"\n";
    let world = world(more, &[]);
    let failures =
        |seed| run(&world, seed).switches.iter().filter(|one| one.to_backup && !one.acks).count();
    let mean = (1..=200).map(failures).sum::<usize>() as f64 / 200.0;
    assert!((mean - 10.06).abs() < 0.7, "{mean}");
}
