//! Cores of burst switches: contention against Erlang's formula B, the schedulings and conversions against
//! each other, and runs against numbers worked out by hand.

use optcp_runs::{Cancel, Engine, Run, RunOptions, Values, run_branches};
use optcp_scenario::Scenario;

const ERLANG_B: &str = include_str!("../../../python/optcp/scenarios/erlang-b.toml");
const RING: &str = include_str!("ring.toml");

fn run(text: &str, set: &[(&str, &str)], seed: u64, options: RunOptions) -> Run {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scenario = Scenario::parse(text, "core.toml", &set);
    let scenario = scenario.unwrap_or_else(|diagnostic| panic!("{diagnostic}"));
    run_branches(&[&scenario], seed, options, &Cancel::default()).expect("nobody cancels").remove(0)
}

/// A column of the series `fibres`, and the names of the fibres.
fn fibres(run: &Run, name: &str) -> (Vec<String>, Vec<f64>) {
    let series = run.series.iter().find(|series| series.name == "fibres").expect("a series");
    let column = series.columns.iter().find(|column| column.name == name).expect("a column");
    let values = match &column.values {
        Values::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Values::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    (series.names[0].1.clone(), values)
}

/// The value of a column for one fibre.
fn of(run: &Run, name: &str, fibre: &str) -> f64 {
    let (names, values) = fibres(run, name);
    values[names.iter().position(|name| name == fibre).expect("a fibre")]
}

/// Bursts lost on all fibres.
fn lost(run: &Run) -> f64 {
    fibres(run, "lost").1.iter().sum()
}

/// Erlang's formula B by its recursion over the number of servers.
fn erlang_b(erlangs: f64, servers: u32) -> f64 {
    (1..=servers).fold(1.0, |b, n| erlangs * b / (f64::from(n) + erlangs * b))
}

/// Mean and half-width of the 95 % interval of ten values: Student's t with 9 degrees of freedom is 2.262.
fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    assert_eq!(values.len(), 10);
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, 2.262 * (variance / n).sqrt())
}

#[test]
fn the_formula_has_the_values_of_tables() {
    // 1 / 2; 4 on 4: (256 / 24) / (1 + 4 + 8 + 64 / 6 + 256 / 24).
    assert!((erlang_b(1.0, 1) - 0.5).abs() < 1e-12);
    assert!((erlang_b(4.0, 4) - 0.310_680).abs() < 1e-6);
}

/// Eight edge nodes, Poisson bursts, full conversion, no buffers. There are five loads, each with
/// exponential sizes and with equal sizes, because the formula does not depend on the sizes.
#[test]
fn contention_of_poisson_bursts_follows_erlang_b() {
    let fixed = ERLANG_B
        .replace("sizes = { kind = \"exponential\", mean = \"500 B\" }", "size = \"500 B\"");
    assert_ne!(fixed, ERLANG_B);
    // Runs of one seed share their draws: separate seeds make the ten comparisons independent.
    let mut seeds = 1..;
    for (sizes, text) in [("exponential", ERLANG_B), ("fixed", &fixed)] {
        for erlangs in ["1", "2", "3", "4", "6"] {
            let shares: Vec<f64> = seeds
                .by_ref()
                .take(10)
                .map(|seed| {
                    let set = [("parameters.erlangs", erlangs)];
                    let run = run(text, &set, seed, RunOptions::default());
                    // The fibres of the edge nodes have wavelengths to spare.
                    assert!(lost(&run) - of(&run, "lost", "S->D") < 0.5);
                    of(&run, "lost", "S->D") / of(&run, "bursts", "S->D")
                })
                .collect();
            let expected = erlang_b(erlangs.parse().expect("a number"), 4);
            let (mean, half) = interval(&shares);
            println!(
                "{sizes} sizes, {erlangs} erlangs: {mean:.5} +- {half:.5}, formula {expected:.5}"
            );
            assert!((mean - expected).abs() <= half, "{erlangs} erlangs, {sizes} sizes");
            assert!(half < 0.1 * expected, "the runs are long enough to tell");
        }
    }
}

/// The carried load is the offered load without the losses: A (1 - B) / W of the time of each
/// wavelength.
#[test]
fn utilisation_is_the_carried_load() {
    let run = run(ERLANG_B, &[], 1, RunOptions::default());
    let (lost_bytes, bytes) = (of(&run, "lost_bytes", "S->D"), of(&run, "bytes", "S->D"));
    // 2 us a byte at 4 Mb/s, on 4 wavelengths for 40 s.
    let carried = (bytes - lost_bytes) * 2e-6 / (4.0 * 40.0);
    assert!((of(&run, "utilisation", "S->D") - carried).abs() < 1e-3);
}

/// In the ring, bursts on routes of different lengths meet with different remaining offsets. This
/// leaves voids ahead of reservations, and the shortest bursts fit into them.
#[test]
fn void_filling_loses_no_more_than_horizons() {
    let sums = ["lauc-vf", "horizon"].map(|scheduling| {
        let set = [("core.scheduling", scheduling)];
        (1..=5).map(|seed| lost(&run(RING, &set, seed, RunOptions::default()))).collect::<Vec<_>>()
    });
    let [filling, horizon] = sums;
    println!("lauc-vf {filling:?}, horizon {horizon:?}");
    // After the first burst that only one of them loses, the runs of a seed are different.
    assert!(filling.iter().sum::<f64>() < horizon.iter().sum::<f64>());
}

/// Where every control packet is equally far ahead there are no voids, and the two are the same, burst by
/// burst.
#[test]
fn without_voids_the_schedulings_are_the_same() {
    let [filling, horizon] = ["lauc-vf", "horizon"].map(|scheduling| {
        let set = [("core.scheduling", scheduling), ("core.processing", "0 s")];
        run(RING, &set, 1, RunOptions { digest: true, ..RunOptions::default() })
    });
    assert!(lost(&filling) > 100.0);
    assert_eq!(filling.records_sha256, horizon.records_sha256);
}

#[test]
fn without_conversion_more_is_lost() {
    let [full, none] = ["full", "none"].map(|conversion| {
        let set = [("core.conversion", conversion)];
        (1..=5).map(|seed| lost(&run(RING, &set, seed, RunOptions::default()))).collect::<Vec<_>>()
    });
    println!("full {full:?}, none {none:?}");
    assert!(full.iter().zip(&none).all(|(full, none)| none > full));
}

#[test]
fn the_engines_agree_on_cores() {
    for set in [
        vec![],
        vec![("core.scheduling", "horizon"), ("core.conversion", "none")],
        vec![("core.processing", "0 s"), ("core.conversion", "none")],
    ] {
        let of = |engine| {
            let options = RunOptions { engine, digest: true, ..RunOptions::default() };
            let run = run(RING, &set, 1, options);
            assert_eq!(run.drops[0].0, "contention");
            (run.records_sha256.clone(), run.metrics_sha256.clone())
        };
        assert_eq!(of(Engine::Reference), of(Engine::Fast));
    }
}

/// Bursts of a class with an extra offset reserve ahead of all others (Yoo, Qiao, Dixit, IEEE JSAC 18(10), 2000). If the extra
/// offset exceeds the burst length, they never meet bursts of the other class, and lose Erlang's formula B for one class. The
/// other class loses at least the rest of the loss of both together, which is the formula for the whole load.
#[test]
fn extra_offset_isolates_a_class() {
    let two_groups = ERLANG_B
        .replace("sizes = { kind = \"exponential\", mean = \"500 B\" }", "size = \"500 B\"")
        .replace(
            "group = \"E\"\ncount = 8",
            "group = \"E\"\ncount = 8\n[[nodes]]\ngroup = \"F\"\ncount = 8",
        )
        .replace("chain = [\"E\", \"S\"]", "chains = [[\"E\", \"S\"], [\"F\", \"S\"]]");
    // 500 B take 1 ms, and the switch S takes 10 us.
    let text = format!(
        "{two_groups}
[[bursts]]
path = [\"F\", \"S\", \"D\"]
assembly = \"size\"
size = \"1 B\"
offset = \"1010 us\"

[[traffic]]
group = \"ahead\"
path = [\"F\", \"D\"]
process = \"poisson\"
rate = \"$erlangs * 0.5 Mbps\"
size = \"500 B\"

[[observe]]
name = \"bursts\"
kind = \"bursts\"
"
    );
    let mut seeds = 1..;
    for erlangs in [1.0, 2.0] {
        let shares: Vec<[f64; 2]> = seeds
            .by_ref()
            .take(10)
            .map(|seed| {
                let set = [("parameters.erlangs", &*erlangs.to_string())];
                shares_lost(&run(&text, &set, seed, RunOptions::default()))
            })
            .collect();
        let [(ahead, half), (others, half_of_others)] = [0, 1]
            .map(|class| interval(&shares.iter().map(|both| both[class]).collect::<Vec<_>>()));
        let (own, all) = (erlang_b(erlangs, 4), erlang_b(2.0 * erlangs, 4));
        let least = 2.0 * all - own;
        println!(
            "{erlangs} erlangs: {ahead:.5} +- {half:.5}, formula {own:.5}; others {others:.5} +- {half_of_others:.5}, at least {least:.5}"
        );
        assert!((ahead - own).abs() <= half && half < 0.1 * own);
        assert!(others + half_of_others >= least && others < 1.2 * least);
    }
}

/// Returns the shares of bursts lost from the nodes F and from the nodes E.
fn shares_lost(run: &Run) -> [f64; 2] {
    let series = run.series.iter().find(|series| series.name == "bursts").expect("a series");
    let column =
        |name: &str| &series.columns.iter().find(|one| one.name == name).expect(name).values;
    let (Values::U32(ports), Values::Bool(lost)) = (column("port"), column("lost")) else {
        panic!("other columns")
    };
    ["F", "E"].map(|group| {
        let own = ports
            .iter()
            .zip(lost)
            .filter(|(port, _)| series.names[0].1[**port as usize].starts_with(group));
        let lost: Vec<bool> = own.map(|(_, &lost)| lost).collect();
        lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64
    })
}
