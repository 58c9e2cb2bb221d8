//! Path protection: a backup from end to end, taken when the PSL is told.
//!
//! # Models
//! The node before the fault tells the PSL, node by node against the direction of the packets; the
//! same of a repair.
//! # Source
//! GMPLS paper, section 2, Fig. 1, and section 8.1 ("path"); RFC 4427, section 4.12 (notification).
//! # Parameters
//! `processing` of each node that the message comes to; links take their propagation delay.
//! # Limits
//! Messages are not packets of the simulation: they need no capacity, are never lost, and pass links
//! that are down in the direction of the packets.

use super::{ProtectedSegment, SetUp, SwitchPoint};

pub(super) fn points(segment: &ProtectedSegment, _: SetUp) -> Vec<SwitchPoint> {
    let news =
        segment.covered.iter().map(|&link| (link, segment.upstream_notification_delay(link)));
    vec![segment.head(news.collect())]
}
