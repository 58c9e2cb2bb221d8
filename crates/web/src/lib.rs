//! Simulator as a WebAssembly module without imports: functions over bytes in its memory.
//!
//! Callers write input to the address returned by `optcp_input`. Output is at `optcp_output` until the next
//! call. Scenarios and runs have numbers. A wrong number or a malformed request ends the module, because it
//! is an error of the page and not of a scenario.
//!
//! ```text
//! parse -> scenario     start(scenario, seed) -> run     advance(run, time)        fork(run) -> run
//! edit -> text          change(run, scenario)            finish(run) -> tables     forget(number)
//! ```

mod edit;
mod exports;
mod handed;
mod tables;

use std::collections::BTreeMap;

use optcp_runs::{LiveRun, RunOptions};
use optcp_scenario::{Library, Scenario, catalogue};
use optcp_units::Time;
use serde::Deserialize;
use serde_json::{Value, json};

use edit::Edit;
use handed::Handed;

/// Parse request: text, its name for messages, overrides as in `--set`, and the library.
#[derive(Deserialize)]
struct Request {
    name: String,
    text: String,
    #[serde(default)]
    set: Vec<(String, String)>,
    #[serde(default)]
    library: Handed,
}

/// Objects with a number, and the input and output bytes.
#[derive(Default)]
struct Session {
    input: Vec<u8>,
    output: Vec<u8>,
    scenarios: BTreeMap<u32, Scenario>,
    runs: BTreeMap<u32, LiveRun>,
    numbers: u32,
}

impl Session {
    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    fn run(&mut self, number: u32) -> &mut LiveRun {
        self.runs.get_mut(&number).expect("a run has this number")
    }

    fn scenario(&self, number: u32) -> &Scenario {
        self.scenarios.get(&number).expect("a scenario has this number")
    }

    fn keep(&mut self, run: LiveRun) -> u32 {
        let number = self.number();
        self.runs.insert(number, run);
        number
    }

    fn parse(&mut self) -> u32 {
        let Request { name, text, set, library } =
            serde_json::from_slice(&self.input).expect("the input is a request");
        match Scenario::parse_with(&text, &name, &set, &Library::new(library)) {
            Err(found) => {
                self.output = found.render(false).into_bytes();
                0
            }
            Ok(scenario) => {
                let warnings = scenario.warnings().into_iter();
                let warnings = warnings
                    .map(|one| json!({"kind": one.kind.name(), "message": one.message, "place": one.place}));
                let written: Value = toml_edit::de::from_str(&text).expect("it is TOML");
                let said = json!({
                    "written": written,
                    "sha256": scenario.sha256(),
                    "axes": scenario.axes(),
                    "parameters": scenario.summary().parameters,
                    "warnings": warnings.collect::<Vec<_>>(),
                });
                self.output = format!("[{said},{}]", scenario.resolved_json()).into_bytes();
                let number = self.number();
                self.scenarios.insert(number, scenario);
                number
            }
        }
    }

    fn edit(&mut self) -> bool {
        let edit: Edit = serde_json::from_slice(&self.input).expect("the input is an edit");
        let (made, output) = match edit.made() {
            Ok(text) => (true, text),
            Err(found) => (false, found),
        };
        self.output = output.into_bytes();
        made
    }

    fn names(&mut self) {
        let mut families: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for entry in catalogue() {
            families.entry(entry.family).or_default().push(entry.name);
        }
        self.output = json!(families).to_string().into_bytes();
    }

    fn start(&mut self, scenario: u32, seed: u64, digest: bool) -> u32 {
        let options = RunOptions { digest, ..RunOptions::default() };
        let run = LiveRun::new(self.scenario(scenario), seed, options);
        self.keep(run)
    }

    fn fork(&mut self, run: u32) -> u32 {
        let fork = self.run(run).clone();
        self.keep(fork)
    }

    /// Returns the time up to which both scenarios are equal, if the run is past it; `None` if the run
    /// continues with the other.
    fn change(&mut self, run: u32, scenario: u32) -> Option<Time> {
        let scenario = self.scenarios.get(&scenario).expect("a scenario has this number");
        let run = self.runs.get_mut(&run).expect("a run has this number");
        run.change(scenario).err()
    }

    fn finish(&mut self, run: u32) {
        let run = self.runs.remove(&run).expect("a run has this number");
        self.output = tables::written(&run.finish());
    }

    fn forget(&mut self, number: u32) {
        self.scenarios.remove(&number);
        self.runs.remove(&number);
    }
}
