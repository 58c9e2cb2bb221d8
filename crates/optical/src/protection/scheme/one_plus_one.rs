//! 1+1 protection: packets always travel both paths, and the tail end selects one copy.
//!
//! # Model
//! A permanent bridge at the head end of the segment and a selector at the tail end. The selector switches when loss of
//! signal has reached the tail end and has been detected. No node is notified.
//!
//! # References
//! RFC 4427, sections 4.6 to 4.8 (1+1, permanent bridge, selective selector); ITU-T G.808.1.
//!
//! # Limitations
//! The two copies are not aligned, unless packets are put in order (`resequencing`). If the backup is longer, some packets arrive twice after a switchover, and some are
//! lost at reversion.

use optcp_units::Duration;

use super::{ProtectedSegment, SetUp, SwitchAction, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let los_delay = |links: &[Duration]| links.iter().fold(Duration::ZERO, |sum, &link| sum + link);
    let working = segment.covered.iter().map(|&link| (link, segment.downstream_los_delay(link)));
    let backup =
        (0..segment.backup.len()).map(|link| (link, los_delay(&segment.backup[link + 1..])));
    vec![SwitchPoint {
        node: segment.working.len(),
        turn: SwitchAction::Select,
        working_reports: working.collect(),
        backup_reports: backup.collect(),
        set_up: Duration::ZERO,
    }]
}
