//! 1+1 protection: packets always travel both ways, and the last node chooses.
//!
//! # Models
//! A permanent bridge at the first node of the segment, a selector at the last. The selector changes
//! when the end of the light reaches the last node and has been detected; nobody is told.
//! # Source
//! RFC 4427, sections 4.6 to 4.8 (1+1, permanent bridge, selective selector); ITU-T G.808.1.
//! # Parameters
//! None of its own.
//! # Limits
//! The two copies are not aligned: on a longer backup some packets come twice at a switch, and at the
//! way back some not at all.

use optcp_units::Duration;

use super::{ProtectedSegment, SetUp, SwitchAction, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let dark = |links: &[Duration]| links.iter().fold(Duration::ZERO, |sum, &link| sum + link);
    let working = segment.covered.iter().map(|&link| (link, segment.downstream_los_delay(link)));
    let backup = (0..segment.backup.len()).map(|link| (link, dark(&segment.backup[link + 1..])));
    vec![SwitchPoint {
        node: segment.working.len(),
        turn: SwitchAction::Select,
        working_reports: working.collect(),
        backup_reports: backup.collect(),
        set_up: Duration::ZERO,
    }]
}
