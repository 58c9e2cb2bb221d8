//! 1:1 protection: the last node sees the fault and asks the first one to switch.
//!
//! # Models
//! The end of the light travels down to the last node of the segment; its request (one-phase APS)
//! travels up the backup to the first one, which then switches. The same of a repair.
//! # Source
//! RFC 6378 (protection state coordination over the protection path); ITU-T G.873.1 (1-phase APS).
//! # Parameters
//! `processing` of each node that the request comes to; links take their propagation delay.
//! # Limits
//! Requests are not packets of the simulation. The last node takes packets from both ways at once, or
//! discards those of the backup after a repair, as reversion says.

use super::{ProtectedSegment, SetUp, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let request = segment.message(&segment.backup_upstream);
    let news =
        segment.covered.iter().map(|&link| (link, segment.downstream_los_delay(link) + request));
    vec![segment.head(news.collect())]
}
