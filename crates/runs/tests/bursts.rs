//! The network of the obs paper, against its text and numbers worked out by hand.

use optcp_runs::{Cancel, Engine, Run, RunOptions, Series, Values, run_branches};
use optcp_scenario::Scenario;

const OBS: &str = include_str!("../../../papers/optcp_papers/obs/scenarios/obs.toml");

fn read(set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(OBS, "obs.toml", &set).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

fn run_with(set: &[(&str, &str)], options: RunOptions) -> Run {
    let runs = run_branches(&[&read(set)], 1, options, &Cancel::default());
    runs.expect("nobody cancels").remove(0)
}

/// The file alone, without losses.
fn alone<'a>(more: &[(&'a str, &'a str)]) -> Run {
    let quiet = [("parameters.loss_probability", "0"), ("traffic", "[]")];
    run_with(&[&quiet, more].concat(), RunOptions::default())
}

fn column<'a>(run: &'a Run, series: &str, name: &str) -> &'a Values {
    let series: &Series = run.series.iter().find(|s| s.name == series).expect("a series");
    &series.columns.iter().find(|column| column.name == name).expect("a column").values
}

/// Segments of the file in each burst that carries any.
fn segments(run: &Run) -> Vec<u32> {
    let Values::U32(values) = column(run, "bursts", "segments") else { panic!("no numbers") };
    values.iter().copied().filter(|&count| count > 0).collect()
}

/// How long the file took, in seconds.
fn took_s(run: &Run) -> f64 {
    let [Values::U64(end), Values::U64(start), Values::Bool(finished)] =
        ["time_ps", "start_ps", "finished"].map(|name| column(run, "completions", name).clone())
    else {
        panic!("other columns")
    };
    assert_eq!(finished, [true]);
    (end[0] - start[0]) as f64 / 1e12
}

fn share(values: &[u32], wanted: &[u32]) -> f64 {
    values.iter().filter(|value| wanted.contains(value)).count() as f64 / values.len() as f64
}

/// Section IV.B: one flow without delayed ACK. A segment of 1500 B takes 120 us at 100 Mb/s, so 1
/// ms contains the segment that opens a burst and 8 more. 44 segments are 9 + 9 + 9 + 9 + 8. 10 ms
/// contain the whole window.
#[test]
fn bursts_of_one_flow_match_the_paper() {
    let medium = segments(&alone(&[("parameters.timer", "1 ms")]));
    assert!(share(&medium, &[8, 9]) > 0.9, "{}", share(&medium, &[8, 9]));
    let fast = segments(&alone(&[("parameters.timer", "10 ms")]));
    assert!(share(&fast, &[44]) > 0.9, "{}", share(&fast, &[44]));
    let slow = segments(&alone(&[("parameters.timer", "10 us")]));
    assert!(slow.iter().all(|&count| count == 1));
}

/// Equation 5, F = RTT0 / (RTT0 + 2 Tb); an independent simulation is within 0.003 of it.
#[test]
fn the_delay_penalty_follows_equation_5() {
    let reference = took_s(&alone(&[("parameters.timer", "10 us")]));
    for (timer, tb_ms) in [("100 us", 0.1), ("1 ms", 1.0), ("10 ms", 10.0), ("100 ms", 100.0)] {
        let found = reference / took_s(&alone(&[("parameters.timer", timer)]));
        let expected = 100.0 / (100.0 + 2.0 * tb_ms);
        println!("{timer}: {found} against {expected}");
        assert!((found - expected).abs() < 0.003, "{timer}: {found} against {expected}");
    }
}

/// Section IV.C: where a burst holds the whole window, its loss ends in a timeout for both. Other losses
/// do not exist alone: every loss of data is one of a burst.
#[test]
fn reno_and_sack_are_the_same_where_a_burst_holds_the_window() {
    let set = |recovery| {
        [
            ("parameters.timer", "100 ms"),
            ("parameters.loss_probability", "0.02"),
            ("traffic", "[]"),
            ("parameters.recovery", recovery),
        ]
    };
    let [reno, sack] = ["reno", "sack"].map(|recovery| {
        let run = run_with(&set(recovery), RunOptions::default());
        assert_eq!(run.drops[0].0, "burst-lost");
        (took_s(&run), segments(&run))
    });
    assert_eq!(reno.1, sack.1);
    // ACKs with SACK blocks are longer by some bytes of 80 ns each.
    assert!((reno.0 - sack.0).abs() < 1e-4, "{} {}", reno.0, sack.0);
}

/// With `reverse` a direction has its own burst losses, for either order of the link's names.
#[test]
fn each_direction_has_its_own_loss_probability() {
    // How many bursts from E to F are lost, and from F to E, and how many there are.
    let lost = |entry: &str| {
        let bursts = format!("[{{ {entry}, assembly = \"timer\", timer = \"10 us\" }}]");
        let set = [("bursts", bursts.as_str()), ("traffic", "[]"), ("parameters.size", "2 MB")];
        let run = run_with(&set, RunOptions::default());
        let series = run.series.iter().find(|series| series.name == "bursts").expect("a series");
        let (_, names) = &series.names[0];
        let Values::U32(port) = column(&run, "bursts", "port") else { panic!("no ports") };
        let Values::Bool(lost) = column(&run, "bursts", "lost") else { panic!("no losses") };
        ["E->F", "F->E"].map(|wanted| {
            let own = port.iter().zip(lost).filter(|&(&port, _)| names[port as usize] == wanted);
            own.fold([0, 0], |[all, lost], (_, &is)| [all + 1, lost + u32::from(is)])
        })
    };
    let [there, back] = lost("link = [\"E\", \"F\"], reverse = { loss_probability = 0.05 }");
    assert_eq!(there[1], 0, "{there:?}");
    // 1370 segments of 1460 B, and as many ACKs: 68.5 of them on average, with a standard deviation of 8.
    assert!((35..=105).contains(&back[1]), "{back:?}");
    let named_backwards = "link = [\"F\", \"E\"], loss_probability = 0.05";
    let [there, back] = lost(&format!("{named_backwards}, reverse = {{ loss_probability = 0 }}"));
    assert!(there[1] == 0 && back[1] > 30, "{there:?} {back:?}");
    let [there, back] = lost(named_backwards);
    assert!(there[1] > 30 && back[1] > 30, "{there:?} {back:?}");
}

/// A run that ends with its flows ends at the next whole second, with the same results for the
/// flows.
#[test]
fn ending_with_the_flows_does_not_change_them() {
    let set = |end| {
        [("end_with_flows", end), ("parameters.size", "1 MB"), ("parameters.longest", "60 s")]
    };
    let [early, late] = ["true", "false"].map(|end| run_with(&set(end), RunOptions::default()));
    assert_eq!(column(&early, "completions", "time_ps"), column(&late, "completions", "time_ps"));
    let [first, all] = [&early, &late].map(|run| match column(run, "bursts", "time_ps") {
        Values::U64(times) => times.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(first[..], all[..first.len()]);
    let Values::U64(end) = column(&early, "completions", "time_ps") else { panic!("no times") };
    let last = first[first.len() - 1];
    // The last ACK was in flight for 50 ms and waited up to 1 ms for its burst.
    let acknowledged = end[0] + 52_000_000_000;
    let second = 1_000_000_000_000;
    assert!(last > end[0] && last <= acknowledged.next_multiple_of(second), "{last} {}", end[0]);
}

/// The histogram counts the listed bursts.
#[test]
fn the_histogram_counts_the_bursts_of_the_list() {
    let observe = "[{ name = \"bursts\", kind = \"bursts\" }, \
                   { name = \"sizes\", kind = \"segments-per-burst\" }]";
    let run = run_with(&[("parameters.size", "1 MB"), ("observe", observe)], RunOptions::default());
    let [list, ports, sizes_ports, sizes] =
        [("bursts", "segments"), ("bursts", "port"), ("sizes", "port"), ("sizes", "segments")].map(
            |(series, name)| match column(&run, series, name) {
                Values::U32(values) => values.clone(),
                other => panic!("{other:?}"),
            },
        );
    let Values::U64(counts) = column(&run, "sizes", "bursts") else { panic!("no counts") };
    assert_eq!(counts.iter().sum::<u64>(), list.len() as u64);
    for ((&port, &size), &count) in sizes_ports.iter().zip(&sizes).zip(counts) {
        let listed = list.iter().zip(&ports).filter(|&(&s, &p)| (s, p) == (size, port)).count();
        assert_eq!(count, listed as u64, "{size} segments");
    }
}

#[test]
fn the_engines_agree_on_bursts() {
    for set in [
        vec![("parameters.recovery", "sack"), ("parameters.size", "2 MB")],
        vec![
            ("bursts.0.assembly", "hybrid"),
            ("bursts.0.size", "9 kB"),
            ("parameters.size", "2 MB"),
        ],
    ] {
        let set = [&set[..], &[("parameters.longest", "60 s")]].concat();
        let of = |engine| {
            let options = RunOptions { engine, digest: true, ..RunOptions::default() };
            let run = run_with(&set, options);
            assert_eq!(run.drops[0].0, "burst-lost");
            (run.records_sha256.clone(), run.metrics_sha256.clone())
        };
        assert_eq!(of(Engine::Reference), of(Engine::Fast));
    }
}
