//! The loop-back variant: loop-back until the PSL is told.
//!
//! # Models
//! As local loop-back; the node before the fault also tells the PSL, which then puts packets on the
//! backup itself, so that the loop empties. After the repair the PSL reverts when it is told, the node
//! before the fault as soon as it knows.
//! # Source
//! GMPLS paper, section 8.1 ("loopbackvar").
//! # Parameters
//! `processing` of each node that the message comes to; links take their propagation delay.
//! # Limits
//! While the loop empties, looped and direct packets merge at the PSL's port into the backup.

use super::{ProtectedSegment, SetUp, SwitchPoint, loopback};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let looping = segment.covered.iter().filter(|&&link| link > 0);
    let mut points: Vec<SwitchPoint> =
        looping.map(|&link| loopback::point(segment, link)).collect();
    let news =
        segment.covered.iter().map(|&link| (link, segment.upstream_notification_delay(link)));
    points.push(segment.head(news.collect()));
    points
}
