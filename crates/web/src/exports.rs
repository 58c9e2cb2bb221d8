//! Exported functions of the module. Callers read and write its memory from outside.

#![expect(unsafe_code, reason = "a function that is called from outside has a name there")]

use std::cell::RefCell;

use optcp_units::{Duration, Time};

use crate::Session;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

fn with<T>(what: impl FnOnce(&mut Session) -> T) -> T {
    SESSION.with_borrow_mut(what)
}

/// Allocates the next input of this many bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_input(length: usize) -> *mut u8 {
    with(|session| {
        session.input = vec![0; length];
        session.input.as_mut_ptr()
    })
}

/// Returns the address of the last call's output.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_output() -> *const u8 {
    with(|session| session.output.as_ptr())
}

/// Returns the length of the output in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_output_length() -> usize {
    with(|session| session.output.len())
}

/// Parses the input, JSON `{name, text, set: [[key, value]], library}`. Returns the number of the scenario,
/// with output JSON `[{written, sha256, axes, parameters, warnings}, resolved scenario]`; or 0, with the
/// error message.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_parse() -> u32 {
    with(Session::parse)
}

/// Edits a text without changing the rest of it. The input is JSON `{text, changes}`, each change one of
/// `{set: [path, value]}`, `{push: [list, [[key, value]]]}` and `{remove: path}`; values are TOML. Returns 1
/// with the text as output; or 0 with the error.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_edit() -> u32 {
    with(|session| u32::from(session.edit()))
}

/// Outputs the names that scenarios accept, as JSON `{family: [name]}`.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_names() {
    with(Session::names);
}

/// Starts a run and returns its number. With `digest` other than 0, it computes the digest of its records.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_start(scenario: u32, seed: u64, digest: u32) -> u32 {
    with(|session| session.start(scenario, seed, digest != 0))
}

/// Simulates everything before a time in picoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_advance(run: u32, until_ps: u64) {
    with(|session| session.run(run).advance(Time::ZERO + Duration::from_ps(until_ps)));
}

/// Forks a run at its current time, and returns the number of the copy.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_fork(run: u32) -> u32 {
    with(|session| session.fork(run))
}

/// Continues a run with another scenario, and returns 2^64 - 1. If the run is past the time up to which both
/// are equal, returns that time in picoseconds and leaves the run unchanged.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_change(run: u32, scenario: u32) -> u64 {
    with(|session| session.change(run, scenario)).map_or(u64::MAX, Time::as_ps)
}

/// Runs to the end; the output is the result as written by `tables`, and the run is removed.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_finish(run: u32) {
    with(|session| session.finish(run));
}

/// Removes a scenario or a run.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_forget(number: u32) {
    with(|session| session.forget(number));
}
