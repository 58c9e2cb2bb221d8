//! What protection is given: outages, and how a fault becomes news and is forgotten.

use optcp_units::{Duration, Time};

use super::detection::Detection;

/// A time during which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it fails.
    pub failure: Time,
    /// When it works again; `None` is not within the run.
    pub repair: Option<Time>,
}

/// How a fault becomes news, and how it is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How the nodes beside a fault learn of it.
    pub detection: Detection,
    /// How long a detected fault must last before anything is done (RFC 4427, section 4.16).
    pub hold_off: Duration,
    /// What follows a repair.
    pub reversion: Reversion,
}

/// What follows a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reversion {
    /// Back to the working path once it has worked for so long.
    After(Duration),
    /// Packets stay on the backup.
    Never,
}
