//! Readers, and conditions that must hold for any input.

use optcp_harness::conformance;
use optcp_harness::packetdrill::{Verdict, run_script};
use optcp_runs::Table;
use optcp_scenario::{Diagnostic, Scenario};

use super::seeds;

/// Reader of foreign text or bytes.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Scenario file.
    Scenario,
    /// `--set`: the name of a shipped scenario, then one `key=value` per line.
    Overrides,
    /// packetdrill script.
    Packetdrill,
    /// File of conformance cases.
    Conformance,
    /// Table of a stored run.
    Parquet,
}

/// File name in messages.
const FILE: &str = "mutant.toml";

impl Target {
    /// Returns the name of the program and of the corpus directory.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Target::Scenario => "scenario",
            Target::Overrides => "overrides",
            Target::Packetdrill => "packetdrill",
            Target::Conformance => "conformance",
            Target::Parquet => "parquet",
        }
    }

    /// Reads the bytes, and evaluates everything that follows from them.
    ///
    /// # Panics
    /// If they are neither read nor refused correctly.
    pub fn check(self, bytes: &[u8]) {
        if let Target::Parquet = self {
            return parquet(bytes);
        }
        // The front end refuses invalid UTF-8 before these readers.
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        match self {
            Target::Scenario => scenario(text, &[]),
            Target::Overrides => overrides(text),
            Target::Packetdrill => packetdrill(text),
            Target::Conformance => conformance(text),
            Target::Parquet => {}
        }
    }
}

fn scenario(text: &str, set: &[(String, String)]) {
    match Scenario::parse(text, FILE, set) {
        Ok(scenario) => accepted(&scenario, text, set),
        Err(diagnostic) => refused(&diagnostic, text, set),
    }
}

/// Checks that reading the text again gives an equal scenario whose summary is available before a run.
fn accepted(scenario: &Scenario, text: &str, set: &[(String, String)]) {
    let again = Scenario::parse(text, FILE, set).expect("the same text is a scenario again");
    assert_eq!(scenario.sha256(), again.sha256());
    let flows = scenario.plan().flows.iter().map(|flow| flow.carries);
    let flows = flows.filter(|&carries| carries == optcp_scenario::plan::Carries::Flow);
    assert_eq!(scenario.summary().flows, flows.count());
    if scenario.plan().nodes.len() <= 20 {
        let _ = (scenario.spare(), scenario.coverage(), scenario.backups());
    }
    // `--set` must accept axis values, but some combinations may be invalid.
    for (key, values) in scenario.axes() {
        let Some(value) = values.first() else { continue };
        let cell = [(key.clone(), value.clone())];
        if let Err(diagnostic) = scenario.with_overrides(&cell) {
            let set: Vec<_> = set.iter().chain(&cell).cloned().collect();
            refused(&diagnostic, text, &set);
        }
    }
}

/// Checks that every problem has a position in the file or the command line.
fn refused(diagnostic: &Diagnostic, text: &str, set: &[(String, String)]) {
    const SHOWN: usize = 20;
    assert!(diagnostic.count() > 0);
    let message = diagnostic.render(false);
    let mut places = 0;
    for line in message.lines() {
        let Some((_, place)) = line.split_once("╭─[") else { continue };
        let (place, _) = place.split_once(']').expect("a place ends");
        let mut parts = place.rsplitn(3, ':').map(str::to_owned);
        let column: usize = parts.next().and_then(|c| c.parse().ok()).expect("a column");
        let line: usize = parts.next().and_then(|l| l.parse().ok()).expect("a line");
        let lines = match parts.next().as_deref() {
            Some(FILE) => text.lines().count() + 1,
            Some("command line") => {
                set.iter().map(|(_, v)| v.lines().count() + 1).max().unwrap_or(0)
            }
            _ => panic!("no place in what was given: {message}"),
        };
        assert!((1..=lines).contains(&line) && column >= 1, "{message}");
        places += 1;
    }
    assert!(places >= diagnostic.count().min(SHOWN), "{places} places: {message}");
}

fn overrides(text: &str) {
    let mut lines = text.lines();
    let name = lines.next().unwrap_or_default();
    let set: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    scenario(seeds::shipped(name), &set);
}

/// Checks that a script always ends with the same outcome.
fn packetdrill(text: &str) {
    let outcome = run_script(text, None);
    // A missing end is reported at the line after the last one.
    let lines = text.lines().count() + 1;
    match &outcome {
        Verdict::Passed => {}
        Verdict::Failed(mismatch) => {
            assert!((1..=lines).contains(&mismatch.line), "{mismatch:?}");
            assert!(!mismatch.expected.is_empty(), "{mismatch:?}");
        }
        Verdict::Refused(refusal) => {
            assert!((1..=lines).contains(&refusal.line), "{refusal:?}");
            assert!(!refusal.reason.is_empty());
        }
    }
}

/// Checks that a file is read, or refused with a reason. Cases choose their own duration, so only short ones run here.
fn conformance(text: &str) {
    let read = conformance::parse(text);
    if let Err(error) = &read {
        assert!(!error.problem.is_empty());
    }
    let file: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let cases = file["scenarios"].as_array().map_or(&[][..], Vec::as_slice);
    let short =
        |case: &serde_json::Value| case["segments"].as_u64().is_none_or(|count| count <= 200);
    if cases.len() <= 4 && cases.iter().all(short) {
        match conformance::run_text(text) {
            Ok((_, refused)) => assert!(refused.iter().all(|case| !case.reason.is_empty())),
            Err(error) => assert_eq!(Some(error), read.err()),
        }
    }
}

/// Checks that a table that was read can be written and is then equal.
fn parquet(bytes: &[u8]) {
    if let Ok(table) = Table::from_parquet(bytes.to_vec()) {
        let written = table.to_parquet().expect("a table can be written");
        let again = Table::from_parquet(written).expect("what is written can be read");
        assert_eq!(format!("{table:?}"), format!("{again:?}"));
    }
}
