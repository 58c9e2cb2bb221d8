//! Loop-back variant: loop-back until the PSL is notified.
//!
//! # Model
//! As local loop-back. In addition, the node in front of the failure notifies the PSL, which then sends packets
//! directly over the backup, so that the loop drains. After the repair the PSL reverts when it is notified, the node in
//! front of the failure upon detection. Each notified node takes `processing` per message; links take their propagation
//! delay.
//!
//! # References
//! GMPLS paper, section 8.1 ("loopbackvar").
//!
//! # Limitations
//! While the loop drains, looped and direct packets share the PSL's port to the backup.

use super::{ProtectedSegment, SetUp, SwitchPoint, loopback};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let looping = segment.covered.iter().filter(|&&link| link > 0);
    let mut points: Vec<SwitchPoint> =
        looping.map(|&link| loopback::point(segment, link)).collect();
    let reports =
        segment.covered.iter().map(|&link| (link, segment.upstream_notification_delay(link)));
    points.push(segment.head(reports.collect()));
    points
}
