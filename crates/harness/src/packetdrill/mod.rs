//! Scripts for packetdrill, run against our endpoint.
//!
//! packetdrill tests a kernel: a script plays the peer and the application, and says what the kernel is
//! to send, and when. Here the same scripts play against [`optcp_tcp::Sender`] and
//! [`optcp_tcp::Receiver`]. `docs/developers/packetdrill.md` says what of the language there is.
//!
//! A text is read (`parse`, `assertion`), its commands and comments make the choices of the endpoint
//! (`shell`, `choices`), bytes become segments (`sequence`), and its events run one by one (`endpoint`,
//! `run`).

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

/// What packetdrill allows times to be off by unless a script says more.
pub const TOLERANCE: Duration = Duration::from_ms(4);

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything was as it says.
    Passed,
    /// Something was not.
    Failed(Mismatch),
    /// It asks for something that is not there.
    Refused(Refusal),
}

/// Runs a script. Its own tolerance is the default; `tolerance` comes before both.
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
