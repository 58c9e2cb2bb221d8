//! Local protection: a backup that starts at the node adjacent to the failure.
//!
//! # Model
//! The PSL is adjacent to the protected link and switches upon detection. No node is notified.
//!
//! # References
//! GMPLS paper, section 2, Fig. 1, and section 8.1 ("local").
//!
//! # Limitations
//! Each protected link (or node) needs its own backup.

use optcp_units::Duration;

use super::{ProtectedSegment, SetUp, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    vec![segment.head(segment.covered.iter().map(|&link| (link, Duration::ZERO)).collect())]
}
