//! 1:1 protection: the tail end detects the failure and requests the switchover from the head end.
//!
//! # Model
//! Loss of signal travels downstream to the tail end of the segment. Its request (one-phase APS) travels upstream over
//! the backup to the head end, which then switches. Repairs work in the same way. Each node on the way takes
//! `processing` per request; links take their propagation delay.
//!
//! # References
//! RFC 6378 (protection state coordination over the protection path); ITU-T G.873.1 (1-phase APS).
//!
//! # Limitations
//! Requests are not simulated as packets. The tail end accepts packets of both paths immediately, or discards packets
//! of the backup after a repair, depending on reversion.

use super::{ProtectedSegment, SetUp, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let request = segment.message(&segment.backup_upstream);
    let reports =
        segment.covered.iter().map(|&link| (link, segment.downstream_los_delay(link) + request));
    vec![segment.head(reports.collect())]
}
