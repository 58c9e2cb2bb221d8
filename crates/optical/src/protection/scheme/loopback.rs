//! Local loop-back: back to the PSL, and from there along the backup.
//!
//! # Model
//! The node in front of the failure returns packets along the working path to the PSL, where they enter the backup. No
//! node is notified. One backup protects all links.
//!
//! # References
//! D. Haskin and R. Krishnan, draft-haskin-mpls-fast-reroute-05; GMPLS paper, section 2, Fig. 2, and section 8.1
//! ("loopback").
//!
//! # Limitations
//! Packets traverse the nodes between the PSL and the failure twice, including the PSL.

use optcp_units::Duration;

use super::{ProtectedSegment, Route, SetUp, SwitchAction, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    segment.covered.iter().map(|&link| point(segment, link)).collect()
}

/// Returns the switch point in front of `link`. It detects failures of the backup only if the backup starts there.
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
