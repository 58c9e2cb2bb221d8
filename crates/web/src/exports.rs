//! The functions that the module exports. None touches memory itself: a caller reads and writes it from outside.

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

/// Makes room for so many bytes and says where: the next input.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_input(length: usize) -> *mut u8 {
    with(|session| {
        session.input = vec![0; length];
        session.input.as_mut_ptr()
    })
}

/// Where the output of the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_output() -> *const u8 {
    with(|session| session.output.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_output_length() -> usize {
    with(|session| session.output.len())
}

/// Parses the input, JSON `{name, text, set: [[key, value]], library}`. Gives the number of the scenario, and as output JSON
/// `[{written, sha256, axes, parameters, warnings}, the scenario as optcp resolves it]`; or 0, and the message of the command.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_parse() -> u32 {
    with(Session::parse)
}

/// Changes a text without touching the rest of it. The input is JSON `{text, changes}`, each change one of `{set: [path, value]}`,
/// `{push: [list, [[key, value]]]}` and `{remove: path}`; values are TOML. Gives 1, and the text as output; or 0, and what is in
/// the way.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_edit() -> u32 {
    with(|session| u32::from(session.edit()))
}

/// What a scenario can name: the output is JSON `{family: [name]}`.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_names() {
    with(Session::names);
}

/// Starts a run and gives its number. With `digest` other than 0 its records have one.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_start(scenario: u32, seed: u64, digest: u32) -> u32 {
    with(|session| session.start(scenario, seed, digest != 0))
}

/// Executes everything before an instant in picoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_advance(run: u32, until_ps: u64) {
    with(|session| session.run(run).advance(Time::ZERO + Duration::from_ps(until_ps)));
}

/// Copies a run where it is, and gives the number of the copy.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_fork(run: u32) -> u32 {
    with(|session| session.fork(run))
}

/// Lets a run go on as one of another scenario, and gives 2^64 - 1. If the run is past the instant up to which they are the same,
/// gives that in picoseconds, and leaves the run as it is.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_change(run: u32, scenario: u32) -> u64 {
    with(|session| session.change(run, scenario)).map_or(u64::MAX, Time::as_ps)
}

/// Runs to the end; the output is the result as `tables` writes it, and the run is gone.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_finish(run: u32) {
    with(|session| session.finish(run));
}

/// Forgets a scenario or a run.
#[unsafe(no_mangle)]
pub extern "C" fn optcp_forget(number: u32) {
    with(|session| session.forget(number));
}
