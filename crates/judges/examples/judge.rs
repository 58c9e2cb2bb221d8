//! Runs stacks over the recorded cases:
//! - `judge cases`: parameters of the cases;
//! - `judge losses`: durations of the transfers with random losses, for many seeds;
//! - `judge STACK`: record of a stack;
//! - `judge STACK CONTROL CASE`: each packet of a transfer.

use std::env::args;
use std::process::ExitCode;

use optcp_judges::case::Control;
use optcp_judges::cases::CASES;
use optcp_judges::record::{Judge, SEED, cases, losses, trace};

/// Number of seeds of the recorded losses.
const SEEDS: u64 = 100;

fn answer(arguments: &[&str]) -> Option<String> {
    let judge = |name: &str| Judge::ALL.into_iter().find(|judge| judge.name() == name);
    match arguments {
        ["cases"] => Some(cases()),
        ["losses"] => Some(format!("{{\n{}\n}}\n", losses(SEEDS).join(",\n"))),
        [name] => Some(judge(name)?.record()),
        [name, control, case] => {
            let control = Control::ALL.into_iter().find(|one| one.name() == *control)?;
            let case = CASES.iter().find(|one| one.name == *case)?;
            Some(format!("{}\n", trace(&judge(name)?.run(case, control, SEED)?)))
        }
        _ => None,
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(text) = answer(&words) else {
        eprintln!("usage: judge cases | judge losses | judge STACK [CONTROL CASE]");
        return ExitCode::FAILURE;
    };
    print!("{text}");
    ExitCode::SUCCESS
}
