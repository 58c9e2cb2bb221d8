//! Local protection: a backup from the node beside the fault.
//!
//! # Models
//! The PSL lies beside the protected link and switches as soon as it knows; nobody is told.
//! # Source
//! GMPLS paper, section 2, Fig. 1, and section 8.1 ("local").
//! # Parameters
//! None of its own.
//! # Limits
//! Each protected link (or node) needs a backup of its own.

use optcp_units::Duration;

use super::{ProtectedSegment, SetUp, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    vec![segment.head(segment.covered.iter().map(|&link| (link, Duration::ZERO)).collect())]
}
