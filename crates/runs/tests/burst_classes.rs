//! Classes of bursts: runs against numbers worked out by hand, and losses against closed forms.

use optcp_runs::{Run, RunOptions, Values};

use crate::support::{run_on_both, run_with};

const ERLANG_B: &str = include_str!("../../../python/optcp/scenarios/erlang-b.toml");
const RING: &str = include_str!("ring.toml");

/// A byte takes 1 us. A sends a burst of class 0 every 10 ms, and B one of class 1, 500 us later. All cross S to D on one
/// wavelength. The first bits arrive at S after 10 us of offset and 1000 us of propagation.
const TWO: &str = r#"
title = "Two classes on a wavelength"
stop = "1001 ms"

[[nodes]]
names = ["A", "B", "S", "D"]

[[links]]
chains = [["A", "S"], ["B", "S"], ["S", "D"]]
wavelengths = 1
rate = "8 Mbps"
delay = "1 ms"
queue = "unlimited"

[core]
processing = "10 us"
preemption = true

[[bursts]]
path = ["A", "S", "D"]
assembly = "size"
size = "1 B"
classes = [{ class = 0, extra_offset = "0 s" }]

[[bursts]]
path = ["B", "S", "D"]
assembly = "size"
size = "1 B"
classes = [{ class = 1, extra_offset = "0 s" }]

[[traffic]]
group = "low"
path = ["A", "D"]
process = "constant"
rate = "800 kbps"
size = "1000 B"
until = "995 ms"

[[traffic]]
group = "high"
path = ["B", "D"]
process = "constant"
rate = "800 kbps"
size = "1000 B"
class = 1
start = "500 us"
until = "995 ms"

[[observe]]
name = "classes"
kind = "burst-classes"

[[observe]]
name = "fibres"
kind = "fibres"
links = [["S", "D"]]
interval = "1 s"
"#;

/// A column of a series.
fn column(run: &Run, series: &str, name: &str) -> Vec<f64> {
    let series = run.series.iter().find(|one| one.name == series).expect("a series");
    let column = series.columns.iter().find(|column| column.name == name).expect("a column");
    match &column.values {
        Values::U8(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Values::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Values::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// Bursts of a class, and how many of them are lost and preempted, over all ports.
fn counts(run: &Run, class: u8) -> [f64; 3] {
    let classes = column(run, "classes", "class");
    ["bursts", "lost", "preempted"].map(|name| {
        let values = column(run, "classes", name);
        let own = values
            .iter()
            .zip(&classes)
            .filter(|(_, other)| (**other - f64::from(class)).abs() < 0.5);
        own.map(|(value, _)| value).sum()
    })
}

/// Runs two classes in both engines. Returns the counts of class 0 and 1, and the reserved time per burst of A in us.
fn both_engines(set: &[(&str, &str)]) -> ([f64; 3], [f64; 3], f64) {
    let fast = run_on_both(TWO, set, 1);
    // 100 bursts in 1 s; of the second interval only 1 ms is left.
    let busy = (column(&fast, "fibres", "utilisation")[0] * 1e6 / 100.0).round();
    (counts(&fast, 0), counts(&fast, 1), busy)
}

/// At S, class 0 is from 1010 to 2010 us, and class 1 from 1510 to 2510 us. The first is cut at 1510.
#[test]
fn higher_class_cuts_lower_class_at_its_first_bit() {
    assert_eq!(both_engines(&[]), ([100.0, 100.0, 100.0], [100.0, 0.0, 0.0], 1500.0));
}

#[test]
fn without_preemption_first_request_wins() {
    let set = [("core.preemption", "false")];
    assert_eq!(both_engines(&set), ([100.0, 0.0, 0.0], [100.0, 100.0, 0.0], 1000.0));
}

/// With classes 2 and 1 instead of 0 and 1, the second burst is the lower one.
#[test]
fn lower_class_does_not_preempt() {
    let set = [("traffic.0.class", "2")];
    let (none, high, busy) = both_engines(&set);
    assert_eq!((none, high, busy), ([0.0; 3], [100.0, 100.0, 0.0], 1000.0));
}

/// Class 1 from 2010 us begins when class 0 ends.
#[test]
fn burst_behind_another_does_not_preempt() {
    let set = [("traffic.1.start", "1 ms")];
    assert_eq!(both_engines(&set), ([100.0, 0.0, 0.0], [100.0, 0.0, 0.0], 2000.0));
}

/// An extra offset of class 1 moves its burst: 400 us to 1910, where it overlaps, and 500 us to 2010, where it does not.
#[test]
fn extra_offset_delays_the_burst_of_its_class() {
    let overlapping = [("bursts.1.classes.0.extra_offset", "400 us")];
    assert_eq!(both_engines(&overlapping), ([100.0, 100.0, 100.0], [100.0, 0.0, 0.0], 1900.0));
    let behind = [("bursts.1.classes.0.extra_offset", "500 us")];
    assert_eq!(both_engines(&behind), ([100.0, 0.0, 0.0], [100.0, 0.0, 0.0], 2000.0));
}

/// With an extra offset of 600 us, class 0 is from 1610 to 2610 us, behind the first bit of class 1. Its reservation is
/// removed as a whole.
#[test]
fn later_reservation_of_lower_class_is_removed() {
    let set = [("bursts.0.classes.0.extra_offset", "600 us")];
    assert_eq!(both_engines(&set), ([100.0, 100.0, 100.0], [100.0, 0.0, 0.0], 1000.0));
}

/// Without an entry in `classes`, bursts carry all classes and have class 0.
#[test]
fn bursts_without_classes_have_class_0() {
    let set = [("bursts.1.classes", "[]")];
    assert_eq!(both_engines(&set), ([200.0, 100.0, 0.0], [0.0; 3], 1000.0));
}

#[test]
fn the_engines_agree_on_classes_in_a_ring() {
    let set = [
        ("core.preemption", "true"),
        ("flows.0.class", "3"),
        ("traffic.0.class", "1"),
        ("bursts.0.classes", "[{ class = 3, timer = \"1 ms\", extra_offset = \"300 us\" }]"),
    ];
    for scheduling in ["lauc-vf", "horizon"] {
        let set = [&set[..], &[("core.scheduling", scheduling)]].concat();
        let run = run_on_both(RING, &set, 1);
        assert!(run.drops.iter().any(|&(reason, count)| reason == "preempted" && count > 10));
    }
}

/// Erlang's formula B by its recursion over the number of servers.
fn erlang_b(erlangs: f64) -> f64 {
    (1..=4).fold(1.0, |b, n| erlangs * b / (f64::from(n) + erlangs * b))
}

/// Returns Erlang's network with several classes of equal load, which share their assemblers.
fn shared(classes: usize, settings: &str, sizes: &str, core: &str) -> String {
    let [before, after] = ["[[traffic]]", "[[observe]]"]
        .map(|section| ERLANG_B.find(section).expect("a section of the file"));
    let mut text = ERLANG_B[..before].replace("stop = \"41 s\"", "stop = \"40 s\"");
    text = text.replace("size = \"1 B\"", &format!("size = \"1 B\"\nclasses = [{settings}]"));
    text = text.replace("[core]\n", &format!("[core]\n{core}"));
    for class in 0..classes {
        text += &format!(
            "[[traffic]]\ngroup = \"class{class}\"\npath = [\"E\", \"D\"]\nprocess = \"poisson\"\nrate = \"$erlangs * 0.5 Mbps\"\n{sizes}\nclass = {class}\n\n"
        );
    }
    assert!(after > before);
    text + "[[observe]]\nname = \"classes\"\nkind = \"burst-classes\"\n"
}

/// Shares of lost bursts by class, each from ten seeds: mean, half-width of the 95 % interval, and half-width for six
/// comparisons together (Bonferroni). Student's t with 9 degrees of freedom is 2.262 and 3.364.
fn shares(text: &str, classes: u8, erlangs: f64, seeds: std::ops::Range<u64>) -> Vec<[f64; 3]> {
    let erlangs = erlangs.to_string();
    let runs: Vec<Run> = seeds
        .map(|seed| {
            run_with(RunOptions::default(), text, &[("parameters.erlangs", &erlangs)], seed)
        })
        .collect();
    let of_class = |class| {
        let shares: Vec<f64> = runs
            .iter()
            .map(|run| {
                let [bursts, lost, _] = counts(run, class);
                lost / bursts
            })
            .collect();
        assert_eq!(shares.len(), 10);
        let mean = shares.iter().sum::<f64>() / 10.0;
        let variance = shares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 9.0;
        let error = (variance / 10.0).sqrt();
        [mean, 2.262 * error, 3.364 * error]
    };
    (0..classes).map(of_class).collect()
}

/// Strict priority. If a burst finds four busy wavelengths, exactly one burst is lost: itself, or one of the lowest class
/// present. Exponential lengths have no memory, so as many wavelengths are busy as in Erlang's system with the load of all
/// classes. Higher classes do not depend on lower ones. With n - 1 classes ahead, a class of a erlangs loses
/// n a B(n a) - (n - 1) a B((n - 1) a) erlangs.
#[test]
fn preemption_isolates_higher_classes() {
    // Bounds at 1 byte and 40 mean lengths keep the lengths without memory.
    let sizes = "sizes = { kind = \"exponential\", mean = \"500 B\", smallest = \"1 B\", largest = \"20 kB\" }";
    let text = shared(3, "{ class = 0 }", sizes, "preemption = true\n");
    for (erlangs, seeds) in [(1.0, 1..11), (2.0, 11..21)] {
        let found = shares(&text, 3, erlangs, seeds);
        for (ahead, [mean, half, together]) in (0..).map(f64::from).zip(found.iter().rev()) {
            let all = (ahead + 1.0) * erlang_b((ahead + 1.0) * erlangs);
            let expected = all - ahead * erlang_b(ahead * erlangs);
            println!(
                "{erlangs} erlangs, {ahead} classes ahead: {mean:.5} +- {half:.5}, formula {expected:.5}"
            );
            assert!((mean - expected).abs() <= *together && *half < 0.1 * expected);
        }
    }
}

/// An extra offset of one burst length. The class ahead loses Erlang's formula B for its load. The conservation law gives the
/// minimum for the other class, which cannot use all gaps between reservations.
#[test]
fn extra_offset_isolates_a_class_of_an_assembler() {
    let settings = "{ class = 1, extra_offset = \"1 ms\" }";
    let text = shared(2, settings, "size = \"500 B\"", "");
    for (erlangs, seeds) in [(1.0, 21..31), (2.0, 31..41)] {
        let found = shares(&text, 2, erlangs, seeds);
        let [[others, of_others, _], [ahead, half, together]] = found[..] else {
            panic!("two classes")
        };
        let own = erlang_b(erlangs);
        let least = 2.0 * erlang_b(2.0 * erlangs) - own;
        println!(
            "{erlangs} erlangs: {ahead:.5} +- {half:.5}, formula {own:.5}; others {others:.5} +- {of_others:.5}, at least {least:.5}"
        );
        assert!((ahead - own).abs() <= together && half < 0.1 * own);
        assert!(others + of_others >= least && others < 1.2 * least);
    }
}
