//! Commands of the operator to a protection.
//!
//! # Model
//! Priorities, from the highest: lockout, failure of the backup, forced switch, failure of the working path, manual
//! switch, wait-to-restore. A command ends when something of a higher priority occurs, and is ignored during it.
//!
//! # References
//! RFC 4427, section 4.13 (commands); RFC 7271 (priorities, state machine), as in ITU-T G.873.1.
//!
//! # Limitations
//! All switching nodes receive a command at the same time, without a message.

use optcp_units::{Time, registry};

registry! {
    /// Command of the operator, in order of priority.
    pub enum Command ("protection-commands") {
        "clear" => Clear: "ends a command, and the wait before a reversion", "RFC 4427, section 4.13";
        "manual-switch" => ManualSwitch: "uses the backup until the next failure", "RFC 4427, section 4.13; RFC 7271";
        "forced-switch" => ForcedSwitch: "uses the backup until it fails", "RFC 4427, section 4.13; RFC 7271";
        "lockout" => Lockout: "never uses the backup", "RFC 4427, section 4.13; RFC 7271";
    }
}

impl Command {
    pub(super) const fn priority(self) -> u8 {
        self as u8
    }
}

/// Command at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandAt {
    /// Time.
    pub at: Time,
    /// Command.
    pub command: Command,
}
