//! No text makes the reader panic.

use optcp_scenario::Scenario;
use proptest::prelude::*;

const SAMPLE: &str = include_str!("../../../python/optcp/scenarios/gmpls-section5.toml");

/// A change of a text, at a place given as a share of its length.
#[derive(Clone, Debug)]
enum Change {
    Insert(f64, String),
    Delete(f64, usize),
    Copy(f64, f64, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let snippet = prop_oneof![
        "\\PC{0,4}",
        prop::sample::select(vec![
            "\"",
            "[",
            "]",
            "[[",
            "{",
            "}",
            "=",
            "\n",
            "$",
            "*",
            ",",
            "0",
            "-",
            ".",
            "9e9",
            "\"\"",
            "L1",
            "S",
            "ms",
            "Mbps",
            "uniform(",
            "switched",
            "name = \"x\"\n",
            "\n[sweep]\nstop=[1]\n",
        ])
        .prop_map(str::to_owned),
    ];
    prop_oneof![
        (0.0..1.0, snippet).prop_map(|(at, text)| Change::Insert(at, text)),
        (0.0..1.0, 1..20usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (0.0..1.0, 0.0..1.0, 1..60usize).prop_map(|(to, from, n)| Change::Copy(to, from, n)),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let chars: Vec<char> = text.chars().collect();
    #[expect(clippy::cast_possible_truncation, reason = "a share of a short text")]
    let place = |share: f64| ((share * chars.len() as f64) as usize).min(chars.len());
    let piece = |from: usize, n: usize| &chars[from..(from + n).min(chars.len())];
    let (at, removed, inserted) = match change {
        Change::Insert(at, text) => (place(*at), 0, text.chars().collect()),
        Change::Delete(at, length) => (place(*at), *length, Vec::new()),
        Change::Copy(to, from, n) => (place(*to), 0, piece(place(*from), *n).to_vec()),
    };
    let rest = (at + removed).min(chars.len());
    chars[..at].iter().chain(&inserted).chain(&chars[rest..]).collect()
}

/// Reads a text, and says everything that there is to say about it.
fn exercise(text: &str, set: &[(String, String)]) {
    match Scenario::parse(text, "mutant.toml", set) {
        Ok(scenario) => {
            assert_eq!(scenario.sha256().len(), 64);
            assert_eq!(scenario.summary().flows, scenario.plan().flows.len());
        }
        Err(diagnostic) => {
            assert!(diagnostic.count() > 0);
            assert!(!diagnostic.render(false).is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn mutants_of_the_sample_are_read_or_refused(changes in prop::collection::vec(change(), 1..6)) {
        let text = changes.iter().fold(SAMPLE.to_owned(), |text, change| apply(&text, change));
        exercise(&text, &[]);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        exercise(&text, &[]);
    }

    #[test]
    fn any_override_is_taken_or_refused(
        section in prop::sample::select(vec!["stop", "links", "flows", "tcp", "parameters", "sweep", "nodes", ""]),
        rest in prop::collection::vec(prop_oneof![
            prop::sample::select(vec!["0", "1", "rate", "all", "mss", "backbone", "path", "count"]).prop_map(str::to_owned),
            "\\PC{0,3}",
        ], 0..4),
        value in prop_oneof!["\\PC{0,8}", "[0-9]{1,7}( ms| Mbps| packets|)", "\\[[0-9,\"]{0,6}\\]"],
    ) {
        let key = std::iter::once(section.to_owned()).chain(rest).collect::<Vec<_>>().join(".");
        exercise(SAMPLE, &[(key, value)]);
    }
}
