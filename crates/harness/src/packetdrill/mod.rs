//! Packetdrill scripts, run against OpTCP's TCP.
//!
//! Packetdrill tests operating system kernels: a script plays the peer and the application, and states what
//! the kernel must send, and when. Here the same scripts test [`optcp_tcp::Sender`] and
//! [`optcp_tcp::Receiver`]. `docs/developers/packetdrill.md` lists the supported part of the language.
//!
//! A script is parsed (`parse`, `assertion`), and its commands and comments configure the endpoint
//! (`shell`, `choices`). Bytes are mapped to segments (`sequence`), and events are executed
//! (`endpoint`, `run`).

mod assertion;
mod choices;
mod cursor;
mod endpoint;
mod parse;
mod run;
mod script;
mod sequence;
mod shell;

use optcp_units::Duration;

pub use run::Mismatch;
pub use script::Refusal;

/// Default tolerance of packetdrill for times.
pub const TOLERANCE: Duration = Duration::from_ms(4);

/// Result of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All expectations were met.
    Passed,
    /// An expectation was not met.
    Failed(Mismatch),
    /// It requests an unsupported feature.
    Refused(Refusal),
}

/// Runs a script. `tolerance` overrides the tolerance of the script, which overrides the default.
#[must_use]
pub fn run_script(text: &str, tolerance: Option<Duration>) -> Verdict {
    let result = parse::parse(text)
        .map_err(run::Stop::Refused)
        .and_then(|script| run::run(&script, tolerance.or(script.tolerance).unwrap_or(TOLERANCE)));
    match result {
        Ok(()) => Verdict::Passed,
        Err(run::Stop::Failed(mismatch)) => Verdict::Failed(mismatch),
        Err(run::Stop::Refused(refusal)) => Verdict::Refused(refusal),
    }
}
