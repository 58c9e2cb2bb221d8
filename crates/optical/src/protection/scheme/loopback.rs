//! Local loop-back: back to the PSL, and from there along the backup.
//!
//! # Models
//! The node before the fault sends packets back along the working path; at the PSL they take the
//! backup. Nobody is told. One backup protects every link.
//! # Source
//! D. Haskin and R. Krishnan, draft-haskin-mpls-fast-reroute-05; GMPLS paper, section 2, Fig. 2, and
//! section 8.1 ("loopback").
//! # Parameters
//! None of its own.
//! # Limits
//! Packets pass the nodes between the PSL and the fault twice, and the PSL itself.

use optcp_units::Duration;

use super::{ProtectedSegment, Route, SetUp, SwitchAction, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    segment.covered.iter().map(|&link| point(segment, link)).collect()
}

/// The node before `link`, which knows of a fault of the backup only where it begins with it.
pub(super) fn point(segment: &ProtectedSegment, link: usize) -> SwitchPoint {
    let head = segment.head(vec![(link, Duration::ZERO)]);
    match link {
        0 => head,
        _ => SwitchPoint {
            node: link,
            turn: SwitchAction::Forward(Route::LoopBack),
            backup_reports: Vec::new(),
            ..head
        },
    }
}
